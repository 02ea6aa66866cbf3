/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --find-max: which cell to play next. A coarse grid first; then the neighbours of the best cell at
 * half the coarse grid's distance, and again at half of that, moving whenever a better one is
 * found, down to its next neighbours; then, when a service level is the limit, cells along its
 * edge; then repeats of the best few. Never more than half of a grid's cells.
 *
 * What is next follows from what is known of the cells alone: the same results give the same
 * search, in whichever call of the program they were made.
 */
#ifndef REPLAY_SWEEP_SWEEP_SEARCH_H
#define REPLAY_SWEEP_SWEEP_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How many of the best cells are repeated. */
enum { SWEEP_SEARCH_RIVALS = 3 };
/* Grids up to this size may be played in full. */
enum { SWEEP_SEARCH_SMALL = 8 };

struct sweep_search_cell {
    unsigned runs; /* 0: not played */
    double mean, min, max;
    double variance; /* of the runs; 0 with less than 2 */
    bool missed;     /* the mean of its runs does not keep the service level */
};

struct sweep_search {
    size_t rows, columns;            /* r and S, both rising */
    const double *load;              /* r x S of each cell, row by row */
    struct sweep_search_cell *cells; /* row by row; the caller writes what it has measured */
    unsigned repeats;                /* that the best cells are to get; at least 1 */
};

/* 0 or -ENOMEM. */
int sweep_search_init(struct sweep_search *search, size_t rows, size_t columns, const double *load,
                      unsigned repeats);
void sweep_search_clear(struct sweep_search *search);

/* Cells that may be played at most. */
size_t sweep_search_budget(const struct sweep_search *search);
size_t sweep_search_played(const struct sweep_search *search);

/* The index of the cell to play next; SIZE_MAX: the search is over. */
size_t sweep_search_next(const struct sweep_search *search);

/* The best cell so far: the largest mean of those that keep the level, or, when none does, the one
 * with the least load. SIZE_MAX: nothing is played. */
size_t sweep_search_best(const struct sweep_search *search);
/* The place-th best of those that keep the level, from 0; SIZE_MAX: there are not so many. */
size_t sweep_search_ranked(const struct sweep_search *search, size_t place);

/* Half of the 95% confidence interval of the mean (Student's t); NaN with less than 2 runs. */
double sweep_search_uncertainty(const struct sweep_search_cell *cell);

/* How sure it is that the best cell is the best, in words without a final stop. */
void sweep_search_sureness(const struct sweep_search *search, FILE *out);

#endif
