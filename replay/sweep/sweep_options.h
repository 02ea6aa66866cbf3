/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a sweep: the command line over a sweep file (YAML). Options are rows of one table,
 * which --help is printed from and whose long names are the keys of the file. What stands behind --
 * and under the file's key "options" is traffic-replay's and is checked by its own table.
 */
#ifndef REPLAY_SWEEP_SWEEP_OPTIONS_H
#define REPLAY_SWEEP_SWEEP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "replay/settings.h"
#include "replay/sweep/sweep_list.h"
#include "replay/sweep/sweep_vary.h"
#include "summary/slo.h"

struct sweep_options {
    struct sweep_list r, S;
    uint64_t repeat; /* runs of each cell; 0: the usual number (1, or 3 of --find-max's best) */
    const char *results;
    bool random_order;
    struct sweep_vary vary[SWEEP_VARY_MAX];
    size_t vary_count;
    const char *before, *after;  /* commands; NULL: none */
    double settle, hook_timeout; /* seconds */
    const char *sample;          /* a command; NULL: what /proc shows; "none": no samples */
    bool resume, find_max;
    struct slo slo; /* text NULL: none */
    int verbose;

    struct settings replay; /* of the runs: checked; model, dc, credentials, durations */
    char **words;           /* of their options, as settings_words() makes them */

    struct sweep_options_memory *memory; /* private */
};

/*
 * Reads and checks them all, asks for a password when one is wanted. -1 when the sweep may begin,
 * else the exit status; what is wrong has been told on standard error in one line.
 */
int sweep_options_read(struct sweep_options *options, int argc, char **argv);
/* Passwords are overwritten. */
void sweep_options_clear(struct sweep_options *options);

void sweep_options_help(FILE *out);

#endif
