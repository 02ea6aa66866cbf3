/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the threads of one run share. Only two members are written while the run lasts, and both are
 * atomic: when the window ends (moved at most once) and why.
 */
#ifndef REPLAY_RUN_SHARED_H
#define REPLAY_RUN_SHARED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "protocols/dc.h"
#include "replay/play_table.h"
#include "replay/settings.h"
#include "replay/source.h"

enum run_end {
    RUN_END_WINDOW,      /* the whole window was measured */
    RUN_END_INTERRUPTED, /* SIGINT, SIGTERM or SIGHUP: exit status 130 */
    RUN_END_ERROR,       /* --stop-on-any-error: exit status 1 */
    RUN_END_PASSES       /* all clients have played their --passes */
};

/* Durations are in ns; points in time are ns since `start`. */
struct run_shared {
    const struct settings *settings;
    const struct plan *plan;
    const struct dc *dc;
    const struct play_table *table;
    const struct source_range *source;
    unsigned workers;
    uint32_t clients;
    uint32_t connecting_max; /* per worker, during the warm-up */
    int64_t timeout, max_backlog, latency_timeout;
    int64_t window_start;

    /* The gate: workers prepare their clients and wait here. The calling thread then sets the clock
     * and opens the gate for all of them. */
    pthread_mutex_t gate;
    pthread_cond_t gate_moved;
    unsigned ready;
    bool open;
    bool failed;   /* a worker could not prepare its clients: all workers leave at once */
    int64_t start; /* CLOCK_MONOTONIC of the plan's start; set before the gate opens */

    _Atomic int64_t window_end;
    _Atomic int end;               /* enum run_end */
    _Atomic uint32_t clients_done; /* with --passes */
    _Atomic bool stop_waiting;     /* a signal came after the window: no more waiting for answers */
    /* Ends the window before its time. Any worker's thread may call it. False: the window had
     * already been ended early. */
    bool (*end_early)(struct run_shared *shared, enum run_end end);
};

#endif
