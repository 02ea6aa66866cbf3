/* SPDX-License-Identifier: Apache-2.0 */
/* From a sweep's options to its exit status: plays the cells one after another. */
#ifndef REPLAY_SWEEP_SWEEP_H
#define REPLAY_SWEEP_SWEEP_H

#include "replay/sweep/sweep_options.h"

/* Plays the sweep and returns the exit status. Errors are reported on standard error. */
int sweep_run(struct sweep_options *options);

#endif
