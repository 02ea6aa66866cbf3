/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_histogram.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEAST 1e-7
#define WIDTH 0.00995033085316808 /* ln(1.01) */

static double lower_bound(uint32_t bucket);
static void keep_mean(double *points, uint32_t count, double mean);
static double learn_histogram_rounded(double value);

uint32_t learn_histogram_bucket(double value)
{
    if (!(value >= LEAST))
        return 0;
    double at = log(value / LEAST) / WIDTH;
    return at >= LEARN_BUCKETS - 2 ? LEARN_BUCKETS - 1 : 1 + (uint32_t)at;
}

void learn_histogram_add(struct learn_histogram *histogram, double value)
{
    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (histogram->count == 0 || value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->sum += value;
    histogram->buckets[learn_histogram_bucket(value)]++;
}

double learn_histogram_quantile(const struct learn_histogram *histogram, double share)
{
    double wanted = share * (double)histogram->count, below = 0;
    if (share <= 0 || histogram->count == 0)
        return histogram->min;
    for (uint32_t i = 0; i < LEARN_BUCKETS; i++) {
        double here = (double)histogram->buckets[i];
        if (here == 0 || below + here < wanted) {
            below += here;
            continue;
        }
        double low = lower_bound(i), high = lower_bound(i + 1);
        double value = low + (high - low) * (wanted - below) / here;
        return fmin(fmax(value, histogram->min), histogram->max);
    }
    return histogram->max;
}

static double lower_bound(uint32_t bucket)
{
    return bucket == 0 ? 0 : LEAST * exp((bucket - 1) * WIDTH);
}

double learn_histogram_distance(const struct learn_histogram *a, const struct learn_histogram *b,
                                double *where)
{
    double below_a = 0, below_b = 0, largest = 0, at = 0;
    if (a->count == 0 || b->count == 0)
        return a->count == b->count ? 0 : 1;
    for (uint32_t i = 0; i < LEARN_BUCKETS; i++) {
        below_a += (double)a->buckets[i];
        below_b += (double)b->buckets[i];
        double distance = fabs(below_a / (double)a->count - below_b / (double)b->count);
        if (distance > largest) {
            largest = distance;
            at = lower_bound(i + 1);
        }
    }
    if (where)
        *where = at;
    return largest;
}

uint32_t learn_histogram_points(const struct learn_histogram *histogram, double *points,
                                uint32_t max)
{
    uint32_t cells = histogram->count < max - 1 ? (uint32_t)histogram->count : max - 1;
    if (cells == 0)
        return 0;
    for (uint32_t i = 0; i <= cells; i++)
        points[i] = learn_histogram_quantile(histogram, (double)i / cells);
    keep_mean(points, cells + 1, histogram->sum / (double)histogram->count);
    for (uint32_t i = 0; i <= cells; i++)
        points[i] = learn_histogram_rounded(points[i]);
    return cells + 1;
}

/* Between points the distribution is uniform, so the mean is too large if few long pauses follow
 * many short ones. Lowers the last point until the mean is right; if that is not enough, scales all
 * points. */
static void keep_mean(double *points, uint32_t count, double mean)
{
    uint32_t cells = count - 1;
    double sum = 0;
    for (uint32_t i = 0; i < cells; i++)
        sum += (points[i] + points[i + 1]) / 2;
    double last = points[cells] + 2 * (mean * cells - sum);
    if (last >= points[cells - 1]) {
        points[cells] = last;
        return;
    }
    sum -= (points[cells] - points[cells - 1]) / 2;
    points[cells] = points[cells - 1];
    for (uint32_t i = 0; i < count && sum > 0; i++)
        points[i] *= mean * cells / sum;
}

static double learn_histogram_rounded(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.5g", value);
    return strtod(text, NULL);
}
