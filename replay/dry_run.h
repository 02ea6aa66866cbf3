/* SPDX-License-Identifier: Apache-2.0 */
/* What a run would do, without a DC: `--dry-run` and `--traffic-summary`. */
#ifndef REPLAY_DRY_RUN_H
#define REPLAY_DRY_RUN_H

#include <stdio.h>

#include "model/plan.h"
#include "replay/settings.h"

/*
 * Prints what the plan would send: clients, nominal and planned load, counts by packet type, and by
 * name the packets that are not sent and why. As text to out; with --json FILE also as JSON to
 * FILE, with --json alone (or -) as JSON to out instead. 0, or a negative errno of writing.
 */
int dry_run(const struct settings *settings, const struct plan *plan, FILE *out);

/*
 * Writes every packet of the plan, in order of time, in the tab-separated traffic-summary format:
 * time, IP protocol, stream, source, destination, protocol, opcode, description, and for LDAP and
 * CLDAP seven more fields. The server is 1, clients are 2 and up; the first packets are due from
 * 1500000000 on, so that a seed gives the same file again. Packets that --only and --skip leave out
 * are not in it. 0, or a negative errno of writing.
 */
int write_traffic_summary(const struct settings *settings, const struct plan *plan, FILE *out);

#endif
