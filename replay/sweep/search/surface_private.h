/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the surface share. */
#ifndef REPLAY_SWEEP_SEARCH_SURFACE_PRIVATE_H
#define REPLAY_SWEEP_SEARCH_SURFACE_PRIVATE_H

#include "replay/sweep/search/surface.h"

/* Parameters of the process, as indices into their levels. */
enum parameter { LOAD_LENGTH, BALANCE_LENGTH, SIGNAL, NOISE, DRIFT, PARAMETERS };

/* Coefficients of a knee: constant, up to the knee, past it, drop at the knee. */
enum { KNEE_TERMS = 4 };

/* A hypothesis: the logarithm of the load at the knee is at + tilt x balance. */
struct knee {
    double at, tilt, prior; /* prior: a logarithm */
    /* Of the last fit. */
    size_t solved;   /* rows of columns that are valid */
    double *columns; /* the factor's solution for the terms of each run: KNEE_TERMS per run */
    double covariance[KNEE_TERMS][KNEE_TERMS]; /* of the coefficients */
    double coefficients[KNEE_TERMS];
    double evidence, weight; /* a logarithm; a probability */
};

struct surface_run {
    size_t cell;
    double rate, time, weight;
};

/* What the fit says about a cell. */
struct surface_asked {
    size_t solved;   /* elements of its column that are valid */
    bool current;    /* the members below are those of this fit */
    double variance; /* without that of the knee's coefficients */
    double mean;     /* without the knee */
    /* Terms of each active knee that the runs do not explain: KNEE_TERMS per knee. */
    double *terms;
};

struct surface {
    size_t columns, cells;
    double *load, *balance; /* logarithms of r x S and r / S, per cell */
    double middle;          /* of the logarithms of the loads */
    struct surface_run *runs;
    size_t count;
    double time;
    unsigned char chosen[PARAMETERS];

    struct knee *knees;
    size_t knee_count;
    struct knee **active; /* those that matter, the most likely one first */
    size_t active_count;

    /* A triangular factor of the covariance of the runs, row by row, and solutions with it. */
    size_t capacity, factored, next_full;
    double *factor, *values, *forward, *residual, *alpha, *inverse_diagonal;
    double scale;
    double *cell_columns; /* the solution for the covariances of each cell with all runs */
    double *terms;        /* of all cells and knees */
    struct surface_asked *asked;
};

double surface_level(const struct surface *surface, enum parameter parameter);
double surface_covariance(const struct surface *surface, size_t a, size_t b);
double surface_time_covariance(const struct surface *surface, double a, double b);

/* The factor (surface_factor.c). Rows of runs before surface->factored are valid. */
bool surface_factorize(struct surface *surface);
bool surface_factorize_row(struct surface *surface, size_t row);
double surface_dot(const double *a, const double *b, size_t count);
void surface_solve_lower(const struct surface *surface, double *x);
void surface_solve_upper(const struct surface *surface, double *x);
void surface_invert_diagonal(struct surface *surface);

/* The knees (surface_knee.c). */
int knees_make(struct surface *surface);
int knees_make_room(struct surface *surface, size_t capacity);
void knees_free(struct surface *surface);
/* The terms of a knee in a cell. */
void knee_terms(const struct surface *surface, const struct knee *knee, size_t cell,
                double terms[KNEE_TERMS]);
/* Fits the active knees to surface->forward; returns the logarithm of the likelihood of all runs.
 * The weights of the knees add up to 1. */
double knees_fit(struct surface *surface);
/* Considers all knees again. */
void knees_activate(struct surface *surface);
/* Drops those that no longer matter; the first one is the most likely one. */
void knees_prune(struct surface *surface);
/* The variance that the coefficients of a knee add to a prediction with these terms. */
double knee_variance(const struct knee *knee, const double terms[KNEE_TERMS]);

#endif
