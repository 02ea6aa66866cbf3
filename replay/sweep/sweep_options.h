/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a sweep. The command line overrides the sweep file (YAML), whose keys are the long
 * names of the options. Options after "--" and in the file's mapping "options" belong to
 * traffic-replay and are checked by its table.
 */
#ifndef REPLAY_SWEEP_SWEEP_OPTIONS_H
#define REPLAY_SWEEP_SWEEP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arguments.h"
#include "base/step.h"
#include "replay/settings.h"
#include "replay/sweep/sweep_list.h"
#include "replay/sweep/sweep_vary.h"
#include "summary/slo.h"

struct sweep_options {
    struct sweep_list r, S;
    uint64_t repeat; /* runs of each cell; 0: the default (1, or 3 of the best with --find-max) */
    const char *results;
    bool random_order;
    struct sweep_vary vary[SWEEP_VARY_MAX];
    size_t vary_count;
    const char *before, *after;  /* commands; NULL: none */
    double settle, hook_timeout; /* seconds */
    const char *sample;          /* a command; NULL: use /proc; "none": no samples */
    bool resume, dry_run;
    bool find_max;            /* or tune */
    bool tune;                /* vary holds the values of --tune */
    bool versus;              /* these are the options of one of two servers */
    double precision, budget; /* of --versus: percent; seconds, 0: no limit */
    struct slo slo;           /* text NULL: none */
    int verbose;

    struct settings replay;            /* of the runs, checked; r, S and seed vary */
    struct arguments replay_arguments; /* the options of the runs */

    struct sweep_sources *sources; /* private; owns the strings above */
};

/*
 * Reads and checks all options; prompts for a missing password. STEP_NEXT: the sweep can begin.
 * STEP_DONE: *status is the exit status; errors are reported in one line. The caller calls
 * sweep_options_clear() in any case.
 */
enum step sweep_options_read(struct sweep_options *options, int argc, char **argv, int *status);
/* Frees all members; overwrites passwords. */
void sweep_options_clear(struct sweep_options *options);

/* Prints --help. */
void sweep_options_help(FILE *out);

#endif
