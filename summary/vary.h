/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effect of a varied setting (--by NAME): runs grouped by the value of a label. Each value gets
 * a row with its maximum, the cell that reached it, and its cost.
 */
#ifndef SUMMARY_VARY_H
#define SUMMARY_VARY_H

#include <stdio.h>

#include "summary/grid.h"
#include "summary/reading.h"
#include "summary/slo.h"

/* The best cell of a value: r, S, rate and cost. All NaN: there is none. */
struct vary_best {
    double r, S, value;
    double p95; /* seconds */
    double cpu; /* processor seconds of the server per successful operation */
    bool mixed; /* the mean of runs that did not measure the same thing */
};

struct vary_row {
    const char *value; /* of the label; "none": runs without the label */
    size_t runs;
    struct mixed mixed;             /* how the runs of this value differ */
    struct vary_best largest, kept; /* kept: within the service level */
};

struct vary {
    const char *name;
    enum metric metric;
    const struct slo *slo;
    size_t count;
    struct vary_row *rows; /* numbers ascending, then other values by bytes */
};

/* Makes the rows, whose texts point into name, slo and readings. 0 or -ENOMEM. */
int vary_make(struct vary *vary, const struct readings *readings, const char *name,
              enum metric metric, const struct slo *slo);
void vary_clear(struct vary *vary);

/* A run's value of a label; "none" if it has none. */
const char *vary_value_of(const struct reading *reading, const char *name);

/* Prints the names of all labels of the runs, sorted, one per line, each once. 0 or -ENOMEM. Write
 * errors are left in the stream. */
int vary_print_labels(FILE *stream, const struct readings *readings);

/* Prints the rows as text. Errors are left in the stream. */
void vary_print(FILE *stream, const struct vary *vary);
void vary_print_csv(FILE *stream, const struct vary *vary);
/* Prints the rows. 0 or a negative errno. */
int vary_print_json(FILE *stream, const struct vary *vary);

#endif
