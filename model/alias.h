/* SPDX-License-Identifier: Apache-2.0 */
/* Alias tables (Walker, Vose): a weighted choice from one 64-bit random number in O(1). Built in
 * whole numbers, so that probabilities are exact to 2^-64 and equal on every machine. */
#ifndef MODEL_ALIAS_H
#define MODEL_ALIAS_H

#include <stddef.h>
#include <stdint.h>

struct alias_slot {
    uint64_t threshold; /* of the number's fraction: below it this slot, else its alias */
    uint32_t alias;
};

/* Fills slots[0..count-1] for weights whose sum is in 1..2^63-1. 0 or -ENOMEM. */
int alias_build(struct alias_slot *slots, const uint64_t *weights, size_t count);

/* Which slot a random number falls into and what is left of it: for those who keep the slots'
 * fields elsewhere. */
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
