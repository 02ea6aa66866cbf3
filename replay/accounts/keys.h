/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of all accounts, made before the clock starts so that nothing is hashed while a run lasts:
 * NT hashes of all, which cost next to nothing, and Kerberos keys (1 to 3 ms of processor time
 * each) only where the model can come to use them.
 */
#ifndef REPLAY_ACCOUNTS_KEYS_H
#define REPLAY_ACCOUNTS_KEYS_H

#include <stddef.h>

#include "base/error.h"
#include "model/model.h"
#include "protocols/dc.h"
#include "replay/settings.h"

struct keys_wanted {
    bool users, machines, admin; /* Kerberos keys of these */
};

/* What a model can use under these settings. */
struct keys_wanted keys_wanted(const struct settings *settings, const struct model *model);
/* Whether it plays packets that need machine accounts. */
bool keys_machines_used(const struct settings *settings, const struct model *model);

/* The administrator's NT hash: due before the first logon. 0 or a negative errno. */
int keys_of_admin(struct dc *dc);

/* The administrator's Kerberos key, when there is a password and no key yet. Its salt is seldom
 * what the name says, so the KDC is asked. 0, or a negative errno and a line in error. */
int keys_learn_admin(struct dc *dc, struct error *error);

/*
 * Derives them with one thread a core. Accounts from a file (foreign) may have other salts than
 * ours: the KDC is asked for those. 0, or a negative errno and a line in error.
 */
int keys_derive(struct dc *dc, const struct keys_wanted *wanted, bool foreign, struct error *error);

#endif
