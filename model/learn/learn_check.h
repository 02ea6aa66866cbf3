/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how close a model is to a capture: the same figures of both, and their distances. */
#ifndef MODEL_LEARN_LEARN_CHECK_H
#define MODEL_LEARN_LEARN_CHECK_H

#include "base/error.h"
#include "model/learn/learn_histogram.h"
#include "model/learn/learn_walk.h"
#include "model/model.h"

/* Figures of a capture or of a plan. */
struct learn_measure {
    uint64_t packets, conversations;
    double seconds;                                  /* sum of the conversations' durations */
    struct learn_histogram gaps, lengths, durations; /* seconds, packets, seconds */
};

struct learn_type_counts {
    uint64_t capture, model;
};

struct learn_check {
    struct intern types; /* "protocol:opcode" */
    struct learn_type_counts *type_counts;
    struct learn_measure capture, model;
    double mix;                      /* total variation distance of the packet types' shares */
    double gaps, lengths, durations; /* Kolmogorov-Smirnov distances */
    double gaps_at, lengths_at, durations_at; /* values at which they are largest */
    double capture_rate, model_rate;          /* packets per second of a client in a conversation */
    double rate;                              /* their relative difference */
    uint64_t seed;
};

enum { LEARN_CHECK_PACKETS = 10000000 };

/*
 * Measures the conversations of a capture, and of a plan of the model with about this many packets,
 * at -r 1 and without stretching pauses. check must be cleared afterwards in any case. 0, or a
 * negative errno with a text in error.
 */
int learn_check_make(struct learn_check *check, struct learn_capture *capture,
                     const struct learn_walk_settings *walk, const struct model *model,
                     uint64_t seed, uint64_t packets, struct error *error);
void learn_check_clear(struct learn_check *check);

/* Prints both sides as a table, or as JSON. 0 or a negative errno. */
int learn_check_print(const struct learn_check *check, FILE *out);
int learn_check_print_json(const struct learn_check *check, FILE *out);

#endif
