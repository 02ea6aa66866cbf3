/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of the test accounts' password: one file a domain and instance under
 * $XDG_STATE_HOME/traffic-replay/, mode 0600, with a random password and the random key under which
 * the accounts' marker is made.
 */
#ifndef REPLAY_ACCOUNTS_PASSWORD_STORE_H
#define REPLAY_ACCOUNTS_PASSWORD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { PASSWORD_STORE_KEY_SIZE = 32, PASSWORD_STORE_MARKER_SIZE = 65, PASSWORD_STORE_LENGTH = 24 };

struct password_store {
    char *path; /* of the file; NULL: not kept */
    char password[PASSWORD_STORE_LENGTH + 1];
    uint8_t key[PASSWORD_STORE_KEY_SIZE];
};

/*
 * Reads the file of (domain, instance), or makes it. On failure a negative errno and a line in
 * error: no place for it, a file that others may read or that is not ours, one that is damaged.
 */
int password_store_open(const char *domain, int instance, struct password_store *store,
                        struct error *error);

/* One for this run only, with no file behind it. */
int password_store_make(struct password_store *store);

/* HMAC-SHA256 of password under the key, in hexadecimal. */
void password_store_marker(const struct password_store *store, const char *password,
                           char marker[PASSWORD_STORE_MARKER_SIZE]);

/* Removes the file of (domain, instance); none is success. */
int password_store_remove(const char *domain, int instance);

/* Overwrites the secrets. */
void password_store_clear(struct password_store *store);

#endif
