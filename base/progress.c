/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of start-up work. */
#include "base/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system.h"

static const int64_t second = 1000000000, on_terminal = 200000000, elsewhere = 5000000000;

static double progress_rate(const struct progress *progress, int64_t now);

void progress_start(struct progress *progress, const char *what, uint64_t total)
{
    *progress = (struct progress){.what = what,
                                  .total = total,
                                  .started = clock_now(),
                                  .terminal = system_is_terminal(STDERR_FILENO)};
    progress->printed = progress->started;
}

void progress_step(struct progress *progress)
{
    int64_t now = clock_now();
    progress->done++;
    if (now - progress->printed < (progress->terminal ? on_terminal : elsewhere))
        return;
    progress->printed = now;
    progress->shown = true;
    fprintf(stderr, "%s%s: %" PRIu64 " of %" PRIu64 " (%.0f/s)%s",
            progress->terminal ? "\r\033[?7l" : "", progress->what, progress->done, progress->total,
            progress_rate(progress, now), progress->terminal ? "\033[K\033[?7h" : "\n");
}

static double progress_rate(const struct progress *progress, int64_t now)
{
    double seconds = (double)(now - progress->started) / (double)second;
    return seconds > 0 ? (double)progress->done / seconds : 0;
}

void progress_end(struct progress *progress)
{
    int64_t now = clock_now();
    fprintf(stderr, "%s%s: %" PRIu64 " in %.1f s (%.0f/s)\n",
            progress->terminal && progress->shown ? "\r\033[K" : "", progress->what, progress->done,
            (double)(now - progress->started) / (double)second, progress_rate(progress, now));
}
