/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of a sweep on standard error: finished cells, the best one so far, remaining time. On a
 * terminal one line is overwritten, otherwise there is one line per cell. */
#ifndef REPLAY_SWEEP_SWEEP_PROGRESS_H
#define REPLAY_SWEEP_SWEEP_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SWEEP_NAME_SIZE = 256 };

struct sweep_progress {
    size_t total, done; /* cells; done includes those of earlier calls */
    bool at_most;       /* total is an upper bound: the search can end earlier */
    double expected;    /* estimated seconds per cell, until one is played */
    bool terminal;
    /* private */
    size_t played;
    double spent;    /* seconds, for the cells of this call */
    int64_t started; /* of the current cell, CLOCK_MONOTONIC ns; 0: none */
    char now[SWEEP_NAME_SIZE], best[SWEEP_NAME_SIZE];
    double best_rate; /* negative: none */
    bool shown;
};

/* Prepares progress for a sweep; the caller then sets total, done, at_most and expected. */
void sweep_progress_init(struct sweep_progress *progress);

/* Estimated seconds until the end; never negative. */
double sweep_progress_left(const struct sweep_progress *progress, int64_t now);
/* "1:02:03", "2:03". */
const char *sweep_progress_time(double seconds, char text[32]);

/* Begins a cell. */
void sweep_progress_begin(struct sweep_progress *progress, const char *name);
/* Ends a cell; played is false for the result of an earlier call. rate: successful operations per
 * second. */
void sweep_progress_end(struct sweep_progress *progress, const char *name, double rate,
                        bool played);
/* Ends a cell that failed. */
void sweep_progress_fail(struct sweep_progress *progress);

/* Shows the line on a terminal. */
void sweep_progress_show(struct sweep_progress *progress);
/* Removes the line. */
void sweep_progress_hide(struct sweep_progress *progress);

#endif
