/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time in which a capture was recorded. An hour without any frame, or a step back of more than
 * a minute, ends a span: the recording was interrupted, or a clock was set. Frames may come in any
 * order, and from several clocks.
 */
#ifndef MODEL_LEARN_LEARN_SPANS_H
#define MODEL_LEARN_LEARN_SPANS_H

#include <stddef.h>
#include <stdint.h>

enum { LEARN_SPANS_MAX = 256 };

struct learn_span {
    int64_t first, last; /* ns */
};

struct learn_spans {
    struct learn_span list[LEARN_SPANS_MAX]; /* in any order; they may overlap */
    size_t count;
    size_t latest; /* the span of the frame before */
};

/* Adds a frame's time. Beyond the maximum the nearest span is extended. */
void learn_spans_add(struct learn_spans *spans, int64_t time);

/* Seconds within the spans. Time that several spans share counts once. */
double learn_spans_seconds(const struct learn_spans *spans);

/* Seconds between the spans; *count is the number of times. */
double learn_spans_silence(const struct learn_spans *spans, size_t *count);

#endif
