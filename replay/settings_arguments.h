/* SPDX-License-Identifier: Apache-2.0 */
/* Settings as arguments and configuration file of another traffic-replay. */
#ifndef REPLAY_SETTINGS_ARGUMENTS_H
#define REPLAY_SETTINGS_ARGUMENTS_H

#include <stdio.h>

#include "base/arguments.h"
#include "replay/settings.h"

/*
 * Adds the options in force as arguments ("--duration=10"), in the order of the table. They can
 * come from the command line or from the configuration file. Credentials and secrets are left out,
 * and so are the long names in except, which ends with NULL.
 */
void settings_add_arguments(const struct settings *settings, const char *const *except,
                            struct arguments *arguments);

/* Writes credentials and secrets as a configuration file for --config, so that they need not be
 * arguments. 0; -EINVAL: a configuration file cannot express a name or password; -EIO: out failed.
 */
int settings_write_secrets(const struct settings *settings, FILE *out);

#endif
