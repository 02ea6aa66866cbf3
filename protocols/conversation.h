/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A conversation: what one client has open and knows while it plays a model from start to end. The
 * struct lives as long as the client; conversation_reset() ends one conversation and prepares the
 * next. Used by one thread, for one packet at a time.
 *
 * Each protocol keeps its own state behind a pointer in this struct and allocates it when it is
 * first needed, so that an idle client costs only what it has open.
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
struct nbench_state;
struct smb2_state;
struct rpc_state;

struct conversation;

/* The first member of each protocol's state, which only that protocol knows. */
struct conversation_state {
    /* Frees the state and everything it has open, and sets its pointer to NULL. Never waits. */
    void (*reset)(struct conversation *conversation);
};

struct conversation {
    struct wire wire;
    const struct dc *dc;
    const struct account *user;
    const struct account *machine;

    /* Random numbers for choices that are not in the plan, such as the object in a filter or -B.
     * The caller provides them, so that the same seed repeats a run. */
    uint64_t (*random)(void *random_state);
    void *random_state;

    bool kerberos;              /* further binds use Kerberos: after -K, the hint, AS or TGS */
    bool last_auth_was_wrong;   /* -B never fails twice in a row */
    uint32_t expected_failures; /* -B attempts of the current packet; packet_play() clears it */

    /* Each is NULL until needed, and begins with struct conversation_state. */
    struct cldap_state *cldap;
    struct ldap_state *ldap;
    struct kerberos_state *krb5;
    struct smb2_state *smb2;
    struct nbench_state *nbench;
    struct rpc_state *rpc;
};

/* Completes a zeroed conversation; wire.waiter, dc, user, machine and random are already set. */
void conversation_init(struct conversation *conversation);

/* Ends the conversation: closes its connections, drops handles and tickets. Never waits. */
void conversation_reset(struct conversation *conversation);

/* A uniform random number in 0..bound-1; bound > 0. */
uint64_t conversation_random(struct conversation *conversation, uint64_t bound);

/* True if -B wants an attempt with a wrong password before the next authentication. The caller
 * makes that attempt, adds one to expected_failures, then authenticates correctly. */
bool conversation_wants_bad_password(struct conversation *conversation);

#endif
