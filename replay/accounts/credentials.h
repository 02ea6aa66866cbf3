/* SPDX-License-Identifier: Apache-2.0 */
/* Names and passwords: where they come from, and how their traces are removed. */
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

/* Overwrites and frees what it holds. */
void credentials_clear(struct credentials *credentials);

/*
 * Splits "user%password" in place of argv or environment: *name and *password (NULL without a %)
 * are copies, and the password is overwritten in text. 0 or -ENOMEM.
 */
int credentials_take(char *text, char **name, char **password);

/* "DOMAIN\user", "DOMAIN/user" and "user@REALM" in *name: leaves the user there, and gives the
 * other part in *domain or *realm, which must be NULL before. 0 or -ENOMEM. */
int credentials_split_name(char **name, char **domain, char **realm);

/*
 * An authentication file: lines "username = ...", "password = ...", "domain = ...", "#" comments.
 * On failure a negative errno and a line in error. *warning is set when others may read the file.
 */
int credentials_read_file(const char *path, struct credentials *out, bool *world_readable,
                          struct error *error);

/* Asks on the terminal of standard input; without echo when secret. *answer is malloc'd.
 * -ENOTTY: standard input is no terminal. */
int credentials_prompt(const char *question, bool secret, char **answer);

#endif
