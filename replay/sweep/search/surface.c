/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaussian process regression as in Rasmussen and Williams, Gaussian Processes for Machine
 * Learning: algorithm 2.1, explicit basis functions of chapter 2.7 for the knee, leave-one-out
 * residuals by equations 5.10 to 5.12.
 */
#include "replay/sweep/search/surface.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "replay/sweep/search/surface_private.h"

enum { LEVELS = 6 };

static const double levels[PARAMETERS][LEVELS] = {
    [LOAD_LENGTH] = {0.15, 0.3, 0.6, 1.0, 1.6, 2.5},
    [BALANCE_LENGTH] = {0.4, 0.8, 1.5, 2.5, 4, 8},
    [SIGNAL] = {0.02, 0.05, 0.1, 0.2, 0.4, 0.7},
    [NOISE] = {0.005, 0.015, 0.03, 0.06, 0.1, 0.16},
    [DRIFT] = {0.001, 0.02, 0.05, 0.1, 0.2, 0.3},
};
static const unsigned char usual[PARAMETERS] = {2, 2, 2, 4, 1};

static const double drift_length = 40;  /* runs */
static const double least_share = 0.15; /* of the largest rate: smaller rates are no different */
static const double roughness = 0.05;   /* of single cells */
static const double tail = 4;           /* degrees of freedom of the noise */

static void place_cells(struct surface *surface, const double *r, const double *S);
static int make_terms(struct surface *surface);
static int surface_make_room(struct surface *surface);
static void scale_values(struct surface *surface);
static void fit_in_full(struct surface *surface);
static void choose_parameters(struct surface *surface);
static bool improve_parameter(struct surface *surface, enum parameter parameter, double *best);
static double evidence(struct surface *surface);
static double solve_runs(struct surface *surface);
static void reweigh(struct surface *surface);
static void append_runs(struct surface *surface);
static void weigh_new_run(struct surface *surface, size_t row);
static const struct surface_asked *ask_cell(struct surface *surface, size_t cell);
static double knee_mean(const struct knee *knee, const double *terms);
static struct surface_estimate ratio_under(struct surface *surface, size_t a, size_t b,
                                           size_t number, double smooth);
static double smooth_variance(struct surface *surface, size_t a, size_t b);

struct surface *surface_new(size_t rows, size_t columns, const double *r, const double *S)
{
    struct surface *surface = calloc(1, sizeof *surface);
    if (!surface)
        return NULL;
    surface->columns = columns;
    surface->cells = rows * columns;
    surface->load = calloc(surface->cells, sizeof(double));
    surface->balance = calloc(surface->cells, sizeof(double));
    surface->asked = calloc(surface->cells, sizeof *surface->asked);
    memcpy(surface->chosen, usual, sizeof usual);
    if (!surface->load || !surface->balance || !surface->asked) {
        surface_free(surface);
        return NULL;
    }
    place_cells(surface, r, S);
    if (knees_make(surface) == 0 && make_terms(surface) == 0)
        return surface;
    surface_free(surface);
    return NULL;
}

static void place_cells(struct surface *surface, const double *r, const double *S)
{
    for (size_t i = 0; i < surface->cells; i++) {
        double row = log(r[i / surface->columns]), column = log(S[i % surface->columns]);
        surface->load[i] = row + column;
        surface->balance[i] = row - column;
    }
}

static int make_terms(struct surface *surface)
{
    surface->terms =
        calloc(surface->cells * surface->knee_count, KNEE_TERMS * sizeof *surface->terms);
    for (size_t i = 0; surface->terms && i < surface->cells; i++)
        surface->asked[i].terms = surface->terms + i * surface->knee_count * KNEE_TERMS;
    return surface->terms ? 0 : -ENOMEM;
}

void surface_free(struct surface *surface)
{
    if (!surface)
        return;
    knees_free(surface);
    free(surface->load);
    free(surface->balance);
    free(surface->runs);
    free(surface->factor);
    free(surface->values);
    free(surface->forward);
    free(surface->residual);
    free(surface->alpha);
    free(surface->inverse_diagonal);
    free(surface->cell_columns);
    free(surface->terms);
    free(surface->asked);
    free(surface);
}

