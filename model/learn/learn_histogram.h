/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms of numbers from 1e-7 to 1e6, in buckets one percent wide: to compare a capture with a
 * plan, and to choose the points of a model's pauses. */
#ifndef MODEL_LEARN_LEARN_HISTOGRAM_H
#define MODEL_LEARN_LEARN_HISTOGRAM_H

#include <stdint.h>

enum { LEARN_BUCKETS = 3012 }; /* the first one is for 0 and what is below 1e-7 */

/* A zeroed struct is empty. */
struct learn_histogram {
    uint64_t count;
    double sum, min, max;
    uint64_t buckets[LEARN_BUCKETS];
};

/* The bucket of a value. */
uint32_t learn_histogram_bucket(double value);

/* Counts a value. */
void learn_histogram_add(struct learn_histogram *histogram, double value);

/* The value below which this share of all values lies; 0 for an empty histogram. */
double learn_histogram_quantile(const struct learn_histogram *histogram, double share);

/* The Kolmogorov-Smirnov distance: the largest difference between the shares of two histograms
 * below a value, at the bounds of buckets. Sets *where, which may be NULL, to that value. 1 if one
 * histogram is empty, 0 if both are. */
double learn_histogram_distance(const struct learn_histogram *a, const struct learn_histogram *b,
                                double *where);

/* Chooses at most max points, at least 2, with the same number of values between each two of them
 * and with the mean of the histogram. They are rounded to five digits. Returns their number. */
uint32_t learn_histogram_points(const struct learn_histogram *histogram, double *points,
                                uint32_t max);

#endif
