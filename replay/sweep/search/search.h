/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for the maximum: a state machine that names the cell to play next and takes its
 * result. It does no input or output. What it names depends only on the results so far, so that a
 * sweep that is resumed repeats the same search.
 *
 * 1. It plays a coarse grid.
 * 2. It estimates the surface of all rates from all runs. It plays the best cell or the one that
 *    promises the largest gain over it, whichever is known less. It ends when each other cell is
 *    better by more than SEARCH_TOLERANCE with a probability of at most SEARCH_RISK, or when the
 *    budget is used up.
 * 3. Every SEARCH_WATCH runs it plays the same reference cell, from which the drift of the machine
 *    is estimated.
 *
 * A single run that misses the service level excludes no cell: a cell is excluded when the runs are
 * SEARCH_ODDS times more likely if it misses the level (Wald's sequential probability ratio test).
 * A run that keeps the level speaks for all cells with less load, one that misses it against all
 * cells with more load.
 *
 * Cells are numbered row by row (r), column by column (S).
 */
#ifndef REPLAY_SWEEP_SEARCH_SEARCH_H
#define REPLAY_SWEEP_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/sweep/search/surface.h"

/* Grids of up to this number of cells may be played in full. */
enum { SEARCH_SMALL = 8 };
/* A reference cell is due after this number of other runs. */
enum { SEARCH_WATCH = 8 };
#define SEARCH_TOLERANCE 0.05
#define SEARCH_RISK      0.002
#define SEARCH_ODDS      19

enum { SEARCH_NONE = SIZE_MAX };

struct search_run {
    double rate;    /* successful operations per second */
    bool missed;    /* missed the service level; a rate of 0 always does */
    bool disturbed; /* the figures are the machine's, not the server's: the run does not count */
};

struct search_cell {
    unsigned runs;      /* that count */
    unsigned kept;      /* those of them that kept the level */
    unsigned disturbed; /* further ones, which do not */
    double sum, min, max;
};

struct search {
    size_t rows, columns;
    unsigned repeats;  /* least runs of the best cell */
    bool has_level;    /* there is a service level */
    size_t cell_limit; /* distinct cells; 0: half of the grid */
    struct search_cell *cells;
    size_t played;          /* distinct cells */
    size_t runs, disturbed; /* that count, and that do not */

    /* private */
    struct surface *surface;
    size_t *order; /* the cell of each run that counts */
    bool *missed;
    bool fitted;
    size_t suggested; /* SEARCH_NONE: none */
    size_t reference; /* SEARCH_NONE: not chosen yet */
    unsigned since_reference;
};

struct search_maximum {
    size_t cell;            /* SEARCH_NONE: no cell keeps the level */
    size_t least;           /* the played cell with the least load; SEARCH_NONE: none */
    double rate, low, high; /* estimate and 95% interval */
    size_t rival;           /* the other cell that promises most; SEARCH_NONE: none */
    double risk;            /* probability that it is better by more than SEARCH_TOLERANCE */
    bool sure;              /* the search ended before its budget */
};

/* r and S rise; they are copied. 0 or -ENOMEM. */
int search_init(struct search *search, size_t rows, size_t columns, const double *r,
                const double *S, unsigned repeats, bool has_level);
void search_clear(struct search *search);

/* The largest number of distinct cells, and of runs that count. */
size_t search_cell_budget(const struct search *search);
size_t search_run_budget(const struct search *search);

/* Starts at a cell instead of the coarse grid: where another server of the same kind is best. Plays
 * no reference cell. */
void search_suggest(struct search *search, size_t cell);

/* *next is the cell to play next; SEARCH_NONE: the search is over. 0 or -ENOMEM. */
int search_next(struct search *search, size_t *next);
/* Whether a run of the cell should be repeated if it turns out to be disturbed. Some repeats are
 * enough to see that the machine is never calm. */
bool search_repeats_disturbed(const struct search *search, size_t cell);
/* Takes the result of a cell, in the order of time. 0 or -ENOMEM. */
int search_add(struct search *search, size_t cell, const struct search_run *run);

/* The state at any time. 0 or -ENOMEM. */
int search_maximum(struct search *search, struct search_maximum *maximum);

/* The played cell at a place, from 0, in the ranking of those that keep the level, with its
 * estimated rate; after search_maximum(). SEARCH_NONE: none. */
size_t search_ranked(struct search *search, size_t place, double *rate);

/* Whether the machine's speed changed by more than chance; *change is -0.1 for 10% slower. 0 or
 * -ENOMEM. */
int search_drift(struct search *search, bool *drifts, double *change);

#endif
