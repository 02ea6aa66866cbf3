/* SPDX-License-Identifier: Apache-2.0 */
/* traffic-sweep(1): plays a grid of traffic-replay's cells, one after another. */
#include "base/program.h"
#include "replay/sweep/sweep.h"
#include "replay/sweep/sweep_options.h"
#include "replay/sweep/sweep_versus.h"

int main(int argc, char **argv)
{
    struct sweep_options options;
    program_begin("traffic-sweep");
    int status;
    if (sweep_versus_given(argc, argv))
        return program_end(sweep_versus_run(argc, argv));
    if (sweep_options_read(&options, argc, argv, &status) == STEP_NEXT)
        status = sweep_run(&options);
    sweep_options_clear(&options);
    return program_end(status);
}
