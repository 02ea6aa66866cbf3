/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_spans.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE INT64_C(60000000000)
#define HOUR   (60 * MINUTE)

static size_t span_of(const struct learn_spans *spans, int64_t time);
static bool is_near(const struct learn_span *span, int64_t time);
static int64_t distance_to(const struct learn_span *span, int64_t time);
static double measure(const struct learn_spans *spans, bool between, size_t *count);
static int compare_spans(const void *a, const void *b);

void learn_spans_add(struct learn_spans *spans, int64_t time)
{
    size_t at = span_of(spans, time);
    struct learn_span *span = &spans->list[at];
    if (at == spans->count) {
        *span = (struct learn_span){time, time};
        spans->count++;
    }
    if (time < span->first)
        span->first = time;
    if (time > span->last)
        span->last = time;
    spans->latest = at;
}

/* The span that a time belongs to; spans->count: a new one. */
static size_t span_of(const struct learn_spans *spans, int64_t time)
{
    const struct learn_span *latest = &spans->list[spans->latest];
    size_t nearest = 0;
    if (spans->count > 0 && is_near(latest, time))
        return spans->latest;
    for (size_t i = 0; i < spans->count; i++) {
        if (is_near(&spans->list[i], time))
            return i;
        if (distance_to(&spans->list[i], time) < distance_to(&spans->list[nearest], time))
            nearest = i;
    }
    if (spans->count > 0 && time > latest->last && distance_to(latest, time) <= HOUR)
        return spans->latest;
    return spans->count < LEARN_SPANS_MAX ? spans->count : nearest;
}

static bool is_near(const struct learn_span *span, int64_t time)
{
    return distance_to(span, time) <= MINUTE;
}

static int64_t distance_to(const struct learn_span *span, int64_t time)
{
    return time < span->first ? span->first - time : time > span->last ? time - span->last : 0;
}

double learn_spans_seconds(const struct learn_spans *spans)
{
    size_t count;
    return measure(spans, false, &count);
}

double learn_spans_silence(const struct learn_spans *spans, size_t *count)
{
    return measure(spans, true, count);
}

/* Seconds that spans cover, or those between them; *count is the number of gaps. */
static double measure(const struct learn_spans *spans, bool between, size_t *count)
{
    struct learn_span sorted[LEARN_SPANS_MAX];
    int64_t covered = 0, silent = 0;
    *count = 0;
    if (spans->count == 0)
        return 0;
    memcpy(sorted, spans->list, spans->count * sizeof *sorted);
    qsort(sorted, spans->count, sizeof *sorted, compare_spans);
    int64_t end = sorted[0].first;
    for (size_t i = 0; i < spans->count; i++) {
        if (sorted[i].first > end) {
            silent += sorted[i].first - end;
            ++*count;
            end = sorted[i].first;
        }
        if (sorted[i].last > end) {
            covered += sorted[i].last - end;
            end = sorted[i].last;
        }
    }
    return (double)(between ? silent : covered) / 1e9;
}

static int compare_spans(const void *a, const void *b)
{
    const struct learn_span *left = a, *right = b;
    return left->first < right->first ? -1 : left->first > right->first;
}
