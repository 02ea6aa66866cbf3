/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stored password of the test accounts: one file per domain SID and instance in
 * $XDG_STATE_HOME/traffic-replay/, mode 0600. It contains a random password and the random key of
 * the accounts' marker.
 */
#ifndef REPLAY_ACCOUNTS_PASSWORD_STORE_H
#define REPLAY_ACCOUNTS_PASSWORD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { PASSWORD_STORE_KEY_SIZE = 32, PASSWORD_STORE_MARKER_SIZE = 65, PASSWORD_STORE_LENGTH = 24 };

struct password_store {
    char *path; /* of the file; NULL: not stored */
    char password[PASSWORD_STORE_LENGTH + 1];
    uint8_t key[PASSWORD_STORE_KEY_SIZE];
};

/* Which accounts a file belongs to. Labs often share a domain's name, but not its SID. */
struct password_store_id {
    const char *domain, *sid; /* sid may be NULL */
    int instance;
};

/* If the file does not exist yet, takes over that of an earlier version, whose name had no SID: if
 * the accounts' marker says that they have its password, or the fixed one (NULL: none). */
void password_store_migrate(const struct password_store_id *id, const char *fixed,
                            const char *marker);

/*
 * Reads the file for this domain and instance, or creates it. 0; -ENOENT: no home folder is known;
 * -EPERM: another user owns the file or can read it; -EINVAL: the file is damaged; or another
 * negative errno. Call password_store_clear() in any case.
 */
int password_store_open(const struct password_store_id *id, struct password_store *store,
                        struct error *error);

/* Creates a random password and key for this run only, without a file. 0 or a negative errno. */
int password_store_make(struct password_store *store);

/* The HMAC-SHA256 of password with the stored key, in hexadecimal. */
void password_store_marker(const struct password_store *store, const char *password,
                           char marker[PASSWORD_STORE_MARKER_SIZE]);

/* Removes the file for this domain and instance. Succeeds if there is none. */
int password_store_remove(const struct password_store_id *id);

/* Overwrites the secrets. */
void password_store_clear(struct password_store *store);

#endif
