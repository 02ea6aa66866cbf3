/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stackful coroutines. ucontext puts a fiber on its stack once; from then on _setjmp and _longjmp
 * switch, because swapcontext(3) costs two system calls each time for a signal mask that never
 * changes here. A fiber whose function has returned waits in the pool inside its own trampoline, so
 * a stack is started only once.
 *
 * The pool is a stack of fibers, last in first out, so that those at its bottom are the idle ones:
 * what stayed unused since the last trim is given back with madvise, all but the page in which the
 * trampoline waits.
 */
#ifdef _FORTIFY_SOURCE
#undef _FORTIFY_SOURCE /* its longjmp takes a jump to another stack for an attack */
#endif
#include "replay/engine/fiber.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#ifndef FIBER_ASAN
#define FIBER_ASAN 0
#endif
#if FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(start, end) 0U
#define VALGRIND_STACK_DEREGISTER(id)       (void)(id)
#endif

/* Red zones make frames larger. */
enum { STACK_SIZE = (FIBER_ASAN ? 1024 : 256) * 1024 };

/* A place that can be jumped to: the loop's own, or where a fiber left. */
struct place {
    jmp_buf jump;
    const void *bottom; /* lowest address of its stack, and its size: for ASan */
    size_t size;
    void *fake_stack; /* ASan's, while it is not running */
};

struct machine {
    struct fiber fiber; /* first: a fiber is a machine */
    struct place place;
    char *mapping; /* guard page, then the stack */
    unsigned valgrind_id;
    bool started;
    bool done; /* its function has returned */
};

struct fiber_pool {
    struct place home;        /* the thread's own stack */
    struct machine *running;  /* NULL: the loop itself */
    struct fiber *top;        /* last given back; list by next (down) and previous (up) */
    struct fiber *bottom_hot; /* lowest in the list that still holds memory */
    size_t hot;               /* pooled stacks that hold memory: the upper part of the list */
    size_t hot_low;           /* smallest `hot` since the last trim: so many were idle */
    size_t page_size;
};

size_t fiber_stack_size(void)
{
    return STACK_SIZE;
}

struct fiber_pool *fiber_pool_new(void)
{
    struct fiber_pool *pool = calloc(1, sizeof *pool);
    if (pool)
        pool->page_size = (size_t)sysconf(_SC_PAGESIZE);
    return pool;
}

static void machine_free(struct fiber_pool *pool, struct machine *machine)
{
    VALGRIND_STACK_DEREGISTER(machine->valgrind_id);
#if FIBER_ASAN
    ASAN_UNPOISON_MEMORY_REGION(machine->mapping + pool->page_size, STACK_SIZE);
#endif
    munmap(machine->mapping, pool->page_size + STACK_SIZE);
    free(machine);
}

void fiber_pool_free(struct fiber_pool *pool)
{
    if (!pool)
        return;
    for (struct fiber *fiber = pool->top, *next; fiber; fiber = next) {
        next = fiber->next;
        machine_free(pool, (struct machine *)fiber);
    }
    free(pool);
}

static struct machine *machine_new(struct fiber_pool *pool)
{
    struct machine *machine = calloc(1, sizeof *machine);
    if (!machine)
        return NULL;
    char *mapping = mmap(NULL, pool->page_size + STACK_SIZE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED) {
        free(machine);
        return NULL;
    }
    if (mprotect(mapping, pool->page_size, PROT_NONE) < 0) {
        int error = errno;
        munmap(mapping, pool->page_size + STACK_SIZE);
        free(machine);
        errno = error;
        return NULL;
    }
    machine->mapping = mapping;
    machine->place.bottom = mapping + pool->page_size;
    machine->place.size = STACK_SIZE;
    machine->valgrind_id =
        VALGRIND_STACK_REGISTER(mapping + pool->page_size, mapping + pool->page_size + STACK_SIZE);
    return machine;
}

struct fiber *fiber_take(struct fiber_pool *pool, void (*function)(void *), void *argument)
{
    struct fiber *fiber = pool->top;
    if (fiber) {
        pool->top = fiber->next;
        if (pool->top)
            pool->top->previous = NULL;
        if (pool->hot > 0 && --pool->hot == 0)
            pool->bottom_hot = NULL;
        if (pool->hot < pool->hot_low)
            pool->hot_low = pool->hot;
    } else {
        struct machine *machine = machine_new(pool);
        if (!machine)
            return NULL;
        fiber = &machine->fiber;
    }
    ((struct machine *)fiber)->done = false;
    fiber->next = fiber->previous = NULL;
    fiber->function = function;
    fiber->argument = argument;
    return fiber;
}

