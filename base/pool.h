/* SPDX-License-Identifier: Apache-2.0 */
/* One pool of memory an exchange: what a reply decodes to hangs on it and is freed at once. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>

struct pool_chunk;

struct pool {
    struct pool_chunk *chunks; /* newest first */
    size_t total;              /* bytes handed out */
    size_t limit;              /* 0: POOL_LIMIT */
};

enum { POOL_LIMIT = 64 << 20 };

/* Zeroed memory that lives until pool_free(), aligned for any type; NULL when memory or the
 * pool's limit is used up. A zeroed struct pool is an empty one. */
void *pool_alloc(struct pool *pool, size_t size);

/* Frees everything; the pool may be used again. */
void pool_free(struct pool *pool);

#endif
