/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One DCERPC association: a transport, a bind of one interface with its security context, and calls
 * one at a time (MS-RPCE 3.3.1).
 */
#ifndef PROTOCOLS_RPC_RPC_ASSOCIATION_H
#define PROTOCOLS_RPC_RPC_ASSOCIATION_H

#include "protocols/auth/auth.h"
#include "protocols/rpc/netlogon/netlogon_channel.h"
#include "protocols/rpc/rpc_interface.h"
#include "protocols/rpc/rpc_transport.h"

/* auth_type of sec_trailer, MS-RPCE 2.2.1.1.7 */
enum rpc_security {
    RPC_SECURITY_NONE = 0,
    RPC_SECURITY_SPNEGO = 9,
    RPC_SECURITY_NTLM = 10,
    RPC_SECURITY_KERBEROS = 16,
    RPC_SECURITY_NETLOGON = 68
};

/* What a bind found at the other end of the transport. */
enum rpc_answer {
    RPC_ANSWER_NONE,      /* no answer, or one that is not DCERPC */
    RPC_ANSWER_ELSEWHERE, /* a server without the interface */
    RPC_ANSWER_GIVEN      /* a server that accepts the interface, or refuses with a reason */
};

struct rpc_binding {
    const struct rpc_interface *interface;
    enum rpc_security security;
    enum auth_level level;                  /* integrity or privacy */
    const struct account *account;          /* SPNEGO, NTLM, Kerberos */
    bool kerberos;                          /* inside SPNEGO */
    const char *service;                    /* of the ticket: "host", "ldap" */
    bool wrong_password;                    /* for -B */
    const struct netlogon_channel *channel; /* RPC_SECURITY_NETLOGON: authenticated */
    enum rpc_answer *answer;                /* set by rpc_bind(), also on failure; may be NULL */
    uint32_t *fault; /* the same: status of the server's fault, 0 if there was none */
};

struct rpc_association;

/* Binds over a transport. Takes ownership of the transport, also on failure. On OUTCOME_OK the
 * caller closes *out with rpc_association_close(); otherwise *out is NULL. conversation may be NULL
 * without security. */
struct outcome rpc_bind(struct conversation *conversation, struct rpc_transport *transport,
                        const struct rpc_binding *binding, struct rpc_association **out);

/*
 * One call: encodes request, sends it in as many fragments as needed, receives the reply's,
 * verifies them and decodes them into *reply. What the reply points to lives in arena. OUTCOME_OK:
 * a reply arrived; the caller checks its status member. A request that cannot be encoded and a
 * fault whose token, if it has one, verifies fail but leave the association usable; after any other
 * failure rpc_association_broken() is true.
 */
struct outcome rpc_call(struct rpc_association *association, const struct rpc_procedure *procedure,
                        void *request, void *reply, struct arena *arena);

/* True when the association must be closed, or its transport was closed by the peer. */
bool rpc_association_broken(const struct rpc_association *association);

/* True once a call since the bind was answered by a reply. */
bool rpc_association_answered(const struct rpc_association *association);

/* The status of the last call's fault; 0: none. */
uint32_t rpc_association_fault(const struct rpc_association *association);

/* NULL is allowed. Never waits. */
void rpc_association_close(struct rpc_association *association);

#endif
