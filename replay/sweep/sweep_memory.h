/* SPDX-License-Identifier: Apache-2.0 */
/* What sweep_options.c and sweep_file.c share: the table, and words that live as long as the
 * options. */
#ifndef REPLAY_SWEEP_SWEEP_MEMORY_H
#define REPLAY_SWEEP_SWEEP_MEMORY_H

#include "base/options.h"
#include "replay/sweep/sweep_options.h"

/* A property of rows beside those of every table: a sweep file may give a list of values. */
enum { SWEEP_LIST = OPTIONS_OWN };

/* Of struct sweep_options. */
extern const struct options_table sweep_options_table;

struct sweep_assignment {
    const struct options_row *row;
    char *value; /* NULL: a flag */
    bool by_letter;
};

/* Words that live as long as the options. */
struct sweep_options_memory {
    struct sweep_assignment *assignments;
    size_t count;
    char **kept; /* texts, all to be overwritten and freed */
    size_t kept_count;
    const char *file;       /* --file */
    bool vary_from_file;    /* what --vary gives goes over it */
    const char *model, *dc; /* of the sweep file */
    char **file_words;      /* its "options", as words */
    size_t file_word_count;
};

/* A copy that lives as long as the options; NULL: no memory. */
char *sweep_options_keep(struct sweep_options *options, const char *text);

#endif
