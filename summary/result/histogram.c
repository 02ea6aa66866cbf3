/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log-linear histograms of times. A page holds the 64 buckets of one power of two. The page table
 * is allocated with the first value, a page when its first bucket is used.
 */
#include "summary/result/histogram.h"

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

/* The buckets in use, in ascending order. */
struct histogram_packed {
    unsigned count;
    struct packed_bucket {
        uint64_t bucket : 12, count : 52;
    } buckets[];
};
_Static_assert(HISTOGRAM_BUCKETS <= 1 << 12, "a packed bucket's number has 12 bits");

struct packing {
    struct histogram_packed *packed; /* NULL: only count */
    unsigned count;
    bool too_many; /* values in one bucket */
};

/* A text of counts that grows by doubling. */
struct counts_text {
    char *text;
    size_t used, size;
    bool failed;
};

/* Contents of a text of counts: number of values, first and last bucket. */
struct counts_read {
    uint64_t count, first, last;
};

static void free_pages(struct histogram *histogram);
static uint64_t *bucket_counter(struct histogram *histogram, unsigned bucket);
static int unpack(struct histogram *histogram);
static uint64_t *page_counter(struct histogram *histogram, unsigned bucket);
static void pack_bucket(void *context, unsigned bucket, uint64_t count);
static unsigned bucket_of_rank(const struct histogram *histogram, uint64_t rank);
static void counts_append(void *context, unsigned bucket, uint64_t count);
static int histogram_read_counts(struct histogram *to, const char *text,
                                 struct counts_read *counts);
static const char *histogram_read_number(const char *text, uint64_t limit, uint64_t *out);
static int check_limits(const struct counts_read *counts, const json_t *min, const json_t *max,
                        double sum);

void histogram_init(struct histogram *histogram)
{
    *histogram = (struct histogram){.min = INT64_MAX, .max = INT64_MIN};
}

void histogram_clear(struct histogram *histogram)
{
    free_pages(histogram);
    free(histogram->packed);
    histogram_init(histogram);
}

