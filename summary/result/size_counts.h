/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts operations by the number of bytes that each moved. Distinct sizes are few, as applications
 * transfer in fixed units. Nothing is allocated before the first size.
 */
#ifndef SUMMARY_RESULT_SIZE_COUNTS_H
#define SUMMARY_RESULT_SIZE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

/* Distinct sizes that are counted; all others are counted together. */
enum { SIZE_COUNTS_MAX = 256 };

struct size_count {
    uint64_t size; /* 0: this slot is free */
    uint64_t count;
};

/* A zeroed struct is empty. */
struct size_counts {
    struct size_count *slots; /* a hash table; NULL: empty */
    size_t used;
    uint64_t other; /* operations of further sizes */
};

void size_counts_clear(struct size_counts *counts);

/* Adds count operations that moved size bytes each; size > 0. 0 or -ENOMEM. */
int size_counts_add(struct size_counts *counts, uint64_t size, uint64_t count);
/* Adds all counts of from. 0 or -ENOMEM. */
int size_counts_merge(struct size_counts *to, const struct size_counts *from);

/* Copies the used slots to out, which has room for SIZE_COUNTS_MAX, the most frequent first.
 * Returns their number. */
size_t size_counts_list(const struct size_counts *counts, struct size_count *out);

#endif
