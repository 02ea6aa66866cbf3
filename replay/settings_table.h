/* SPDX-License-Identifier: Apache-2.0 */
/* What options traffic-replay has: the table that settings.c reads. */
#ifndef REPLAY_SETTINGS_TABLE_H
#define REPLAY_SETTINGS_TABLE_H

#include "base/options.h"

/* Properties of rows beside those of every table. */
enum settings_property {
    SETTINGS_LIST = OPTIONS_OWN,             /* may be given several times */
    SETTINGS_CREDENTIALS = OPTIONS_OWN * 2,  /* who the administrator is */
    SETTINGS_HOLDS_SECRET = OPTIONS_OWN * 4, /* so a configuration file for all must not have it */
    SETTINGS_MAY_BE_LAST = OPTIONS_OWN * 8   /* as the last word it stands for "-" */
};

/* Of struct settings. */
extern const struct options_table settings_table;

/* Pairs that contradict each other, when given by the same source: two long names, and how to mend
 * it. The last one's are NULL. */
struct settings_conflict {
    const char *one, *other, *mend;
};
extern const struct settings_conflict settings_conflicts[];

#endif
