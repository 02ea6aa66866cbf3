/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the pauses before each transition were. A list of points for every transition would say
 * little and fill the model: transitions that end in the same entries share one, and a longer
 * context gets its own only where its pauses are clearly of another kind.
 */
#ifndef MODEL_LEARN_LEARN_PAUSES_H
#define MODEL_LEARN_LEARN_PAUSES_H

#include "model/learn/learn_histogram.h"
#include "model/learn/learn_words.h"

struct learn_pauses_bucket {
    uint32_t bucket, count;
};

/* Of one transition: its buckets in order. */
struct learn_pauses_of {
    struct learn_pauses_bucket *buckets;
    uint32_t count, room;
    double sum, min, max;
};

/* Zeroed: empty. */
struct learn_pauses {
    struct learn_pauses_of *items; /* by number of transition */
    uint32_t room;
};

/* Counts a pause of a transition. 0 or -ENOMEM. */
int learn_pauses_add(struct learn_pauses *pauses, uint32_t transition, double seconds);
void learn_pauses_clear(struct learn_pauses *pauses);

/*
 * Calls list for each context that gets points, shorter ones first: entries of it, the last being
 * what the pause is before. histories and transitions are as learn_model() numbers them: a history
 * is `length` entries, a transition a history's number and an entry. 0, what list returned, or
 * -ENOMEM.
 */
int learn_pauses_list(struct learn_pauses *pauses, const struct learn_words *histories,
                      const struct learn_words *transitions, uint32_t length,
                      int (*list)(void *context, const uint32_t *entries, uint32_t count,
                                  const struct learn_histogram *histogram),
                      void *context);

#endif
