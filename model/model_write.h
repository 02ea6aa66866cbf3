/* SPDX-License-Identifier: Apache-2.0 */
/* Writes models as version 3 files. */
#ifndef MODEL_MODEL_WRITE_H
#define MODEL_MODEL_WRITE_H

#include <stdio.h>

#include "model/model.h"

/*
 * Writes a model as a version 3 file with comments. The order of the file depends on the model
 * alone. A model that is loaded from it gives the same plans to the nanosecond. 0, or a negative
 * errno of writing; -ENOTSUP for a recording.
 */
int model_write_yaml(const struct model *model, FILE *out);

#endif
