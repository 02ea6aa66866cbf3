/* SPDX-License-Identifier: Apache-2.0 */
/* traffic-replay(1): plays the traffic of many Active Directory clients against one server. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "replay/session.h"
#include "replay/settings.h"

/* Before and after the run, which handles signals itself, nothing needs to be put in order:
 * interrupted work on accounts is taken up by the next call. */
static void leave(int signal_number)
{
    static const char line[] = "\ntraffic-replay: interrupted\n";
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    _exit(EXIT_INTERRUPTED);
}

/* Standard files that the caller closed: what is opened later, a connection to the server say, must
 * not get their numbers and be sent the report. Nothing can be read from what takes their place,
 * nor be written to it, so that a report nobody could get is told as lost. */
static void hold_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    struct settings settings;
    hold_standard_files();
    /* A peer or a reader that goes away is an error to be told, not a reason to die silently. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, leave);
    signal(SIGTERM, leave);
    int status = settings_read(&settings, argc, argv);
    if (status < 0)
        status = session_run(&settings);
    settings_clear(&settings);
    return status;
}
