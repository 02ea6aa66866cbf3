/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker: one thread with its event loop, its clients and its tally. This file has what clients
 * and extra DNS queries need from their worker; worker_main.[ch] has the thread's life. Unless a
 * comment says otherwise, only the worker's thread may call these functions.
 */
#ifndef REPLAY_WORKER_H
#define REPLAY_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/engine/loop.h"
#include "replay/run_shared.h"
#include "replay/tally.h"

struct client;
struct dns_extra;

struct worker {
    struct run_shared *shared;
    unsigned number;
    struct loop *loop;
    struct tally *tally;
    struct client *clients; /* of the run's clients: number, number + workers, ... */
    uint32_t client_count;
    int64_t window_end; /* shared->window_end as far as this worker has read it */
    bool closed;        /* the window is over: nothing more is sent */
    uint32_t playing;   /* fibers that play something */
    uint32_t connecting;
    struct client *waiting_first, *waiting_last; /* queue for a turn to connect, by next_waiting */
    struct loop_timer open_timer, close_timer, cancel_timer;
    struct dns_extra *dns;
    int64_t busy_before, busy; /* ns the loop was busy: before the window, and inside it */
    pthread_t thread;
    int error; /* why it could not be prepared, or stopped: a negative errno; 0: no error */
};

/* ns since the plan's start. */
int64_t worker_now(const struct worker *worker);

/* Whether the window is still open at now. Adopts a new end of the window first. */
bool worker_may_send(struct worker *worker, int64_t now);

/* Adopts an end of the window that another thread has moved. */
void worker_adopt_window_end(struct worker *worker);

/* Call when a fiber begins to play, and when it has ended. The run is over when the last one has
 * ended. */
void worker_began(struct worker *worker);
void worker_ended(struct worker *worker);

/* Lets the loop end once the window is closed and no fiber plays any more. */
void worker_leave_if_over(struct worker *worker);

/* The worker cannot continue: cancels everything it does; the run fails. */
void worker_fail(struct worker *worker, int error);

/* Makes the worker read shared->window_end again. Any thread may call it until worker_free(). */
void worker_notify(struct worker *worker);

/* Call after its thread was joined. */
void worker_free(struct worker *worker);

#endif
