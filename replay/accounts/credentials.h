/* SPDX-License-Identifier: Apache-2.0 */
/* Names and passwords: from the command line, a file or the terminal. */
#ifndef REPLAY_ACCOUNTS_CREDENTIALS_H
#define REPLAY_ACCOUNTS_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* All members malloc'd or NULL. */
struct credentials {
    char *name;
    char *password;
    char *domain;
};

/* Frees the members; overwrites the password first. */
void credentials_clear(struct credentials *credentials);

/* Copies the parts of "user%password" to *name and *password (NULL without a %), and overwrites the
 * password in text, which may be in argv or the environment. 0 or -ENOMEM. */
int credentials_take(char *text, char **name, char **password);

/* Splits "DOMAIN\user", "DOMAIN/user" or "user@REALM" in *name: leaves the user there, and stores
 * the other part in *domain or *realm, which must be NULL. 0 or -ENOMEM. */
int credentials_split_name(char **name, char **domain, char **realm);

/*
 * Reads an authentication file: lines "username = ...", "password = ...", "domain = ..." and
 * comments that begin with "#". 0 or a negative errno; -EINVAL: a line is wrong.
 */
int credentials_read_file(const char *path, struct credentials *out, bool *world_readable,
                          struct error *error);

/*
 * Asks the user on the terminal of standard input, without echo if secret. *answer is malloc'd. 0;
 * -ENOTTY: standard input is not a terminal; -ECANCELED: no answer; -ENOMEM. SIGINT, SIGTERM,
 * SIGHUP and SIGQUIT end the prompt; the handlers that the program had installed run after the
 * terminal is restored.
 */
int credentials_prompt(const char *question, bool secret, char **answer);

#endif
