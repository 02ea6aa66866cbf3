/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses given by points (gaps in traffic-model(5)): a pause is equally likely to end between each
 * two points, in seconds, and is uniform there. */
#ifndef MODEL_GAPS_PRIVATE_H
#define MODEL_GAPS_PRIVATE_H

#include "base/alias.h"
#include "base/arena.h"
#include "base/random.h"

enum { GAPS_POINTS_MAX = 1000 };
#define GAPS_SECONDS_MAX 1e6

struct gaps {
    const uint32_t *entries; /* the key: the pause is before the last entry, after the others */
    uint32_t length;         /* number of entries, at least 1 */
    uint32_t count;          /* number of points, at least 2 */
    const double *points;
    double mean;                      /* exact mean of gaps_draw() */
    const struct alias_slot *running; /* choice of the cell of a pause that is running at time 0 */
};

/* Fills mean and running, which is allocated in arena. 0 or -ENOMEM. */
int gaps_complete(struct gaps *gaps, struct arena *arena);

/* Draws a pause in seconds. O(1). */
double gaps_draw(const struct gaps *gaps, struct random_stream *random);

/* Draws the length of the pause that is running at a random time. Pauses are found running in
 * proportion to their length. mean must be above 0. O(1). */
double gaps_draw_running(const struct gaps *gaps, struct random_stream *random);

#endif
