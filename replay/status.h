/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status on standard error while a run goes on: on a terminal one line that is written over
 * each second, else a plain line every 10 seconds. Made from the workers' live counters in the
 * thread that waits for the run (run_setup.tick).
 */
#ifndef REPLAY_STATUS_H
#define REPLAY_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "replay/tally.h"

struct status;

struct status_setup {
    FILE *stream;            /* standard error */
    bool terminal;           /* isatty() of it */
    double warmup, duration; /* seconds */
    const uint64_t *planned; /* operations due before each second, up to [seconds]; or NULL */
    size_t seconds;
    double nominal;               /* operations per second: what stands for planned when NULL */
    struct tally *const *tallies; /* of all workers; must outlive the status */
    size_t count;
};

/* NULL: no memory. */
struct status *status_new(const struct status_setup *setup);
/* Takes the line off a terminal and frees it; NULL is allowed. */
void status_free(struct status *status);

/* Shows how it goes when it is time to: now is ns since the plan's start, negative before it. Has
 * the form of run_setup.tick; context is the struct status. */
void status_tick(void *context, int64_t now);

/* Takes the line off the terminal before something else is written to standard error. Called with
 * the stream locked (flockfile), by any thread; cheap when no line is shown. */
void status_clear_line(FILE *stream);

#endif
