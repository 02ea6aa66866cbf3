/* SPDX-License-Identifier: Apache-2.0 */
/* The rates are differences between two snapshots of the workers' live counters. */
#include "replay/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/message.h"

struct status {
    struct status_setup setup;
    int64_t shown;            /* when the last line was shown; 0: none yet */
    struct tally_live before; /* the counters then */
};

/* The terminal that shows an unfinished line, or NULL. Guarded by that stream's lock. */
static FILE *line_shown;

static void print_line(struct status *status, int64_t now, const struct tally_live *live);
static void print_planned(const struct status_setup *setup, double elapsed, uint64_t sent);
static void print_p95(FILE *stream, const struct tally_live *before, const struct tally_live *now);
static void status_clear_line(void);

struct status *status_new(const struct status_setup *setup)
{
    struct status *status = calloc(1, sizeof *status);
    if (!status)
        return NULL;
    status->setup = *setup;
    message_before_line = status_clear_line;
    return status;
}

void status_free(struct status *status)
{
    if (!status)
        return;
    message_before_line = NULL;
    flockfile(status->setup.stream);
    status_clear_line();
    fflush(status->setup.stream);
    funlockfile(status->setup.stream);
    free(status);
}

static const int64_t terminal_interval = 1000000000, plain_interval = INT64_C(10) * 1000000000;

void status_tick(void *context, int64_t now)
{
    struct status *status = context;
    int64_t interval = status->setup.terminal ? terminal_interval : plain_interval;
    if (now < status->shown + interval)
        return;
    struct tally_live live = {0};
    for (size_t i = 0; i < status->setup.count; i++)
        tally_live(status->setup.tallies[i], &live);
    print_line(status, now, &live);
    status->before = live;
    status->shown = now;
}

static const double nanosecond = 1e-9;

static void print_line(struct status *status, int64_t now, const struct tally_live *live)
{
    FILE *stream = status->setup.stream;
    const struct tally_live *before = &status->before;
    double elapsed = (double)now * nanosecond, passed = (double)(now - status->shown) * nanosecond;
    double end = status->setup.warmup + status->setup.duration;
    flockfile(stream);
    if (status->setup.terminal)
        fputs("\r\033[K\033[?7l", stream); /* no wrapping: a wrapped line could not be removed */
    fprintf(stream, "%.0f of %.0f s%s: ", fmin(elapsed, end), end,
            elapsed < status->setup.warmup ? " (warm-up)"
            : elapsed > end + 1            ? " (waiting for answers)"
                                           : "");
    print_planned(&status->setup, elapsed, live->started);
    fprintf(stream, ", sent %" PRIu64 ", ok %.1f/s, failed %.1f/s, p95 ", live->started,
            (double)(live->ok - before->ok) / passed,
            (double)(live->failed - before->failed) / passed);
    print_p95(stream, before, live);
    fprintf(stream, ", in flight %" PRIu64,
            live->started > live->ended ? live->started - live->ended : 0);
    fputs(status->setup.terminal ? "\033[?7h" : "\n", stream);
    fflush(stream);
    line_shown = status->setup.terminal ? stream : NULL;
    funlockfile(stream);
}

/* The plan is known for whole seconds; what was sent since then was planned as well. */
static void print_planned(const struct status_setup *setup, double elapsed, uint64_t sent)
{
    double until = fmin(fmax(elapsed, 0), setup->warmup + setup->duration);
    if (!setup->planned) {
        fprintf(setup->stream, "planned about %.0f", fmax(until * setup->nominal, (double)sent));
        return;
    }
    size_t second = (size_t)until;
    uint64_t planned = setup->planned[second < setup->seconds ? second : setup->seconds];
    fprintf(setup->stream, "planned %" PRIu64, planned > sent ? planned : sent);
}

static void print_p95(FILE *stream, const struct tally_live *before, const struct tally_live *now)
{
    int64_t p95 = tally_live_quantile(before, now, 0.95);
    if (p95 < 0)
        fputs("none", stream);
    else
        fprintf(stream, "%.1f ms", (double)p95 * 1e-6);
}

static void status_clear_line(void)
{
    if (line_shown)
        fputs("\r\033[K", line_shown);
    line_shown = NULL;
}
