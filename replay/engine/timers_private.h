/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop's heap of timers. base/heap.h cannot replace it: the loop moves and stops timers
 * in the middle of the heap, so each timer knows its position. Each node has four children, and
 * entries hold the due times, so that sifting touches few cache lines.
 */
#ifndef REPLAY_ENGINE_TIMERS_PRIVATE_H
#define REPLAY_ENGINE_TIMERS_PRIVATE_H

#include <stdint.h>

#include "replay/engine/loop_timer.h"

struct timers_entry {
    int64_t due;
    struct loop_timer *timer;
};

struct timers {
    struct timers_entry *entries; /* entry i has position i + 1; position 0 means "not set" */
    uint32_t count, room;
};

/* Sets or moves a timer. 0, or -ENOMEM if the timer was not set before. */
int timers_set(struct timers *timers, struct loop_timer *timer, int64_t due);
void timers_stop(struct timers *timers, struct loop_timer *timer);
/* When the first timer is due; INT64_MAX: no timer is set. */
int64_t timers_next(const struct timers *timers);
/* Removes and returns the first timer if it is due at now; otherwise NULL. */
struct loop_timer *timers_take_due(struct timers *timers, int64_t now);
void timers_free(struct timers *timers);

#endif
