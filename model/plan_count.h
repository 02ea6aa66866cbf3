/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan holds, counted by walking all its clients once, in memory that does not grow with
 * them: for --dry-run, and for what a report says of the plan. */
#ifndef MODEL_PLAN_COUNT_H
#define MODEL_PLAN_COUNT_H

#include "model/plan.h"

/* One packet type. The window is what lies after the warm-up. */
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

/* Counts, with so many threads (at least one); the result does not depend on how many. 0 or a
 * negative errno; *count is to be cleared after 0 only. */
int plan_count(const struct plan *plan, unsigned threads, struct plan_count *count);
/* The same of what is due before end (ns since the plan's start): what an interrupted run had of
 * it, without a walk to the end of a plan of days. */
int plan_count_until(const struct plan *plan, int64_t end, unsigned threads,
                     struct plan_count *count);
/* Operations due before each whole second of the plan: [0] is 0, [seconds] all of them. malloc'd;
 * NULL: no memory. */
uint64_t *plan_count_by_second(const struct plan *plan, size_t *seconds);
void plan_count_clear(struct plan_count *count);

#endif
