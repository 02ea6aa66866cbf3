/* SPDX-License-Identifier: Apache-2.0 */
/* What sweep_options.c and sweep_file.c share. */
#ifndef REPLAY_SWEEP_SWEEP_OPTIONS_PRIVATE_H
#define REPLAY_SWEEP_SWEEP_OPTIONS_PRIVATE_H

#include "base/arguments.h"
#include "base/options.h"
#include "replay/sweep/sweep_options.h"

/* A further property of rows: a sweep file can give a list of values. */
enum { SWEEP_LIST = OPTIONS_OWN };

/* Its owner is struct sweep_options. */
extern const struct options_table sweep_options_table;

struct sweep_assignment {
    const struct options_row *row;
    char *value; /* NULL: a flag */
    bool by_letter;
};

/* Where the options came from. */
struct sweep_sources {
    int status;                           /* the exit status, once a step returned STEP_DONE */
    struct sweep_assignment *assignments; /* of the command line */
    size_t count;
    char **kept; /* texts that the options point into; overwritten at the end */
    size_t kept_count;
    const char *file;                /* --file */
    bool vary_from_file;             /* the first --vary replaces the file's list */
    const char *model, *dc;          /* of the sweep file */
    struct arguments file_arguments; /* "options" of the sweep file */
};

/* A copy of text that lives as long as the options; NULL: no memory. */
char *sweep_options_keep(struct sweep_options *options, const char *text);

/* Prints a usage error and ends with EXIT_USAGE. */
enum step sweep_options_refuse(const struct sweep_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Ends with an exit status; its reason is already printed. */
enum step sweep_options_end(const struct sweep_options *options, int status);
enum step sweep_options_no_memory(const struct sweep_options *options);

#endif
