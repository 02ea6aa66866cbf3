/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Blocks double from the first size, which fits one decoded reply, to the largest. */
enum { BLOCK_FIRST = 2 << 10, BLOCK_LARGEST = 1 << 20, ALIGNMENT = alignof(max_align_t) };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

static struct arena_block *add_block(struct arena *arena, size_t size);

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2 || (arena->limit && size > arena->limit - arena->total))
        return NULL;
    size_t aligned = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct arena_block *block = arena->blocks;
    if (!block || block->size - block->used < aligned)
        block = add_block(arena, aligned);
    if (!block)
        return NULL;
    void *memory = block->bytes + block->used;
    block->used += aligned;
    arena->total += size;
    return memory;
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    struct arena_block *newest = arena->blocks;
    size_t step = newest ? 2 * newest->size : BLOCK_FIRST;
    if (step > BLOCK_LARGEST)
        step = BLOCK_LARGEST;
    struct arena_block *block = calloc(1, sizeof *block + (size > step ? size : step));
    if (!block)
        return NULL;
    block->size = size > step ? size : step;
    /* A piece that is larger than a block gets a separate one after the block being filled. */
    bool separate = size > step && newest;
    block->next = separate ? newest->next : newest;
    if (separate)
        newest->next = block;
    else
        arena->blocks = block;
    return block;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return arena_alloc(arena, bytes);
}

char *arena_string(struct arena *arena, const char *text, size_t length)
{
    if (length >= SIZE_MAX / 2)
        return NULL;
    char *copy = arena_alloc(arena, length + 1);
    if (copy && length > 0)
        memcpy(copy, text, length);
    return copy;
}

void arena_free(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    arena->total = 0;
}
