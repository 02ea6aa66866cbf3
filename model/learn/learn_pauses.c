/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_pauses.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { LISTS_MAX = 300, LEAST_COUNT = 5, ENTRIES_MAX = 64 };

struct pauses_listing {
    struct learn_pauses *pauses;
    const struct intern *histories, *transitions;
    uint32_t length; /* of histories */
    uint32_t *order; /* transitions, sorted by their contexts of the present length */
    uint32_t count;
    uint32_t context;                              /* the present length of contexts, in entries */
    struct intern listed;                          /* contexts that have points */
    struct learn_histogram *histograms[LISTS_MAX]; /* their histograms */
};

static int pauses_grow(struct learn_pauses *pauses, uint32_t transition);
static uint32_t find_bucket(const struct learn_pauses_of *one, uint32_t bucket);
static int insert_bucket(struct learn_pauses_of *one, uint32_t at, uint32_t bucket);
static int pauses_begin(struct pauses_listing *listing);
static int choose_contexts(struct pauses_listing *listing);
static int compare_contexts(const void *a, const void *b, void *context);
static void context_of(const struct pauses_listing *listing, uint32_t transition, uint32_t count,
                       uint32_t *entries);
static bool is_same_context(const struct pauses_listing *listing, uint32_t a, uint32_t b);
static int choose_context(struct pauses_listing *listing, uint32_t from, uint32_t to);
static void pauses_merge(struct learn_histogram *histogram, const struct learn_pauses_of *one);
static bool is_another_kind(const struct pauses_listing *listing, const uint32_t *entries,
                            const struct learn_histogram *histogram);
static const struct learn_histogram *shorter_context(const struct pauses_listing *listing,
                                                     const uint32_t *entries);
static void divide_pauses(struct pauses_listing *listing, struct learn_histogram *own);
static void listing_clear(struct pauses_listing *listing);

int learn_pauses_add(struct learn_pauses *pauses, uint32_t transition, double seconds)
{
    if (pauses_grow(pauses, transition) < 0)
        return -ENOMEM;
    struct learn_pauses_of *one = &pauses->items[transition];
    uint32_t bucket = learn_histogram_bucket(seconds), at = find_bucket(one, bucket);
    one->min = one->count == 0 || seconds < one->min ? seconds : one->min;
    one->max = one->count == 0 || seconds > one->max ? seconds : one->max;
    if ((at == one->count || one->buckets[at].bucket != bucket) &&
        insert_bucket(one, at, bucket) < 0)
        return -ENOMEM;
    one->buckets[at].count++;
    one->sum += seconds;
    return 0;
}

/* Adds empty items up to a transition. */
static int pauses_grow(struct learn_pauses *pauses, uint32_t transition)
{
    while (pauses->count <= transition) {
        struct learn_pauses_of *items = array_grow(pauses->items, pauses->count, sizeof *items);
        if (!items)
            return -ENOMEM;
        pauses->items = items;
        items[pauses->count++] = (struct learn_pauses_of){0};
    }
    return 0;
}

