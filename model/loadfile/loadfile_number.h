/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in loadfiles. */
#ifndef MODEL_LOADFILE_LOADFILE_NUMBER_H
#define MODEL_LOADFILE_LOADFILE_NUMBER_H

#include "packets/script.h"

/* Reads a decimal or 0x... number from 0 to most. Returns what follows it, or NULL. */
const char *loadfile_read_whole(const char *text, uint64_t most, uint64_t *out);

/* Reads a computed number: `*` or `+N`, then changes. false: it is not one. */
bool loadfile_read_number(const char *text, struct script_number *number);

#endif
