/* SPDX-License-Identifier: Apache-2.0 */
/* What --dry-run prints of a loadfile: its pace, and what one pass of a client contains. */
#ifndef REPLAY_SESSION_DRY_RUN_SCRIPT_H
#define REPLAY_SESSION_DRY_RUN_SCRIPT_H

#include <jansson.h>
#include <stdio.h>

#include "model/plan.h"

void dry_run_print_script(const struct plan *plan, FILE *out);

/* The member "loadfile"; NULL: out of memory. */
json_t *dry_run_script_to_json(const struct plan *plan);

#endif
