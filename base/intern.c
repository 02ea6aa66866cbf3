/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { FIRST_SLOTS = 512 };

static int intern_grow_slots(struct intern *intern);
static size_t find_slot(const struct intern *intern, const struct intern_entry *wanted);

int intern_add(struct intern *intern, const void *bytes, size_t size, uint32_t *number, bool *added)
{
    struct intern_entry entry = {bytes, size, intern_hash(0, bytes, size)};
    if (2 * intern->count >= intern->slot_room && intern_grow_slots(intern) < 0)
        return -ENOMEM;
    size_t slot = find_slot(intern, &entry);
    if (added)
        *added = intern->slots[slot] == 0;
    if (intern->slots[slot] == 0) {
        struct intern_entry *entries =
            array_grow(intern->entries, intern->count, sizeof *intern->entries);
        if (!entries)
            return -ENOMEM;
        intern->entries = entries;
        entry.bytes = arena_string(&intern->arena, bytes, size);
        if (!entry.bytes)
            return -ENOMEM;
        intern->entries[intern->count++] = entry;
        intern->bytes += size;
        intern->slots[slot] = (uint32_t)intern->count;
    }
    *number = intern->slots[slot] - 1;
    return 0;
}

/* Twice as many slots, at most half of which are taken. */
static int intern_grow_slots(struct intern *intern)
{
    size_t room = intern->slot_room ? 2 * intern->slot_room : FIRST_SLOTS;
    uint32_t *slots = calloc(room, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    free(intern->slots);
    intern->slots = slots;
    intern->slot_room = room;
    for (size_t i = 0; i < intern->count; i++)
        slots[find_slot(intern, &intern->entries[i])] = (uint32_t)i + 1;
    return 0;
}

static size_t find_slot(const struct intern *intern, const struct intern_entry *wanted)
{
    size_t mask = intern->slot_room - 1;
    for (size_t i = (size_t)(wanted->hash * 0x9e3779b97f4a7c15u >> 20) & mask;;
         i = (i + 1) & mask) {
        if (intern->slots[i] == 0)
            return i;
        const struct intern_entry *entry = &intern->entries[intern->slots[i] - 1];
        if (entry->hash == wanted->hash && entry->size == wanted->size &&
            memcmp(entry->bytes, wanted->bytes, wanted->size) == 0)
            return i;
    }
}

uint32_t intern_find(const struct intern *intern, const void *bytes, size_t size)
{
    struct intern_entry entry = {bytes, size, intern_hash(0, bytes, size)};
    return intern->count == 0 ? UINT32_MAX : intern->slots[find_slot(intern, &entry)] - 1;
}

void intern_clear(struct intern *intern)
{
    arena_free(&intern->arena);
    free(intern->entries);
    free(intern->slots);
    *intern = (struct intern){0};
}

uint64_t intern_hash(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    hash ^= 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash ^ hash >> 29;
}
