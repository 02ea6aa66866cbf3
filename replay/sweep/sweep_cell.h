/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a sweep: their order, their names, and whether a result that is there is one of them.
 */
#ifndef REPLAY_SWEEP_SWEEP_CELL_H
#define REPLAY_SWEEP_SWEEP_CELL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "replay/sweep/sweep_options.h"
#include "summary/result/result.h"

/* One run: places in the lists of the options. */
struct sweep_cell {
    size_t r, S;
    size_t value[SWEEP_VARY_MAX]; /* of each --vary */
    unsigned repeat;              /* from 1 */
};

struct sweep_cells {
    struct sweep_cell *items;
    size_t count;
};

/* Combinations of all --vary values; 1 without any. */
size_t sweep_combinations(const struct sweep_options *options);
/* The values of one of them, from 0, into value[]: the last --vary changes fastest. */
void sweep_combination(const struct sweep_options *options, size_t number,
                       size_t value[SWEEP_VARY_MAX]);

/*
 * All runs of a full grid in the order in which they are to be played: in series (repeats
 * outermost, so that a drift of the server's is spread over the cells) or shuffled by the seed.
 * 0 or -ENOMEM.
 */
int sweep_cells_make(const struct sweep_options *options, uint64_t seed, struct sweep_cells *cells);
void sweep_cells_clear(struct sweep_cells *cells);

/* "dc1_r4_S5_prefork-2_3" without an ending: the server, r, S, each --vary, the number of a repeat
 * from the second on. Malloc'd or NULL. */
char *sweep_cell_name(const struct sweep_options *options, const struct sweep_cell *cell);

/* 0, or -EINVAL with a line in error: values differ, but not the names that they make. */
int sweep_cell_check_names(const struct sweep_options *options, struct error *error);

/* The options that every cell has, as text: traffic-replay's, and what the sweep does to the
 * server. It goes into each result as its label "options". Malloc'd or NULL. */
char *sweep_options_text(const struct sweep_options *options);

/* What all results of a sweep have in common. */
struct sweep_identity {
    const char *model_sha256, *version, *options;
    const char *dc;
    uint64_t seed; /* of the first repeats; the k-th has seed + k - 1 */
};

/*
 * Whether a finished cell is of this sweep. 0, or -EINVAL and in error what differs:
 * "path: ...".
 */
int sweep_identity_check(const struct sweep_identity *identity, const struct result *result,
                         unsigned repeat, const char *path, struct error *error);

/* The value of a result's label, or NULL. */
const char *sweep_label(const struct result *result, const char *name);

#endif
