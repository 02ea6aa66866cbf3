/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a sweep: their order, their names, and whether an existing result is one of them. */
#ifndef REPLAY_SWEEP_SWEEP_CELL_H
#define REPLAY_SWEEP_SWEEP_CELL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "replay/sweep/sweep_options.h"
#include "summary/result/result.h"

/* One run: indices into the lists of the options. */
struct sweep_cell {
    size_t r, S;
    size_t value[SWEEP_VARY_MAX]; /* of each --vary */
    unsigned repeat;              /* from 1 */
};

struct sweep_cells {
    struct sweep_cell *items;
    size_t count;
};

/* The number of combinations of all --vary values; 1 without --vary. */
size_t sweep_combinations(const struct sweep_options *options);
/* Stores the values of combination number (from 0) in value[]; the last --vary changes fastest. */
void sweep_combination(const struct sweep_options *options, size_t number,
                       size_t value[SWEEP_VARY_MAX]);

/*
 * Lists all runs of a full grid in the order in which to play them: in series or shuffled with the
 * seed. Repeats are the outermost loop, so that a drift of the server affects all cells equally.
 * 0 or -ENOMEM.
 */
int sweep_cells_make(const struct sweep_options *options, uint64_t seed, struct sweep_cells *cells);
void sweep_cells_clear(struct sweep_cells *cells);

/* The file name without suffix, "dc1_r4_S5_prefork-2_3": server, r, S, each --vary, and the number
 * of the repeat, from 2. The caller frees it. NULL: no memory. */
char *sweep_cell_name(const struct sweep_options *options, const struct sweep_cell *cell);

/* Checks that different values give different file names. 0, or -EINVAL with a line in error. */
int sweep_cell_check_names(const struct sweep_options *options, struct error *error);

/* The options that all cells share, as text: those of traffic-replay, --before, --after and
 * --settle. Each result has it as its label "options". The caller frees it. NULL: no memory. */
char *sweep_options_text(const struct sweep_options *options);

/* What all results of a sweep share. */
struct sweep_identity {
    const char *model_sha256, *version, *options;
    const char *dc;
    uint64_t seed; /* of the first repeat; the k-th one has seed + k - 1 */
};

/* Checks that a finished cell belongs to this sweep. 0, or -EINVAL with the difference in error. */
int sweep_identity_check(const struct sweep_identity *identity, const struct result *result,
                         unsigned repeat, const char *path, struct error *error);

/* The value of a result's label, or NULL. */
const char *sweep_label(const struct result *result, const char *name);

#endif
