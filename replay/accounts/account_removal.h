/* SPDX-License-Identifier: Apache-2.0 */
/* The removal of an instance's accounts (-c). It can be interrupted at any point and repeated. */
#ifndef REPLAY_ACCOUNTS_ACCOUNT_REMOVAL_H
#define REPLAY_ACCOUNTS_ACCOUNT_REMOVAL_H

#include <stdbool.h>

#include "base/error.h"
#include "protocols/dc.h"
#include "replay/settings.h"

/* Up to this number of objects, one tree delete removes them (MS-ADTS 3.1.1.3.4.1.15), in a third
 * of the time that single deletes need on Samba. More are deleted one by one first: a tree delete
 * is one transaction, whose time grows faster than the number of objects, which shows no progress
 * and blocks other writes. */
enum { ACCOUNT_REMOVAL_TREE_MAX = 2000 };

/* Removes the instance's OU with everything in it, OU=traffic_replay if it is empty then, and the
 * stored password. Sets dc->instance_dn. Prints what is removed and how far it is. Succeeds if
 * there was nothing; *removed says whether there was something. */
int account_removal_run(const struct settings *settings, struct dc *dc, bool *removed,
                        struct error *error);

#endif