/* Puts an ended fiber on top of the pool, where the next one is taken. */
static void fiber_give_back(struct fiber_pool *pool, struct fiber *fiber)
{
    fiber->place = FIBER_POOLED;
    fiber->next = pool->top;
    fiber->previous = NULL;
    if (pool->top)
        pool->top->previous = fiber;
    pool->top = fiber;
    if (pool->hot++ == 0)
        pool->bottom_hot = fiber;
}

size_t fiber_pool_trim(struct fiber_pool *pool)
{
    for (size_t idle = pool->hot_low; idle > 0; idle--) {
        struct machine *machine = (struct machine *)pool->bottom_hot;
        /* Failure would only mean that the memory stays ours. */
        (void)madvise(machine->mapping + pool->page_size, STACK_SIZE - pool->page_size,
                      MADV_DONTNEED);
        pool->bottom_hot = pool->bottom_hot->previous;
        pool->hot--;
    }
    pool->hot_low = pool->hot;
    return pool->hot;
}

/* ASan is told of every change of stack, before and after; the place that is left keeps its fake
 * stack until it is entered again. */
static void before_switch(struct place *from, const struct place *to)
{
#if FIBER_ASAN
    __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->size);
#else
    (void)from;
    (void)to;
#endif
}

/* came_from is learned on the way: the thread's own stack tells its bounds to nobody else. */
static void after_switch(struct place *here, struct place *came_from)
{
#if FIBER_ASAN
    __sanitizer_finish_switch_fiber(here->fake_stack, &came_from->bottom, &came_from->size);
#else
    (void)here;
    (void)came_from;
#endif
}

/* The first function on every fiber's stack; never returns. makecontext(3) passes ints only, so the
 * pool comes in two halves. */
static void trampoline(unsigned low, unsigned high)
{
    struct fiber_pool *pool = (struct fiber_pool *)(uintptr_t)((uint64_t)high << 32 | low);
    struct machine *machine = pool->running;
    after_switch(&machine->place, &pool->home);
    for (;;) {
        machine->fiber.function(machine->fiber.argument);
        machine->done = true;
        fiber_leave(pool);
    }
}

/* Never returns, so nothing would take its red zones off the stack that it leaves. */
static __attribute__((no_sanitize_address)) void fiber_start(struct fiber_pool *pool,
                                                             struct machine *machine)
{
    ucontext_t context;
    if (getcontext(&context) < 0)
        abort(); /* cannot fail on Linux */
    context.uc_stack.ss_sp = machine->mapping + pool->page_size;
    context.uc_stack.ss_size = STACK_SIZE;
    context.uc_link = NULL;
    uint64_t bits = (uintptr_t)pool;
    makecontext(&context, (void (*)(void))trampoline, 2, (unsigned)bits, (unsigned)(bits >> 32));
    machine->started = true;
    before_switch(&pool->home, &machine->place);
    setcontext(&context);
    abort(); /* not reached */
}

static __attribute__((noinline)) void jump_in(struct fiber_pool *pool, struct machine *machine)
{
    if (_setjmp(pool->home.jump))
        return;
    if (!machine->started)
        fiber_start(pool, machine);
    before_switch(&pool->home, &machine->place);
    _longjmp(machine->place.jump, 1);
}

bool fiber_enter(struct fiber_pool *pool, struct fiber *fiber)
{
    struct machine *machine = (struct machine *)fiber;
    pool->running = machine;
    jump_in(pool, machine);
    struct place ignored;
    after_switch(&pool->home, &ignored);
    pool->running = NULL;
    if (machine->done)
        fiber_give_back(pool, fiber);
    return machine->done;
}

static __attribute__((noinline)) void jump_out(struct fiber_pool *pool, struct machine *machine)
{
    if (_setjmp(machine->place.jump))
        return;
    before_switch(&machine->place, &pool->home);
    _longjmp(pool->home.jump, 1);
}

void fiber_leave(struct fiber_pool *pool)
{
    struct machine *machine = pool->running;
    jump_out(pool, machine);
    after_switch(&machine->place, &pool->home);
}
