/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fiber is a function with its own stack, which it can leave and enter again. The event loop
 * decides which fiber runs when. A pool and its fibers belong to one thread.
 */
#ifndef REPLAY_ENGINE_FIBER_PRIVATE_H
#define REPLAY_ENGINE_FIBER_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/engine/loop_timer.h"

struct fiber_pool;
struct loop;
struct wire_slot;

enum fiber_state { FIBER_POOLED, FIBER_QUEUED, FIBER_RUNNING, FIBER_PARKED };

/* What the loop knows about a fiber. fiber.c keeps the state of the machine itself. */
struct fiber {
    struct fiber *next, *previous; /* in the list for its state */
    enum fiber_state state;
    int result;               /* what its wait returns */
    struct wire_slot *slot;   /* parked until an event of this slot; NULL: a sleep */
    struct loop_timer timer;  /* when its wait ends */
    struct loop *loop;        /* the loop that runs it */
    void (*function)(void *); /* what it runs */
    void *argument;
};

/* Bytes of a fiber's stack, without its guard page. Kerberos, SASL and LDAP together use up to
 * 44 KiB. Pages that are never touched only cost address space. */
size_t fiber_stack_size(void);

/* NULL with errno set. All fibers must have ended before the pool is freed. */
struct fiber_pool *fiber_pool_new(void);
void fiber_pool_free(struct fiber_pool *pool);

/* Returns a fiber that runs function(argument) when it is first entered. On failure NULL with errno
 * ENOMEM: no memory, or no mappings left below vm.max_map_count. */
struct fiber *fiber_take(struct fiber_pool *pool, void (*function)(void *), void *argument);

/* Runs the fiber until it leaves. True: its function has returned, and the fiber is back in the
 * pool. */
bool fiber_enter(struct fiber_pool *pool, struct fiber *fiber);

/* Leaves the running fiber. Returns when that fiber is entered again. */
void fiber_leave(struct fiber_pool *pool);

/* Returns to the system the memory of stacks that were idle since the last call. Returns the number
 * of pooled stacks that still hold memory. */
size_t fiber_pool_trim(struct fiber_pool *pool);

#endif
