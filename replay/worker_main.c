/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's life: it prepares its clients, starts with the other workers, closes the window and
 * leaves. */
#include "replay/worker_main.h"

#include <errno.h>
#include <stdlib.h>

#include "replay/client.h"
#include "replay/dns_extra.h"
#include "replay/worker.h"

static int worker_prepare(struct worker *worker);
static uint32_t clients_of_worker(const struct run_shared *shared, unsigned worker);
static void wait_at_gate(struct run_shared *shared);
static void worker_play(struct worker *worker);
static int set_timers(struct worker *worker);
static void open_window(void *argument);
static void close_window(void *argument);
static void cancel_rest(void *argument);
static void window_moved(void *argument);
static void worker_finish(struct worker *worker);

void *worker_main(void *argument)
{
    struct worker *worker = argument;
    worker->error = worker_prepare(worker);
    wait_at_gate(worker->shared);
    if (!worker->shared->failed)
        worker_play(worker);
    worker_finish(worker);
    return NULL;
}

static int worker_prepare(struct worker *worker)
{
    struct run_shared *shared = worker->shared;
    worker->loop = loop_new();
    if (!worker->loop)
        return -errno;
    worker->client_count = clients_of_worker(shared, worker->number);
    worker->clients = calloc(worker->client_count + 1, sizeof *worker->clients);
    if (!worker->clients)
        return -ENOMEM;
    for (uint32_t i = 0; i < worker->client_count; i++)
        client_init(&worker->clients[i], worker, worker->number + i * shared->workers);
    worker->window_end = atomic_load(&shared->window_end);
    return dns_extra_new(worker, &worker->dns);
}

static uint32_t clients_of_worker(const struct run_shared *shared, unsigned worker)
{
    return shared->clients / shared->workers + (worker < shared->clients % shared->workers);
}

static void wait_at_gate(struct run_shared *shared)
{
    pthread_mutex_lock(&shared->gate);
    shared->ready++;
    pthread_cond_broadcast(&shared->gate_moved);
    while (!shared->open)
        pthread_cond_wait(&shared->gate_moved, &shared->gate);
    pthread_mutex_unlock(&shared->gate);
}

static void worker_play(struct worker *worker)
{
    int error = set_timers(worker);
    if (error)
        worker_fail(worker, error);
    for (uint32_t i = 0; !worker->error && i < worker->client_count; i++)
        client_start(&worker->clients[i]);
    if (worker->error)
        return;
    dns_extra_start(worker->dns);
    loop_on_notify(worker->loop, window_moved, worker);
    error = loop_run(worker->loop);
    if (error)
        worker->error = error;
}

static int set_timers(struct worker *worker)
{
    struct run_shared *shared = worker->shared;
    struct loop *loop = worker->loop;
    worker->open_timer = (struct loop_timer){.function = open_window, .argument = worker};
    worker->close_timer = (struct loop_timer){.function = close_window, .argument = worker};
    worker->cancel_timer = (struct loop_timer){.function = cancel_rest, .argument = worker};
    int error = loop_timer_set(loop, &worker->open_timer, shared->start + shared->window_start);
    if (!error)
        error = loop_timer_set(loop, &worker->close_timer, shared->start + worker->window_end);
    return error;
}

/* Starts the clients that still wait for their first connection: lag is measured from here on. */
static void open_window(void *argument)
{
    struct worker *worker = argument;
    worker->busy_before = loop_busy(worker->loop);
    client_release_waiting(worker);
}

static void close_window(void *argument)
{
    struct worker *worker = argument;
    if (worker->closed)
        return;
    worker->closed = true;
    worker->waiting_first = worker->waiting_last = NULL;
    if (worker->window_end > worker->shared->window_start)
        worker->busy = loop_busy(worker->loop) - worker->busy_before;
    for (uint32_t i = 0; i < worker->client_count; i++)
        client_close_window(&worker->clients[i]);
    dns_extra_stop(worker->dns);
    loop_timer_stop(worker->loop, &worker->open_timer);
    loop_timer_stop(worker->loop, &worker->close_timer);
    int64_t cancel = worker->shared->start + worker->window_end + worker->shared->latency_timeout;
    int error = loop_timer_set(worker->loop, &worker->cancel_timer, cancel);
    if (error)
        worker_fail(worker, error);
    if (atomic_load(&worker->shared->stop_waiting))
        loop_cancel(worker->loop);
    worker_leave_if_over(worker);
}

static void cancel_rest(void *argument)
{
    struct worker *worker = argument;
    loop_cancel(worker->loop);
}

static void window_moved(void *argument)
{
    struct worker *worker = argument;
    worker_adopt_window_end(worker);
    if (worker->closed && atomic_load(&worker->shared->stop_waiting))
        loop_cancel(worker->loop);
}

static void worker_finish(struct worker *worker)
{
    for (uint32_t i = 0; worker->clients && i < worker->client_count; i++)
        if (worker->clients[i].worker)
            client_finish(&worker->clients[i]);
    dns_extra_free(worker->dns);
    free(worker->clients);
    worker->dns = NULL;
    worker->clients = NULL;
}
