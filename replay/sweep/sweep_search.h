/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --find-max: chooses the next cell to play. The search has four phases:
 * 1. a coarse grid;
 * 2. the neighbours of the best cell, at half the distance of the coarse grid, then at half of
 *    that, down to the direct neighbours; a better cell becomes the new centre;
 * 3. with a service level: cells along its edge;
 * 4. repeats of the best cells.
 * It plays at most half of the cells of a grid.
 *
 * The choice depends only on the cells' results. So a resumed sweep continues the same search.
 */
#ifndef REPLAY_SWEEP_SWEEP_SEARCH_H
#define REPLAY_SWEEP_SWEEP_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Number of best cells that are repeated. */
enum { SWEEP_SEARCH_RIVALS = 3 };
/* Grids of up to this number of cells are played in full. */
enum { SWEEP_SEARCH_SMALL = 8 };

struct sweep_search_cell {
    unsigned runs; /* 0: not played */
    double mean, min, max;
    double variance; /* of the runs; 0 for fewer than 2 */
    bool missed;     /* the mean of its runs misses the service level */
};

struct sweep_search {
    size_t rows, columns;            /* r and S, both rising */
    const double *load;              /* r x S of each cell, row by row */
    struct sweep_search_cell *cells; /* row by row; the caller stores its measurements */
    unsigned repeats;                /* runs of each of the best cells; at least 1 */
};

/* 0 or -ENOMEM. */
int sweep_search_init(struct sweep_search *search, size_t rows, size_t columns, const double *load,
                      unsigned repeats);
void sweep_search_clear(struct sweep_search *search);

/* Maximum number of cells to play. */
size_t sweep_search_budget(const struct sweep_search *search);
size_t sweep_search_played(const struct sweep_search *search);

/* The index of the cell to play next; SIZE_MAX: the search is over. */
size_t sweep_search_next(const struct sweep_search *search);

/* The best cell so far: the largest mean of those that keep the level, or, when none does, the one
 * with the least load. SIZE_MAX: nothing is played. */
size_t sweep_search_best(const struct sweep_search *search);
/* The cell at a place, from 0, in the ranking of those that keep the level; SIZE_MAX: none. */
size_t sweep_search_ranked(const struct sweep_search *search, size_t place);

/* Half the width of the 95% confidence interval of the mean (Student's t); NaN for fewer than 2
 * runs. */
double sweep_search_uncertainty(const struct sweep_search_cell *cell);

/* Prints how certain it is that the best cell is the best: text without a full stop. */
void sweep_search_print_confidence(const struct sweep_search *search, FILE *out);

#endif
