/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep files (YAML). */
#ifndef REPLAY_SWEEP_SWEEP_FILE_H
#define REPLAY_SWEEP_SWEEP_FILE_H

#include "base/step.h"
#include "replay/sweep/sweep_options.h"

/* Reads a file ("-" is standard input) into the options, before the command line overrides them.
 * STEP_DONE after an error, which is reported in one line. */
enum step sweep_file_read(struct sweep_options *options, const char *path);

#endif
