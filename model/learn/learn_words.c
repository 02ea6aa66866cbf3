/* SPDX-License-Identifier: Apache-2.0 */
/* Numbered byte strings: an array of them and a hash table into it. */
#include "model/learn/learn_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int words_grow_slots(struct learn_words *words);
static uint32_t *words_slot_of(const struct learn_words *words, uint32_t hash, const void *bytes,
                               size_t length);
static int words_append(struct learn_words *words, uint32_t hash, const void *bytes, size_t length);

int learn_words_add(struct learn_words *words, const void *bytes, size_t length, uint32_t *number)
{
    uint32_t hash = (uint32_t)learn_hash(0, bytes, length);
    if (words_grow_slots(words) < 0)
        return -ENOMEM;
    uint32_t *slot = words_slot_of(words, hash, bytes, length);
    if (!*slot) {
        if (words_append(words, hash, bytes, length) < 0)
            return -ENOMEM;
        *slot = words->count;
    }
    *number = *slot - 1;
    return 0;
}

static int words_grow_slots(struct learn_words *words)
{
    if (words->slot_count > 2 * words->count)
        return 0;
    uint32_t count = words->slot_count ? 2 * words->slot_count : 64;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    free(words->slots);
    words->slots = slots;
    words->slot_count = count;
    for (uint32_t i = 0; i < words->count; i++) {
        const struct learn_word *word = &words->items[i];
        *words_slot_of(words, word->hash, word->bytes, word->length) = i + 1;
    }
    return 0;
}

static uint32_t *words_slot_of(const struct learn_words *words, uint32_t hash, const void *bytes,
                               size_t length)
{
    uint32_t at = hash & (words->slot_count - 1);
    for (; words->slots[at]; at = (at + 1) & (words->slot_count - 1)) {
        const struct learn_word *word = &words->items[words->slots[at] - 1];
        if (word->hash == hash && word->length == length && memcmp(word->bytes, bytes, length) == 0)
            break;
    }
    return &words->slots[at];
}

static int words_append(struct learn_words *words, uint32_t hash, const void *bytes, size_t length)
{
    if (words->count == words->room) {
        uint32_t room = words->room ? 2 * words->room : 64;
        struct learn_word *items = reallocarray(words->items, room, sizeof *items);
        if (!items)
            return -ENOMEM;
        words->items = items;
        words->room = room;
    }
    const char *copy = arena_string(&words->arena, bytes, length);
    if (!copy)
        return -ENOMEM;
    words->items[words->count++] = (struct learn_word){copy, (uint32_t)length, hash, 0};
    return 0;
}

uint32_t learn_words_find(const struct learn_words *words, const void *bytes, size_t length)
{
    if (words->count == 0)
        return UINT32_MAX;
    uint32_t *slot = words_slot_of(words, (uint32_t)learn_hash(0, bytes, length), bytes, length);
    return *slot ? *slot - 1 : UINT32_MAX;
}

void learn_words_clear(struct learn_words *words)
{
    arena_free(&words->arena);
    free(words->items);
    free(words->slots);
    *words = (struct learn_words){0};
}

uint64_t learn_hash(uint64_t seed, const void *bytes, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u ^ (seed * 0x9e3779b97f4a7c15u);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ (hash >> 32);
}
