/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_spans.h"

#include <string.h>

static void spans_extend(struct learn_spans *spans, size_t at, int64_t time);

#define GAP ((int64_t)LEARN_SPANS_HOUR * 1000000000)

void learn_spans_add(struct learn_spans *spans, int64_t time)
{
    size_t at = spans->count;
    /* The last span that begins at most an hour after the time; nearly always the last one. */
    while (at > 0 && spans->list[at - 1].first - GAP > time)
        at--;
    if (at > 0 && (time - GAP <= spans->list[at - 1].last || spans->count == LEARN_SPANS_MAX)) {
        spans_extend(spans, at - 1, time);
        return;
    }
    if (spans->count == LEARN_SPANS_MAX) {
        spans_extend(spans, 0, time);
        return;
    }
    memmove(spans->list + at + 1, spans->list + at, (spans->count - at) * sizeof *spans->list);
    spans->list[at].first = spans->list[at].last = time;
    spans->count++;
}

/* Extends a span, and joins it with the one before if that is less than an hour away now. */
static void spans_extend(struct learn_spans *spans, size_t at, int64_t time)
{
    if (time > spans->list[at].last)
        spans->list[at].last = time;
    if (time >= spans->list[at].first)
        return;
    spans->list[at].first = time;
    if (at == 0 || time - GAP > spans->list[at - 1].last)
        return;
    if (spans->list[at].last > spans->list[at - 1].last)
        spans->list[at - 1].last = spans->list[at].last;
    memmove(spans->list + at, spans->list + at + 1, (spans->count - at - 1) * sizeof *spans->list);
    spans->count--;
}

double learn_spans_seconds(const struct learn_spans *spans)
{
    double seconds = 0;
    for (size_t i = 0; i < spans->count; i++)
        seconds += (double)(spans->list[i].last - spans->list[i].first) / 1e9;
    return seconds;
}

double learn_spans_silence(const struct learn_spans *spans)
{
    double seconds = 0;
    for (size_t i = 1; i < spans->count; i++)
        seconds += (double)(spans->list[i].first - spans->list[i - 1].last) / 1e9;
    return seconds;
}
