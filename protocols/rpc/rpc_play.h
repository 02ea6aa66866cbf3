/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RPC in a conversation: one association per interface and security, and the handles that the
 * client keeps open on the server. An association is opened when it is first needed and lasts until
 * the conversation ends; it is recreated when it breaks. Used by the rpc_*_play.c files.
 */
#ifndef PROTOCOLS_RPC_RPC_PLAY_H
#define PROTOCOLS_RPC_RPC_PLAY_H

#include "protocols/packet.h"
#include "protocols/rpc/rpc_association.h"

enum rpc_slot {
    RPC_SLOT_NETLOGON,         /* TCP, no security: sets up the secure channel */
    RPC_SLOT_NETLOGON_SECURE,  /* TCP, secure channel */
    RPC_SLOT_NETLOGON_LOCATOR, /* TCP, SPNEGO with the machine's account: DsrGetDcName */
    RPC_SLOT_LSARPC_SECURE,    /* TCP, secure channel */
    RPC_SLOT_LSARPC,           /* pipe of the machine's session */
    RPC_SLOT_SRVSVC,           /* pipe of the user's session */
    RPC_SLOT_SAMR,             /* TCP, SPNEGO */
    RPC_SLOT_DRSUAPI,          /* TCP, SPNEGO */
    RPC_SLOT_REPLICATION,      /* the same with the administrator's account: GetNCChanges */
    RPC_SLOT_COUNT
};

struct rpc_handle {
    bool open;
    struct ndr_policy_handle handle;
};

/* In the order in which samr:1 (Close) closes them. */
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
    uint16_t channel_type;         /* NETLOGON_CHANNEL_...: of the machine's account */
    bool other_password;           /* the machine has netlogon_other_password(): set it back */
    uint16_t validation_level;     /* NETLOGON_VALIDATION_...: the DC's highest */
    char computer[16];             /* the machine's NetBIOS name */
    uint32_t fault;                /* status of the last call's fault; 0: none */
    bool first_call;               /* the last call was the first that its association answered */
    uint32_t rid;                  /* of the client's user; 0: unknown */
    struct rpc_handle policy;      /* lsarpc */
    struct rpc_handle drs;         /* drsuapi */
    struct rpc_handle replication; /* drsuapi, the administrator's */
    struct rpc_handle samr[SAMR_HANDLE_COUNT];
};

/* The conversation's state, created when it is first needed; NULL: out of memory. */
struct rpc_state *rpc_state_of(struct conversation *conversation);

/* Closes an association, if there is one, and forgets the handles opened over it. */
void rpc_drop(struct conversation *conversation, enum rpc_slot slot);

/* Opens the association of a slot unless it is open. First makes an attempt with a wrong password
 * if -B asks for one. */
struct outcome rpc_need(struct conversation *conversation, enum rpc_slot slot);

/* rpc_need(), then a call. Drops the association if the call broke it, and sets state->fault. */
struct outcome rpc_play_call(struct conversation *conversation, enum rpc_slot slot, uint16_t opnum,
                             void *request, void *reply, struct arena *arena);

/* The same for replies that end with an NTSTATUS or a Win32 error, which becomes the outcome.
 * status points to that member of the reply. */
struct outcome rpc_play_ntstatus(struct conversation *conversation, enum rpc_slot slot,
                                 uint16_t opnum, void *request, void *reply, const uint32_t *status,
                                 struct arena *arena);
struct outcome rpc_play_werror(struct conversation *conversation, enum rpc_slot slot,
                               uint16_t opnum, void *request, void *reply, const uint32_t *status,
                               struct arena *arena);

/* Details of the packets with an information level. */
struct rpc_level_details {
    uint16_t level; /* 0: neither the model nor the packet table has one */
};
void rpc_level_fill(const struct packet_details *details, void *compiled);
#define RPC_LEVEL_DETAILS PACKET_DETAILS(struct rpc_level_details, rpc_level_fill)

/* Declares name() and defines name_over_pipe(), which plays name() over a pipe. If the server has
 * ended the pipe's SMB2 session, it plays name() once more, from the first handle on. */
#define RPC_PLAY_OVER_PIPE(name)                                                                   \
    static struct outcome name(struct conversation *conversation, const void *details);            \
    static struct outcome name##_over_pipe(struct conversation *conversation, const void *details) \
    {                                                                                              \
        return smb2_play(conversation, name, details);                                             \
    }

/* "\\dc1.samdom.example.com" in arena; NULL: out of memory. */
char *rpc_server_name(const struct conversation *conversation, struct arena *arena);

/* OUTCOME_OK for ERROR_SUCCESS and, with more_data, ERROR_MORE_DATA; otherwise a failure with the
 * error's name (MS-ERREF 2.2). */
struct outcome rpc_werror_outcome(uint32_t error, bool more_data);

#endif
