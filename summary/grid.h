/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The r x S grid of one metric: one row per r, one column per S. A cell holds the mean of its runs.
 */
#ifndef SUMMARY_GRID_H
#define SUMMARY_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "summary/mixed.h"
#include "summary/reading.h"
#include "summary/slo.h"

/* full fills ranges of whole numbers up to this width; of wider ones only existing values are
 * shown. */
enum { GRID_RANGE_MAX = 1000 };

/* One metric over the runs of a cell. */
struct grid_value {
    size_t count;          /* runs that have the metric */
    double mean, min, max; /* over these runs; NaN: none */
};

struct grid_cell {
    size_t runs;    /* in this cell */
    size_t spoiled; /* of these; their figures count only if all are spoiled */
    bool mixed;     /* the runs did not measure the same thing */
    struct grid_value values[METRICS];
    enum slo_verdict verdict; /* of the means */
};

struct grid {
    enum metric metric; /* shown in the grid */
    const struct slo *slo;
    const struct mixed *mixed; /* how the runs differ; NULL: not examined */
    bool full;
    size_t row_count, column_count;
    double *r, *S;           /* ascending */
    struct grid_cell *cells; /* row by row */
    /* The cell with the largest mean, and that among those that keep the service level; NULL: no
     * cell has a value. Cells with spoiled runs only are left out. */
    const struct grid_cell *largest, *largest_kept;
    bool too_wide;       /* a range was too wide to fill */
    double best_success; /* the largest success rate, percent; NaN: unknown */
};

/* Whether two values of r or S are equal, allowing for rounding of decimal fractions. */
bool grid_same(double left, double right);

/* Makes the grid of a metric. Rows and columns are the values of r and S with runs. full: also all
 * whole numbers from 1 to one more than the largest. slo may be without
 * conditions and must outlive the grid. 0 or -ENOMEM. */
int grid_make(struct grid *grid, const struct readings *readings, enum metric metric, bool full,
              const struct slo *slo);
void grid_clear(struct grid *grid);

/* Marks the cells whose runs differ. mixed must outlive the grid. */
void grid_mark_mixed(struct grid *grid, const struct mixed *mixed);

/* Whether all runs of a cell are spoiled. */
bool grid_spoiled(const struct grid_cell *cell);

/* reading_kept_up() of a cell, in comparison with the grid. */
bool grid_kept_up(const struct grid *grid, const struct grid_cell *cell);

/* Whether the largest cell is at the edge of the grid and kept up with its load: the maximum lies
 * beyond the grid. Writes a sentence that says so. Only for METRIC_OK. */
bool grid_maximum_is_beyond(const struct grid *grid, char *out, size_t size);

/* The cell at r and S; NULL: there is none. */
struct grid_cell *grid_find(const struct grid *grid, double r, double S);
/* A cell's mean of the grid's metric; NaN: none. */
double grid_mean(const struct grid *grid, const struct grid_cell *cell);
/* r and S of a cell. */
double grid_cell_r(const struct grid *grid, const struct grid_cell *cell);
double grid_cell_S(const struct grid *grid, const struct grid_cell *cell);

struct grid_print_form {
    bool spread; /* also print min and max of a cell's runs */
    bool colour; /* colour by value, with terminal escape sequences */
};

/* Prints the table in the layout of Samba's script. With spread, min and max follow the mean in
 * cells with several runs. */
void grid_print(FILE *stream, const struct grid *grid, struct grid_print_form form);
/* Prints one line per cell with runs: r,S,metric,runs,mean,min,max; with a service level also
 * kept (yes, no or unknown). */
void grid_print_csv(FILE *stream, const struct grid *grid);
/* Prints the grid as JSON. 0 or a negative errno. */
int grid_print_json(FILE *stream, const struct grid *grid);

#endif
