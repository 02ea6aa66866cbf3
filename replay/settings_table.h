/* SPDX-License-Identifier: Apache-2.0 */
/* The table of traffic-replay's options. */
#ifndef REPLAY_SETTINGS_TABLE_H
#define REPLAY_SETTINGS_TABLE_H

#include "base/options.h"

/* Further properties of rows. */
enum settings_property {
    SETTINGS_LIST = OPTIONS_OWN,             /* can be given several times */
    SETTINGS_CREDENTIALS = OPTIONS_OWN * 2,  /* identifies the administrator */
    SETTINGS_HOLDS_SECRET = OPTIONS_OWN * 4, /* not allowed in a world-readable file */
    SETTINGS_MAY_BE_LAST = OPTIONS_OWN * 8   /* without an argument at the end it means "-" */
};

/* Suffixes of files that can be a MODEL, for shells. */
#define MODEL_SUFFIXES "yaml|yml|json|txt"

/* Its owner is struct settings. */
extern const struct options_table settings_table;

/* Two long names that one source must not both give, and the remedy. The last entry is NULL. */
struct settings_conflict {
    const char *one, *other, *remedy;
};
extern const struct settings_conflict settings_conflicts[];

#endif
