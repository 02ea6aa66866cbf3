/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by one element at a time. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/*
 * Makes room for one more element after the first count, each of size bytes. Capacity doubles
 * whenever count is a power of two, so the caller keeps no capacity. items is NULL at first and
 * must come from this function afterwards.
 *
 * Returns the array, which may have moved, or NULL: out of memory, and items is still valid.
 * The new element is not initialised. Free the array with free().
 */
void *array_grow(void *items, size_t count, size_t size);

#endif
