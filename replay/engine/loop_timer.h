/* SPDX-License-Identifier: Apache-2.0 */
/* The timer that users of the event loop embed in their own structs: see loop_timer_set(). */
#ifndef REPLAY_ENGINE_LOOP_TIMER_H
#define REPLAY_ENGINE_LOOP_TIMER_H

#include <stdint.h>

struct loop_timer {
    int64_t due;       /* CLOCK_MONOTONIC ns */
    uint32_t position; /* private: position in the heap + 1; 0 when the timer is not set */
    void (*function)(void *argument);
    void *argument;
};

#endif
