/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep files (YAML): what a sweep's command line is laid over. */
#ifndef REPLAY_SWEEP_SWEEP_FILE_H
#define REPLAY_SWEEP_SWEEP_FILE_H

#include "replay/sweep/sweep_options.h"

/* Reads the file ("-": standard input) into the options. -1, or the exit status of what has been
 * told on standard error in one line. */
int sweep_file_read(struct sweep_options *options, const char *path);

#endif
