/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stackful coroutines. setcontext(3) starts a fiber on its stack. After that, _setjmp and _longjmp
 * switch stacks, because swapcontext(3) makes two system calls per switch for a signal mask that
 * never changes here. A fiber whose function has returned waits in the pool, inside its trampoline,
 * so each stack is started only once.
 *
 * The pool works last in, first out, so idle fibers collect at its bottom. fiber_pool_trim()
 * returns the memory of those that were unused since the last trim with madvise(2), except for the
 * page in which the trampoline waits.
 */
#ifdef _FORTIFY_SOURCE
#undef _FORTIFY_SOURCE /* its longjmp aborts on a jump to another stack */
#endif
#include "replay/engine/fiber_private.h"

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

/* ASan's red zones make frames larger. */
enum { STACK_SIZE = (FIBER_ASAN ? 1024 : 256) * 1024 };

/* Where execution continues after a switch: in the loop, or where the fiber called
 * fiber_leave(). */
struct switch_point {
    jmp_buf jump;
    const void *bottom; /* lowest address of the stack; with size, for ASan */
    size_t size;
    void *fake_stack; /* ASan's, while the stack is not in use */
};

struct machine {
    struct fiber fiber; /* must be the first member */
    struct switch_point point;
    char *mapping; /* guard page, then the stack */
    unsigned valgrind_id;
    bool started;
    bool done; /* its function has returned */
};

struct fiber_pool {
    struct switch_point home; /* the thread's own stack */
    struct machine *running;  /* NULL: the loop itself */
    struct fiber *top;        /* the last one returned; a list by next (down) and previous (up) */
    struct fiber *bottom_hot; /* the lowest one whose stack still holds memory */
    size_t hot;               /* pooled stacks that hold memory: the upper part of the list */
    size_t hot_low;           /* smallest `hot` since the last trim: this many were idle */
    size_t page_size;
};

static struct machine *machine_new(struct fiber_pool *pool);
static __attribute__((noinline)) void fiber_jump_in(struct fiber_pool *pool,
                                                    struct machine *machine);
static __attribute__((no_sanitize_address)) void fiber_start(struct fiber_pool *pool,
                                                             struct machine *machine);
static void trampoline(unsigned low, unsigned high);
static __attribute__((noinline)) void fiber_jump_out(struct fiber_pool *pool,
                                                     struct machine *machine);
static void fiber_before_switch(struct switch_point *from, const struct switch_point *to);
static void fiber_after_switch(struct switch_point *here, struct switch_point *came_from);
static void fiber_give_back(struct fiber_pool *pool, struct fiber *fiber);
static void machine_free(struct fiber_pool *pool, struct machine *machine);

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
    machine->point.bottom = mapping + pool->page_size;
    machine->point.size = STACK_SIZE;
    machine->valgrind_id =
        VALGRIND_STACK_REGISTER(mapping + pool->page_size, mapping + pool->page_size + STACK_SIZE);
    return machine;
}

bool fiber_enter(struct fiber_pool *pool, struct fiber *fiber)
{
    struct machine *machine = (struct machine *)fiber;
    pool->running = machine;
    fiber_jump_in(pool, machine);
    struct switch_point ignored;
    fiber_after_switch(&pool->home, &ignored);
    pool->running = NULL;
    if (machine->done)
        fiber_give_back(pool, fiber);
    return machine->done;
}

static __attribute__((noinline)) void fiber_jump_in(struct fiber_pool *pool,
                                                    struct machine *machine)
{
    if (_setjmp(pool->home.jump))
        return;
    if (!machine->started)
        fiber_start(pool, machine);
    fiber_before_switch(&pool->home, &machine->point);
    _longjmp(machine->point.jump, 1);
}

/* This function never returns, so nothing would remove its red zones from the stack it leaves. */
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
    fiber_before_switch(&pool->home, &machine->point);
    setcontext(&context);
    abort(); /* not reached */
}

/* The first function on every fiber's stack; it never returns. makecontext(3) passes only ints, so
 * the address of the pool arrives in two halves. */
static void trampoline(unsigned low, unsigned high)
{
    struct fiber_pool *pool = (struct fiber_pool *)(uintptr_t)((uint64_t)high << 32 | low);
    struct machine *machine = pool->running;
    fiber_after_switch(&machine->point, &pool->home);
    for (;;) {
        machine->fiber.function(machine->fiber.argument);
        machine->done = true;
        fiber_leave(pool);
    }
}

void fiber_leave(struct fiber_pool *pool)
{
    struct machine *machine = pool->running;
    fiber_jump_out(pool, machine);
    fiber_after_switch(&machine->point, &pool->home);
}

static __attribute__((noinline)) void fiber_jump_out(struct fiber_pool *pool,
                                                     struct machine *machine)
{
    if (_setjmp(machine->point.jump))
        return;
    fiber_before_switch(&machine->point, &pool->home);
    _longjmp(pool->home.jump, 1);
}

/* ASan needs to know of every switch, before and after it. `from` keeps its fake stack until it is
 * entered again. */
static void fiber_before_switch(struct switch_point *from, const struct switch_point *to)
{
#if FIBER_ASAN
    __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->size);
#else
    (void)from;
    (void)to;
#endif
}

/* Also stores the bounds of the stack that was left: only ASan knows those of the thread's stack.
 */
static void fiber_after_switch(struct switch_point *here, struct switch_point *came_from)
{
#if FIBER_ASAN
    __sanitizer_finish_switch_fiber(here->fake_stack, &came_from->bottom, &came_from->size);
#else
    (void)here;
    (void)came_from;
#endif
}

/* Puts an ended fiber on top of the pool; fiber_take() takes it from there. */
static void fiber_give_back(struct fiber_pool *pool, struct fiber *fiber)
{
    fiber->state = FIBER_POOLED;
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
        /* On failure the process only keeps the memory. */
        (void)madvise(machine->mapping + pool->page_size, STACK_SIZE - pool->page_size,
                      MADV_DONTNEED);
        pool->bottom_hot = pool->bottom_hot->previous;
        pool->hot--;
    }
    pool->hot_low = pool->hot;
    return pool->hot;
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

static void machine_free(struct fiber_pool *pool, struct machine *machine)
{
    VALGRIND_STACK_DEREGISTER(machine->valgrind_id);
#if FIBER_ASAN
    ASAN_UNPOISON_MEMORY_REGION(machine->mapping + pool->page_size, STACK_SIZE);
#endif
    munmap(machine->mapping, pool->page_size + STACK_SIZE);
    free(machine);
}
