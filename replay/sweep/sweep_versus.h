/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --versus: compares the maxima of two servers. The command line names two servers; each gets a
 * sweep of its own, with its results in a sub-folder. An option that is given twice belongs to the
 * first and to the second server: -A after "--", and --before, --after and --sample.
 */
#ifndef REPLAY_SWEEP_SWEEP_VERSUS_H
#define REPLAY_SWEEP_SWEEP_VERSUS_H

#include <stdbool.h>

#include "replay/sweep/sweep_options.h"

enum { SWEEP_SIDES = 2 };

/* Whether the command line has --versus. */
bool sweep_versus_given(int argc, char **argv);

/*
 * Makes the command line of one side. The caller frees *out and its copies with
 * sweep_versus_free_arguments() when the options are cleared. Secrets in copies are overwritten
 * when the options are read; the first side uses the original strings. 0, -ENOMEM, or -EINVAL with
 * the reason in error.
 */
int sweep_versus_arguments(int argc, char **argv, int side, int *count, char ***out,
                           struct error *error);
void sweep_versus_free_arguments(int side, int count, char **arguments);

/* Reads the options of both sides, plays the comparison and returns the exit status. */
int sweep_versus_run(int argc, char **argv);

#endif
