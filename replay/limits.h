/* SPDX-License-Identifier: Apache-2.0 */
/* What a run will need of this machine, seen to before it begins rather than met in its middle. */
#ifndef REPLAY_LIMITS_H
#define REPLAY_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "replay/compile.h"

/* Descriptors that one client may hold open at a time, given the packets that are played. */
unsigned limits_files_a_client(const struct compiled *compiled);

/*
 * Makes sure that `files` descriptors and `fibers` stacks may be had: raises the soft limit on open
 * files, as root the hard one too, and compares with vm.max_map_count. 0, or -EMFILE or -ENOMEM and
 * one line in error with the command that mends it.
 */
int limits_prepare(uint64_t files, uint64_t fibers, char *error, size_t error_size);

#endif
