/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each round asks the kernel for events, moves the fibers that waited for them to the ready queue,
 * and runs the queued fibers. It waits in the kernel only when no fiber is ready. Due timers fire
 * before each fiber, so a long queue does not delay them; what they start is queued after the
 * fibers that were ready before. No fiber runs while events are read, so no event refers to a
 * descriptor that has been closed in between.
 */
#include "replay/engine/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "base/clock.h"
#include "replay/engine/fiber_private.h"
#include "replay/engine/timers_private.h"

enum {
    EVENTS_PER_ROUND = 64,
    SECOND = 1000000000,
    /* The kernel may extend a wait by a thousandth, 1 ms per second (select_estimate_accuracy). So
     * the loop shortens long waits by more than that and waits again for the rest. */
    LONG_WAIT = 2000000,
    WAIT_CUT = 512
};

struct fiber_list {
    struct fiber *first, *last;
};

struct loop {
    struct waiter waiter; /* must be the first member */
    int epoll_fd, notify_fd;
    struct timers timers;
    struct fiber_pool *pool;
    struct fiber_list ready, parked;
    uint64_t ready_count;
    uint64_t fibers;
    struct fiber *running;
    void (*notified)(void *argument);
    void *notified_argument;
    int64_t began, waited; /* start of loop_run(); time spent in epoll_pwait2() */
    int64_t next_trim;     /* when to trim the pool; INT64_MAX: no stacks are pooled */
    bool cancelled, stopped;
    bool no_pwait2; /* an old kernel, or valgrind */
};

/* For loop_run_all(): each of its fibers takes the next number until all are done. */
struct run_all {
    struct loop *loop;
    void (*function)(struct loop *loop, void *argument, uint64_t i);
    void *argument;
    uint64_t next, count;
};

static int watch_notifications(struct loop *loop);
static int loop_collect(struct loop *loop);
static int64_t time_left(const struct loop *loop, int64_t now);
static int wait_events(struct loop *loop, struct epoll_event *events, int64_t left);
static int wait_without_pwait2(struct loop *loop, struct epoll_event *events,
                               const struct timespec *timeout);
static void handle_notification(struct loop *loop);
static void handle_event(const struct epoll_event *event);
static void run_ready(struct loop *loop);
static void fire_timers(struct loop *loop, int64_t now);
static void loop_trim(struct loop *loop, int64_t now);
static void run_queued(struct loop *loop);
static void run_fiber(struct loop *loop, struct fiber *fiber);
static int loop_wait(struct waiter *waiter, struct wire_slot *slot, enum wire_event event,
                     int64_t deadline);
static int loop_watch(struct loop *loop, struct wire_slot *slot, enum wire_event wanted);
static int loop_park(struct loop *loop, struct wire_slot *slot, int64_t deadline);
static void wait_timed_out(void *argument);
static void loop_unpark(struct fiber *fiber, int result);
static void loop_make_ready(struct loop *loop, struct fiber *fiber);
static void list_add(struct fiber_list *list, struct fiber *fiber);
static void list_remove(struct fiber_list *list, struct fiber *fiber);
static void loop_forget(struct waiter *waiter, struct wire_slot *slot);
static void run_numbers(void *argument);

struct loop *loop_new(void)
{
    static const struct waiter_ops ops = {.wait = loop_wait, .forget = loop_forget};
    struct loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    loop->waiter.ops = &ops;
    loop->next_trim = INT64_MAX;
    loop->no_pwait2 = RUNNING_ON_VALGRIND; /* old versions warn about the unknown system call */
    loop->notify_fd = -1;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll_fd < 0)
        goto cleanup;
    loop->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->notify_fd < 0 || watch_notifications(loop) < 0)
        goto cleanup;
    loop->pool = fiber_pool_new();
    if (loop->pool)
        return loop;
cleanup:;
    int error = errno;
    loop_free(loop);
    errno = error;
    return NULL;
}

