/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The corner of the grid: the cell with the largest r and the largest S. If the server keeps up
 * even with that load, the maximum of the grid is the load that was asked for, and not the server's
 * limit.
 */
#ifndef REPLAY_SWEEP_SWEEP_CORNER_H
#define REPLAY_SWEEP_SWEEP_CORNER_H

#include <stddef.h>
#include <stdio.h>

#include "replay/sweep/sweep_cell.h"
#include "summary/reading.h"

struct sweep_corners {
    const struct sweep_options *options;
    struct sweep_corner *items; /* one per combination of the varied values */
};

/* 0 or -ENOMEM. */
int sweep_corners_init(struct sweep_corners *corners, const struct sweep_options *options);
void sweep_corners_clear(struct sweep_corners *corners);

/* Takes note of a run's metrics. */
void sweep_corners_note(struct sweep_corners *corners, const struct sweep_cell *cell,
                        const double metrics[METRICS]);

/* Prints a line if the server kept up with the corner of combination number: reading_kept_up(). */
void sweep_corners_print(const struct sweep_corners *corners, size_t number, FILE *out);

/* Prints the values of a combination, "prefork=4: ". */
void sweep_combination_print(const struct sweep_options *options, const size_t *value, FILE *out);

#endif
