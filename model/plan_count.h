/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the packets of a plan by walking all clients once, in constant memory: for --dry-run and
 * for the plan's figures in a report. */
#ifndef MODEL_PLAN_COUNT_H
#define MODEL_PLAN_COUNT_H

#include "model/plan.h"

/* One packet type. The window is the time after the warm-up. */
struct plan_type_count {
    uint64_t packets;           /* due in the whole plan */
    uint64_t window_packets;    /* due in the window */
    uint64_t window_operations; /* those of them that are operations */
};

struct plan_count {
    uint64_t conversations;        /* of the whole plan, those that have a packet in it */
    uint64_t window_conversations; /* whose first packet is due in the window */
    uint64_t packets, window_packets, window_operations;
    size_t type_count;
    struct plan_type_count *types; /* by packet_index */
};

/* Counts with a number of threads, which does not affect the result. 0 or a negative errno. After
 * 0, *count must be cleared. */
int plan_count(const struct plan *plan, unsigned threads, struct plan_count *count);
/* The same for packets due before end (ns since the plan's start), for interrupted runs. */
int plan_count_until(const struct plan *plan, int64_t end, unsigned threads,
                     struct plan_count *count);
/* The number of operations due before each whole second of the plan: [0] is 0, [seconds] is all of
 * them. The caller frees the array. NULL: out of memory. */
uint64_t *plan_count_by_second(const struct plan *plan, size_t *seconds);
void plan_count_clear(struct plan_count *count);

#endif