static int watch_notifications(struct loop *loop)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = loop};
    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->notify_fd, &event);
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    if (loop->notify_fd >= 0)
        close(loop->notify_fd);
    if (loop->epoll_fd >= 0)
        close(loop->epoll_fd);
    fiber_pool_free(loop->pool);
    timers_free(&loop->timers);
    free(loop);
}

int loop_spawn(struct loop *loop, void (*function)(void *argument), void *argument)
{
    struct fiber *fiber = fiber_take(loop->pool, function, argument);
    if (!fiber)
        return -ENOMEM;
    fiber->loop = loop;
    fiber->slot = NULL;
    loop->fibers++;
    loop_make_ready(loop, fiber);
    return 0;
}

uint64_t loop_maps_needed(uint64_t fibers)
{
    return fibers * 2;
}

int loop_run(struct loop *loop)
{
    if (!loop->began)
        loop->began = clock_now();
    /* With the default slack of 50 us every timer would be late by that. */
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    while (!loop->stopped && (loop->fibers || loop->timers.count)) {
        int error = loop_collect(loop);
        if (error)
            return error;
        run_ready(loop);
    }
    loop->stopped = false;
    return 0;
}

/* Asks the kernel once and queues the fibers whose wait has ended. */
static int loop_collect(struct loop *loop)
{
    struct epoll_event events[EVENTS_PER_ROUND];
    int64_t before = clock_now();
    int n = wait_events(loop, events, time_left(loop, before));
    int error = n < 0 ? -errno : 0;
    loop->waited += clock_now() - before;
    if (error)
        return error == -EINTR ? 0 : error;
    for (int i = 0; i < n; i++) {
        if (events[i].data.ptr == loop)
            handle_notification(loop);
        else
            handle_event(&events[i]);
    }
    return 0;
}

/* How long to wait in the kernel: not at all when a fiber is ready, otherwise until the next timer.
 */
static int64_t time_left(const struct loop *loop, int64_t now)
{
    if (loop->ready.first)
        return 0;
    int64_t until = timers_next(&loop->timers);
    if (loop->next_trim < until)
        until = loop->next_trim;
    int64_t left = until <= now ? 0 : until - now;
    if (left > 3600LL * SECOND)
        left = 3600LL * SECOND;
    return left > LONG_WAIT ? left - left / WAIT_CUT : left;
}

