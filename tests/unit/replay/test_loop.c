/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop: order of timers, fibers and their stacks, cancel, stop, notifications, and
 * running out of stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "replay/engine/fiber_private.h"
#include "replay/engine/loop.h"
#include "replay/engine/timers_private.h"
#include "tests/lib/fake_mprotect.h"

static const int64_t MS = 1000000;

enum { TIMERS = 100000 };

static int64_t last_due;
static uint64_t fired;

static void in_order(void *argument)
{
    struct loop_timer *timer = argument;
    assert_true(timer->due >= last_due);
    assert_int_equal(timer->position, 0);
    last_due = timer->due;
    fired++;
}

static void timers_fire_in_order(void **state)
{
    (void)state;
    struct loop *loop = loop_new();
    struct loop_timer *timers = calloc(TIMERS, sizeof *timers);
    assert_non_null(loop);
    assert_non_null(timers);
    unsigned seed = 11;
    int64_t base = clock_now();
    uint64_t expected = TIMERS;
    for (int i = 0; i < TIMERS; i++) {
        timers[i] = (struct loop_timer){.function = in_order, .argument = &timers[i]};
        assert_int_equal(loop_timer_set(loop, &timers[i], base + rand_r(&seed) % (200 * MS)), 0);
    }
    for (int i = 0; i < TIMERS; i++) { /* move some and stop some before any has fired */
        if (i % 3 == 0)
            assert_int_equal(loop_timer_set(loop, &timers[i], base + rand_r(&seed) % (200 * MS)),
                             0);
        if (i % 7 == 0) {
            loop_timer_stop(loop, &timers[i]);
            loop_timer_stop(loop, &timers[i]);
            expected--;
        }
    }
    last_due = 0;
    fired = 0;
    assert_int_equal(loop_run(loop), 0);
    assert_int_equal(fired, expected);
    assert_true(clock_now() >= last_due); /* none fired early */
    free(timers);
    loop_free(loop);
}

/* Compares the heap with a plain array: it always returns the earliest timer. */
static void heap_against_array(void **state)
{
    (void)state;
    enum { COUNT = 300, STEPS = 200000 };
    struct timers heap = {0};
    struct loop_timer timers[COUNT] = {0};
    unsigned seed = 5;
    for (int step = 0; step < STEPS; step++) {
        struct loop_timer *timer = &timers[rand_r(&seed) % COUNT];
        int what = rand_r(&seed) % 10;
        if (what < 6)
            assert_int_equal(timers_set(&heap, timer, rand_r(&seed) % 1000), 0);
        else if (what < 8)
            timers_stop(&heap, timer);
        int64_t smallest = INT64_MAX;
        for (int i = 0; i < COUNT; i++)
            if (timers[i].position && timers[i].due < smallest)
                smallest = timers[i].due;
        assert_int_equal(timers_next(&heap), smallest);
        if (what < 8 || smallest == INT64_MAX)
            continue;
        assert_null(timers_take_due(&heap, smallest - 1));
        timer = timers_take_due(&heap, smallest);
        assert_non_null(timer);
        assert_int_equal(timer->due, smallest);
        assert_int_equal(timer->position, 0);
    }
    timers_free(&heap);
}

struct record {
    struct loop *loop;
    char text[64];
    int count, result;
    int64_t deadline;
};

static void say_b(void *argument)
{
    strcat(((struct record *)argument)->text, "b");
}

static void say_c(void *argument)
{
    strcat(((struct record *)argument)->text, "c");
}

static void say_a(void *argument)
{
    struct record *record = argument;
    strcat(record->text, "a");
    assert_int_equal(loop_spawn(record->loop, say_c, record), 0);
    assert_int_equal(loop_sleep_until(record->loop, clock_now() + 5 * MS), 0);
    strcat(record->text, "A");
}

static void fibers_run_in_turn(void **state)
{
    (void)state;
    struct record record = {.loop = loop_new()};
    assert_int_equal(loop_spawn(record.loop, say_a, &record), 0);
    assert_int_equal(loop_spawn(record.loop, say_b, &record), 0);
    assert_int_equal(record.text[0], 0); /* not before the loop runs */
    assert_int_equal(loop_run(record.loop), 0);
    assert_string_equal(record.text, "abcA");
    assert_int_equal(loop_fibers(record.loop), 0);
    /* Only fibers can sleep. */
    assert_int_equal(loop_sleep_until(record.loop, 0), -EDEADLK);
    loop_free(record.loop);
}

static void take_turns(void *argument)
{
    struct record *record = argument;
    for (int i = 0; i < 3; i++) {
        strcat(record->text, record->count ? "x" : "y");
        record->count = !record->count;
        loop_yield(record->loop);
    }
}

