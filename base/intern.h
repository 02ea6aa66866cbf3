/* SPDX-License-Identifier: Apache-2.0 */
/* Byte strings, each stored once and numbered from 0 in the order of their addition. */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct intern_entry {
    const char *bytes; /* followed by a zero byte; aligned for any type */
    size_t size;
    uint64_t hash;
};

/* A zeroed struct is empty. */
struct intern {
    struct arena arena;
    struct intern_entry *entries;
    uint32_t *slots; /* number + 1; 0: free */
    size_t count, slot_room;
    size_t bytes; /* of all strings */
};

/* Sets *number to the number of a string and adds the string if it is new. *added, which may be
 * NULL, is set to whether it was new. At most 2^31 strings. 0 or -ENOMEM. */
int intern_add(struct intern *intern, const void *bytes, size_t size, uint32_t *number,
               bool *added);

/* The number of a string, or UINT32_MAX if it was never added. */
uint32_t intern_find(const struct intern *intern, const void *bytes, size_t size);

/* Frees the strings; the struct is empty afterwards. */
void intern_clear(struct intern *intern);

/* FNV-1a with a last mix, continued from another hash (0 at first). */
uint64_t intern_hash(uint64_t hash, const void *bytes, size_t size);

#endif
