/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gaps_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int weigh_cells(struct gaps *gaps, struct alias_slot *slots, uint32_t cells);

int gaps_complete(struct gaps *gaps, struct arena *arena)
{
    uint32_t cells = gaps->count - 1;
    double sum = 0;
    for (uint32_t i = 0; i < cells; i++)
        sum += (gaps->points[i] + gaps->points[i + 1]) / 2;
    gaps->mean = sum / cells;
    gaps->running = NULL;
    if (gaps->mean <= 0)
        return 0;
    struct alias_slot *slots = arena_array(arena, cells, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    gaps->running = slots;
    return weigh_cells(gaps, slots, cells);
}

/* All cells are equally likely for a pause. A cell is found running with a probability proportional
 * to the mean of its pauses. */
static int weigh_cells(struct gaps *gaps, struct alias_slot *slots, uint32_t cells)
{
    uint64_t *weights = calloc(cells, sizeof *weights);
    if (!weights)
        return -ENOMEM;
    for (uint32_t i = 0; i < cells; i++)
        weights[i] = (uint64_t)llround((gaps->points[i] + gaps->points[i + 1]) / 2 /
                                       (gaps->mean * cells) * 0x1p61);
    int result = alias_build(slots, weights, cells);
    free(weights);
    return result;
}

double gaps_draw(const struct gaps *gaps, struct random_stream *random)
{
    uint64_t fraction;
    uint32_t cell = alias_slot(random_next(random), gaps->count - 1, &fraction);
    double low = gaps->points[cell], high = gaps->points[cell + 1];
    return low + (high - low) * ((double)(fraction >> 11) * 0x1p-53);
}

/* Within a cell the density is proportional to the length of the pause, hence the square root. */
double gaps_draw_running(const struct gaps *gaps, struct random_stream *random)
{
    uint32_t cell = alias_pick(gaps->running, gaps->count - 1, random_next(random));
    double low = gaps->points[cell], high = gaps->points[cell + 1];
    return sqrt(low * low + (high * high - low * low) * random_unit(random));
}
