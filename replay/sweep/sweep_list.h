/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of a sweep: 4:24, 4:24:4, 4,8,16 for -r and -S; V1,V2,... for --vary. */
#ifndef REPLAY_SWEEP_SWEEP_LIST_H
#define REPLAY_SWEEP_SWEEP_LIST_H

#include <stddef.h>

#include "base/error.h"

enum { SWEEP_LIST_MAX = 10000, SWEEP_NUMBER_SIZE = 32 };

struct sweep_number {
    char text[SWEEP_NUMBER_SIZE]; /* its shortest form, for names, labels and command lines */
    double value;
};

struct sweep_list {
    struct sweep_number *items;
    size_t count;
};

/*
 * Reads numbers and ranges FROM:TO[:STEP] (both ends included, step 1 unless given) with commas
 * between, into *list, which comes zeroed. 0, -ENOMEM, or -EINVAL; then what is wrong is in error.
 * sweep_list_clear() is due in any case.
 */
int sweep_list_parse(const char *text, struct sweep_list *list, struct error *error);
void sweep_list_clear(struct sweep_list *list);

#endif
