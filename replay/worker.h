/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker: one thread with its event loop, its clients and its tally. Workers share nothing that
 * is written while they run but two atomics: where the window ends (moved once, when the run is
 * interrupted) and why.
 */
#ifndef REPLAY_WORKER_H
#define REPLAY_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "replay/client.h"
#include "replay/engine/loop.h"
#include "replay/play_table.h"
#include "replay/run.h"
#include "replay/source.h"
#include "replay/tally.h"

struct dns_extra;

/* What all workers of a run share. Times are in ns; those of the plan count from `start`. */
struct worker_run {
    const struct settings *settings;
    const struct plan *plan;
    const struct dc *dc;
    const struct play_table *table;
    const struct source_range *source;
    unsigned workers;
    uint32_t clients;
    uint32_t connecting_max; /* of each worker, in the warm-up */
    int64_t timeout, max_backlog, latency_timeout;
    int64_t window_start;

    /* The start: workers make themselves ready and wait; the clock is set; all go. */
    pthread_mutex_t gate;
    pthread_cond_t gate_moved;
    unsigned ready;
    bool open;
    bool failed;   /* something could not be made ready: all leave at once */
    int64_t start; /* CLOCK_MONOTONIC of the plan's start; set before the gate opens */

    _Atomic int64_t window_end;
    _Atomic int end; /* enum run_end */
    /* Ends the window early, for --stop-on-any-error. Any worker's thread may call it. */
    void (*cut)(struct worker_run *run, enum run_end end);
};

struct worker {
    struct worker_run *run;
    unsigned number;
    struct loop *loop;
    struct tally *tally;
    struct client *clients; /* number, number + workers, ... of the run's */
    uint32_t client_count;
    int64_t window_end; /* run->window_end as this worker knows it */
    bool closed;        /* the window is: nothing is sent any more */
    uint32_t playing;   /* fibers that play something */
    uint32_t connecting;
    struct client *waiting_first, *waiting_last; /* for their turn to connect, by next_waiting */
    struct loop_timer open_timer, close_timer, cancel_timer;
    struct dns_extra *dns;
    int64_t busy_before, busy; /* ns that the loop was busy: at the window's start; inside it */
    pthread_t thread;
    int error; /* why it could not be made ready, or stopped */
};

/* The thread's function; argument is a struct worker whose run, number and tally are set. */
void *worker_main(void *worker);

/* After its thread was joined; until then others may notify it. */
void worker_free(struct worker *worker);

/* Another thread says that run->window_end has changed. */
void worker_notify(struct worker *worker);

/* The worker cannot go on: everything of it is cancelled, and the run fails. */
void worker_fail(struct worker *worker, int error);

/* ns since the plan's start. */
int64_t worker_now(const struct worker *worker);

/* Whether something due at `due` may still be sent at now. */
bool worker_may_send(struct worker *worker, int64_t now);

/* Something begins to play, or has ended: the run is over when the last one has ended. */
void worker_began(struct worker *worker);
void worker_ended(struct worker *worker);

/*
 * In the warm-up only so many clients make their first connections at a time. True: go on, and call
 * worker_connected() when the packet has ended. False: it is queued; client_go() is called later.
 */
bool worker_may_connect(struct worker *worker, struct client *client);
void worker_connected(struct worker *worker, struct client *client);

#endif
