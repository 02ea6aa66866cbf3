/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log-linear histograms of times. One page holds the 64 buckets of one power of two; the table of
 * pages is allocated with the first value, a page when its first bucket is hit.
 */
#include "summary/histogram.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_EXPONENT = 9, /* 512 ns: the first power of two below 1 us */
    PAGES = 33,         /* the last one ends at 2^42 ns, above 1 h */
    PAGE_SHIFT = 6,
    PAGE_BUCKETS = 1 << PAGE_SHIFT,
    /* "2111:18446744073709551615 " */
    ENTRY_TEXT_MAX = 26
};
_Static_assert(PAGES *PAGE_BUCKETS == HISTOGRAM_BUCKETS, "buckets");

void histogram_init(struct histogram *histogram)
{
    *histogram = (struct histogram){.min = INT64_MAX, .max = INT64_MIN};
}

void histogram_clear(struct histogram *histogram)
{
    for (unsigned page = 0; histogram->pages && page < PAGES; page++)
        free(histogram->pages[page]);
    free(histogram->pages);
    histogram_init(histogram);
}

unsigned histogram_bucket(int64_t ns)
{
    if (ns < INT64_C(1) << FIRST_EXPONENT)
        return 0;
    unsigned exponent = 63 - (unsigned)__builtin_clzll((unsigned long long)ns);
    if (exponent >= FIRST_EXPONENT + PAGES)
        return HISTOGRAM_BUCKETS - 1;
    unsigned in_page = (unsigned)(ns >> (exponent - PAGE_SHIFT)) & (PAGE_BUCKETS - 1);
    return (exponent - FIRST_EXPONENT) * PAGE_BUCKETS + in_page;
}

int64_t histogram_bucket_value(unsigned bucket)
{
    unsigned exponent = FIRST_EXPONENT + bucket / PAGE_BUCKETS;
    int64_t width = INT64_C(1) << (exponent - PAGE_SHIFT);
    return (INT64_C(1) << exponent) + (bucket % PAGE_BUCKETS) * width + width / 2;
}

/* The counter of a bucket, allocated when it is not there yet. NULL: no memory. */
static uint64_t *bucket_counter(struct histogram *histogram, unsigned bucket)
{
    if (!histogram->pages) {
        histogram->pages = calloc(PAGES, sizeof *histogram->pages);
        if (!histogram->pages)
            return NULL;
    }
    uint64_t **page = &histogram->pages[bucket / PAGE_BUCKETS];
    if (!*page) {
        *page = calloc(PAGE_BUCKETS, sizeof **page);
        if (!*page)
            return NULL;
    }
    return &(*page)[bucket % PAGE_BUCKETS];
}

int histogram_add(struct histogram *histogram, int64_t ns)
{
    if (ns < 0)
        ns = 0;
    uint64_t *counter = bucket_counter(histogram, histogram_bucket(ns));
    if (!counter)
        return -ENOMEM;
    ++*counter;
    histogram->count++;
    histogram->sum += (double)ns;
    if (ns < histogram->min)
        histogram->min = ns;
    if (ns > histogram->max)
        histogram->max = ns;
    return 0;
}

int histogram_merge(struct histogram *to, const struct histogram *from)
{
    for (unsigned page = 0; from->pages && page < PAGES; page++) {
        if (!from->pages[page])
            continue;
        uint64_t *counters = bucket_counter(to, page * PAGE_BUCKETS);
        if (!counters)
            return -ENOMEM;
        for (unsigned i = 0; i < PAGE_BUCKETS; i++)
            counters[i] += from->pages[page][i];
    }
    to->count += from->count;
    to->sum += from->sum;
    if (from->min < to->min)
        to->min = from->min;
    if (from->max > to->max)
        to->max = from->max;
    return 0;
}

void histogram_each(const struct histogram *histogram,
                    void (*visit)(void *context, unsigned bucket, uint64_t count), void *context)
{
    for (unsigned page = 0; histogram->pages && page < PAGES; page++)
        for (unsigned i = 0; histogram->pages[page] && i < PAGE_BUCKETS; i++)
            if (histogram->pages[page][i])
                visit(context, page * PAGE_BUCKETS + i, histogram->pages[page][i]);
}

/* The bucket in which the value of a rank (1 is the smallest) lies. */
static unsigned bucket_of_rank(const struct histogram *histogram, uint64_t rank)
{
    uint64_t below = 0;
    for (unsigned page = 0; histogram->pages && page < PAGES; page++)
        for (unsigned i = 0; histogram->pages[page] && i < PAGE_BUCKETS; i++) {
            below += histogram->pages[page][i];
            if (below >= rank)
                return page * PAGE_BUCKETS + i;
        }
    return HISTOGRAM_BUCKETS - 1;
}

int64_t histogram_quantile(const struct histogram *histogram, double fraction)
{
    if (histogram->count == 0)
        return -1;
    if (!(fraction > 0))
        return histogram->min;
    /* 0.95 x 20 is a hair above 19 in binary: that must not make it the 20th. */
    double wanted = ceil(fraction * (double)histogram->count * (1 - 1e-15));
    if (wanted >= (double)histogram->count)
        return histogram->max;
    uint64_t rank = wanted < 1 ? 1 : (uint64_t)wanted;
    int64_t value = histogram_bucket_value(bucket_of_rank(histogram, rank));
    if (value < histogram->min)
        return histogram->min;
    return value > histogram->max ? histogram->max : value;
}

