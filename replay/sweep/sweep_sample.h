/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's side of the story: what it used while a cell was played, once a second. Either from
 * /proc, when the server runs on this machine, or from a command that prints "name value" lines.
 */
#ifndef REPLAY_SWEEP_SWEEP_SAMPLE_H
#define REPLAY_SWEEP_SWEEP_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "replay/sweep/sweep_child.h"
#include "summary/result/result.h"

struct sweep_sampler;

/*
 * Makes one for a cell. command: what to run, with /bin/sh; NULL: look through /proc at the server
 * on this machine whose address dc (as traffic-replay takes it) names. *out is NULL, without
 * failure, when there is no such server. 0, or a negative errno.
 */
int sweep_sampler_open(const char *dc, const char *command, struct sweep_sampler **out);
/* Ends its command when that still runs. NULL is allowed. */
void sweep_sampler_free(struct sweep_sampler *sampler);

/* To be called at least once a second, and when a child has ended: takes a sample when one is due.
 */
void sweep_sampler_tick(struct sweep_sampler *sampler, const struct sweep_watch *watch);

/* Adds the samples of the result's window to it. 0 or -ENOMEM. */
int sweep_sampler_merge(const struct sweep_sampler *sampler, struct result *result);

/* What was wrong with samples, for one line to the user; NULL: nothing. */
const char *sweep_sampler_problem(const struct sweep_sampler *sampler);

/* One line of a command: "name value". name is cut off in place. False: it is not that. */
bool sweep_sample_parse(char *line, const char **name, double *value);

#endif
