/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status on standard error while a run goes on: on a terminal one line that is written over
 * each second, else a plain line every 10 seconds. A thread of its own looks at the workers' live
 * counters.
 */
#ifndef REPLAY_STATUS_H
#define REPLAY_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "replay/record.h"

struct status;

struct status_setup {
    FILE *stream;    /* standard error */
    bool terminal;   /* isatty() of it */
    int64_t started; /* CLOCK_MONOTONIC ns of the plan's start */
    double warmup, duration;
    struct records *const *records; /* of all workers; must outlive the status */
    size_t count;
    int64_t interval; /* ns between lines; 0: 1 s on a terminal, else 10 s */
};

/* Starts to show it. NULL with errno set when it cannot. */
struct status *status_start(const struct status_setup *setup);
/* Ends the line and frees it; NULL is allowed. */
void status_stop(struct status *status);

/* Takes the status line off the terminal before something else is written to standard error; the
 * next status comes below it. Any thread; cheap when no status is shown. */
void status_clear_line(void);

#endif