/* The index of a bucket, or of the place where it belongs. */
static uint32_t find_bucket(const struct learn_pauses_of *one, uint32_t bucket)
{
    uint32_t low = 0, high = one->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (one->buckets[middle].bucket < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int insert_bucket(struct learn_pauses_of *one, uint32_t at, uint32_t bucket)
{
    struct learn_pauses_bucket *buckets = array_grow(one->buckets, one->count, sizeof *buckets);
    if (!buckets)
        return -ENOMEM;
    one->buckets = buckets;
    memmove(buckets + at + 1, buckets + at, (one->count - at) * sizeof *buckets);
    buckets[at] = (struct learn_pauses_bucket){bucket, 0};
    one->count++;
    return 0;
}

void learn_pauses_clear(struct learn_pauses *pauses)
{
    for (uint32_t i = 0; i < pauses->count; i++)
        free(pauses->items[i].buckets);
    free(pauses->items);
    *pauses = (struct learn_pauses){0};
}

int learn_pauses_list(struct learn_pauses *pauses, const struct intern *histories,
                      const struct intern *transitions, uint32_t length,
                      int (*list)(void *context, const uint32_t *entries, uint32_t count,
                                  const struct learn_histogram *histogram),
                      void *context)
{
    struct pauses_listing listing = {
        .pauses = pauses, .histories = histories, .transitions = transitions, .length = length};
    struct learn_histogram *own = NULL;
    int result = pauses_begin(&listing);
    if (result == 0)
        result = choose_contexts(&listing);
    if (result == 0 && !(own = calloc(listing.listed.count + 1, sizeof *own)))
        result = -ENOMEM;
    if (result == 0)
        divide_pauses(&listing, own);
    for (uint32_t i = 0; i < listing.listed.count && result == 0; i++)
        result = list(context, (const void *)listing.listed.entries[i].bytes,
                      (uint32_t)(listing.listed.entries[i].size / sizeof(uint32_t)),
                      own[i].count > 0 ? &own[i] : listing.histograms[i]);
    free(own);
    listing_clear(&listing);
    return result;
}

static int pauses_begin(struct pauses_listing *listing)
{
    listing->order = calloc(listing->transitions->count + 1, sizeof *listing->order);
    if (!listing->order)
        return -ENOMEM;
    for (uint32_t t = 0; t < listing->transitions->count && t < listing->pauses->count; t++)
        if (listing->pauses->items[t].count > 0)
            listing->order[listing->count++] = t;
    return 0;
}

static int choose_contexts(struct pauses_listing *listing)
{
    int result = 0;
    for (listing->context = 1; listing->context <= listing->length + 1 && result == 0;
         listing->context++) {
        if (listing->count > 1)
            qsort_r(listing->order, listing->count, sizeof *listing->order, compare_contexts,
                    listing);
        for (uint32_t from = 0, to; from < listing->count && result == 0; from = to) {
            for (to = from + 1; to < listing->count &&
                                is_same_context(listing, listing->order[from], listing->order[to]);)
                to++;
            result = choose_context(listing, from, to);
        }
    }
    return result;
}

static int compare_contexts(const void *a, const void *b, void *context)
{
    const struct pauses_listing *listing = context;
    uint32_t left[ENTRIES_MAX], right[ENTRIES_MAX];
    context_of(listing, *(const uint32_t *)a, listing->context, left);
    context_of(listing, *(const uint32_t *)b, listing->context, right);
    int order = memcmp(left, right, listing->context * sizeof *left);
    if (order)
        return order;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Copies the last count entries of a transition: its history's, and its own entry. */
static void context_of(const struct pauses_listing *listing, uint32_t transition, uint32_t count,
                       uint32_t *entries)
{
    const uint32_t *pair = (const void *)listing->transitions->entries[transition].bytes;
    const uint32_t *history = (const void *)listing->histories->entries[pair[0]].bytes;
    memcpy(entries, history + (listing->length - (count - 1)), (count - 1) * sizeof *entries);
    entries[count - 1] = pair[1];
}

static bool is_same_context(const struct pauses_listing *listing, uint32_t a, uint32_t b)
{
    uint32_t left[ENTRIES_MAX], right[ENTRIES_MAX];
    context_of(listing, a, listing->context, left);
    context_of(listing, b, listing->context, right);
    return memcmp(left, right, listing->context * sizeof *left) == 0;
}

/* Decides whether the context that order[from..to-1] share gets points. */
static int choose_context(struct pauses_listing *listing, uint32_t from, uint32_t to)
{
    uint32_t entries[ENTRIES_MAX], number;
    struct learn_histogram *histogram = calloc(1, sizeof *histogram);
    int result = histogram ? 0 : -ENOMEM;
    for (uint32_t i = from; i < to && result == 0; i++)
        pauses_merge(histogram, &listing->pauses->items[listing->order[i]]);
    context_of(listing, listing->order[from], listing->context, entries);
    if (result == 0 && listing->listed.count < LISTS_MAX &&
        is_another_kind(listing, entries, histogram)) {
        result = intern_add(&listing->listed, entries, listing->context * sizeof *entries, &number,
                            NULL);
        if (result == 0) {
            listing->histograms[number] = histogram;
            return 0;
        }
    }
    free(histogram);
    return result;
}

static void pauses_merge(struct learn_histogram *histogram, const struct learn_pauses_of *one)
{
    uint64_t before = histogram->count;
    for (uint32_t i = 0; i < one->count; i++) {
        histogram->buckets[one->buckets[i].bucket] += one->buckets[i].count;
        histogram->count += one->buckets[i].count;
    }
    histogram->min = before == 0 || one->min < histogram->min ? one->min : histogram->min;
    histogram->max = before == 0 || one->max > histogram->max ? one->max : histogram->max;
    histogram->sum += one->sum;
}

/* A context is of another kind if its distribution differs from the shorter context's by at least
 * this distance, and by more than chance explains (Kolmogorov-Smirnov, 1%). */
#define LEAST_DISTANCE 0.15
#define BEYOND_CHANCE  1.63

static bool is_another_kind(const struct pauses_listing *listing, const uint32_t *entries,
                            const struct learn_histogram *histogram)
{
    const struct learn_histogram *before = shorter_context(listing, entries);
    if (!before)
        return true;
    double distance = learn_histogram_distance(histogram, before, NULL);
    return histogram->count >= LEAST_COUNT && distance >= LEAST_DISTANCE &&
           distance * sqrt((double)histogram->count) >= BEYOND_CHANCE;
}

/* The pauses of the longest listed context that is shorter: they apply if this one is not listed.
 */
static const struct learn_histogram *shorter_context(const struct pauses_listing *listing,
                                                     const uint32_t *entries)
{
    for (uint32_t count = listing->context - 1; count > 0; count--) {
        const uint32_t *end = entries + (listing->context - count);
        uint32_t number = intern_find(&listing->listed, end, count * sizeof *end);
        if (number != UINT32_MAX)
            return listing->histograms[number];
    }
    return NULL;
}

/* Counts each pause in its longest listed context only, so that the mean over all contexts stays
 * the same. */
static void divide_pauses(struct pauses_listing *listing, struct learn_histogram *own)
{
    uint32_t entries[ENTRIES_MAX];
    for (uint32_t i = 0; i < listing->count; i++) {
        uint32_t number = UINT32_MAX;
        context_of(listing, listing->order[i], listing->length + 1, entries);
        for (uint32_t count = listing->length + 1; count > 0 && number == UINT32_MAX; count--)
            number = intern_find(&listing->listed, entries + (listing->length + 1 - count),
                                 count * sizeof *entries);
        if (number != UINT32_MAX)
            pauses_merge(&own[number], &listing->pauses->items[listing->order[i]]);
    }
}

static void listing_clear(struct pauses_listing *listing)
{
    for (uint32_t i = 0; i < LISTS_MAX; i++)
        free(listing->histograms[i]);
    intern_clear(&listing->listed);
    free(listing->order);
}
