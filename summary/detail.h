/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Details of runs that a grid does not hold: counts, times and causes by packet type, added up over
 * several runs. Their JSON results are read again for this.
 */
#ifndef SUMMARY_DETAIL_H
#define SUMMARY_DETAIL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "summary/reading.h"
#include "summary/result/histogram.h"

struct detail_cause {
    char *text;
    uint64_t count;
};

struct detail_type {
    char *protocol, *opcode, *description;
    uint64_t count, failed, no_answer;
    struct histogram service, response;
    struct detail_cause *causes; /* sorted by bytes */
    size_t cause_count;
};

struct detail {
    struct detail_type *types; /* sorted by protocol, then by opcode as a number */
    size_t type_count;
    size_t runs;    /* runs that were added */
    size_t without; /* runs without details, which only JSON results have */
};

/* Adds a run with the files of all its processes. 0, or a negative errno with a line in error. */
int detail_add(struct detail *detail, const struct reading *reading, struct error *error);
/* Adds the counts and causes of part, without its times. 0 or -ENOMEM. */
int detail_merge_counts(struct detail *to, const struct detail *part);
void detail_clear(struct detail *detail);

/* The row of a packet type, or NULL. */
const struct detail_type *detail_find(const struct detail *detail, const char *protocol,
                                      const char *opcode);
/* Number of failures of a packet type with this cause. */
uint64_t detail_cause(const struct detail_type *type, const char *text);

#endif