static void yielding(void **state)
{
    (void)state;
    struct record record = {.loop = loop_new()};
    assert_int_equal(loop_spawn(record.loop, take_turns, &record), 0);
    assert_int_equal(loop_spawn(record.loop, take_turns, &record), 0);
    assert_int_equal(loop_run(record.loop), 0);
    assert_string_equal(record.text, "yxyxyx");
    loop_free(record.loop);
}

static void sleep_long(void *argument)
{
    struct record *record = argument;
    if (loop_sleep_until(record->loop, clock_now() + 3600000 * MS) == -ECANCELED)
        record->count++;
    record->result = loop_sleep_until(record->loop, clock_now() + 3600000 * MS);
}

static void cancel_it(void *argument)
{
    loop_cancel(argument);
}

static void cancel_wakes_all(void **state)
{
    (void)state;
    struct record record = {.loop = loop_new()};
    for (int i = 0; i < 1000; i++)
        assert_int_equal(loop_spawn(record.loop, sleep_long, &record), 0);
    struct loop_timer timer = {.function = cancel_it, .argument = record.loop};
    assert_int_equal(loop_timer_set(record.loop, &timer, clock_now() + 10 * MS), 0);
    assert_int_equal(loop_run(record.loop), 0);
    assert_int_equal(record.count, 1000);
    assert_int_equal(record.result, -ECANCELED);
    loop_free(record.loop);
}

static void stop_it(void *argument)
{
    loop_stop(argument);
}

static void nap_once(void *argument)
{
    struct record *record = argument;
    record->result = loop_sleep_until(record->loop, record->deadline);
    record->count++;
}

static void stop_and_continue(void **state)
{
    (void)state;
    struct record record = {.loop = loop_new(), .deadline = clock_now() + 30 * MS};
    struct loop_timer timer = {.function = stop_it, .argument = record.loop};
    assert_int_equal(loop_spawn(record.loop, nap_once, &record), 0);
    assert_int_equal(loop_timer_set(record.loop, &timer, clock_now() + MS), 0);
    assert_int_equal(loop_run(record.loop), 0);
    assert_int_equal(record.count, 0);
    assert_int_equal(loop_fibers(record.loop), 1);
    assert_int_equal(loop_run(record.loop), 0);
    assert_int_equal(record.count, 1);
    assert_int_equal(record.result, 0);
    assert_true(clock_now() >= record.deadline);
    assert_true(loop_busy(record.loop) < 30 * MS); /* it waited for most of it */
    loop_free(record.loop);
}

static void *notify_later(void *argument)
{
    struct timespec time = {.tv_nsec = 10 * MS};
    nanosleep(&time, NULL);
    loop_notify(argument);
    return NULL;
}

static void notification_wakes(void **state)
{
    (void)state;
    struct record record = {.loop = loop_new(), .deadline = clock_now() + 3600000 * MS};
    pthread_t thread;
    loop_on_notify(record.loop, cancel_it, record.loop);
    assert_int_equal(loop_spawn(record.loop, nap_once, &record), 0);
    assert_int_equal(pthread_create(&thread, NULL, notify_later, record.loop), 0);
    assert_int_equal(loop_run(record.loop), 0);
    pthread_join(thread, NULL);
    assert_int_equal(record.result, -ECANCELED);
    loop_free(record.loop);
}

struct all {
    int now, most;
    uint64_t sum;
};

static void one_of_all(struct loop *loop, void *argument, uint64_t i)
{
    struct all *all = argument;
    if (++all->now > all->most)
        all->most = all->now;
    assert_int_equal(loop_sleep_until(loop, clock_now() + (int64_t)(i % 3) * MS), 0);
    all->sum += i;
    all->now--;
}

static void run_all(void **state)
{
    (void)state;
    struct all all = {0};
    assert_int_equal(loop_run_all(one_of_all, &all, 1000, 16), 0);
    assert_int_equal(all.sum, 999 * 1000 / 2);
    assert_int_equal(all.most, 16);
    all = (struct all){0};
    assert_int_equal(loop_run_all(one_of_all, &all, 3, 16), 0);
    assert_int_equal(all.most, 3);
    assert_int_equal(loop_run_all(one_of_all, &all, 0, 16), 0);
    assert_int_equal(loop_run_all(one_of_all, &all, 2, 0), 0); /* at least one at a time */
    fake_mprotect_fail(0, 1);
    assert_int_equal(loop_run_all(one_of_all, &all, 5, 4), -ENOMEM);
    fake_mprotect_fail(2, 1); /* two stacks are enough to run all */
    all = (struct all){0};
    assert_int_equal(loop_run_all(one_of_all, &all, 100, 4), 0);
    assert_int_equal(all.sum, 99 * 100 / 2);
    assert_int_equal(all.most, 2);
}

