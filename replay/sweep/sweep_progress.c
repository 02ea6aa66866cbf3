/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of a sweep. */
#include "replay/sweep/sweep_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system.h"

static const double second = 1e9;

static void sweep_progress_print(const struct sweep_progress *progress);

void sweep_progress_init(struct sweep_progress *progress)
{
    *progress =
        (struct sweep_progress){.terminal = system_is_terminal(STDERR_FILENO), .best_rate = -1};
}

double sweep_progress_left(const struct sweep_progress *progress, int64_t now)
{
    double each =
        progress->played ? progress->spent / (double)progress->played : progress->expected;
    double cells =
        (double)(progress->total > progress->done ? progress->total - progress->done : 0);
    double running = progress->started ? (double)(now - progress->started) / second : 0;
    /* A cell that takes longer than expected does not shorten the cells after it. */
    double left = cells * each - (running < each ? running : each);
    return left > 0 ? left : 0;
}

const char *sweep_progress_time(double seconds, char text[32])
{
    uint64_t whole = (uint64_t)(seconds + 0.5);
    if (whole >= 3600)
        snprintf(text, 32, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, whole / 3600, whole / 60 % 60,
                 whole % 60);
    else
        snprintf(text, 32, "%" PRIu64 ":%02" PRIu64, whole / 60, whole % 60);
    return text;
}

void sweep_progress_begin(struct sweep_progress *progress, const char *name)
{
    snprintf(progress->now, sizeof progress->now, "%s", name);
    progress->started = clock_now();
    sweep_progress_show(progress);
}

void sweep_progress_end(struct sweep_progress *progress, const char *name, double rate, bool played)
{
    if (played) {
        progress->spent += (double)(clock_now() - progress->started) / second;
        progress->played++;
    }
    progress->started = 0;
    progress->done++;
    if (rate > progress->best_rate) {
        progress->best_rate = rate;
        snprintf(progress->best, sizeof progress->best, "%s", name);
    }
    if (played && !progress->terminal) {
        fprintf(stderr, "traffic-sweep: %s %.3f/s; ", name, rate);
        sweep_progress_print(progress);
        fputc('\n', stderr);
    }
}

static void sweep_progress_print(const struct sweep_progress *progress)
{
    char left[32];
    fprintf(stderr, "%zu of %s%zu cells", progress->done, progress->at_most ? "at most " : "",
            progress->total);
    if (progress->best_rate >= 0)
        fprintf(stderr, ", best %.3f/s in %s", progress->best_rate, progress->best);
    if (progress->done < progress->total)
        fprintf(stderr, ", %s%s left", progress->at_most ? "at most " : "",
                sweep_progress_time(sweep_progress_left(progress, clock_now()), left));
}

void sweep_progress_fail(struct sweep_progress *progress)
{
    progress->started = 0;
}

void sweep_progress_show(struct sweep_progress *progress)
{
    if (!progress->terminal)
        return;
    /* Disables wrapping: a wrapped line could not be removed again. */
    fputs("\r\033[?7l", stderr);
    sweep_progress_print(progress);
    if (progress->started)
        fprintf(stderr, "; playing %s", progress->now);
    fputs("\033[K\033[?7h", stderr);
    fflush(stderr);
    progress->shown = true;
}

void sweep_progress_hide(struct sweep_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
