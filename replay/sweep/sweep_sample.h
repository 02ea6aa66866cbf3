/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of the server's resource usage while a cell is played, once per second. They come from
 * /proc, if the server runs on this machine, or from a command that prints lines "name value".
 */
#ifndef REPLAY_SWEEP_SWEEP_SAMPLE_H
#define REPLAY_SWEEP_SWEEP_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "replay/sweep/sweep_child.h"
#include "summary/result/result.h"

struct sweep_sampler;

/*
 * Opens a sampler for one cell. command is run with /bin/sh; NULL: reads /proc for the server on
 * this machine with the address dc, which has the form of traffic-replay's argument. *out is NULL
 * if there is no such server. 0 or a negative errno.
 */
int sweep_sampler_open(const char *dc, const char *command, struct sweep_sampler **out);
/* Kills a running command. NULL is allowed. */
void sweep_sampler_free(struct sweep_sampler *sampler);

/* Takes a sample when one is due. Must be called at least once per second and when a child ends. */
void sweep_sampler_tick(struct sweep_sampler *sampler, const struct sweep_watch *watch);

/* Adds the samples in the result's window to the result. That there are none is a problem. 0 or
 * -ENOMEM. */
int sweep_sampler_merge(struct sweep_sampler *sampler, struct result *result);

/* Whether the server's processes have ended. False when a command takes the samples: nobody
 * knows. */
bool sweep_sampler_server_ended(struct sweep_sampler *sampler);

/* The first problem, for a message; NULL: none. */
const char *sweep_sampler_problem(const struct sweep_sampler *sampler);

/* Parses a line "name value" in place. False: the line has another form. */
bool sweep_sample_parse(char *line, const char **name, double *value);

#endif