int surface_add(struct surface *surface, size_t cell, double rate)
{
    struct surface_run *grown = array_grow(surface->runs, surface->count, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    surface->runs = grown;
    grown[surface->count++] = (struct surface_run){cell, rate, surface->time++, 1};
    return 0;
}

void surface_skip(struct surface *surface)
{
    surface->time++;
}

size_t surface_runs(const struct surface *surface)
{
    return surface->count;
}

double surface_load(const struct surface *surface, size_t cell)
{
    return exp(surface->load[cell]);
}

int surface_fit(struct surface *surface)
{
    enum { FEW = 12, OFTEN = 3, RARELY = 12 };
    if (surface_make_room(surface) < 0)
        return -ENOMEM;
    scale_values(surface);
    if (surface->factored == 0 || surface->count >= surface->next_full) {
        fit_in_full(surface);
        surface->next_full = surface->count + (surface->count < FEW ? OFTEN : RARELY);
    } else {
        append_runs(surface);
    }
    knees_prune(surface);
    for (size_t i = 0; i < surface->cells; i++)
        surface->asked[i].current = false;
    return 0;
}

static int surface_make_room(struct surface *surface)
{
    size_t count = surface->capacity ? surface->capacity : 16;
    while (count < surface->count)
        count *= 2;
    if (count == surface->capacity)
        return 0;
    const struct {
        double **place;
        size_t size;
    } vectors[] = {
        {&surface->values, 1},
        {&surface->forward, 1},
        {&surface->residual, 1},
        {&surface->alpha, 1},
        {&surface->factor, count},
        {&surface->inverse_diagonal, 1},
        {&surface->cell_columns, surface->cells},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        double *grown = reallocarray(*vectors[i].place, count * vectors[i].size, sizeof *grown);
        if (!grown)
            return -ENOMEM;
        *vectors[i].place = grown;
    }
    if (knees_make_room(surface, count) < 0)
        return -ENOMEM;
    surface->capacity = count;
    surface->factored = 0; /* the rows have moved */
    return 0;
}

/* Rates become logarithms in proportion to the largest one. Far below the maximum, differences do
 * not matter, and a server that collapsed would make the surface too steep. */
static void scale_values(struct surface *surface)
{
    surface->scale = 0;
    for (size_t i = 0; i < surface->count; i++)
        surface->scale = fmax(surface->scale, surface->runs[i].rate);
    for (size_t i = 0; i < surface->count; i++) {
        double share = surface->scale > 0 ? surface->runs[i].rate / surface->scale : 1;
        surface->values[i] = log(fmax(share, least_share));
    }
}

static void fit_in_full(struct surface *surface)
{
    knees_activate(surface);
    evidence(surface);
    knees_prune(surface);
    choose_parameters(surface);
    evidence(surface);
    surface_invert_diagonal(surface);
    reweigh(surface);
    knees_activate(surface);
    evidence(surface);
    for (size_t i = 0; i < surface->cells; i++)
        surface->asked[i].solved = 0;
}

/* Moves each parameter to a neighbouring level while that makes the runs more likely. */
static void choose_parameters(struct surface *surface)
{
    enum { FEW = 6, PASSES = 1 };
    if (surface->count < FEW)
        return;
    double best = evidence(surface);
    bool moved = true;
    for (int pass = 0; moved && pass < PASSES; pass++) {
        moved = false;
        for (enum parameter p = 0; p < PARAMETERS; p++)
            moved = improve_parameter(surface, p, &best) || moved;
    }
}

static bool improve_parameter(struct surface *surface, enum parameter parameter, double *best)
{
    unsigned char *chosen = &surface->chosen[parameter], start = *chosen;
    for (int step = -1; step <= 1; step += 2) {
        int tried = start + step;
        if (tried < 0 || tried >= LEVELS)
            continue;
        *chosen = (unsigned char)tried;
        double found = evidence(surface);
        if (found > *best) {
            *best = found;
            return true;
        }
        *chosen = start;
    }
    return false;
}

/* The logarithm of the likelihood of all runs, up to a constant, with a weak prior for the usual
 * parameters. Leaves the factor and the solutions of the chosen parameters. */
static double evidence(struct surface *surface)
{
    double prior = 0;
    if (!surface_factorize(surface))
        return -INFINITY;
    for (size_t i = 0; i < surface->active_count; i++)
        surface->active[i]->solved = 0;
    for (size_t p = 0; p < PARAMETERS; p++) {
        double off = (double)surface->chosen[p] - usual[p];
        prior += 0.5 * off * off / (p == NOISE ? 1 : 4);
    }
    return solve_runs(surface) - prior;
}

/* Fits the knees with a finished factor. The residuals are those of the most likely knee. */
static double solve_runs(struct surface *surface)
{
    size_t count = surface->count;
    const struct knee *likely = surface->active[0];
    memcpy(surface->forward, surface->values, count * sizeof(double));
    surface_solve_lower(surface, surface->forward);
    double found = knees_fit(surface);
    for (size_t i = 1; i < surface->active_count; i++)
        if (surface->active[i]->weight > likely->weight)
            likely = surface->active[i];
    for (size_t i = 0; i < count; i++)
        surface->residual[i] =
            surface->forward[i] - knee_mean(likely, likely->columns + i * KNEE_TERMS);
    memcpy(surface->alpha, surface->residual, count * sizeof(double));
    surface_solve_upper(surface, surface->alpha);
    return found;
}

/* Weighs each run by how far it is from what all other runs predict. */
static void reweigh(struct surface *surface)
{
    for (size_t i = 0; i < surface->count; i++) {
        double square = surface->alpha[i] * surface->alpha[i] / surface->inverse_diagonal[i];
        surface->runs[i].weight = fmin(1, (tail + 1) / (tail + square));
    }
}

/* Extends the factor by new runs, with the same parameters. */
static void append_runs(struct surface *surface)
{
    size_t count = surface->count;
    for (size_t row = surface->factored; row < count; row++) {
        surface->count = row + 1;
        if (!surface_factorize_row(surface, row)) {
            surface->count = count;
            fit_in_full(surface);
            return;
        }
        solve_runs(surface);
        weigh_new_run(surface, row);
    }
    solve_runs(surface);
}

/* A run that differs from what the earlier ones predict gets less weight. */
static void weigh_new_run(struct surface *surface, size_t row)
{
    double *diagonal = surface->factor + row * surface->capacity + row;
    double noise = surface_level(surface, NOISE), off = surface->residual[row];
    double weight = fmin(1, (tail + 1) / (tail + off * off));
    *diagonal = sqrt(*diagonal * *diagonal + noise * noise * (1 / weight - 1));
    surface->runs[row].weight = weight;
    for (size_t i = 0; i < surface->active_count; i++)
        if (surface->active[i]->solved > row)
            surface->active[i]->solved = row;
}

double surface_level(const struct surface *surface, enum parameter parameter)
{
    return levels[parameter][surface->chosen[parameter]];
}

/* Matern's covariance, 3/2. */
double surface_covariance(const struct surface *surface, size_t a, size_t b)
{
    double load = (surface->load[a] - surface->load[b]) / surface_level(surface, LOAD_LENGTH);
    double balance =
        (surface->balance[a] - surface->balance[b]) / surface_level(surface, BALANCE_LENGTH);
    double far = sqrt(3 * (load * load + balance * balance));
    double signal = surface_level(surface, SIGNAL);
    return signal * signal * (1 + far) * exp(-far) + (a == b ? roughness * roughness : 0);
}

double surface_time_covariance(const struct surface *surface, double a, double b)
{
    double drift = surface_level(surface, DRIFT);
    return drift * drift * exp(-fabs(a - b) / drift_length);
}

struct surface_estimate surface_at(struct surface *surface, size_t cell)
{
    const struct surface_asked *asked = ask_cell(surface, cell);
    double mean = 0, squares = 0;
    for (size_t i = 0; i < surface->active_count; i++) {
        const struct knee *knee = surface->active[i];
        const double *terms = asked->terms + i * KNEE_TERMS;
        double own = asked->mean + knee_mean(knee, terms);
        mean += knee->weight * own;
        squares += knee->weight * (own * own + asked->variance + knee_variance(knee, terms));
    }
    return (struct surface_estimate){mean + log(surface->scale > 0 ? surface->scale : 1),
                                     sqrt(fmax(squares - mean * mean, 0))};
}

/* What the fit says about a cell; computed once per fit. */
static const struct surface_asked *ask_cell(struct surface *surface, size_t cell)
{
    struct surface_asked *asked = &surface->asked[cell];
    size_t count = surface->count;
    double *column = surface->cell_columns + cell * surface->capacity;
    if (asked->current)
        return asked;
    for (size_t i = asked->solved; i < count; i++) {
        const double *row = surface->factor + i * surface->capacity;
        double own = surface_covariance(surface, cell, surface->runs[i].cell);
        column[i] = (own - surface_dot(row, column, i)) / row[i];
    }
    asked->solved = count;
    asked->current = true;
    asked->variance = surface_covariance(surface, cell, cell) - surface_dot(column, column, count);
    asked->mean = surface_dot(column, surface->forward, count);
    for (size_t k = 0; k < surface->active_count; k++) {
        double *terms = asked->terms + k * KNEE_TERMS;
        knee_terms(surface, surface->active[k], cell, terms);
        for (size_t i = 0; i < count; i++)
            for (size_t t = 0; t < KNEE_TERMS; t++)
                terms[t] -= column[i] * surface->active[k]->columns[i * KNEE_TERMS + t];
    }
    return asked;
}

static double knee_mean(const struct knee *knee, const double *terms)
{
    return surface_dot(knee->coefficients, terms, KNEE_TERMS);
}

struct surface_estimate surface_ratio(struct surface *surface, size_t a, size_t b)
{
    double mean = 0, squares = 0, smooth = smooth_variance(surface, a, b);
    for (size_t i = 0; i < surface->active_count; i++) {
        struct surface_estimate own = ratio_under(surface, a, b, i, smooth);
        mean += surface->active[i]->weight * own.mean;
        squares += surface->active[i]->weight * (own.mean * own.mean + own.error * own.error);
    }
    return (struct surface_estimate){mean, sqrt(fmax(squares - mean * mean, 0))};
}

/* The variance of the difference of the smooth parts of two cells. */
static double smooth_variance(struct surface *surface, size_t a, size_t b)
{
    double variance = ask_cell(surface, a)->variance + ask_cell(surface, b)->variance;
    const double *left = surface->cell_columns + a * surface->capacity;
    const double *right = surface->cell_columns + b * surface->capacity;
    return variance -
           2 * (surface_covariance(surface, a, b) - surface_dot(left, right, surface->count));
}

static struct surface_estimate ratio_under(struct surface *surface, size_t a, size_t b,
                                           size_t number, double smooth)
{
    const struct surface_asked *left = &surface->asked[a], *right = &surface->asked[b];
    const struct knee *knee = surface->active[number];
    double terms[KNEE_TERMS];
    for (size_t t = 0; t < KNEE_TERMS; t++)
        terms[t] = left->terms[number * KNEE_TERMS + t] - right->terms[number * KNEE_TERMS + t];
    return (struct surface_estimate){left->mean - right->mean + knee_mean(knee, terms),
                                     sqrt(fmax(smooth + knee_variance(knee, terms), 1e-12))};
}

double surface_probability(struct surface *surface, size_t a, size_t b, double factor, double *gain)
{
    double probability = 0, smooth = smooth_variance(surface, a, b);
    *gain = 0;
    for (size_t i = 0; i < surface->active_count; i++) {
        double weight = surface->active[i]->weight;
        struct surface_estimate own = ratio_under(surface, a, b, i, smooth);
        double score = own.mean / own.error, density = exp(-0.5 * score * score) / sqrt(2 * M_PI);
        probability += weight * 0.5 * erfc((log(factor) - own.mean) / own.error / M_SQRT2);
        *gain += weight * (own.mean * 0.5 * erfc(-score / M_SQRT2) + own.error * density);
    }
    return probability;
}

struct surface_estimate surface_drift(struct surface *surface)
{
    double mean = 0, last = surface->time - 1, drift = surface_level(surface, DRIFT);
    double *column = surface->inverse_diagonal; /* is computed again with the next fit */
    for (size_t i = 0; i < surface->count; i++) {
        column[i] = surface_time_covariance(surface, last, surface->runs[i].time) -
                    surface_time_covariance(surface, 0, surface->runs[i].time);
        mean += surface->alpha[i] * column[i];
    }
    surface_solve_lower(surface, column);
    double variance = 2 * (drift * drift - surface_time_covariance(surface, last, 0)) -
                      surface_dot(column, column, surface->count);
    return (struct surface_estimate){mean, sqrt(fmax(variance, 0))};
}

double surface_noise(const struct surface *surface)
{
    return surface_level(surface, NOISE);
}