static void free_pages(struct histogram *histogram)
{
    for (unsigned page = 0; histogram->pages && page < PAGES; page++)
        free(histogram->pages[page]);
    free(histogram->pages);
    histogram->pages = NULL;
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

static uint64_t *bucket_counter(struct histogram *histogram, unsigned bucket)
{
    return unpack(histogram) < 0 ? NULL : page_counter(histogram, bucket);
}

/* 0, or -ENOMEM and the histogram is unchanged. */
static int unpack(struct histogram *histogram)
{
    struct histogram_packed *packed = histogram->packed;
    for (unsigned i = 0; packed && i < packed->count; i++) {
        uint64_t *counter = page_counter(histogram, packed->buckets[i].bucket);
        if (!counter) {
            free_pages(histogram);
            return -ENOMEM;
        }
        *counter = packed->buckets[i].count;
    }
    free(packed);
    histogram->packed = NULL;
    return 0;
}

/* The counter of a bucket, allocated if needed. NULL: out of memory. */
static uint64_t *page_counter(struct histogram *histogram, unsigned bucket)
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

void histogram_pack(struct histogram *histogram)
{
    struct packing packing = {0};
    if (!histogram->pages)
        return;
    histogram_each(histogram, pack_bucket, &packing);
    struct histogram_packed *packed =
        packing.too_many ? NULL
                         : malloc(sizeof *packed + packing.count * sizeof packed->buckets[0]);
    if (!packed)
        return; /* stays unpacked */
    packing = (struct packing){.packed = packed};
    histogram_each(histogram, pack_bucket, &packing);
    packed->count = packing.count;
    free_pages(histogram);
    histogram->packed = packed;
}

static const uint64_t packed_count_max = (UINT64_C(1) << 52) - 1;

static void pack_bucket(void *context, unsigned bucket, uint64_t count)
{
    struct packing *packing = context;
    if (packing->packed)
        packing->packed->buckets[packing->count] =
            (struct packed_bucket){.bucket = bucket, .count = count & packed_count_max};
    packing->too_many |= count > packed_count_max;
    packing->count++;
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
    for (unsigned i = 0; from->packed && i < from->packed->count; i++) {
        uint64_t *counter = bucket_counter(to, from->packed->buckets[i].bucket);
        if (!counter)
            return -ENOMEM;
        *counter += from->packed->buckets[i].count;
    }
    to->count += from->count;
    to->sum += from->sum;
    if (from->min < to->min)
        to->min = from->min;
    if (from->max > to->max)
        to->max = from->max;
    return 0;
}

int64_t histogram_quantile(const struct histogram *histogram, double fraction)
{
    if (histogram->count == 0)
        return -1;
    if (!(fraction > 0))
        return histogram->min;
    /* 0.95 x 20 is slightly above 19 in binary; it must not select the 20th value. */
    double wanted = ceil(fraction * (double)histogram->count * (1 - 1e-15));
    if (wanted >= (double)histogram->count)
        return histogram->max;
    uint64_t rank = wanted < 1 ? 1 : (uint64_t)wanted;
    int64_t value = histogram_bucket_value(bucket_of_rank(histogram, rank));
    if (value < histogram->min)
        return histogram->min;
    return value > histogram->max ? histogram->max : value;
}

/* The bucket of the value with a rank; 1 is the smallest. */
static unsigned bucket_of_rank(const struct histogram *histogram, uint64_t rank)
{
    uint64_t below = 0;
    for (unsigned page = 0; histogram->pages && page < PAGES; page++)
        for (unsigned i = 0; histogram->pages[page] && i < PAGE_BUCKETS; i++) {
            below += histogram->pages[page][i];
            if (below >= rank)
                return page * PAGE_BUCKETS + i;
        }
    for (unsigned i = 0; histogram->packed && i < histogram->packed->count; i++) {
        below += histogram->packed->buckets[i].count;
        if (below >= rank)
            return histogram->packed->buckets[i].bucket;
    }
    return HISTOGRAM_BUCKETS - 1;
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

void histogram_each(const struct histogram *histogram,
                    void (*visit)(void *context, unsigned bucket, uint64_t count), void *context)
{
    for (unsigned page = 0; histogram->pages && page < PAGES; page++)
        for (unsigned i = 0; histogram->pages[page] && i < PAGE_BUCKETS; i++)
            if (histogram->pages[page][i])
                visit(context, page * PAGE_BUCKETS + i, histogram->pages[page][i]);
    for (unsigned i = 0; histogram->packed && i < histogram->packed->count; i++)
        visit(context, histogram->packed->buckets[i].bucket, histogram->packed->buckets[i].count);
}

double histogram_mean(const struct histogram *histogram)
{
    return histogram->count ? histogram->sum / (double)histogram->count : NAN;
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

int histogram_from_json(struct histogram *histogram, const json_t *json)
{
    histogram_clear(histogram);
    int result = histogram_add_json(histogram, json);
    if (result < 0)
        histogram_clear(histogram);
    return result;
}

int histogram_add_json(struct histogram *to, const json_t *json)
{
    const json_t *sum = json_object_get(json, "sum"), *counts = json_object_get(json, "counts");
    const json_t *min = json_object_get(json, "min"), *max = json_object_get(json, "max");
    const char *rule = json_string_value(json_object_get(json, "rule"));
    const char *text = json_string_value(counts);
    struct counts_read got = {0};
    if (!rule || strcmp(rule, HISTOGRAM_RULE) != 0 || !text || !json_is_number(sum) ||
        strlen(text) != json_string_length(counts))
        return -EINVAL;
    int result = histogram_read_counts(to, text, &got);
    if (result == 0)
        result = check_limits(&got, min, max, json_number_value(sum));
    if (result < 0 || !to || got.count == 0)
        return result;
    if (__builtin_add_overflow(to->count, got.count, &to->count))
        return -EINVAL;
    to->sum += json_number_value(sum);
    if (json_integer_value(min) < to->min)
        to->min = json_integer_value(min);
    if (json_integer_value(max) > to->max)
        to->max = json_integer_value(max);
    return 0;
}

/* Reads "bucket:count bucket:count ..." with ascending buckets and adds them to *to; NULL: only
 * checks. */
static int histogram_read_counts(struct histogram *to, const char *text, struct counts_read *counts)
{
    for (bool begin = true; begin ? *text != '\0' : *text == ' '; begin = false) {
        uint64_t bucket, count;
        text = histogram_read_number(begin ? text : text + 1, HISTOGRAM_BUCKETS - 1, &bucket);
        if (!text || *text != ':' || (!begin && bucket <= counts->last))
            return -EINVAL;
        text = histogram_read_number(text + 1, UINT64_MAX, &count);
        if (!text || count == 0 || __builtin_add_overflow(counts->count, count, &counts->count))
            return -EINVAL;
        uint64_t *counter = to ? bucket_counter(to, (unsigned)bucket) : NULL;
        if (counter)
            *counter += count;
        else if (to)
            return -ENOMEM;
        if (begin)
            counts->first = bucket;
        counts->last = bucket;
    }
    return *text == '\0' ? 0 : -EINVAL;
}

/* Reads a decimal number up to limit, without sign or leading zeros. NULL: there is none. */
static const char *histogram_read_number(const char *text, uint64_t limit, uint64_t *out)
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

/* min and max must lie in the first and last bucket, and the sum between count x min and max. */
static int check_limits(const struct counts_read *counts, const json_t *min, const json_t *max,
                        double sum)
{
    json_int_t low = json_integer_value(min), high = json_integer_value(max);
    double count = (double)counts->count;
    const double slack = 1e-6; /* for the rounding of a sum of many doubles */
    if (counts->count == 0)
        return json_is_null(min) && json_is_null(max) && sum == 0 ? 0 : -EINVAL;
    if (!json_is_integer(min) || !json_is_integer(max) || low < 0 || high < low ||
        histogram_bucket(low) != counts->first || histogram_bucket(high) != counts->last)
        return -EINVAL;
    return sum >= count * (double)low * (1 - slack) && sum <= count * (double)high * (1 + slack)
               ? 0
               : -EINVAL;
}
