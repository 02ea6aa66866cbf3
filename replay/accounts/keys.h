/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derives the keys of all accounts before the clock starts, so that a run spends no time on it: NT
 * hashes for all accounts, which is cheap, and Kerberos keys (1 to 3 ms of CPU time each) only
 * where the model can use them.
 */
#ifndef REPLAY_ACCOUNTS_KEYS_H
#define REPLAY_ACCOUNTS_KEYS_H

#include <stddef.h>

#include "base/error.h"
#include "model/model.h"
#include "protocols/dc.h"
#include "replay/settings.h"

struct keys_wanted {
    bool users, machines, admin; /* whether they need Kerberos keys */
};

/* What a model can use with these settings. */
struct keys_wanted keys_wanted(const struct settings *settings, const struct model *model);
/* Whether the run plays packets that need machine accounts. */
bool keys_machines_used(const struct settings *settings, const struct model *model);

/* Derives the administrator's NT hash; needed before the first logon. 0; -ENOMEM; or another
 * negative errno: the password is not UTF-8. */
int keys_of_admin(struct dc *dc);

/* Derives the administrator's Kerberos key, if there is a password and no key yet. Asks the KDC for
 * the salt, because it often does not follow from the name. 0 or a negative errno. */
int keys_learn_admin(struct dc *dc, struct error *error);

/* Derives the keys with one thread per core. Accounts from a file (foreign) may have any salt, so
 * the KDC is asked for theirs. 0 or a negative errno. */
int keys_derive(struct dc *dc, const struct keys_wanted *wanted, bool foreign, struct error *error);

#endif
