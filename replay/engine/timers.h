/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop's heap of timers: four children a node, due times kept beside the pointers so that
 * sifting touches few cache lines. Private to the loop. */
#ifndef REPLAY_ENGINE_TIMERS_H
#define REPLAY_ENGINE_TIMERS_H

#include <stdint.h>

#include "replay/engine/loop.h"

struct timers_entry {
    int64_t due;
    struct loop_timer *timer;
};

struct timers {
    struct timers_entry *entries; /* entry i is at place i + 1, so that place 0 means "not set" */
    uint32_t count, room;
};

/* Sets or moves a timer. 0 or -ENOMEM (only when it was not set). */
int timers_set(struct timers *timers, struct loop_timer *timer, int64_t due);
void timers_stop(struct timers *timers, struct loop_timer *timer);
/* When the first one is due; INT64_MAX: none is set. */
int64_t timers_next(const struct timers *timers);
/* Takes out the first one if it is due at now, else NULL. */
struct loop_timer *timers_take_due(struct timers *timers, int64_t now);
void timers_free(struct timers *timers);

#endif
