/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's life: make its clients ready, start with the others, close the window, leave. */
#include "replay/worker.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "replay/dns_extra.h"

static int worker_make_ready(struct worker *worker);
static uint32_t clients_of(const struct worker_run *run, unsigned worker);
static void wait_at_gate(struct worker_run *run);
static void worker_play(struct worker *worker);
static int set_timers(struct worker *worker);
static void open_window(void *argument);
static void take_turn(struct worker *worker, struct client *client);
static void close_window(void *argument);
static void leave_if_over(struct worker *worker);
static void cancel_rest(void *argument);
static void notified(void *argument);
static void adopt_window_end(struct worker *worker);
static void worker_finish(struct worker *worker);

void *worker_main(void *argument)
{
    struct worker *worker = argument;
    worker->error = worker_make_ready(worker);
    wait_at_gate(worker->run);
    if (!worker->run->failed)
        worker_play(worker);
    worker_finish(worker);
    return NULL;
}

static int worker_make_ready(struct worker *worker)
{
    struct worker_run *run = worker->run;
    worker->loop = loop_new();
    if (!worker->loop)
        return -errno;
    worker->client_count = clients_of(run, worker->number);
    worker->clients = calloc(worker->client_count + 1, sizeof *worker->clients);
    if (!worker->clients)
        return -ENOMEM;
    for (uint32_t i = 0; i < worker->client_count; i++)
        client_init(&worker->clients[i], worker, worker->number + i * run->workers);
    worker->window_end = atomic_load(&run->window_end);
    return dns_extra_new(worker, &worker->dns);
}

static uint32_t clients_of(const struct worker_run *run, unsigned worker)
{
    return run->clients / run->workers + (worker < run->clients % run->workers);
}

static void wait_at_gate(struct worker_run *run)
{
    pthread_mutex_lock(&run->gate);
    run->ready++;
    pthread_cond_broadcast(&run->gate_moved);
    while (!run->open)
        pthread_cond_wait(&run->gate_moved, &run->gate);
    pthread_mutex_unlock(&run->gate);
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
    loop_on_notify(worker->loop, notified, worker);
    error = loop_run(worker->loop);
    if (error)
        worker->error = error;
}

static int set_timers(struct worker *worker)
{
    struct worker_run *run = worker->run;
    struct loop *loop = worker->loop;
    worker->open_timer = (struct loop_timer){.function = open_window, .argument = worker};
    worker->close_timer = (struct loop_timer){.function = close_window, .argument = worker};
    worker->cancel_timer = (struct loop_timer){.function = cancel_rest, .argument = worker};
    int error = loop_timer_set(loop, &worker->open_timer, run->start + run->window_start);
    if (!error)
        error = loop_timer_set(loop, &worker->close_timer, run->start + worker->window_end);
    return error;
}

static void open_window(void *argument)
{
    struct worker *worker = argument;
    worker->busy_before = loop_busy(worker->loop);
    /* Whoever still waits for a first connection goes now: from here on lag is measured. */
    struct client *client = worker->waiting_first;
    worker->waiting_first = worker->waiting_last = NULL;
    for (struct client *next; client; client = next) {
        next = client->next_waiting;
        take_turn(worker, client);
        client_go(client);
    }
}

static void take_turn(struct worker *worker, struct client *client)
{
    worker->connecting++;
    client->has_turn = true;
}

static void close_window(void *argument)
{
    struct worker *worker = argument;
    if (worker->closed)
        return;
    worker->closed = true;
    worker->waiting_first = worker->waiting_last = NULL;
    if (worker->window_end > worker->run->window_start)
        worker->busy = loop_busy(worker->loop) - worker->busy_before;
    for (uint32_t i = 0; i < worker->client_count; i++)
        client_close_window(&worker->clients[i]);
    dns_extra_stop(worker->dns);
    loop_timer_stop(worker->loop, &worker->open_timer);
    loop_timer_stop(worker->loop, &worker->close_timer);
    int64_t cancel = worker->run->start + worker->window_end + worker->run->latency_timeout;
    int error = loop_timer_set(worker->loop, &worker->cancel_timer, cancel);
    if (error)
        worker_fail(worker, error);
    leave_if_over(worker);
}

static void leave_if_over(struct worker *worker)
{
    if (worker->closed && worker->playing == 0)
        loop_timer_stop(worker->loop, &worker->cancel_timer);
}

static void cancel_rest(void *argument)
{
    struct worker *worker = argument;
    loop_cancel(worker->loop);
}

static void notified(void *argument)
{
    adopt_window_end(argument);
}

/* Takes over an end of the window that another thread has moved. The one who moved it gave a time
 * that had not come yet, so nothing due after it was planned (tally_window_end). */
static void adopt_window_end(struct worker *worker)
{
    int64_t end = atomic_load_explicit(&worker->run->window_end, memory_order_relaxed);
    if (end == worker->window_end)
        return;
    worker->window_end = end;
    tally_window_end(worker->tally, end);
    if (!worker->closed)
        (void)loop_timer_set(worker->loop, &worker->close_timer, worker->run->start + end);
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

void worker_free(struct worker *worker)
{
    loop_free(worker->loop);
    worker->loop = NULL;
}

void worker_notify(struct worker *worker)
{
    loop_notify(worker->loop);
}

void worker_fail(struct worker *worker, int error)
{
    worker->error = error;
    loop_cancel(worker->loop);
}

int64_t worker_now(const struct worker *worker)
{
    return clock_now() - worker->run->start;
}

bool worker_may_send(struct worker *worker, int64_t now)
{
    adopt_window_end(worker);
    return now < worker->window_end;
}

void worker_began(struct worker *worker)
{
    worker->playing++;
}

void worker_ended(struct worker *worker)
{
    worker->playing--;
    leave_if_over(worker);
}

bool worker_may_connect(struct worker *worker, struct client *client)
{
    if (worker->connecting < worker->run->connecting_max ||
        worker_now(worker) >= worker->run->window_start) {
        take_turn(worker, client);
        return true;
    }
    client->state = CLIENT_WAITING;
    client->next_waiting = NULL;
    if (worker->waiting_last)
        worker->waiting_last->next_waiting = client;
    else
        worker->waiting_first = client;
    worker->waiting_last = client;
    return false;
}

void worker_connected(struct worker *worker, struct client *client)
{
    if (!client->has_turn)
        return;
    client->has_turn = false;
    worker->connecting--;
    struct client *next = worker->waiting_first;
    if (!next)
        return;
    worker->waiting_first = next->next_waiting;
    if (!worker->waiting_first)
        worker->waiting_last = NULL;
    take_turn(worker, next);
    client_go(next);
}
