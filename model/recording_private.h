/* SPDX-License-Identifier: Apache-2.0 */
/* Loads recordings. A model that holds a recording has types and details like any other model, but
 * no histories. */
#ifndef MODEL_RECORDING_PRIVATE_H
#define MODEL_RECORDING_PRIVATE_H

#include <stdio.h>

#include "base/error.h"

struct model;

/* Limits of a recording. */
enum { RECORDING_PACKETS_MAX = 1 << 24, RECORDING_CLIENTS_MAX = 1000000 };
enum { RECORDING_TYPES_MAX = 4096, RECORDING_DETAILS_MAX = 64 << 20, RECORDING_DAYS_MAX = 100 };

/* A conversation ends when its client is silent for more than this many seconds of recorded
 * time. */
enum { RECORDING_SILENCE = 60 };

/*
 * Reads a recording from file, which messages call name, into a model that has only a name so far.
 * Warns of replies and further legs, which are left out. 0, -EINVAL with "file:line: expected ..."
 * in error, or another negative errno with a text in error. The model remains the caller's.
 */
int recording_load(struct model *model, FILE *file, const char *name, struct error *error,
                   void (*warning)(void *context, const char *line), void *context);

#endif
