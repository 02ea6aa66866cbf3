/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run plays a plan against a server, with one worker thread per core. The workers' tallies
 * (tally.h) count what happens to each operation; struct run_result describes the run as a whole.
 * A run does not need discovery: the caller may fill struct dc by hand.
 */
#ifndef REPLAY_RUN_H
#define REPLAY_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/plan.h"
#include "protocols/dc.h"
#include "protocols/packet.h"
#include "replay/run_shared.h"
#include "replay/settings.h"
#include "replay/tally.h"

/* Number of worker threads: --threads, or one per core that this process may use, but never more
 * than clients. */
unsigned run_threads(const struct settings *settings, uint32_t clients);

/* Checks what run_play() would refuse, before accounts are created for it: whether this machine's
 * limits suffice and it has the source addresses. Raises the limits. Errors and texts as
 * run_play(). */
int run_check(const struct settings *settings, const struct plan *plan,
              const struct play_table *table, struct error *error);

struct run_setup {
    const struct settings *settings;
    const struct plan *plan;
    const struct play_table *table; /* of the plan's model */
    /* Its account_count is at least the number of clients, unless it has no accounts at all. */
    const struct dc *dc;
    /* One per worker, run_threads() in all. The caller creates, merges and frees them. */
    struct tally *const *tallies;
    /* Called in the calling thread about five times per second, with ns since the plan's start
     * (negative while clients are prepared). For the status line. May be NULL. */
    void (*tick)(void *context, int64_t now);
    void *context;
};

struct run_result {
    enum run_end end;
    unsigned threads;
    double start_wall;    /* Unix time of the plan's start */
    int64_t start;        /* the same instant, CLOCK_MONOTONIC ns */
    int64_t window_start; /* end of the warm-up; ns since the plan's start */
    int64_t window_end;   /* ns since the plan's start; before the planned end when end says so */
    double cpu_user;      /* CPU seconds of this process from window_start to window_end */
    double cpu_system;
    /* Lateness of a timer in a thread without other work: the part of the lag that the machine
     * alone causes. 99th percentile over the window, in seconds; NaN: there was no window. */
    double timer_p99;
    double busiest; /* 0..1: share of the window in which the busiest worker was not waiting */
};

/*
 * Plays the plan. Handles SIGINT and SIGTERM during the run: the first one ends the window 50 ms
 * later, so that all workers agree on what is inside it; the second one ends the process at once
 * with exit status 130. Only one run at a time.
 *
 * Returns 0 when the run took place, even if operations failed or the run was interrupted: see
 * result->end. Otherwise returns a negative errno, and error says what to change: this machine's
 * limits are too low for so many clients, or a source address cannot be bound.
 */
int run_play(const struct run_setup *setup, struct run_result *result, struct error *error);

#endif
