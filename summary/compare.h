/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --compare A B: compares the results of two servers, versions or settings by cell, and begins with
 * a verdict of one sentence. A cell is called faster or slower only if both sides have at least
 * COMPARE_RUNS runs of it and the 95% interval of the ratio of their means (Welch's t on a
 * logarithmic scale) excludes 1.
 * With fewer runs, only ranges are shown.
 */
#ifndef SUMMARY_COMPARE_H
#define SUMMARY_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "summary/detail.h"
#include "summary/grid.h"
#include "summary/mixed.h"
#include "summary/reading.h"

enum { COMPARE_RUNS = 3, COMPARE_VERDICT_SIZE = 512 };

enum compare_sides { COMPARE_A, COMPARE_B, COMPARE_SIDES };

/* The ratio of B's mean to A's mean, from the runs of both. */
struct compare_ratio {
    size_t runs[COMPARE_SIDES];
    double mean[COMPARE_SIDES]; /* NaN: none */
    double ratio;               /* NaN: one side has no value, or A's mean is 0 */
    bool interval; /* low and high are the 95% interval; otherwise the range of ratios */
    double low, high;
    bool same;                 /* both sides have the same values */
    bool mixed[COMPARE_SIDES]; /* for print_csv_cell() and add_json_cell(): runs that differ */
};

struct compare {
    const struct readings *readings[COMPARE_SIDES];
    const char *names[COMPARE_SIDES];     /* as the command line names them */
    struct grid grids[COMPARE_SIDES];     /* of the metric being shown */
    struct grid maxima[COMPARE_SIDES];    /* of METRIC_OK */
    struct detail details[COMPARE_SIDES]; /* over the cells in which both have runs */
    struct mixed mixed[COMPARE_SIDES];
    char verdict[COMPARE_VERDICT_SIZE];
};

/* Compares two sides. Readings, names and slo must outlive the result. 0, or a negative errno with
 * a line in error. */
int compare_make(struct compare *compare, const struct readings *a, const struct readings *b,
                 const char *const names[COMPARE_SIDES], enum metric metric, const struct slo *slo,
                 struct error *error);
void compare_clear(struct compare *compare);

/* The ratio of two samples. */
struct compare_ratio compare_samples(const double *a, size_t a_count, const double *b,
                                     size_t b_count);
/* The value that Student's t exceeds with a probability of 2.5%. */
double compare_student_t(double freedom);
/* The value that it exceeds with a probability of outside. */
double compare_student_quantile(double freedom, double outside);

/* The ratio of a metric in one cell, without spoiled runs. */
int compare_cell(const struct compare *compare, enum metric metric, double r, double S,
                 struct compare_ratio *ratio);

/* "+" or "-" if B is better or worse beyond chance, "" otherwise. */
const char *compare_mark(const struct compare_ratio *ratio, enum metric metric);
/* Whether less of a metric is better. */
bool compare_less_is_better(enum metric metric);
/* Makes a grid over the cells of both sides; only its axes are meant to be used. 0 or -ENOMEM. */
int compare_make_axes(const struct compare *compare, struct grid *both);

/* Calls visit for each cause of failures that only one side has. Nothing if a side has no details.
 */
void compare_own_failures(const struct compare *compare, enum compare_sides side,
                          void (*visit)(const struct detail_type *type,
                                        const struct detail_cause *cause, void *context),
                          void *context);

/* Prints the comparison as text. 0 or a negative errno. */
int compare_print(FILE *stream, const struct compare *compare, bool spread);
int compare_print_csv(FILE *stream, const struct compare *compare);
int compare_print_json(FILE *stream, const struct compare *compare);

#endif
