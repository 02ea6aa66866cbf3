/* SPDX-License-Identifier: Apache-2.0 */
/* Hypotheses about the knee of a server: where it is, and with which coefficients. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/sweep/search/surface_private.h"

static const double tilts[] = {-1, -0.3, -0.1, 0.1, 0.3, 1};
enum { TILTS = sizeof tilts / sizeof tilts[0], KNEES_MAX = 60, ACTIVE_MAX = 20 };

static const double spacing = 0.07; /* of knees, as a logarithm of the load */
static const double unlikely = 1e-3;

/* What a server usually does: it serves what is asked, and declines slowly past the knee. */
static const double usual_coefficients[KNEE_TERMS] = {0, 1, -0.3, -0.1};
static const double spread[KNEE_TERMS] = {10, 0.25, 0.7, 0.25};

static void extend_columns(struct surface *surface, struct knee *knee);
static void fit_knee(struct surface *surface, struct knee *knee, double explained);
static double invert(double matrix[KNEE_TERMS][KNEE_TERMS]);
static int by_weight(const void *left, const void *right);

int knees_make(struct surface *surface)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < surface->cells; i++) {
        low = fmin(low, surface->load[i]);
        high = fmax(high, surface->load[i]);
    }
    double range = high - low + 2 * spacing;
    size_t count = (size_t)fmin(KNEES_MAX, ceil(range / spacing) + 1);
    surface->middle = (low + high) / 2;
    surface->knees = calloc(count * TILTS, sizeof *surface->knees);
    surface->active = calloc(count * TILTS, sizeof(struct knee *));
    if (!surface->knees || !surface->active)
        return -ENOMEM;
    for (size_t i = 0; i < count * TILTS; i++) {
        struct knee *knee = &surface->knees[surface->knee_count++];
        knee->tilt = tilts[i % TILTS];
        knee->at = low - spacing / 2 + range * (double)(i / TILTS) / (double)(count - 1);
        knee->prior = -knee->tilt * knee->tilt / (2 * 0.4 * 0.4);
    }
    return 0;
}

int knees_make_room(struct surface *surface, size_t capacity)
{
    for (size_t i = 0; i < surface->knee_count; i++) {
        double *grown =
            reallocarray(surface->knees[i].columns, capacity * KNEE_TERMS, sizeof *grown);
        if (!grown)
            return -ENOMEM;
        surface->knees[i].columns = grown;
    }
    return 0;
}

void knees_free(struct surface *surface)
{
    for (size_t i = 0; i < surface->knee_count; i++)
        free(surface->knees[i].columns);
    free(surface->knees);
    free(surface->active);
}

void knee_terms(const struct surface *surface, const struct knee *knee, size_t cell,
                double terms[KNEE_TERMS])
{
    double load = surface->load[cell] - surface->middle;
    double at = knee->at - surface->middle + knee->tilt * surface->balance[cell];
    terms[0] = 1;
    terms[1] = fmin(load, at);
    terms[2] = fmax(load - at, 0);
    terms[3] = load > at;
}

double knees_fit(struct surface *surface)
{
    double explained = surface_dot(surface->forward, surface->forward, surface->count);
    double best = -INFINITY, sum = 0;
    for (size_t i = 0; i < surface->active_count; i++) {
        extend_columns(surface, surface->active[i]);
        fit_knee(surface, surface->active[i], explained);
        best = fmax(best, surface->active[i]->evidence);
    }
    for (size_t i = 0; i < surface->active_count; i++)
        sum += surface->active[i]->weight = exp(surface->active[i]->evidence - best);
    for (size_t i = 0; i < surface->active_count; i++)
        surface->active[i]->weight /= sum;
    for (size_t i = 0; i < surface->count; i++)
        best -= log(surface->factor[i * surface->capacity + i]);
    return best + log(sum);
}

/* Solves the terms of new runs with the factor. */
static void extend_columns(struct surface *surface, struct knee *knee)
{
    for (size_t i = knee->solved; i < surface->count; i++) {
        const double *row = surface->factor + i * surface->capacity;
        double *own = knee->columns + i * KNEE_TERMS;
        knee_terms(surface, knee, surface->runs[i].cell, own);
        for (size_t j = 0; j < i; j++)
            for (size_t k = 0; k < KNEE_TERMS; k++)
                own[k] -= row[j] * knee->columns[j * KNEE_TERMS + k];
        for (size_t k = 0; k < KNEE_TERMS; k++)
            own[k] /= row[i];
    }
    knee->solved = surface->count;
}

/* The coefficients by generalised least squares with their prior (Rasmussen and Williams, 2.7). */
static void fit_knee(struct surface *surface, struct knee *knee, double explained)
{
    double right[KNEE_TERMS], fitted = 0, prior = 0;
    for (size_t a = 0; a < KNEE_TERMS; a++) {
        double precision = 1 / (spread[a] * spread[a]);
        memset(knee->covariance[a], 0, sizeof knee->covariance[a]);
        knee->covariance[a][a] = precision;
        right[a] = precision * usual_coefficients[a];
        prior += right[a] * usual_coefficients[a];
    }
    for (size_t i = 0; i < surface->count; i++) {
        const double *own = knee->columns + i * KNEE_TERMS;
        for (size_t a = 0; a < KNEE_TERMS; a++) {
            right[a] += own[a] * surface->forward[i];
            for (size_t b = 0; b < KNEE_TERMS; b++)
                knee->covariance[a][b] += own[a] * own[b];
        }
    }
    double determinant = invert(knee->covariance);
    for (size_t a = 0; a < KNEE_TERMS; a++) {
        knee->coefficients[a] = surface_dot(knee->covariance[a], right, KNEE_TERMS);
        fitted += knee->coefficients[a] * right[a];
    }
    knee->evidence = knee->prior - 0.5 * (explained + prior - fitted + log(determinant));
}

/* Inverts a positive definite matrix in place (Gauss and Jordan); returns its determinant. */
static double invert(double matrix[KNEE_TERMS][KNEE_TERMS])
{
    double determinant = 1;
    for (size_t p = 0; p < KNEE_TERMS; p++) {
        double pivot = matrix[p][p];
        determinant *= pivot;
        matrix[p][p] = 1;
        for (size_t k = 0; k < KNEE_TERMS; k++)
            matrix[p][k] /= pivot;
        for (size_t i = 0; i < KNEE_TERMS; i++) {
            double factor = matrix[i][p];
            if (i == p)
                continue;
            matrix[i][p] = 0;
            for (size_t k = 0; k < KNEE_TERMS; k++)
                matrix[i][k] -= factor * matrix[p][k];
        }
    }
    return determinant;
}

void knees_activate(struct surface *surface)
{
    surface->active_count = surface->knee_count;
    for (size_t i = 0; i < surface->knee_count; i++)
        surface->active[i] = &surface->knees[i];
}

void knees_prune(struct surface *surface)
{
    qsort(surface->active, surface->active_count, sizeof(struct knee *), by_weight);
    double least = surface->active[0]->weight * unlikely;
    while (surface->active_count > ACTIVE_MAX ||
           surface->active[surface->active_count - 1]->weight < least)
        surface->active_count--;
}

static int by_weight(const void *left, const void *right)
{
    const struct knee *a = *(struct knee *const *)left, *b = *(struct knee *const *)right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a < b ? -1 : a > b; /* the same order everywhere */
}

double knee_variance(const struct knee *knee, const double terms[KNEE_TERMS])
{
    double sum = 0;
    for (size_t a = 0; a < KNEE_TERMS; a++)
        sum += terms[a] * surface_dot(knee->covariance[a], terms, KNEE_TERMS);
    return sum;
}
