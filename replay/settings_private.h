/* SPDX-License-Identifier: Apache-2.0 */
/* Where the settings came from. */
#ifndef REPLAY_SETTINGS_PRIVATE_H
#define REPLAY_SETTINGS_PRIVATE_H

#include "base/options.h"
#include "replay/settings.h"

/* The source of an assignment, from the weakest to the strongest. */
enum settings_source { SOURCE_NONE, SOURCE_CONFIG, SOURCE_ENVIRONMENT, SOURCE_COMMAND_LINE };

struct settings_assignment {
    const struct options_row *row;
    char *value; /* parsing may cut it; NULL: a flag */
    char *given; /* an unchanged copy; NULL: a flag, or it can be a secret */
    enum settings_source source;
    char *origin; /* for messages: "--replay-rate", "file:3:14: replay-rate" */
};

struct settings_sources {
    int status; /* the exit status, once a step returned STEP_DONE */
    struct settings_assignment *assignments;
    size_t count;
    enum settings_source *source_of_row; /* the strongest that set it */
    int first_argument;                  /* index in argv of the first one that is no option */
    /* TRAFFIC_REPLAY_USER and TRAFFIC_REPLAY_PASSWORD. Without a user, the password is for any. */
    char *environment_user, *environment_password;
    char *admin_domain, *admin_realm;
};

/* The strongest source that gave the row's option; can be written. */
enum settings_source *settings_source_of_row(const struct settings_sources *sources,
                                             const struct options_row *row);
/* The strongest source that gave the option. The long name must exist. */
enum settings_source settings_source_of(const struct settings *settings, const char *name);

/* Prints a usage error and ends with EXIT_USAGE. */
enum step settings_refuse(const struct settings *settings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Ends with an exit status; its reason is already printed. */
enum step settings_end(const struct settings *settings, int status);
enum step settings_no_memory(const struct settings *settings);

/* Determines the administrator's name and password, from all sources. Asks the terminal for what is
 * missing. */
enum step settings_find_admin(struct settings *settings);

#endif
