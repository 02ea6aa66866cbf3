/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The r x S grid of one metric: a row for each r, a column for each S, the mean of a cell's runs in
 * each cell.
 */
#ifndef SUMMARY_GRID_H
#define SUMMARY_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "summary/reading.h"
#include "summary/slo.h"

/* A range of whole numbers wider than this is not filled: only the values seen are shown. */
enum { GRID_RANGE_MAX = 1000 };

/* One metric of the runs of a cell. */
struct grid_value {
    size_t count;          /* runs that have it */
    double mean, min, max; /* of these; NaN when there is none */
};

struct grid_cell {
    size_t runs; /* made in this cell; 0: none */
    struct grid_value values[METRICS];
    enum slo_verdict verdict; /* of the means */
};

struct grid {
    enum metric metric; /* that is shown */
    const struct slo *slo;
    size_t row_count, column_count;
    double *r, *S;           /* rising */
    struct grid_cell *cells; /* row by row */
    /* The cell with the largest mean, and that among those that keep the service level; NULL: no
     * cell has a value. */
    const struct grid_cell *largest, *largest_kept;
    bool too_wide; /* a range was not filled */
};

/* Whether two values of r or S are one: sums and texts of fractions are not exact. */
bool grid_same(double left, double right);

/* Makes the grid of a metric. full: from 1 to one past the largest r and S instead of from the
 * smallest to the largest; whole numbers between them are rows and columns even when no run was
 * made. slo, which may have no conditions, must outlive the grid. 0 or -ENOMEM. */
int grid_make(struct grid *grid, const struct readings *readings, enum metric metric, bool full,
              const struct slo *slo);
void grid_clear(struct grid *grid);

/* The cell of r and S, or NULL: the grid has none. */
struct grid_cell *grid_find(const struct grid *grid, double r, double S);
/* The mean of the grid's metric; NaN: none. */
double grid_mean(const struct grid *grid, const struct grid_cell *cell);
/* r and S of a cell. */
double grid_cell_r(const struct grid *grid, const struct grid_cell *cell);
double grid_cell_S(const struct grid *grid, const struct grid_cell *cell);

struct grid_print_form {
    bool spread; /* min and max of a cell's runs, too */
    bool colour; /* by value, with a terminal's escape sequences */
};

/* The published layout; with spread, min and max stand behind the mean of a cell of several runs.
 */
void grid_print(FILE *stream, const struct grid *grid, struct grid_print_form form);
/* One line a cell in which runs were made: r,S,metric,runs,mean,min,max; with a service level
 * also kept: yes, no or unknown. */
void grid_print_csv(FILE *stream, const struct grid *grid);
/* 0, or -ENOMEM or another negative errno. */
int grid_print_json(FILE *stream, const struct grid *grid);

#endif
