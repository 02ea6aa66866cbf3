/* SPDX-License-Identifier: Apache-2.0 */
/* The ratio of two samples and its uncertainty: Welch's t on a logarithmic scale. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary/compare.h"

static double mean_of(const double *values, size_t count);
static bool samples_equal(const double *a, size_t a_count, const double *b, size_t b_count);
static int compare_two_doubles(const void *left, const void *right);
static void find_interval(struct compare_ratio *ratio, const double *a, const double *b);
static double relative_variance(const double *values, size_t count, double mean);
static double student_probability(double t, double freedom);
static double incomplete_beta(double a, double b, double x);
static void find_range(struct compare_ratio *ratio, const double *a, const double *b);

struct compare_ratio compare_samples(const double *a, size_t a_count, const double *b,
                                     size_t b_count)
{
    struct compare_ratio ratio = {.runs = {a_count, b_count},
                                  .mean = {mean_of(a, a_count), mean_of(b, b_count)},
                                  .ratio = NAN,
                                  .low = NAN,
                                  .high = NAN,
                                  .same = samples_equal(a, a_count, b, b_count)};
    if (a_count == 0 || b_count == 0 || !(ratio.mean[COMPARE_A] > 0))
        return ratio;
    ratio.ratio = ratio.mean[COMPARE_B] / ratio.mean[COMPARE_A];
    if (a_count >= COMPARE_RUNS && b_count >= COMPARE_RUNS)
        find_interval(&ratio, a, b);
    else
        find_range(&ratio, a, b);
    return ratio;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : NAN;
}

/* Whether both samples consist of the same values, in any order. */
static bool samples_equal(const double *a, size_t a_count, const double *b, size_t b_count)
{
    if (a_count != b_count || a_count == 0)
        return false;
    double *sorted = reallocarray(NULL, 2 * a_count, sizeof *sorted);
    if (!sorted)
        return false;
    memcpy(sorted, a, a_count * sizeof *a);
    memcpy(sorted + a_count, b, b_count * sizeof *b);
    qsort(sorted, a_count, sizeof *sorted, compare_two_doubles);
    qsort(sorted + a_count, b_count, sizeof *sorted, compare_two_doubles);
    bool equal = true;
    for (size_t i = 0; equal && i < a_count; i++)
        equal = compare_two_doubles(&sorted[i], &sorted[a_count + i]) == 0;
    free(sorted);
    return equal;
}

static int compare_two_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/*
 * Welch's t interval of the logarithm of the ratio of means. The variance of the logarithm of a
 * mean is that of the mean divided by the mean squared; the degrees of freedom are those of Welch
 * and Satterthwaite. With few runs, a bootstrap of percentiles would be too narrow.
 */
static void find_interval(struct compare_ratio *ratio, const double *a, const double *b)
{
    double variance[COMPARE_SIDES], freedom = 0;
    const double *values[COMPARE_SIDES] = {a, b};
    ratio->interval = true;
    ratio->low = ratio->high = ratio->ratio;
    for (size_t side = 0; side < COMPARE_SIDES; side++) {
        size_t count = ratio->runs[side];
        variance[side] = relative_variance(values[side], count, ratio->mean[side]);
        freedom += variance[side] * variance[side] / (double)(count - 1);
    }
    double sum = variance[COMPARE_A] + variance[COMPARE_B];
    if (!(ratio->mean[COMPARE_B] > 0) || !(freedom > 0))
        return;
    double width = compare_student_t(sum * sum / freedom) * sqrt(sum);
    ratio->low = ratio->ratio * exp(-width);
    ratio->high = ratio->ratio * exp(width);
}

/* Variance of the mean, divided by the mean squared. */
static double relative_variance(const double *values, size_t count, double mean)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return squares / (double)(count - 1) / (double)count / (mean * mean);
}

double compare_student_t(double freedom)
{
    return compare_student_quantile(freedom, 0.025);
}

double compare_student_quantile(double freedom, double outside)
{
    double low = 0, high = 2;
    while (student_probability(high, freedom) > outside && high < 1e6)
        high *= 2;
    for (unsigned step = 0; step < 50; step++) {
        double middle = (low + high) / 2;
        if (student_probability(middle, freedom) > outside)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* Probability that Student's t exceeds a positive value. */
static double student_probability(double t, double freedom)
{
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
}

/* The regularised incomplete beta function by its continued fraction (Abramowitz and Stegun
 * 26.5.8), evaluated by Lentz's method. */
static double incomplete_beta(double a, double b, double x)
{
    static const double tiny = 1e-300, close = 1e-12;
    if (x > (a + 1) / (a + b + 2))
        return 1 - incomplete_beta(b, a, 1 - x);
    double front = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a;
    double c = 1, d = 1 - (a + b) * x / (a + 1), sum;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    sum = d;
    for (unsigned m = 1; m < 300; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        const double steps[] = {even, odd};
        double change = 1;
        for (size_t i = 0; i < 2; i++) {
            d = 1 + steps[i] * d;
            c = 1 + steps[i] / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            sum *= change;
        }
        if (fabs(change - 1) < close)
            break;
    }
    return front * sum;
}

static void find_range(struct compare_ratio *ratio, const double *a, const double *b)
{
    double low[COMPARE_SIDES] = {INFINITY, INFINITY}, high[COMPARE_SIDES] = {0, 0};
    const double *values[COMPARE_SIDES] = {a, b};
    for (size_t side = 0; side < COMPARE_SIDES; side++)
        for (size_t i = 0; i < ratio->runs[side]; i++) {
            low[side] = fmin(low[side], values[side][i]);
            high[side] = fmax(high[side], values[side][i]);
        }
    ratio->low = low[COMPARE_B] / high[COMPARE_A];
    ratio->high = low[COMPARE_A] > 0 ? high[COMPARE_B] / low[COMPARE_A] : INFINITY;
}
