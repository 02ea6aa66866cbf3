/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/result/size_counts.h"

#include <errno.h>
#include <stdlib.h>

enum { SLOTS = 2 * SIZE_COUNTS_MAX, SLOT_BITS = 9 };
_Static_assert(SLOTS == 1 << SLOT_BITS, "the hash has SLOT_BITS bits");

static struct size_count *find_slot(const struct size_counts *counts, uint64_t size);
static int by_count(const void *left, const void *right);

void size_counts_clear(struct size_counts *counts)
{
    free(counts->slots);
    *counts = (struct size_counts){0};
}

int size_counts_add(struct size_counts *counts, uint64_t size, uint64_t count)
{
    if (!counts->slots)
        counts->slots = calloc(SLOTS, sizeof *counts->slots);
    if (!counts->slots)
        return -ENOMEM;
    struct size_count *slot = find_slot(counts, size);
    if (slot->size == 0 && counts->used == SIZE_COUNTS_MAX) {
        counts->other += count;
        return 0;
    }
    counts->used += slot->size == 0;
    slot->size = size;
    slot->count += count;
    return 0;
}

/* The slot of a size, or the free one where it belongs. Half of the slots are always free. */
static struct size_count *find_slot(const struct size_counts *counts, uint64_t size)
{
    size_t at = (size_t)(size * 0x9e3779b97f4a7c15u >> (64 - SLOT_BITS));
    while (counts->slots[at].size != 0 && counts->slots[at].size != size)
        at = (at + 1) % SLOTS;
    return &counts->slots[at];
}

int size_counts_merge(struct size_counts *to, const struct size_counts *from)
{
    int result = 0;
    for (size_t i = 0; from->slots && result == 0 && i < SLOTS; i++)
        if (from->slots[i].size)
            result = size_counts_add(to, from->slots[i].size, from->slots[i].count);
    to->other += from->other;
    return result;
}

size_t size_counts_list(const struct size_counts *counts, struct size_count *out)
{
    size_t used = 0;
    for (size_t i = 0; counts->slots && i < SLOTS; i++)
        if (counts->slots[i].size)
            out[used++] = counts->slots[i];
    qsort(out, used, sizeof *out, by_count);
    return used;
}

static int by_count(const void *left, const void *right)
{
    const struct size_count *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->size < b->size ? -1 : a->size > b->size;
}
