/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of numbers for -r and -S: 4:24, 4:24:4 or 4,8,16. */
#ifndef REPLAY_SWEEP_SWEEP_LIST_H
#define REPLAY_SWEEP_SWEEP_LIST_H

#include <stddef.h>

#include "base/error.h"

enum { SWEEP_LIST_MAX = 10000, SWEEP_NUMBER_SIZE = 32 };

struct sweep_number {
    char text[SWEEP_NUMBER_SIZE]; /* the shortest form, for names, labels and arguments */
    double value;
};

struct sweep_list {
    struct sweep_number *items;
    size_t count;
};

/*
 * Parses numbers and ranges FROM:TO[:STEP], separated by commas. A range includes both ends; the
 * default step is 1. *list must be zeroed; the caller calls sweep_list_clear() in any case. 0, or
 * -ENOMEM or -EINVAL with a line in error.
 */
int sweep_list_parse(const char *text, struct sweep_list *list, struct error *error);
/* The values, which the caller frees. NULL: no memory. */
double *sweep_list_values(const struct sweep_list *list);
void sweep_list_clear(struct sweep_list *list);

#endif
