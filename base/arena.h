/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is taken piece by piece and given back at once: what documents and models are made
 * of. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

/* Zeroed: empty. */
struct arena {
    struct arena_block *blocks;
};

/* Zeroed memory fit for any type; NULL when there is none. size 0 gives a valid pointer too. */
void *arena_alloc(struct arena *arena, size_t size);
/* The same for count elements, with the product checked. */
void *arena_array(struct arena *arena, size_t count, size_t size);
/* A terminated copy of length bytes. */
char *arena_string(struct arena *arena, const char *text, size_t length);
void arena_free(struct arena *arena);

#endif
