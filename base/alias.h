/* SPDX-License-Identifier: Apache-2.0 */
/* Alias tables (Walker, Vose): a weighted choice from one 64-bit random number in O(1). They are
 * built with integer arithmetic, so probabilities are exact to 2^-64 and equal on every machine. */
#ifndef BASE_ALIAS_H
#define BASE_ALIAS_H

#include <stddef.h>
#include <stdint.h>

struct alias_slot {
    uint64_t threshold; /* random fractions below it choose this slot, others its alias */
    uint32_t alias;
};

/* Fills slots[0..count-1] for weights whose sum is in 1..2^63-1. 0 or -ENOMEM. */
int alias_build(struct alias_slot *slots, const uint64_t *weights, size_t count);

/* The slot that a random number falls into; *fraction is set to the rest of the number. For callers
 * that store thresholds and aliases elsewhere. */
static inline uint32_t alias_slot(uint64_t random, uint32_t count, uint64_t *fraction)
{
    unsigned __int128 product = (unsigned __int128)random * count;
    *fraction = (uint64_t)product;
    return (uint32_t)(product >> 64);
}

static inline uint32_t alias_pick(const struct alias_slot *slots, uint32_t count, uint64_t random)
{
    uint64_t fraction;
    uint32_t slot = alias_slot(random, count, &fraction);
    return fraction < slots[slot].threshold ? slot : slots[slot].alias;
}

#endif
