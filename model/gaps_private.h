/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long pauses last when a model knows it better than by the formulas: points in seconds,
 * between each two of which a pause is equally likely to end and within which it is uniform
 * (traffic-model(5), gaps). Private to the room.
 */
#ifndef MODEL_GAPS_PRIVATE_H
#define MODEL_GAPS_PRIVATE_H

#include "base/alias.h"
#include "base/arena.h"
#include "base/random.h"

enum { GAPS_POINTS_MAX = 1000 };
#define GAPS_SECONDS_MAX 1e6

struct gaps {
    const uint32_t *entries; /* of the chain: what comes last, after what */
    uint32_t length;         /* of them, at least 1 */
    uint32_t count;          /* points, at least 2 */
    const double *points;
    double mean;                      /* exact, of what gaps_draw() draws */
    const struct alias_slot *running; /* which cell a pause that is running at some time is in */
};

/* Completes what has its points: mean and table, in arena. 0 or -ENOMEM. */
int gaps_complete(struct gaps *gaps, struct arena *arena);

/* A pause. O(1). */
double gaps_draw(const struct gaps *gaps, struct random_stream *random);

/* The length of the pause that is found running at some moment: longer ones are found in
 * proportion to their length. mean has to be above 0. O(1). */
double gaps_draw_running(const struct gaps *gaps, struct random_stream *random);

#endif