static int wait_events(struct loop *loop, struct epoll_event *events, int64_t left)
{
    struct timespec timeout = {.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
    if (!loop->no_pwait2) {
        int n = epoll_pwait2(loop->epoll_fd, events, EVENTS_PER_ROUND, &timeout, NULL);
        if (n >= 0 || errno != ENOSYS)
            return n;
        loop->no_pwait2 = true;
    }
    return wait_without_pwait2(loop, events, &timeout);
}

/* For kernels without epoll_pwait2(2): ppoll(2) waits with nanosecond precision, then epoll_wait(2)
 * collects the events. */
static int wait_without_pwait2(struct loop *loop, struct epoll_event *events,
                               const struct timespec *timeout)
{
    struct pollfd fd = {.fd = loop->epoll_fd, .events = POLLIN};
    if (ppoll(&fd, 1, timeout, NULL) < 0)
        return -1;
    return epoll_wait(loop->epoll_fd, events, EVENTS_PER_ROUND, 0);
}

static void handle_notification(struct loop *loop)
{
    uint64_t count;
    ssize_t n = read(loop->notify_fd, &count, sizeof count);
    if (n == sizeof count && loop->notified)
        loop->notified(loop->notified_argument);
}

static void handle_event(const struct epoll_event *event)
{
    static const uint32_t broken = EPOLLERR | EPOLLHUP;
    struct wire_slot *slot = event->data.ptr;
    uint8_t came = (event->events & (EPOLLIN | EPOLLRDHUP | broken) ? WIRE_READ : 0) |
                   (event->events & (EPOLLOUT | broken) ? WIRE_WRITE : 0);
    slot->missed |= came & (uint8_t)~slot->wanted;
    slot->hung_up |= (event->events & (EPOLLRDHUP | broken)) != 0;
    if (slot->parked && came & slot->wanted)
        loop_unpark(slot->parked, 0);
}

/* Runs the queued fibers, then those that they or timers have made ready in between (a client whose
 * next packet is due at once). All others run after the next check for kernel events. */
static void run_ready(struct loop *loop)
{
    int64_t now = clock_now();
    fire_timers(loop, now);
    loop_trim(loop, now);
    run_queued(loop);
    run_queued(loop);
}

static void fire_timers(struct loop *loop, int64_t now)
{
    struct loop_timer *timer;
    while ((timer = timers_take_due(&loop->timers, now)))
        timer->function(timer->argument);
}

static void loop_trim(struct loop *loop, int64_t now)
{
    if (now < loop->next_trim)
        return;
    loop->next_trim = fiber_pool_trim(loop->pool) ? now + SECOND : INT64_MAX;
}

static void run_queued(struct loop *loop)
{
    for (uint64_t left = loop->ready_count; left > 0 && !loop->stopped; left--) {
        run_fiber(loop, loop->ready.first);
        fire_timers(loop, clock_now());
    }
}

static void run_fiber(struct loop *loop, struct fiber *fiber)
{
    list_remove(&loop->ready, fiber);
    loop->ready_count--;
    fiber->state = FIBER_RUNNING;
    loop->running = fiber;
    bool ended = fiber_enter(loop->pool, fiber);
    loop->running = NULL;
    if (!ended)
        return;
    loop->fibers--;
    if (loop->next_trim == INT64_MAX)
        loop->next_trim = clock_now() + SECOND;
}

void loop_stop(struct loop *loop)
{
    loop->stopped = true;
}

struct waiter *loop_waiter(struct loop *loop)
{
    return &loop->waiter;
}

static int loop_wait(struct waiter *waiter, struct wire_slot *slot, enum wire_event event,
                     int64_t deadline)
{
    struct loop *loop = (struct loop *)waiter;
    if (slot->parked)
        return -EBUSY;
    if (slot->missed & event && !loop->cancelled) {
        /* The edge came after the caller's EAGAIN, while it waited for another event. */
        slot->missed &= (uint8_t)~event;
        return 0;
    }
    if (!(slot->watched & event)) {
        int error = loop_watch(loop, slot, event);
        if (error)
            return error;
    }
    slot->wanted = (uint8_t)event;
    slot->parked = loop->running;
    int error = loop_park(loop, slot, deadline);
    slot->wanted = 0;
    slot->parked = NULL;
    return error;
}

/*
 * Adds an event to those the kernel reports for the descriptor. EPOLLOUT is added only once a fiber
 * has waited for it: a UDP socket reports it for each datagram that was sent, and a new socket
 * reports it at once, which would wake the loop for nothing.
 */
static int loop_watch(struct loop *loop, struct wire_slot *slot, enum wire_event wanted)
{
    int operation = slot->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    uint8_t watched = slot->watched | WIRE_READ | (uint8_t)wanted;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = slot};
    if (watched & WIRE_WRITE)
        event.events |= EPOLLOUT;
    if (epoll_ctl(loop->epoll_fd, operation, slot->fd, &event) < 0)
        return -errno;
    slot->watched = watched;
    return 0;
}

/* Parks the running fiber until an event of the slot (NULL: none) or until deadline. */
static int loop_park(struct loop *loop, struct wire_slot *slot, int64_t deadline)
{
    struct fiber *fiber = loop->running;
    if (!fiber)
        return -EDEADLK; /* not on a fiber: nothing could wake the caller */
    if (loop->cancelled)
        return -ECANCELED;
    fiber->timer.function = wait_timed_out;
    fiber->timer.argument = fiber;
    int error = timers_set(&loop->timers, &fiber->timer, deadline);
    if (error)
        return error;
    fiber->slot = slot;
    fiber->state = FIBER_PARKED;
    list_add(&loop->parked, fiber);
    fiber_leave(loop->pool);
    return fiber->result;
}

