/* SPDX-License-Identifier: Apache-2.0 */
/* Settings as words again: the command line as text, and what another traffic-replay is given. */
#ifndef REPLAY_SETTINGS_WORDS_H
#define REPLAY_SETTINGS_WORDS_H

#include <stdio.h>

#include "replay/settings.h"

/* A command line as text that a shell would read back, to be called when the secrets are gone from
 * it. malloc'd; NULL: no memory. */
char *settings_quote(int argc, char *const *argv);

/*
 * The options in force as words for another traffic-replay ("--duration=10"), in the table's order,
 * whether the command line or the configuration file gave them: without credentials and secrets,
 * and without the long names in except (which ends with a NULL). NULL-terminated, to be
 * given to settings_free_words(); NULL: no memory.
 */
char **settings_words(const struct settings *settings, const char *const *except);
void settings_free_words(char **words);

/* Credentials and secrets as a configuration file for --config, so that they need not be arguments.
 * 0; -EINVAL: a name or password that such a file cannot hold; -EIO: out could not be written. */
int settings_write_secrets(const struct settings *settings, FILE *out);

#endif
