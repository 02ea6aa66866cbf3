/* SPDX-License-Identifier: Apache-2.0 */
/* A bump allocator of growing chunks. */
#include "base/pool.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

struct pool_chunk {
    struct pool_chunk *next;
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
};

static struct pool_chunk *add_chunk(struct pool *pool, size_t wanted);

void *pool_alloc(struct pool *pool, size_t size)
{
    size_t limit = pool->limit ? pool->limit : POOL_LIMIT;
    if (size > limit || pool->total > limit - size)
        return NULL;
    size_t aligned = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    struct pool_chunk *chunk = pool->chunks;
    if (!chunk || chunk->size - chunk->used < aligned)
        chunk = add_chunk(pool, aligned);
    if (!chunk)
        return NULL;
    void *memory = chunk->bytes + chunk->used;
    chunk->used += aligned;
    pool->total += aligned;
    return memory;
}

enum { FIRST_CHUNK = 2048, LARGEST_STEP = 1 << 20 };

static struct pool_chunk *add_chunk(struct pool *pool, size_t wanted)
{
    size_t size = pool->chunks ? pool->chunks->size * 2 : FIRST_CHUNK;
    if (size > LARGEST_STEP)
        size = LARGEST_STEP;
    if (size < wanted)
        size = wanted;
    struct pool_chunk *chunk = calloc(1, sizeof *chunk + size);
    if (!chunk)
        return NULL;
    chunk->size = size;
    chunk->next = pool->chunks;
    pool->chunks = chunk;
    return chunk;
}

void pool_free(struct pool *pool)
{
    while (pool->chunks) {
        struct pool_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        free(chunk);
    }
    pool->total = 0;
}
