/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which user is a member of which group: users are weighted by a Pareto distribution, groups by
 * their rank. The same numbers and instance always give the same memberships, so that interrupted
 * work can be resumed.
 */
#ifndef REPLAY_ACCOUNTS_MEMBERSHIPS_H
#define REPLAY_ACCOUNTS_MEMBERSHIPS_H

#include <stddef.h>
#include <stdint.h>

struct memberships_wish {
    uint64_t instance;
    uint32_t users, groups; /* numbered from 1 */
    uint64_t memberships;   /* in total */
    uint32_t max_members;   /* of a group; 0: no limit */
};

struct memberships {
    /* Members of group g (from 1) are members[first[g - 1]] up to members[first[g]], user numbers
     * in ascending order. */
    uint32_t groups;
    uint64_t *first;
    uint32_t *members;
};

/* The largest possible number of memberships. */
uint64_t memberships_most(const struct memberships_wish *wish);

/* Distributes exactly wish->memberships memberships, each user at most once per group. 0, and the
 * caller calls memberships_clear(); -ERANGE: more than memberships_most(); or -ENOMEM. */
int memberships_make(const struct memberships_wish *wish, struct memberships *out);
void memberships_clear(struct memberships *memberships);

#endif
