/* SPDX-License-Identifier: Apache-2.0 */
/* What every program does first and last. */
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"

static void hold_standard_files(void);

void program_begin(const char *name)
{
    message_program = name;
    hold_standard_files();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/*
 * If the caller closed a standard descriptor, the next file that is opened, such as a connection to
 * the server, would get its number and receive the report. So each closed descriptor is opened in
 * the wrong direction: a lost report is still a failed write.
 */
static void hold_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int program_end(int status)
{
    int flushed = status == EXIT_OK ? program_flush_output() : 0;
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (lost && status <= EXIT_FAILED && program_reader_is_gone())
        return EXIT_NO_READER;
    return flushed < 0 ? EXIT_FAILED : status;
}

int program_flush_output(void)
{
    static bool reported;
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    int cause = errno; /* 0 if an earlier write failed */
    if (!reported && !program_reader_is_gone())
        message_print("cannot write standard output%s%s", cause ? ": " : "",
                      cause ? strerror(cause) : "");
    reported = true;
    return cause ? -cause : -EIO;
}

bool program_reader_is_gone(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO};
    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}
