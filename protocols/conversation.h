/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A conversation: what one client has open and knows while it plays from a model's start to its
 * end. The struct lives as long as the client; conversation_reset() ends one conversation and makes
 * room for the next. Used by one thread only, by one packet at a time.
 *
 * A protocol keeps its own state behind a pointer here, allocated when first needed and dropped by
 * its reset function (listed in conversation.c): an idle client costs what it has open.
 */
#ifndef PROTOCOLS_CONVERSATION_H
#define PROTOCOLS_CONVERSATION_H

#include <stdbool.h>
#include <stdint.h>

#include "protocols/account.h"
#include "protocols/dc.h"
#include "protocols/wire.h"

struct cldap_state;
struct ldap_state;
struct kerberos_state;
struct smb2_state;
struct rpc_state;

struct conversation {
    struct wire wire;
    const struct dc *dc;
    const struct account *user;
    const struct account *machine;

    /* Chance for what is not in the plan (which object fills a filter, -B, ...): the caller's
     * stream of random numbers, so that a seed repeats a run. */
    uint64_t (*random)(void *random_state);
    void *random_state;

    bool kerberos;              /* authenticates with Kerberos from now on (-K, hint, AS/TGS) */
    bool last_auth_was_wrong;   /* -B never tries twice in a row */
    uint32_t expected_failures; /* -B attempts of the packet being played; the caller clears it */

    struct cldap_state *cldap;
    struct ldap_state *ldap;
    struct kerberos_state *krb5;
    struct smb2_state *smb2;
    struct rpc_state *rpc;
};

/* Readies a zeroed conversation whose wire.waiter, dc, user, machine, random are set. */
void conversation_init(struct conversation *conversation);

/* The conversation ends: closes its connections, drops handles and Kerberos state. Never waits. */
void conversation_reset(struct conversation *conversation);

/* A number uniform in 0..bound-1 (bound > 0), from the conversation's chance. */
uint64_t conversation_random(struct conversation *conversation, uint64_t bound);

/* True when -B wants a wrong-password attempt before the authentication that is to come. The
 * caller makes it, adds one to expected_failures, then makes the good one. */
bool conversation_wants_bad_password(struct conversation *conversation);

#endif
