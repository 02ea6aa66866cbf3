/* SPDX-License-Identifier: Apache-2.0 */
/* --dry-run and --traffic-summary: what a run would send, without contacting a server. */
#ifndef REPLAY_SESSION_DRY_RUN_H
#define REPLAY_SESSION_DRY_RUN_H

#include <stdio.h>

#include "model/plan.h"
#include "replay/settings.h"

/*
 * Prints what the plan would send: clients, nominal and planned load, counts by packet type, and
 * which packets are not sent and why. Prints text to out; with --json FILE, also writes JSON to
 * FILE; with --json alone (or -), prints JSON to out instead. 0 or a negative errno.
 */
int dry_run(const struct settings *settings, const struct plan *plan, FILE *out);

/* Writes every packet of the plan as a recording (recording_write()), except for packets that
 * --only and --skip leave out. 0, or a negative errno. */
int dry_run_write_recording(const struct settings *settings, const struct plan *plan, FILE *out);

#endif
