/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: plays a plan against a server with one worker thread a core and tells how it went. What
 * happened to each operation goes into the workers' tallies (tally.h); this only says what belongs
 * to the run as a whole. Needs nothing of discovery: a struct dc filled by hand will do.
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
#include "replay/settings.h"
#include "replay/tally.h"

/* Number of worker threads for these settings: --threads or one a core this process may use, but
 * never more than clients. */
unsigned run_threads(const struct settings *settings, uint32_t clients);

/* Whether the packets' details can be played and, when the plan is to be played, this machine's
 * limits suffice and it has the source addresses: what run_play() would refuse, before accounts are
 * made for it. Raises the limits. Errors and messages as run_play(). */
int run_check(const struct settings *settings, const struct plan *plan, bool limits,
              struct error *error);

struct run_setup {
    const struct settings *settings;
    const struct plan *plan;
    /* users and machines: at least one of each a client; account_count says how many. */
    const struct dc *dc;
    /* One a worker, run_threads() of them, made and freed by the caller, merged after the run. */
    struct tally *const *tallies;
    /* Called in the calling thread about five times a second while the run lasts, with ns since the
     * plan's start (negative while clients are made ready). For the status line. May be NULL. */
    void (*tick)(void *context, int64_t now);
    void *context;
};

enum run_end {
    RUN_END_WINDOW,      /* the window was measured in full */
    RUN_END_INTERRUPTED, /* SIGINT or SIGTERM: exit status 130 */
    RUN_END_ERROR        /* --stop-on-any-error, or the engine could not go on: exit status 1 */
};

struct run_result {
    enum run_end end;
    unsigned threads;
    double start_wall;    /* Unix time of the plan's start */
    int64_t start;        /* the same instant, CLOCK_MONOTONIC ns */
    int64_t window_start; /* ns since the plan's start: the warm-up's end */
    int64_t window_end;   /* ns since the plan's start; earlier than planned after an interrupt */
    double cpu_user;      /* seconds of CPU of this process from window_start to window_end */
    double cpu_system;
    /* Lateness of a bare timer in this process, one that has no other work, over the window: what
     * the machine alone makes late. p99 in seconds; NaN: there was no window. */
    double timer_p99;
    double busiest; /* 0..1: share of the window that the busiest worker was busy */
};

/*
 * Plays the plan. Handles SIGINT and SIGTERM while it lasts: the first one ends the window now (50
 * ms later, so that all workers agree on what is inside), the second leaves the process at once
 * with exit status 130. One run at a time.
 *
 * Returns 0 when the run was made (operations may have failed, the run may have been interrupted:
 * see result->end), or a negative errno and in error one line that says what to mend: the limits of
 * this machine are too low for so many clients, a source address cannot be bound, details of the
 * model cannot be played.
 */
int run_play(const struct run_setup *setup, struct run_result *result, struct error *error);

#endif
