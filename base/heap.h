/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap over the caller's array: the element that comes before all others is the first. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

enum { HEAP_ELEMENT_MAX = 256 };

struct heap {
    void *items;  /* the caller's; element 0 is the first in order */
    size_t count; /* elements in the heap */
    size_t size;  /* bytes of one element, at most HEAP_ELEMENT_MAX */
    bool (*before)(const void *left, const void *right);
};

/* Adds a copy of an element. The array must have room for it. */
void heap_push(struct heap *heap, const void *element);

/* Removes the first element and copies it to *element, which may be NULL. The heap must not be
 * empty. */
void heap_pop(struct heap *heap, void *element);

/* Puts the first element in its place after the caller has changed it. */
void heap_first_changed(struct heap *heap);

#endif
