/* SPDX-License-Identifier: Apache-2.0 */
/* How a sweep goes, on standard error: cells done, the best so far, time left. On a terminal one
 * line that is written over, else a line a cell. */
#ifndef REPLAY_SWEEP_SWEEP_PROGRESS_H
#define REPLAY_SWEEP_SWEEP_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SWEEP_WHERE_SIZE = 256 };

struct sweep_progress {
    size_t total, done; /* cells; done counts those that an earlier call has played */
    bool at_most;       /* total is a limit: the search may end before */
    double expected;    /* seconds that a cell takes, before one was played */
    bool terminal;
    /* private */
    size_t played;
    double spent;    /* seconds in the cells of this call */
    int64_t started; /* the running cell's, CLOCK_MONOTONIC ns; 0: none */
    char now[SWEEP_WHERE_SIZE], best[SWEEP_WHERE_SIZE];
    double best_rate; /* negative: none */
    bool shown;
};

void sweep_progress_init(struct sweep_progress *progress);

/* Seconds until the end, as far as can be told; never negative. */
double sweep_progress_left(const struct sweep_progress *progress, int64_t now);
/* "1:02:03", "2:03". */
const char *sweep_progress_time(double seconds, char text[32]);

/* A cell begins. */
void sweep_progress_begin(struct sweep_progress *progress, const char *name);
/* It has ended: played, or known from an earlier call. rate: successful operations a second. */
void sweep_progress_end(struct sweep_progress *progress, const char *name, double rate,
                        bool played);
/* It could not be played. */
void sweep_progress_fail(struct sweep_progress *progress);

/* Shows the line, when there is a terminal. */
void sweep_progress_show(struct sweep_progress *progress);
/* Takes it off. */
void sweep_progress_hide(struct sweep_progress *progress);

#endif
