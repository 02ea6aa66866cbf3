/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/engine/timers_private.h"

#include <errno.h>
#include <stdlib.h>

static void timers_sift(struct timers *timers, uint32_t i, struct timers_entry entry);
static void timers_sift_up(struct timers *timers, uint32_t i, struct timers_entry entry);
static void timers_put(struct timers *timers, uint32_t i, struct timers_entry entry);
static void timers_sift_down(struct timers *timers, uint32_t i, struct timers_entry entry);
static uint32_t timers_earliest_child(const struct timers *timers, uint32_t i);
static int timers_make_room(struct timers *timers);

int timers_set(struct timers *timers, struct loop_timer *timer, int64_t due)
{
    struct timers_entry entry = {.due = due, .timer = timer};
    timer->due = due;
    if (timer->position) {
        timers_sift(timers, timer->position - 1, entry);
        return 0;
    }
    int error = timers_make_room(timers);
    if (!error)
        timers_sift_up(timers, timers->count++, entry);
    return error;
}

static void timers_sift(struct timers *timers, uint32_t i, struct timers_entry entry)
{
    if (i > 0 && entry.due < timers->entries[(i - 1) / 4].due)
        timers_sift_up(timers, i, entry);
    else
        timers_sift_down(timers, i, entry);
}

static void timers_sift_up(struct timers *timers, uint32_t i, struct timers_entry entry)
{
    while (i > 0) {
        uint32_t parent = (i - 1) / 4;
        if (timers->entries[parent].due <= entry.due)
            break;
        timers_put(timers, i, timers->entries[parent]);
        i = parent;
    }
    timers_put(timers, i, entry);
}

static void timers_put(struct timers *timers, uint32_t i, struct timers_entry entry)
{
    timers->entries[i] = entry;
    entry.timer->position = i + 1;
}

static void timers_sift_down(struct timers *timers, uint32_t i, struct timers_entry entry)
{
    while (i * 4 + 1 < timers->count) {
        uint32_t child = timers_earliest_child(timers, i);
        if (entry.due <= timers->entries[child].due)
            break;
        timers_put(timers, i, timers->entries[child]);
        i = child;
    }
    timers_put(timers, i, entry);
}

static uint32_t timers_earliest_child(const struct timers *timers, uint32_t i)
{
    uint32_t first = i * 4 + 1, smallest = first;
    for (uint32_t child = first + 1; child < first + 4 && child < timers->count; child++)
        if (timers->entries[child].due < timers->entries[smallest].due)
            smallest = child;
    return smallest;
}

static int timers_make_room(struct timers *timers)
{
    if (timers->count < timers->room)
        return 0;
    if (timers->room > UINT32_MAX / 8) /* indexes of children must fit */
        return -ENOMEM;
    uint32_t room = timers->room ? timers->room * 2 : 64;
    struct timers_entry *entries = realloc(timers->entries, room * sizeof *entries);
    if (!entries)
        return -ENOMEM;
    timers->entries = entries;
    timers->room = room;
    return 0;
}

void timers_stop(struct timers *timers, struct loop_timer *timer)
{
    if (!timer->position)
        return;
    uint32_t i = timer->position - 1;
    timer->position = 0;
    struct timers_entry last = timers->entries[--timers->count];
    if (i < timers->count)
        timers_sift(timers, i, last);
}

int64_t timers_next(const struct timers *timers)
{
    return timers->count ? timers->entries[0].due : INT64_MAX;
}

struct loop_timer *timers_take_due(struct timers *timers, int64_t now)
{
    if (timers_next(timers) > now)
        return NULL;
    struct loop_timer *timer = timers->entries[0].timer;
    timers_stop(timers, timer);
    return timer;
}

void timers_free(struct timers *timers)
{
    free(timers->entries);
    *timers = (struct timers){0};
}
