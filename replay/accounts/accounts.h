/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test accounts: created or reused before a run, or only created (-G). This is start-up
 * work: it blocks and prints its progress on standard error. It can be interrupted at any point and
 * repeated.
 */
#ifndef REPLAY_ACCOUNTS_ACCOUNTS_H
#define REPLAY_ACCOUNTS_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "protocols/dc.h"
#include "replay/settings.h"

/* How many of each kind a run needs. */
struct accounts_wanted {
    uint32_t users, machines, fillers, groups;
    uint64_t memberships;
    uint32_t max_members; /* 0: no limit */
};

/* Derives the numbers from the settings and the number of clients (0 with -G). 0, or -EINVAL: fewer
 * users than clients, or more memberships than possible. */
int accounts_wanted(const struct settings *settings, uint32_t clients,
                    struct accounts_wanted *wanted, struct error *error);

/*
 * Makes sure that the wanted accounts exist with the right password. Fills dc->users and
 * dc->machines with `clients` accounts each, dc->account_count and dc->instance_dn. Needs what
 * discover_dc() fills, and dc->admin or dc->admin_ccache.
 *
 * 0; -EINVAL: usage error (--yes is missing, ...); -ECANCELED: the user declined; another negative
 * errno: the server refused a request or could not be reached.
 */
int accounts_ensure(const struct settings *settings, const struct accounts_wanted *wanted,
                    uint32_t clients, struct dc *dc, struct error *error);

#endif
