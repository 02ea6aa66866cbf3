/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RPC as a conversation uses it: one association per interface and security, opened when first
 * needed, kept until the conversation ends, made anew when it broke; and the handles that clients
 * keep open on the server. Private to the rpc_*_play.c files.
 */
#ifndef PROTOCOLS_RPC_RPC_PLAY_H
#define PROTOCOLS_RPC_RPC_PLAY_H

#include "protocols/rpc/rpc_association.h"

enum rpc_slot {
    RPC_SLOT_NETLOGON,        /* TCP, no security: what sets up the secure channel */
    RPC_SLOT_NETLOGON_SECURE, /* TCP, secure channel */
    RPC_SLOT_LSARPC_SECURE,   /* TCP, secure channel */
    RPC_SLOT_LSARPC,          /* pipe of the machine's session */
    RPC_SLOT_SRVSVC,          /* pipe of the user's session */
    RPC_SLOT_SAMR,            /* TCP, SPNEGO */
    RPC_SLOT_DRSUAPI,         /* TCP, SPNEGO */
    RPC_SLOT_REPLICATION,     /* the same as the administrator: GetNCChanges */
    RPC_SLOT_COUNT
};

struct rpc_handle {
    bool open;
    struct ndr_policy_handle handle;
};

/* In the order in which samr:1 closes them. */
enum samr_handle {
    SAMR_HANDLE_USER,
    SAMR_HANDLE_GROUP,
    SAMR_HANDLE_DOMAIN,
    SAMR_HANDLE_SERVER,
    SAMR_HANDLE_COUNT
};

struct rpc_state {
    struct conversation_state base;
    struct rpc_association *associations[RPC_SLOT_COUNT];
    struct netlogon_channel channel;
    uint16_t channel_type;         /* NETLOGON_CHANNEL_...: which the machine's account is for */
    uint16_t validation_level;     /* NETLOGON_VALIDATION_...: the highest that the DC gives */
    char computer[16];             /* the machine's NetBIOS name */
    uint32_t rid;                  /* of the client's user; 0: not looked up yet */
    struct rpc_handle policy;      /* lsarpc */
    struct rpc_handle drs;         /* drsuapi */
    struct rpc_handle replication; /* drsuapi, the administrator's */
    struct rpc_handle samr[SAMR_HANDLE_COUNT];
};

/* The conversation's state, made when it is not there; NULL: no memory. */
struct rpc_state *rpc_state_of(struct conversation *conversation);

/* Closes the associations and forgets all: the conversation's reset function. Never waits. */
void rpc_reset(struct conversation *conversation);

/* Drops an association with the handles that live on it. */
void rpc_drop(struct conversation *conversation, enum rpc_slot slot);

/* The association of a slot is open after OUTCOME_OK. -B's wrong-password attempts are made here.
 */
struct outcome rpc_need(struct conversation *conversation, enum rpc_slot slot);

/* rpc_need() and a call. Drops the association when that broke. */
struct outcome rpc_play_call(struct conversation *conversation, enum rpc_slot slot,
                             const struct rpc_interface *interface, uint16_t opnum, void *request,
                             void *reply, struct arena *arena);

/* A packet's play over a pipe, with its handles: once more, all of it, when the server had ended
 * the SMB2 session that the pipe is in. */
#define RPC_PLAY_OVER_PIPE(name)                                                                   \
    static struct outcome name##_over_pipe(struct conversation *conversation, const void *details) \
    {                                                                                              \
        return smb2_play(conversation, name, details);                                             \
    }

/* A secure channel is set up after OUTCOME_OK (ServerReqChallenge, ServerAuthenticate3). */
struct outcome rpc_need_channel(struct conversation *conversation);
/* The same with the wrong key: for -B. OUTCOME_FAILED is what is expected. */
struct outcome rpc_try_wrong_channel(struct conversation *conversation);

/* The server no longer knows the channel, or its chain is broken: forgets it with the associations
 * that it secured. */
void rpc_forget_channel(struct conversation *conversation);

/* "\\dc1.samdom.example.com" in arena memory; NULL: none. */
char *rpc_server_name(const struct conversation *conversation, struct arena *arena);

/* OUTCOME_OK for ERROR_SUCCESS (and, with more_data, ERROR_MORE_DATA), else the error's name. */
struct outcome rpc_werror_outcome(uint32_t error, bool more_data);

#endif
