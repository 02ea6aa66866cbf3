/* SPDX-License-Identifier: Apache-2.0 */
/* traffic-replay(1): simulates an office full of Active Directory clients. */
#include <signal.h>
#include <unistd.h>

#include "base/program.h"
#include "replay/session/session.h"
#include "replay/settings.h"

static void end_at_once(int signal_number);

int main(int argc, char **argv)
{
    struct settings settings;
    program_begin("traffic-replay");
    signal(SIGINT, end_at_once);
    signal(SIGTERM, end_at_once);
    if (signal(SIGHUP, end_at_once) == SIG_IGN) /* nohup */
        signal(SIGHUP, SIG_IGN);
    int status;
    if (settings_read(&settings, argc, argv, &status) == STEP_NEXT)
        status = session_run(&settings);
    settings_clear(&settings);
    return program_end(status);
}

/* The run handles signals itself. Before and after it there is nothing to clean up: the next call
 * continues interrupted work on accounts. */
static void end_at_once(int signal_number)
{
    static const char line[] = "\ntraffic-replay: interrupted\n";
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    _exit(EXIT_INTERRUPTED);
}
