/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best setting of a server, by successive halving: a state machine over one search per value.
 *
 * 1. The scout: a whole search with the value in the middle.
 * 2. Each value starts at the scout's best cell and looks for better ones, some runs in turn. Then
 *    the worse half of the values is dropped, and the others get more runs, until two values are
 *    left.
 * 3. The last two get runs until one is better with 95% confidence, or their share is used up.
 *
 * Fewer than half of the cells of all grids are played. What is named depends only on the results
 * so far. It does no input or output.
 */
#ifndef REPLAY_SWEEP_SEARCH_TUNE_H
#define REPLAY_SWEEP_SEARCH_TUNE_H

#include "replay/sweep/search/search.h"

struct tune_value {
    struct search search;
    unsigned dropped;       /* the round after which it was dropped; 0: not */
    size_t quota;           /* runs of this value at the end of the round */
    bool over;              /* its search has nothing more to play in this round */
    double rate, low, high; /* estimate and 95% interval; NaN: no cell keeps the level */
    size_t best;            /* its best cell; SEARCH_NONE: none */
};

struct tune {
    size_t count; /* at least 2 */
    struct tune_value *values;
    size_t *ranking; /* from the best to the worst, after tune_rank() */
    unsigned round;  /* 0: the scout */
};

/* r and S rise; they are copied. 0 or -ENOMEM. */
int tune_init(struct tune *tune, size_t count, size_t rows, size_t columns, const double *r,
              const double *S, unsigned repeats, bool has_level);
void tune_clear(struct tune *tune);

/* The largest number of distinct cells of all values, and of runs. */
size_t tune_cell_budget(const struct tune *tune);
size_t tune_run_budget(const struct tune *tune);

/* The value and the cell to play next; *cell is SEARCH_NONE at the end. The result is given to
 * search_add() of the value's search. 0 or -ENOMEM. */
int tune_next(struct tune *tune, size_t *value, size_t *cell);

/* Computes the estimates of all values and the ranking, at any time. 0 or -ENOMEM. */
int tune_rank(struct tune *tune);
/* The ratio of the best value to the one at a place of the ranking (from 1), with its 95% interval.
 * NaN: unknown. */
double tune_lead(const struct tune *tune, size_t place, double *low, double *high);

#endif
