/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

void *array_grow(void *items, size_t count, size_t size)
{
    if (count == 0)
        return items ? items : malloc(size);
    if ((count & (count - 1)) != 0)
        return items;
    return count > SIZE_MAX / 2 ? NULL : reallocarray(items, 2 * count, size);
}
