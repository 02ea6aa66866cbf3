/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of one thread: descriptors (edge-triggered epoll), a heap of timers with
 * nanosecond waits, and fibers. A fiber is a function on a stack of its own that may wait; it runs
 * until it waits or returns and never moves to another thread.
 */
#ifndef REPLAY_ENGINE_LOOP_H
#define REPLAY_ENGINE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "protocols/wire.h"

struct loop;

/* On failure NULL with errno set. Only the thread that calls loop_run() may use it. To be freed
 * when no fiber is left (cancel and run it first). NULL is allowed. */
struct loop *loop_new(void);
void loop_free(struct loop *loop);

/* How streams of fibers of this loop wait. */
struct waiter *loop_waiter(struct loop *loop);

/* Starts a fiber as soon as the loop runs, after those that are ready already. Returns 0 or
 * -ENOMEM: no stack to be had. A stack takes two mappings (itself and its guard page), so mostly
 * vm.max_map_count is the reason; loop_maps_needed() tells beforehand. */
int loop_spawn(struct loop *loop, void (*function)(void *argument), void *argument);

/* Mappings that so many fibers at once take. */
uint64_t loop_maps_needed(uint64_t fibers);

/* Parks the calling fiber until deadline (CLOCK_MONOTONIC ns). 0, or -ECANCELED. */
int loop_sleep_until(struct loop *loop, int64_t deadline);

/* Lets the other fibers that are ready, and timers that are due, run before the calling fiber goes
 * on. */
void loop_yield(struct loop *loop);

/* A timer: calls function(argument) on the loop's own stack at due. Embed it; the heap keeps
 * pointers. A timer that is set is moved. */
struct loop_timer {
    int64_t due;
    uint32_t position; /* private: place in the heap, 0 when not set */
    void (*function)(void *argument);
    void *argument;
};
int loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t due);
void loop_timer_stop(struct loop *loop, struct loop_timer *timer);

/* From now on every wait ends with -ECANCELED. */
void loop_cancel(struct loop *loop);

/* From any thread: has function(argument) of loop_on_notify() called soon on the loop's own stack
 * (once for several notifications that come close together). Does not keep the loop running. */
void loop_notify(struct loop *loop);
void loop_on_notify(struct loop *loop, void (*function)(void *argument), void *argument);

/* Runs until no fiber is left and no timer is set, or loop_stop() was called. 0, or a negative
 * errno when the kernel refuses to wait. */
int loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* Fibers that were started and have not ended. */
uint64_t loop_fibers(const struct loop *loop);

/* Time the loop spent outside of epoll_pwait2() since it began to run, in ns; and since when. */
int64_t loop_busy(const struct loop *loop);

/*
 * Runs function(argument, i) for i in 0..count-1 as fibers, at most `parallel` at a time, on a loop
 * of the calling thread, and returns when all are done: how start-up work (accounts, catalogue)
 * uses the same protocols as the run. 0, or a negative errno when the loop could not be made (then
 * not all were run).
 */
int loop_run_all(void (*function)(struct loop *loop, void *argument, uint64_t i), void *argument,
                 uint64_t count, unsigned parallel);

#endif
