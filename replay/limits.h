/* SPDX-License-Identifier: Apache-2.0 */
/* Raises the limits of this machine before a run, so that it cannot fail half way. */
#ifndef REPLAY_LIMITS_H
#define REPLAY_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "replay/play_table.h"

/* The number of descriptors that a client of this model usually has open at the same time. */
unsigned limits_files_per_client(const struct model *model, const struct play_table *table,
                                 const struct settings *settings);

/*
 * Makes sure that the process can have `files` descriptors and `fibers` stacks. Raises the soft
 * limit on open files to several times that, because some clients need more than others, but not
 * above the hard limit. Raises the hard limit if necessary and allowed. Compares the number of
 * stacks with vm.max_map_count. 0; or -EMFILE or -ENOMEM, and the text has the command that raises
 * the limit.
 */
int limits_prepare(uint64_t files, uint64_t fibers, struct error *error);

#endif
