/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log-linear histograms of times: 1 us to 1 h in nanoseconds, relative error at most 1%. Out of
 * range values are counted in the nearest bucket and min, max and sum stay exact. An empty one is
 * neutral in a merge. Buckets are allocated when first hit, so many empty ones cost little.
 *
 * Every power of two from 512 ns to 2^42 ns (4398 s) is cut into 64 buckets of equal width: bucket
 * b holds the times from 2^e + (b mod 64) 2^(e-6), e = 9 + b div 64, up to the next bucket's.
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
    struct histogram_packed *packed; /* instead of pages */
};

void histogram_init(struct histogram *histogram);
void histogram_clear(struct histogram *histogram);
/* Adds a time in ns; below zero counts as 0. Returns 0 or -ENOMEM. */
int histogram_add(struct histogram *histogram, int64_t ns);
/* Keeps the same values in less memory; adding to it unpacks it. */
void histogram_pack(struct histogram *histogram);
/* Adds all of from. */
int histogram_merge(struct histogram *to, const struct histogram *from);
/* The value (ns) that a fraction 0..1 of all values do not exceed, within 1%; exact at 0 and 1.
 * -1 when empty: print "none", never a number. */
int64_t histogram_quantile(const struct histogram *histogram, double fraction);
/* The bucket of a time, and the time (ns) that stands for a bucket: its middle. */
unsigned histogram_bucket(int64_t ns);
int64_t histogram_bucket_value(unsigned bucket);
/* Calls visit for each bucket that was hit, in rising order. */
void histogram_each(const struct histogram *histogram,
                    void (*visit)(void *context, unsigned bucket, uint64_t count), void *context);
/* Mean in ns; NaN when empty. */
double histogram_mean(const struct histogram *histogram);
/* The sparse form H of the JSON result; histogram_from_json() refuses foreign rules, unordered or
 * impossible buckets and counts that do not add up (-EINVAL). */
json_t *histogram_to_json(const struct histogram *histogram);
int histogram_from_json(struct histogram *histogram, const json_t *json);
/* The same, added to what is there, which is spoiled by a failure; NULL: only checks. */
int histogram_add_json(struct histogram *to, const json_t *json);

#endif
