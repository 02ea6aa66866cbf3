/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of one thread: descriptors (edge-triggered epoll), timers with nanosecond
 * precision, and fibers. A fiber is a function with its own stack that may wait. It runs until it
 * waits or returns, and never moves to another thread.
 */
#ifndef REPLAY_ENGINE_LOOP_H
#define REPLAY_ENGINE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "protocols/wire.h"
#include "replay/engine/loop_timer.h"

struct loop;

/* On failure NULL with errno set. Only the thread that calls loop_run() may use the loop. Free it
 * when no fiber is left: call loop_cancel() and loop_run() first. NULL is allowed. */
struct loop *loop_new(void);
void loop_free(struct loop *loop);

/* What a stream needs to wait on a fiber of this loop. */
struct waiter *loop_waiter(struct loop *loop);

/* Queues a new fiber, which starts when the loop runs. 0, or -ENOMEM: no memory for a stack. The
 * usual reason is vm.max_map_count, because each stack needs two mappings (one for its guard page);
 * see loop_maps_needed(). */
int loop_spawn(struct loop *loop, void (*function)(void *argument), void *argument);

/* The number of memory mappings that this many simultaneous fibers need. */
uint64_t loop_maps_needed(uint64_t fibers);

/* Parks the calling fiber until deadline (CLOCK_MONOTONIC ns). 0, or -ECANCELED. Tests use it to
 * wait without a descriptor; clients wait with timers, which need no fiber. */
int loop_sleep_until(struct loop *loop, int64_t deadline);

/* Lets ready fibers and due timers run before the calling fiber continues. */
void loop_yield(struct loop *loop);

/* Calls timer->function(timer->argument) on the loop's own stack at due. Moves a timer that is set
 * already. The heap keeps a pointer to the timer. 0, or -ENOMEM if the timer was not set before. */
int loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t due);
void loop_timer_stop(struct loop *loop, struct loop_timer *timer);

/* From now on, every wait of a fiber ends with -ECANCELED. */
void loop_cancel(struct loop *loop);

/* Makes the loop call the function of loop_on_notify() soon, on the loop's own stack; once for
 * several notifications in quick succession. Any thread may call it. Does not keep the loop
 * running.
 */
void loop_notify(struct loop *loop);
void loop_on_notify(struct loop *loop, void (*function)(void *argument), void *argument);

/* Runs until no fiber is left and no timer is set, or until loop_stop(). 0, or a negative errno of
 * epoll_pwait2(2). */
int loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* The number of fibers that have not ended. */
uint64_t loop_fibers(const struct loop *loop);

/* Time in ns that the loop has spent outside of epoll_pwait2(2) since loop_run() was first called.
 */
int64_t loop_busy(const struct loop *loop);

/*
 * Runs function(loop, argument, i) for i in 0..count-1 on fibers of the calling thread, at most
 * `parallel` at a time, and returns when all have ended. Start-up work uses it to run the same
 * protocol code as clients. 0, or a negative errno: not all i were run.
 */
int loop_run_all(void (*function)(struct loop *loop, void *argument, uint64_t i), void *argument,
                 uint64_t count, unsigned parallel);

#endif