static void wait_timed_out(void *argument)
{
    struct fiber *fiber = argument;
    loop_unpark(fiber, fiber->slot ? -ETIMEDOUT : 0);
}

/* Ends a fiber's wait; result is what the wait returns. */
static void loop_unpark(struct fiber *fiber, int result)
{
    struct loop *loop = fiber->loop;
    list_remove(&loop->parked, fiber);
    timers_stop(&loop->timers, &fiber->timer);
    if (fiber->slot) {
        fiber->slot->parked = NULL;
        fiber->slot->wanted = 0;
    }
    fiber->result = result;
    loop_make_ready(loop, fiber);
}

static void loop_make_ready(struct loop *loop, struct fiber *fiber)
{
    fiber->state = FIBER_QUEUED;
    list_add(&loop->ready, fiber);
    loop->ready_count++;
}

static void list_add(struct fiber_list *list, struct fiber *fiber)
{
    fiber->next = NULL;
    fiber->previous = list->last;
    if (list->last)
        list->last->next = fiber;
    else
        list->first = fiber;
    list->last = fiber;
}

static void list_remove(struct fiber_list *list, struct fiber *fiber)
{
    if (fiber->previous)
        fiber->previous->next = fiber->next;
    else
        list->first = fiber->next;
    if (fiber->next)
        fiber->next->previous = fiber->previous;
    else
        list->last = fiber->previous;
}

/* close(2) is not enough: a forked child keeps the descriptor open until its exec, and the kernel
 * would report events for a slot that no longer exists. */
static void loop_forget(struct waiter *waiter, struct wire_slot *slot)
{
    struct loop *loop = (struct loop *)waiter;
    if (slot->watched)
        (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, slot->fd, NULL);
    slot->watched = 0;
    slot->missed = 0;
}

int loop_sleep_until(struct loop *loop, int64_t deadline)
{
    return loop_park(loop, NULL, deadline);
}

void loop_yield(struct loop *loop)
{
    if (!loop->running)
        return;
    loop_make_ready(loop, loop->running);
    fiber_leave(loop->pool);
}

int loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t due)
{
    return timers_set(&loop->timers, timer, due);
}

void loop_timer_stop(struct loop *loop, struct loop_timer *timer)
{
    timers_stop(&loop->timers, timer);
}

void loop_cancel(struct loop *loop)
{
    loop->cancelled = true;
    while (loop->parked.first)
        loop_unpark(loop->parked.first, -ECANCELED);
}

void loop_notify(struct loop *loop)
{
    uint64_t one = 1;
    ssize_t n = write(loop->notify_fd, &one, sizeof one);
    (void)n; /* fails only if the counter is full, and then the loop wakes up, too */
}

void loop_on_notify(struct loop *loop, void (*function)(void *argument), void *argument)
{
    loop->notified = function;
    loop->notified_argument = argument;
}

uint64_t loop_fibers(const struct loop *loop)
{
    return loop->fibers;
}

int64_t loop_busy(const struct loop *loop)
{
    return loop->began ? clock_now() - loop->began - loop->waited : 0;
}

int loop_run_all(void (*function)(struct loop *loop, void *argument, uint64_t i), void *argument,
                 uint64_t count, unsigned parallel)
{
    if (count == 0)
        return 0;
    struct run_all all = {
        .loop = loop_new(), .function = function, .argument = argument, .count = count};
    if (!all.loop)
        return -errno;
    int error = 0;
    for (unsigned i = 0; i == 0 || (i < parallel && i < count); i++) {
        error = loop_spawn(all.loop, run_numbers, &all);
        if (error)
            break;
    }
    /* One fiber is enough to run all numbers. The fibers that were started must end in any case. */
    int run_error = loop_run(all.loop);
    if (all.next < count && !error)
        error = run_error ? run_error : -EIO;
    else if (all.next >= count)
        error = run_error;
    loop_free(all.loop);
    return error;
}

static void run_numbers(void *argument)
{
    struct run_all *all = argument;
    while (all->next < all->count)
        all->function(all->loop, all->argument, all->next++);
}
