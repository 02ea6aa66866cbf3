/* SPDX-License-Identifier: Apache-2.0 */
/* traffic-replay(1): plays the traffic of many Active Directory clients against one server. */
#include <signal.h>
#include <unistd.h>

#include "base/standard_files.h"
#include "replay/session.h"
#include "replay/settings.h"

static void leave(int signal_number);

int main(int argc, char **argv)
{
    struct settings settings;
    standard_files_hold();
    /* A peer or a reader that goes away is an error to be told, not a reason to die silently. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow any further */
    signal(SIGINT, leave);
    signal(SIGTERM, leave);
    int status = settings_read(&settings, argc, argv);
    if (status < 0)
        status = session_run(&settings);
    settings_clear(&settings);
    return status;
}

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
