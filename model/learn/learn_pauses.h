/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pauses before each transition. One list of points per transition would make the model large
 * and contain few pauses each. So transitions that end in the same entries share a list. A longer
 * context gets a separate list only if its pauses are clearly of another kind.
 */
#ifndef MODEL_LEARN_LEARN_PAUSES_H
#define MODEL_LEARN_LEARN_PAUSES_H

#include "base/intern.h"
#include "model/learn/learn_histogram.h"

struct learn_pauses_bucket {
    uint32_t bucket, count;
};

/* The pauses of one transition: its buckets in order. */
struct learn_pauses_of {
    struct learn_pauses_bucket *buckets;
    uint32_t count;
    double sum, min, max;
};

/* A zeroed struct is empty. */
struct learn_pauses {
    struct learn_pauses_of *items; /* by number of transition */
    uint32_t count;
};

/* Counts a pause before a transition. 0 or -ENOMEM. */
int learn_pauses_add(struct learn_pauses *pauses, uint32_t transition, double seconds);
void learn_pauses_clear(struct learn_pauses *pauses);

/*
 * Calls list for each context that gets points, shorter contexts first. The pause precedes the last
 * entry of the context. histories and transitions are numbered as in learn_model(): a history
 * consists of `length` entries, a transition of a history's number and an entry. 0, a value other
 * than 0 that list returned, or -ENOMEM.
 */
int learn_pauses_list(struct learn_pauses *pauses, const struct intern *histories,
                      const struct intern *transitions, uint32_t length,
                      int (*list)(void *context, const uint32_t *entries, uint32_t count,
                                  const struct learn_histogram *histogram),
                      void *context);

#endif