double histogram_mean(const struct histogram *histogram)
{
    return histogram->count ? histogram->sum / (double)histogram->count : NAN;
}

/* The text of counts grows by doubling. */
struct counts_text {
    char *text;
    size_t used, size;
    bool failed;
};

static void counts_append(void *context, unsigned bucket, uint64_t count)
{
    struct counts_text *counts = context;
    if (counts->failed)
        return;
    if (counts->size - counts->used < ENTRY_TEXT_MAX + 1) {
        size_t size = counts->size ? counts->size * 2 : 256;
        char *text = realloc(counts->text, size);
        if (!text) {
            counts->failed = true;
            return;
        }
        counts->text = text;
        counts->size = size;
    }
    counts->used += (size_t)sprintf(counts->text + counts->used, "%s%u:%" PRIu64,
                                    counts->used ? " " : "", bucket, count);
}

json_t *histogram_to_json(const struct histogram *histogram)
{
    struct counts_text counts = {0};
    json_t *json = NULL;
    histogram_each(histogram, counts_append, &counts);
    if (counts.failed)
        goto cleanup;
    if (histogram->count)
        json = json_pack("{s:I, s:I, s:f, s:s, s:s}", "min", (json_int_t)histogram->min, "max",
                         (json_int_t)histogram->max, "sum", histogram->sum, "rule", HISTOGRAM_RULE,
                         "counts", counts.text);
    else
        json = json_pack("{s:n, s:n, s:f, s:s, s:s}", "min", "max", "sum", 0.0, "rule",
                         HISTOGRAM_RULE, "counts", "");
cleanup:
    free(counts.text);
    return json;
}

/* Reads a decimal number without sign or leading zeros, at most limit; NULL when there is none. */
static const char *read_number(const char *text, uint64_t limit, uint64_t *out)
{
    uint64_t value = 0;
    if (*text < '1' || *text > '9') {
        *out = 0;
        return *text == '0' && (text[1] < '0' || text[1] > '9') ? text + 1 : NULL;
    }
    for (; *text >= '0' && *text <= '9'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (value > (limit - digit) / 10)
            return NULL;
        value = value * 10 + digit;
    }
    *out = value;
    return text;
}

/* Reads "bucket:count bucket:count ...", buckets rising. first and last are those met. */
static int read_counts(struct histogram *histogram, const char *text, uint64_t *first,
                       uint64_t *last)
{
    for (bool begin = true; begin ? *text != '\0' : *text == ' '; begin = false) {
        uint64_t bucket, count;
        text = read_number(begin ? text : text + 1, HISTOGRAM_BUCKETS - 1, &bucket);
        if (!text || *text != ':' || (!begin && bucket <= *last))
            return -EINVAL;
        text = read_number(text + 1, UINT64_MAX, &count);
        if (!text || count == 0 ||
            __builtin_add_overflow(histogram->count, count, &histogram->count))
            return -EINVAL;
        uint64_t *counter = bucket_counter(histogram, (unsigned)bucket);
        if (!counter)
            return -ENOMEM;
        *counter = count;
        if (begin)
            *first = bucket;
        *last = bucket;
    }
    return *text == '\0' ? 0 : -EINVAL;
}

static int check_empty(const json_t *min, const json_t *max, const json_t *sum)
{
    return json_is_null(min) && json_is_null(max) && json_number_value(sum) == 0 ? 0 : -EINVAL;
}

/* min and max must lie in the first and last bucket, and the sum between count x min and max. */
static int check_limits(struct histogram *histogram, const json_t *min, const json_t *max,
                        uint64_t first, uint64_t last)
{
    if (!json_is_integer(min) || !json_is_integer(max))
        return -EINVAL;
    histogram->min = json_integer_value(min);
    histogram->max = json_integer_value(max);
    if (histogram->min < 0 || histogram->max < histogram->min ||
        histogram_bucket(histogram->min) != first || histogram_bucket(histogram->max) != last)
        return -EINVAL;
    /* A sum of many doubles is a little off. */
    double count = (double)histogram->count, slack = 1e-6;
    if (!(histogram->sum >= count * (double)histogram->min * (1 - slack)) ||
        !(histogram->sum <= count * (double)histogram->max * (1 + slack)))
        return -EINVAL;
    return 0;
}

int histogram_from_json(struct histogram *histogram, const json_t *json)
{
    const json_t *sum = json_object_get(json, "sum");
    const json_t *min = json_object_get(json, "min"), *max = json_object_get(json, "max");
    const char *rule = json_string_value(json_object_get(json, "rule"));
    const json_t *counts = json_object_get(json, "counts");
    const char *text = json_string_value(counts);
    uint64_t first = 0, last = 0;

    histogram_clear(histogram);
    if (!rule || strcmp(rule, HISTOGRAM_RULE) != 0 || !text || !json_is_number(sum) ||
        strlen(text) != json_string_length(counts))
        return -EINVAL;
    int result = read_counts(histogram, text, &first, &last);
    if (result == 0) {
        histogram->sum = json_number_value(sum);
        result = histogram->count ? check_limits(histogram, min, max, first, last)
                                  : check_empty(min, max, sum);
    }
    if (result < 0)
        histogram_clear(histogram);
    return result;
}
