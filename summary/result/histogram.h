/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log-linear histograms of times from 1 us to 1 h, in nanoseconds, with a relative error of at most
 * 1%. Values out of range count in the nearest bucket; min, max and sum stay exact. Merging an
 * empty histogram changes nothing. Buckets are allocated when first used, so empty histograms cost
 * little.
 *
 * Every power of two from 512 ns to 2^42 ns (4398 s) is divided into 64 buckets of equal width.
 * Bucket b begins at 2^e + (b mod 64) 2^(e-6) with e = 9 + b div 64, and ends where the next
 * begins.
 */
#ifndef SUMMARY_RESULT_HISTOGRAM_H
#define SUMMARY_RESULT_HISTOGRAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { HISTOGRAM_BUCKETS = 33 * 64 };
#define HISTOGRAM_RULE "log2/64 from 512 ns"

struct histogram {
    uint64_t count;
    int64_t min; /* ns; INT64_MAX when empty */
    int64_t max; /* ns; INT64_MIN when empty */
    double sum;  /* ns */
    /* private */
    uint64_t **pages;
    struct histogram_packed *packed; /* used instead of pages */
};

/* Prepares an empty histogram, which allocates nothing. */
void histogram_init(struct histogram *histogram);
void histogram_clear(struct histogram *histogram);
/* Adds a time in ns; negative times count as 0. 0 or -ENOMEM. */
int histogram_add(struct histogram *histogram, int64_t ns);
/* Keeps the same values in less memory. Adding to a packed histogram unpacks it. */
void histogram_pack(struct histogram *histogram);
/* Adds all values of from. 0 or -ENOMEM. */
int histogram_merge(struct histogram *to, const struct histogram *from);
/* The value in ns that a fraction 0 to 1 of all values do not exceed, within 1%; exact at 0 and 1.
 * -1: the histogram is empty; print "none". */
int64_t histogram_quantile(const struct histogram *histogram, double fraction);
/* The bucket of a time, and the time in ns that represents a bucket: its middle. */
unsigned histogram_bucket(int64_t ns);
int64_t histogram_bucket_value(unsigned bucket);
/* Calls visit for each bucket in use, in ascending order. */
void histogram_each(const struct histogram *histogram,
                    void (*visit)(void *context, unsigned bucket, uint64_t count), void *context);
/* Mean in ns; NaN when empty. */
double histogram_mean(const struct histogram *histogram);
/* The sparse form H of the JSON result. histogram_from_json() returns -EINVAL for other rules,
 * unordered or impossible buckets, and counts that do not add up. */
json_t *histogram_to_json(const struct histogram *histogram);
int histogram_from_json(struct histogram *histogram, const json_t *json);
/* Adds a histogram in JSON to *to, which is undefined after a failure. to NULL: only checks. */
int histogram_add_json(struct histogram *to, const json_t *json);

#endif
