/* SPDX-License-Identifier: Apache-2.0 */
/* Byte strings numbered in the order of their first appearance: addresses, packet forms, histories
 * while a model is learned. */
#ifndef MODEL_LEARN_LEARN_WORDS_H
#define MODEL_LEARN_LEARN_WORDS_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct learn_word {
    const char *bytes; /* terminated */
    uint32_t length;
    uint32_t hash;
    uint64_t count; /* the owner's to use */
};

/* Zeroed: empty. */
struct learn_words {
    struct arena arena;
    struct learn_word *items;
    uint32_t count, room;
    uint32_t *slots; /* number + 1; 0: free */
    uint32_t slot_count;
};

/* The number of a string, made when it is new. 0 or -ENOMEM. */
int learn_words_add(struct learn_words *words, const void *bytes, size_t length, uint32_t *number);

/* The number of a string, or UINT32_MAX. */
uint32_t learn_words_find(const struct learn_words *words, const void *bytes, size_t length);

void learn_words_clear(struct learn_words *words);

/* Mixes bytes into a number, for keys of other tables too. */
uint64_t learn_hash(uint64_t seed, const void *bytes, size_t length);

#endif
