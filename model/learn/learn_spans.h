/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time in which a capture was recorded. An hour without any frame ends a span: the recording
 * was interrupted, or a clock was set. Frames may come in any order.
 */
#ifndef MODEL_LEARN_LEARN_SPANS_H
#define MODEL_LEARN_LEARN_SPANS_H

#include <stddef.h>
#include <stdint.h>

enum { LEARN_SPANS_MAX = 256, LEARN_SPANS_HOUR = 3600 };

struct learn_spans {
    struct {
        int64_t first, last; /* ns */
    } list[LEARN_SPANS_MAX]; /* by time */
    size_t count;
};

/* Adds a frame's time. Beyond the maximum the nearest span is extended. */
void learn_spans_add(struct learn_spans *spans, int64_t time);

/* Seconds within the spans, and between them. */
double learn_spans_seconds(const struct learn_spans *spans);
double learn_spans_silence(const struct learn_spans *spans);

#endif
