/* SPDX-License-Identifier: Apache-2.0 */
/* What a run will need of this machine, seen to before it begins rather than met in its middle. */
#ifndef REPLAY_LIMITS_H
#define REPLAY_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "replay/play_table.h"

/* Descriptors that clients of this model hold open at a time, each, as a rule: what a run cannot do
 * without. */
unsigned limits_files_per_client(const struct model *model, const struct play_table *table,
                                 const struct settings *settings);

/*
 * Makes sure that `files` descriptors and `fibers` stacks may be had: raises the soft limit on open
 * files to several times that (some clients hold more than others) as far as the hard one lets it,
 * raises the hard one too if need be and allowed, and compares with vm.max_map_count. 0, or -EMFILE
 * or -ENOMEM and one line in error with the command that mends it.
 */
int limits_prepare(uint64_t files, uint64_t fibers, struct error *error);

#endif
