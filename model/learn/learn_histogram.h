/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions of numbers from 1e-7 to 1e6 in buckets one percent wide: what a capture and a plan
 * are compared by, and what the points of a model's pauses are read from. */
#ifndef MODEL_LEARN_LEARN_HISTOGRAM_H
#define MODEL_LEARN_LEARN_HISTOGRAM_H

#include <stdint.h>

enum { LEARN_BUCKETS = 3012 }; /* the first one: below the least, 0 above all */

/* Zeroed: empty. */
struct learn_histogram {
    uint64_t count;
    double sum, min, max;
    uint64_t buckets[LEARN_BUCKETS];
};

/* Which bucket a value belongs to. */
uint32_t learn_histogram_bucket(double value);

void learn_histogram_add(struct learn_histogram *histogram, double value);

/* The value below which a share of all lies; 0 of an empty histogram. */
double learn_histogram_quantile(const struct learn_histogram *histogram, double share);

/* The Kolmogorov-Smirnov distance: the largest difference of the two shares below any value, at
 * bucket bounds; *where, which may be NULL, becomes the value. 1 when one of them is empty, 0 when
 * both are. */
double learn_histogram_distance(const struct learn_histogram *a, const struct learn_histogram *b,
                                double *where);

/*
 * At most max (an even choice of them, at least 2) points between each two of which equally much
 * lies and whose mean is the histogram's; rounded to five digits. Returns how many.
 */
uint32_t learn_histogram_points(const struct learn_histogram *histogram, double *points,
                                uint32_t max);

#endif
