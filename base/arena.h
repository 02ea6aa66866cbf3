/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is allocated piece by piece and freed at once: documents, models, decoded replies. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

/* A zeroed arena is empty and has no limit. */
struct arena {
    struct arena_block *blocks; /* newest first */
    size_t total;               /* bytes handed out */
    size_t limit;               /* most bytes that may be handed out; 0: no limit */
};

/* Zeroed memory aligned for any type. NULL: out of memory, or the limit is reached. A size of 0
 * gives a valid pointer too. */
void *arena_alloc(struct arena *arena, size_t size);

/* Like arena_alloc(), for count elements of size bytes. NULL also when the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* A terminated copy of length bytes. */
char *arena_string(struct arena *arena, const char *text, size_t length);

/* Frees everything. The arena may be used again; its limit stays. */
void arena_free(struct arena *arena);

#endif
