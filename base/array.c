/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <stdlib.h>

void *array_grow(void *items, size_t count, size_t size)
{
    if (count == 0)
        return items ? items : malloc(size);
    if ((count & (count - 1)) != 0)
        return items;
    size_t bytes;
    if (__builtin_mul_overflow(count, 2 * size, &bytes))
        return NULL;
    return realloc(items, bytes);
}