static __attribute__((noinline)) int use_stack(size_t bytes, uintptr_t *lowest)
{
    volatile char frame[4096];
    frame[0] = frame[4095] = 1;
    /* Not the address of the array, because ASan may keep that elsewhere. */
    if ((uintptr_t)__builtin_frame_address(0) < *lowest)
        *lowest = (uintptr_t)__builtin_frame_address(0);
    int below = bytes > sizeof frame ? use_stack(bytes - sizeof frame, lowest) : 0;
    return frame[0] + frame[4095] + below; /* no tail call */
}

static uintptr_t touched;

static void use_most(void *argument)
{
    (void)argument;
    touched = UINTPTR_MAX;
    use_stack(fiber_stack_size() / 2, &touched);
}

static void use_too_much(void *argument)
{
    (void)argument;
    touched = UINTPTR_MAX;
    use_stack(fiber_stack_size() * 2, &touched);
}

static void idle_stacks_are_returned(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    struct fiber_pool *pool = fiber_pool_new();
    struct fiber *fibers[COUNT];
    unsigned char resident[COUNT];
    void *pages[COUNT];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            fibers[i] = fiber_take(pool, use_most, NULL);
            assert_non_null(fibers[i]);
        }
        for (int i = 0; i < COUNT; i++) {
            assert_true(fiber_enter(pool, fibers[i]));
            pages[i] = (void *)(touched / 4096 * 4096);
            assert_int_equal(mincore(pages[i], 4096, &resident[i]), 0);
            assert_int_equal(resident[i] & 1, 1);
        }
        /* Stacks used since the last trim keep their memory; idle ones lose it. */
        assert_int_equal(fiber_pool_trim(pool), COUNT);
        struct fiber *again = fiber_take(pool, use_most, NULL);
        assert_true(fiber_enter(pool, again));
        assert_int_equal(fiber_pool_trim(pool), 1);
        assert_int_equal(fiber_pool_trim(pool), 0);
        for (int i = 0; i < COUNT; i++) {
            assert_int_equal(mincore(pages[i], 4096, &resident[i]), 0);
            assert_int_equal(resident[i] & 1, 0);
        }
    }
    fiber_pool_free(pool);
}

static void run_one(void (*function)(void *))
{
    struct loop *loop = loop_new();
    loop_spawn(loop, function, NULL);
    loop_run(loop);
    loop_free(loop);
}

/* A fiber that overflows its stack must not write to another stack. */
static void guard_page(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL); /* removes the handlers of cmocka and ASan */
        run_one(use_most);
        run_one(use_too_much);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void count_it(void *argument)
{
    ++*(int *)argument;
}

static void no_stack_left(void **state)
{
    (void)state;
    struct loop *loop = loop_new();
    int count = 0;
    for (int i = 0; i < 5; i++) {
        fake_mprotect_fail(i, 1);
        int good = 0, error = 0;
        while (good < 5 && !(error = loop_spawn(loop, count_it, &count)))
            good++;
        assert_int_equal(good, i);
        assert_int_equal(error, -ENOMEM);
        assert_int_equal(loop_fibers(loop), i);
        assert_int_equal(loop_run(loop), 0);
        assert_int_equal(count, i);
        loop_free(loop); /* with its pool: the next round starts without stacks */
        loop = loop_new();
        count = 0;
    }
    fake_mprotect_fail(0, 0);
    loop_free(loop);
}

static uint64_t max_map_count(void)
{
    unsigned long long maps = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    if (file && fscanf(file, "%llu", &maps) != 1)
        maps = 0;
    if (file)
        fclose(file);
    return maps;
}

/* At the real limit, the fibers that were started still run to their end. */
static void max_map_count_is_reached(void **state)
{
    (void)state;
    uint64_t maps = max_map_count();
    if (maps == 0 || maps > 100000) {
        print_message("# vm.max_map_count is %llu: too high to reach here\n",
                      (unsigned long long)maps);
        skip();
    }
    struct loop *loop = loop_new();
    uint64_t started = 0;
    int count = 0, error = 0;
    while (started < maps && !(error = loop_spawn(loop, count_it, &count)))
        started++;
    assert_int_equal(error, -ENOMEM);
    assert_true(started > 0);
    assert_true(loop_maps_needed(started) <= maps);
    assert_int_equal(loop_run(loop), 0);
    assert_int_equal(count, started);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_fire_in_order),
        cmocka_unit_test(heap_against_array),
        cmocka_unit_test(fibers_run_in_turn),
        cmocka_unit_test(yielding),
        cmocka_unit_test(cancel_wakes_all),
        cmocka_unit_test(stop_and_continue),
        cmocka_unit_test(notification_wakes),
        cmocka_unit_test(run_all),
        cmocka_unit_test(idle_stacks_are_returned),
        cmocka_unit_test(guard_page),
        cmocka_unit_test(no_stack_left),
        cmocka_unit_test(max_map_count_is_reached),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
