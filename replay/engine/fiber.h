/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers: functions that run on stacks of their own and may be left and entered again. Private to
 * the event loop, which decides who runs when. All of a pool belongs to one thread.
 */
#ifndef REPLAY_ENGINE_FIBER_H
#define REPLAY_ENGINE_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/engine/loop.h"

struct fiber_pool;

enum fiber_place { FIBER_POOLED, FIBER_QUEUED, FIBER_RUNNING, FIBER_PARKED };

/* What the loop keeps with each fiber; the machine's state is private to fiber.c. */
struct fiber {
    struct fiber *next, *previous; /* in the list of its place */
    enum fiber_place place;
    int result;               /* what its wait returns */
    struct wire_slot *slot;   /* parked for this descriptor; NULL: a sleep */
    struct loop_timer timer;  /* when its wait ends */
    struct loop *loop;        /* who runs it */
    void (*function)(void *); /* what it runs */
    void *argument;
};

/* Bytes of stack of a fiber, guard page not counted. Kerberos, SASL and LDAP together were seen to
 * use 44 KiB; what is never touched costs address space only. */
size_t fiber_stack_size(void);

/* NULL with errno set. All fibers must have ended before the pool is freed. */
struct fiber_pool *fiber_pool_new(void);
void fiber_pool_free(struct fiber_pool *pool);

/* A fiber that will run function(argument) when it is first entered, or NULL: no memory for a stack
 * (errno ENOMEM: memory, or vm.max_map_count mappings, are used up). */
struct fiber *fiber_take(struct fiber_pool *pool, void (*function)(void *), void *argument);

/* Enters the fiber until it leaves. True when its function has returned: the fiber is back in the
 * pool then. */
bool fiber_enter(struct fiber_pool *pool, struct fiber *fiber);

/* Leaves the fiber that runs; returns when it is entered again. */
void fiber_leave(struct fiber_pool *pool);

/* Gives the memory of stacks that were idle since the call before this back to the system. Returns
 * how many stacks in the pool still hold memory. */
size_t fiber_pool_trim(struct fiber_pool *pool);

#endif
