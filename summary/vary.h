/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a varied setting does (--by NAME): runs grouped by the value of a label, one row a value
 * with its maximum, where it was reached, and what it cost.
 */
#ifndef SUMMARY_VARY_H
#define SUMMARY_VARY_H

#include <stdio.h>

#include "summary/grid.h"
#include "summary/reading.h"
#include "summary/slo.h"

/* A cell of a row: where, how much, at what price. All NaN when there is none. */
struct vary_best {
    double r, S, value;
    double p95; /* seconds */
    double cpu; /* seconds of the server's processor time per successful operation */
};

struct vary_row {
    const char *value; /* of the label; "none": runs without it */
    size_t runs;
    struct vary_best largest, kept; /* kept: within the service level */
};

struct vary {
    const char *name;
    enum metric metric;
    const struct slo *slo;
    size_t count;
    struct vary_row *rows; /* numbers rising, then other values in the order of bytes */
};

/* Makes the rows; texts point into name, slo and readings. 0 or -ENOMEM. */
int vary_make(struct vary *vary, const struct readings *readings, const char *name,
              enum metric metric, const struct slo *slo);
void vary_clear(struct vary *vary);

void vary_print(FILE *stream, const struct vary *vary);
void vary_print_csv(FILE *stream, const struct vary *vary);
/* 0 or a negative errno. */
int vary_print_json(FILE *stream, const struct vary *vary);

#endif
