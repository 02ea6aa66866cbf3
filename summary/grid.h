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

/* A range of whole numbers wider than this is not filled: only the values seen are shown. */
enum { GRID_RANGE_MAX = 1000 };

struct grid_cell {
    size_t runs;           /* made in this cell; 0: none */
    size_t values;         /* of them, those that have the metric */
    double mean, min, max; /* of these; NaN when there is none */
};

struct grid {
    enum metric metric;
    size_t row_count, column_count;
    double *r, *S;                   /* rising */
    struct grid_cell *cells;         /* row by row */
    const struct grid_cell *largest; /* NULL: no cell has a value */
    bool too_wide;                   /* a range was not filled */
};

/* Makes the grid of a metric. full: from 1 to one past the largest r and S instead of from the
 * smallest to the largest; whole numbers between them are rows and columns even when no run was
 * made. 0 or -ENOMEM. */
int grid_make(struct grid *grid, const struct readings *readings, enum metric metric, bool full);
void grid_clear(struct grid *grid);

/* r and S of a cell. */
double grid_cell_r(const struct grid *grid, const struct grid_cell *cell);
double grid_cell_S(const struct grid *grid, const struct grid_cell *cell);

/* The published layout; with spread, min and max stand behind the mean of a cell of several runs.
 */
void grid_print(FILE *stream, const struct grid *grid, bool spread);
/* One line a cell in which runs were made: r,S,metric,runs,mean,min,max. */
void grid_print_csv(FILE *stream, const struct grid *grid);
/* 0, or -ENOMEM or another negative errno. */
int grid_print_json(FILE *stream, const struct grid *grid);

#endif
