/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is taken piece by piece and given back at once. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 64 << 10, ALIGNMENT = alignof(max_align_t) };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

static struct arena_block *add_block(struct arena *arena, size_t size);

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct arena_block *block = arena->blocks;
    if (!block || block->size - block->used < size)
        block = add_block(arena, size > BLOCK_SIZE ? size : BLOCK_SIZE);
    if (!block)
        return NULL;
    void *memory = block->bytes + block->used;
    block->used += size;
    return memory;
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    struct arena_block *block = calloc(1, sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    /* What outgrows a block gets one of its own, behind the one that is being filled. */
    if (size > BLOCK_SIZE && arena->blocks) {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    } else {
        block->next = arena->blocks;
        arena->blocks = block;
    }
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
}
