/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the packets that a plan would send as a recording (model/recording_text.h). */
#ifndef MODEL_RECORDING_WRITE_H
#define MODEL_RECORDING_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include "model/plan.h"

/*
 * Writes the packets of the plan, in order of time. written has one entry per type of the plan's
 * model; false: the recording leaves its packets out. The server is host 1, clients are numbered
 * from 2. Times start at 1500000000, so that the same seed gives the same file again. Returns 0, or
 * a negative errno (-ENOMEM, or of writing).
 */
int recording_write(const struct plan *plan, const bool *written, FILE *out);

#endif
