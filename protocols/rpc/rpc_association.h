/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One DCERPC association: a transport, a bind of one interface with its security context, and calls
 * over it, one at a time (MS-RPCE 3.3.1).
 */
#ifndef PROTOCOLS_RPC_RPC_ASSOCIATION_H
#define PROTOCOLS_RPC_RPC_ASSOCIATION_H

#include "protocols/auth/auth.h"
#include "protocols/rpc/netlogon_channel.h"
#include "protocols/rpc/rpc_interface.h"
#include "protocols/rpc/rpc_transport.h"

/* MS-RPCE 2.2.1.1.7, as they stand in sec_trailer */
enum rpc_security {
    RPC_SECURITY_NONE = 0,
    RPC_SECURITY_SPNEGO = 9,
    RPC_SECURITY_NTLM = 10,
    RPC_SECURITY_KERBEROS = 16,
    RPC_SECURITY_NETLOGON = 68
};

/* What a bind came to know of who answers at the transport's other end. */
enum rpc_answer {
    RPC_ANSWER_NONE,      /* nobody, or nothing of DCERPC */
    RPC_ANSWER_ELSEWHERE, /* a server that does not have the interface there */
    RPC_ANSWER_GIVEN      /* one that takes the interface, or says why not */
};

struct rpc_binding {
    const struct rpc_interface *interface;
    enum rpc_security security;
    enum auth_level level;                  /* integrity or privacy */
    const struct account *account;          /* SPNEGO, NTLM, Kerberos */
    bool kerberos;                          /* inside SPNEGO */
    const char *service;                    /* "host", "ldap", ...: of the ticket */
    bool wrong_password;                    /* for -B */
    const struct netlogon_channel *channel; /* RPC_SECURITY_NETLOGON: an authenticated one */
    enum rpc_answer *answer;                /* filled by rpc_bind(), also when it fails; or NULL */
};

struct rpc_association;

/* Binds over a transport, which it takes over in any case. On OUTCOME_OK *out is the caller's, to
 * be given to rpc_association_close(). */
struct outcome rpc_bind(struct conversation *conversation, struct rpc_transport *transport,
                        const struct rpc_binding *binding, struct rpc_association **out);

/*
 * One call: encodes request, sends it in as many fragments as it needs, takes the reply's, verifies
 * and decodes it into *reply, whose pieces hang on arena. OUTCOME_OK says that a reply came; its
 * status member is the caller's to look at. A fault without a token fails with its name and leaves
 * the association usable; after any other failure rpc_association_broken() is true.
 */
struct outcome rpc_call(struct rpc_association *association, const struct rpc_procedure *procedure,
                        void *request, void *reply, struct arena *arena);

bool rpc_association_broken(const struct rpc_association *association);

/* Status of the last call's fault, 0 when it had none. */
uint32_t rpc_association_fault(const struct rpc_association *association);

/* NULL is allowed. Never waits. */
void rpc_association_close(struct rpc_association *association);

#endif
