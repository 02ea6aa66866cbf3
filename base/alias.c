/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alias.h"

#include <errno.h>
#include <stdlib.h>

typedef unsigned __int128 wide;

static void alias_fill(struct alias_slot *slots, wide *mass, uint32_t *less, uint32_t *more,
                       size_t count, uint64_t total);

int alias_build(struct alias_slot *slots, const uint64_t *weights, size_t count)
{
    uint64_t total = 0;
    int result = -ENOMEM;
    wide *mass = calloc(count, sizeof *mass);
    uint32_t *less = calloc(count, sizeof *less);
    uint32_t *more = calloc(count, sizeof *more);
    if (!mass || !less || !more)
        goto cleanup;
    for (size_t i = 0; i < count; i++) {
        total += weights[i];
        mass[i] = (wide)weights[i] * count;
    }
    alias_fill(slots, mass, less, more, count, total);
    result = 0;
cleanup:
    free(more);
    free(less);
    free(mass);
    return result;
}

/*
 * Vose's method. Each slot has room for total, and slot i starts with weights[i] * count. A slot
 * with less is filled up from one with more. Only the threshold is rounded.
 */
static void alias_fill(struct alias_slot *slots, wide *mass, uint32_t *less, uint32_t *more,
                       size_t count, uint64_t total)
{
    size_t less_count = 0, more_count = 0;
    for (size_t i = 0; i < count; i++) {
        slots[i] = (struct alias_slot){UINT64_MAX, (uint32_t)i};
        if (mass[i] < total)
            less[less_count++] = (uint32_t)i;
        else
            more[more_count++] = (uint32_t)i;
    }
    while (less_count > 0 && more_count > 0) {
        uint32_t small = less[--less_count], large = more[more_count - 1];
        slots[small].threshold = (uint64_t)((mass[small] << 64) / total);
        slots[small].alias = large;
        mass[large] -= total - mass[small];
        if (mass[large] < total) {
            more_count--;
            less[less_count++] = large;
        }
    }
}
