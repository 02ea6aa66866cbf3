/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status on standard error during a run: on a terminal one line that is overwritten every
 * second, otherwise one line every 10 seconds. It shows the workers' live counters, and runs in the
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
    double nominal;               /* operations per second; replaces `planned` when that is NULL */
    struct tally *const *tallies; /* of all workers; must outlive the status */
    size_t count;
};

/* From now on, messages first remove the line from the terminal. One status at a time. On failure
 * NULL (out of memory). */
struct status *status_new(const struct status_setup *setup);
/* Removes the line from the terminal and frees the status. NULL is allowed. */
void status_free(struct status *status);

/* For run_setup.tick; context is the struct status. Prints the line if it is due. now is ns since
 * the plan's start; negative before it. */
void status_tick(void *context, int64_t now);

#endif
