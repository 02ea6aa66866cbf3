/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The surface of rates over r and S, estimated from noisy runs. A cell is known from its own runs
 * and from those of other cells, by two assumptions:
 *
 * - Up to a knee, a server serves what is asked; past it the rate stays, falls or drops. Where the
 *   knee is, is not known: many hypotheses are weighed by how well they explain the runs.
 * - What the knee leaves unexplained is smooth: a Gaussian process on the logarithm of the rate.
 *
 * A slow component in time keeps a drift of the machine from looking like an effect of the load. A
 * run that fits neither its cell nor the others gets less weight, as with Student's t noise.
 *
 * Pure computation: the result depends only on the runs and their order.
 */
#ifndef REPLAY_SWEEP_SEARCH_SURFACE_H
#define REPLAY_SWEEP_SEARCH_SURFACE_H

#include <stdbool.h>
#include <stddef.h>

/* Limits for the caller: time and memory grow with the product. */
enum { SURFACE_RUNS_MAX = 500, SURFACE_CELLS_MAX = 10000 };

struct surface;

/* A natural logarithm and its standard error. */
struct surface_estimate {
    double mean, error;
};

/* Cells are numbered row by row. r and S are copied. NULL: no memory. */
struct surface *surface_new(size_t rows, size_t columns, const double *r, const double *S);
void surface_free(struct surface *surface);

/* Adds the next run in the order of time. A rate of 0 is allowed. 0 or -ENOMEM. */
int surface_add(struct surface *surface, size_t cell, double rate);
/* Takes note that time has passed: a run that counts for nothing. */
void surface_skip(struct surface *surface);
/* r x S of a cell. */
double surface_load(const struct surface *surface, size_t cell);
size_t surface_runs(const struct surface *surface);

/* Fits the surface to all runs, of which there is one at least; necessary after surface_add(),
 * before the functions below. 0 or -ENOMEM. */
int surface_fit(struct surface *surface);

/* Logarithm of the rate of a cell, free of noise, at the machine's average speed. */
struct surface_estimate surface_at(struct surface *surface, size_t cell);
/* Logarithm of the ratio of cell a to cell b. */
struct surface_estimate surface_ratio(struct surface *surface, size_t a, size_t b);
/* Probability that cell a is better than b by more than a factor. *gain: expected improvement of
 * choosing the better one of both instead of b, as a logarithm. */
double surface_probability(struct surface *surface, size_t a, size_t b, double factor,
                           double *gain);
/* Logarithm of the machine's speed at the last run in proportion to the first one. */
struct surface_estimate surface_drift(struct surface *surface);
/* Relative standard deviation of a run. */
double surface_noise(const struct surface *surface);

#endif
