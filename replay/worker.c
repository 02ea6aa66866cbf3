/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/worker.h"

#include "base/clock.h"

int64_t worker_now(const struct worker *worker)
{
    return clock_now() - worker->shared->start;
}

bool worker_may_send(struct worker *worker, int64_t now)
{
    worker_adopt_window_end(worker);
    return now < worker->window_end;
}

/* Whoever moved the end chose a moment in the future, so nothing due after it has been planned: the
 * precondition of tally_window_end(). */
void worker_adopt_window_end(struct worker *worker)
{
    int64_t end = atomic_load_explicit(&worker->shared->window_end, memory_order_relaxed);
    if (end == worker->window_end)
        return;
    worker->window_end = end;
    tally_window_end(worker->tally, end);
    if (!worker->closed)
        (void)loop_timer_set(worker->loop, &worker->close_timer, worker->shared->start + end);
}

void worker_began(struct worker *worker)
{
    worker->playing++;
}

void worker_ended(struct worker *worker)
{
    worker->playing--;
    worker_leave_if_over(worker);
}

void worker_leave_if_over(struct worker *worker)
{
    if (worker->closed && worker->playing == 0)
        loop_timer_stop(worker->loop, &worker->cancel_timer);
}

void worker_fail(struct worker *worker, int error)
{
    worker->error = error;
    loop_cancel(worker->loop);
}

void worker_notify(struct worker *worker)
{
    loop_notify(worker->loop);
}

void worker_free(struct worker *worker)
{
    loop_free(worker->loop);
    worker->loop = NULL;
}
