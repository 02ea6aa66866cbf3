/* SPDX-License-Identifier: Apache-2.0 */
/* What settings remember of where they came from: for settings.c and settings_words.c alone. */
#ifndef REPLAY_SETTINGS_MEMORY_H
#define REPLAY_SETTINGS_MEMORY_H

#include "base/options.h"
#include "replay/settings.h"

/* Where an assignment came from, from the weakest to the strongest. */
enum settings_source { SOURCE_NONE, SOURCE_CONFIG, SOURCE_ENVIRONMENT, SOURCE_COMMAND_LINE };

struct settings_assignment {
    const struct options_row *row;
    char *value; /* NULL: a flag */
    char *given; /* the same, never cut to pieces; NULL for what may be secret, too */
    enum settings_source source;
    char *origin; /* "--replay-rate", "file:3:14: replay-rate": for messages */
};

struct settings_memory {
    struct settings_assignment *assignments;
    size_t count;
    enum settings_source *source_of_row; /* the strongest that set it */
    int first_word;                      /* in argv, of those without a dash */
    char *environment_password; /* for the user of the environment, or any when it names none */
    char *environment_user;
    char *admin_domain, *admin_realm;
};

/* Where the strongest source that gave the row's option stands. */
enum settings_source *settings_source_of_row(const struct settings_memory *memory,
                                             const struct options_row *row);
/* The strongest source that gave the option of this long name, which there must be. */
enum settings_source settings_source_of(const struct settings *settings, const char *name);

#endif
