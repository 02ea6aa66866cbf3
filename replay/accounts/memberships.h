/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is a member of which group: users weighted by a Pareto distribution, groups by their rank.
 * Always the same for the same numbers and instance, so that what was interrupted can be taken up.
 */
#ifndef REPLAY_ACCOUNTS_MEMBERSHIPS_H
#define REPLAY_ACCOUNTS_MEMBERSHIPS_H

#include <stddef.h>
#include <stdint.h>

struct memberships_wish {
    uint64_t instance;
    uint32_t users, groups; /* numbered from 1 */
    uint64_t memberships;   /* in all */
    uint32_t max_members;   /* of a group; 0: no limit */
};

struct memberships {
    /* Members of group g (from 1) are members[first[g - 1]] up to members[first[g]], user numbers
     * in ascending order. */
    uint32_t groups;
    uint64_t *first;
    uint32_t *members;
};

/* The most memberships that there is room for. */
uint64_t memberships_most(const struct memberships_wish *wish);

/* Makes exactly wish->memberships of them, each user at most once in a group. On success
 * *out is to be given to memberships_clear(). -ERANGE: more than memberships_most(); -ENOMEM. */
int memberships_make(const struct memberships_wish *wish, struct memberships *out);
void memberships_clear(struct memberships *memberships);

#endif
