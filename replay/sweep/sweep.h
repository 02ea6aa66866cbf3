/* SPDX-License-Identifier: Apache-2.0 */
/* From a sweep's options to its exit status: plays the cells one after another. */
#ifndef REPLAY_SWEEP_SWEEP_H
#define REPLAY_SWEEP_SWEEP_H

#include "replay/sweep/sweep_options.h"

/* Plays what the options ask for and returns the exit status. Mistakes and failures have been told
 * on standard error. */
int sweep_run(struct sweep_options *options);

#endif
