/* SPDX-License-Identifier: Apache-2.0 */
/* Cholesky's factor of the covariance of the runs. */
#include <math.h>

#include "replay/sweep/search/surface_private.h"

bool surface_factorize(struct surface *surface)
{
    surface->factored = 0;
    for (size_t i = 0; i < surface->count; i++)
        if (!surface_factorize_row(surface, i))
            return false;
    return true;
}

bool surface_factorize_row(struct surface *surface, size_t i)
{
    double noise = surface_level(surface, NOISE);
    double *row = surface->factor + i * surface->capacity;
    const struct surface_run *run = &surface->runs[i];
    for (size_t j = 0; j <= i; j++) {
        const double *other = surface->factor + j * surface->capacity;
        double left = surface_covariance(surface, run->cell, surface->runs[j].cell) +
                      surface_time_covariance(surface, run->time, surface->runs[j].time) -
                      surface_dot(row, other, j);
        if (i != j)
            row[j] = left / other[j];
        else if (!(left + noise * noise / run->weight > 0))
            return false;
        else
            row[i] = sqrt(left + noise * noise / run->weight);
    }
    surface->factored = i + 1;
    return true;
}

double surface_dot(const double *a, const double *b, size_t count)
{
    double sums[4] = {0}; /* independent additions are faster */
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < count; i++)
        sums[0] += a[i] * b[i];
    return sums[0] + sums[1] + sums[2] + sums[3];
}

void surface_solve_lower(const struct surface *surface, double *x)
{
    for (size_t i = 0; i < surface->count; i++) {
        const double *row = surface->factor + i * surface->capacity;
        x[i] = (x[i] - surface_dot(row, x, i)) / row[i];
    }
}

void surface_solve_upper(const struct surface *surface, double *x)
{
    for (size_t i = surface->count; i-- > 0;) {
        const double *row = surface->factor + i * surface->capacity;
        x[i] /= row[i];
        for (size_t j = 0; j < i; j++)
            x[j] -= row[j] * x[i];
    }
}

/* The diagonal of the inverse of the covariance. */
void surface_invert_diagonal(struct surface *surface)
{
    double *column = surface->residual; /* is computed again afterwards */
    for (size_t i = 0; i < surface->count; i++) {
        double sum = 0;
        for (size_t j = i; j < surface->count; j++) {
            const double *row = surface->factor + j * surface->capacity;
            column[j] = ((j == i) - surface_dot(row + i, column + i, j - i)) / row[j];
            sum += column[j] * column[j];
        }
        surface->inverse_diagonal[i] = sum;
    }
}
