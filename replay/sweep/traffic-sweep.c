/* SPDX-License-Identifier: Apache-2.0 */
/* traffic-sweep(1): plays a grid of traffic-replay's cells, one after another. */
#include <signal.h>

#include "base/message.h"
#include "base/standard_files.h"
#include "replay/sweep/sweep.h"
#include "replay/sweep/sweep_options.h"

int main(int argc, char **argv)
{
    struct sweep_options options;
    message_program = "traffic-sweep";
    standard_files_hold();
    /* A reader that goes away is an error to be told, not a reason to die silently. */
    signal(SIGPIPE, SIG_IGN);
    int status = sweep_options_read(&options, argc, argv);
    if (status < 0)
        status = sweep_run(&options);
    sweep_options_clear(&options);
    return status;
}
