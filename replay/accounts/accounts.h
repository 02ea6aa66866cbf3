/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test accounts: made or reused before a run, made for their own sake (-G), removed (-c). Start-up
 * work: blocks, and tells its progress on standard error. Interrupting it and starting it again is
 * safe at any point.
 */
#ifndef REPLAY_ACCOUNTS_ACCOUNTS_H
#define REPLAY_ACCOUNTS_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "protocols/dc.h"
#include "replay/settings.h"

/* How many of each are wanted. */
struct accounts_wanted {
    uint32_t users, machines, fillers, groups;
    uint64_t memberships;
    uint32_t max_members; /* 0: no limit */
};

/*
 * From the settings and the number of clients (0 with -G). 0, or -EINVAL and a line in error: fewer
 * users than clients, more memberships than there is room for.
 */
int accounts_wanted(const struct settings *settings, uint32_t clients,
                    struct accounts_wanted *wanted, struct error *error);

/*
 * Sees to it that the wanted accounts exist with the right password, and gives dc->users and
 * dc->machines `clients` of each, dc->account_count and dc->instance_dn. Needs what discover_dc()
 * fills, and dc->admin or dc->admin_ccache.
 *
 * 0; -EINVAL: a mistake of the user's (--yes is missing, ...); -ECANCELED: the user said no;
 * another negative errno: the server refused or could not be reached. A line in error.
 */
int accounts_ensure(const struct settings *settings, const struct accounts_wanted *wanted,
                    uint32_t clients, struct dc *dc, struct error *error);

/* Removes the instance's accounts; none is success. *removed tells whether there were any. */
int accounts_clean_up(const struct settings *settings, struct dc *dc, bool *removed,
                      struct error *error);

#endif
