/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netlogon packets (MS-NRPC 3.4.5): calls over the secure channel of the client's machine. If the
 * server has lost the channel, the same operation sets it up again and repeats the call. The calls
 * that find a DC do not use the channel.
 */
#include <errno.h>
#include <time.h>

#include "base/secret.h"
#include "protocols/ntstatus.h"
#include "protocols/packet_players.h"
#include "protocols/rpc/netlogon/netlogon_logon.h"
#include "protocols/rpc/rpc_channel.h"

enum { STATUS_INVALID_INFO_CLASS = 0xc0000003, STATUS_ACCESS_DENIED = 0xc0000022 };

/* One call over the secure channel. */
struct channel_call {
    uint16_t opnum;
    void *request, *reply;
    uint32_t *status; /* the reply's status member */
    /* The authenticator of the request, and a function that finds the reply's. NULL: the call does
     * not take part in the credential chain. */
    struct netlogon_authenticator *authenticator;
    struct netlogon_authenticator *(*returned)(void *reply);
    /* Sets what depends on the channel's key, before each attempt. May be NULL. 0 or a negative
     * errno. */
    int (*prepare)(struct conversation *conversation, void *request);
};

/* The request of a call to set a password. */
struct password_request {
    struct netlogon_ServerPasswordSet2_request call; /* first: it is what is sent */
    const char *password;
};

/* One logon at the conversation's validation level. *status is the reply's. */
typedef struct outcome logon_function(struct conversation *conversation,
                                      struct netlogon_network *network, struct arena *arena,
                                      uint32_t *status);

enum { DS_RETURN_DNS_NAME = 0x40000000 };

static struct outcome play_logon(struct conversation *conversation, const void *details);
static struct outcome play_logon_by(struct conversation *conversation, logon_function *function);
static struct outcome logon_plain(struct conversation *conversation,
                                  struct netlogon_network *network, struct arena *arena,
                                  uint32_t *status);
static struct outcome logon_with_chain(struct conversation *conversation, uint16_t opnum,
                                       struct netlogon_network *network, struct arena *arena,
                                       uint32_t *status);
static struct outcome channel_call(struct conversation *conversation, struct channel_call *call,
                                   struct arena *arena);
static struct outcome channel_call_once(struct conversation *conversation,
                                        struct channel_call *call, struct arena *arena, bool *lost);
static struct outcome set_back_password(struct conversation *conversation);
static struct netlogon_authenticator *logon_returned(void *reply);
static struct outcome play_challenge(struct conversation *conversation, const void *details);
static struct outcome play_dc_name(struct conversation *conversation, const void *details);
static struct outcome locator_call(struct conversation *conversation, uint16_t opnum, void *request,
                                   struct netlogon_DsrGetDcName_reply *reply, struct arena *arena);
static struct outcome play_capabilities(struct conversation *conversation, const void *details);
static struct netlogon_authenticator *capabilities_returned(void *reply);
static struct outcome play_authenticate(struct conversation *conversation, const void *details);
static struct outcome play_domain_info(struct conversation *conversation, const void *details);
static struct netlogon_authenticator *domain_info_returned(void *reply);
static struct outcome play_password_set(struct conversation *conversation, const void *details);
static struct outcome set_password(struct conversation *conversation, const char *password);
static struct netlogon_authenticator *password_set_returned(void *reply);
static int prepare_password(struct conversation *conversation, void *request);
static struct outcome play_dc_name_ex2(struct conversation *conversation, const void *details);
static struct outcome play_logon_ex(struct conversation *conversation, const void *details);
static struct outcome logon_ex(struct conversation *conversation, struct netlogon_network *network,
                               struct arena *arena, uint32_t *status);
static struct outcome play_trusts(struct conversation *conversation, const void *details);
static struct outcome play_logon_with_flags(struct conversation *conversation, const void *details);
static struct outcome logon_with_flags(struct conversation *conversation,
                                       struct netlogon_network *network, struct arena *arena,
                                       uint32_t *status);

const struct packet_player packet_players_netlogon[] = {
    {.name = "rpc_netlogon:2", .play = play_logon},
    {.name = "rpc_netlogon:4", .play = play_challenge},
    {.name = "rpc_netlogon:20", .play = play_dc_name},
    {.name = "rpc_netlogon:21", .play = play_capabilities, RPC_LEVEL_DETAILS},
    {.name = "rpc_netlogon:26", .play = play_authenticate},
    {.name = "rpc_netlogon:29", .play = play_domain_info},
    {.name = "rpc_netlogon:30", .play = play_password_set},
    {.name = "rpc_netlogon:34", .play = play_dc_name_ex2},
    {.name = "rpc_netlogon:39", .play = play_logon_ex},
    {.name = "rpc_netlogon:40", .play = play_trusts},
    {.name = "rpc_netlogon:45", .play = play_logon_with_flags},
    {.name = NULL},
};

static struct outcome play_logon(struct conversation *conversation, const void *details)
{
    (void)details;
    return play_logon_by(conversation, logon_plain);
}

static struct outcome play_logon_by(struct conversation *conversation, logon_function *function)
{
    struct arena arena = {0};
    struct netlogon_network network;
    uint32_t status = 0;
    struct rpc_state *state = rpc_state_of(conversation);
    if (!state)
        return outcome_of_error(-ENOMEM);
    struct outcome outcome = netlogon_logon_make(conversation, state->computer, &arena, &network);
    if (outcome.kind == OUTCOME_OK)
        outcome = function(conversation, &network, &arena, &status);
    if (outcome.kind == OUTCOME_OK && status == STATUS_INVALID_INFO_CLASS &&
        state->validation_level != NETLOGON_VALIDATION_SAM_INFO2) {
        state->validation_level = NETLOGON_VALIDATION_SAM_INFO2;
        outcome = function(conversation, &network, &arena, &status);
    }
    if (outcome.kind == OUTCOME_OK)
        outcome = ntstatus_outcome(status);
    arena_free(&arena);
    return outcome;
}

static struct outcome logon_plain(struct conversation *conversation,
                                  struct netlogon_network *network, struct arena *arena,
                                  uint32_t *status)
{
    return logon_with_chain(conversation, NETLOGON_LOGON_SAM_LOGON, network, arena, status);
}

static struct outcome logon_with_chain(struct conversation *conversation, uint16_t opnum,
                                       struct netlogon_network *network, struct arena *arena,
                                       uint32_t *status)
{
    struct netlogon_authenticator authenticator = {.timestamp = 0}, returned = {.timestamp = 0};
    struct netlogon_LogonSamLogonWithFlags_reply reply = {.status = 0};
    struct netlogon_LogonSamLogonWithFlags_request request = {
        .server_name = rpc_server_name(conversation, arena),
        .computer_name = conversation->rpc->computer,
        .authenticator = &authenticator,
        .return_authenticator = &returned,
        .level = NETLOGON_LOGON_NETWORK_TRANSITIVE,
        .network = network,
        .validation_level = conversation->rpc->validation_level};
    struct channel_call call = {.opnum = opnum,
                                .request = &request,
                                .reply = &reply,
                                .status = &reply.status,
                                .authenticator = &authenticator,
                                .returned = logon_returned};
    struct outcome outcome = channel_call(conversation, &call, arena);
    *status = outcome.kind == OUTCOME_OK ? reply.status : 0;
    return outcome;
}

/* Makes the call. If the server has lost the channel, repeats it over a new one. */
static struct outcome channel_call(struct conversation *conversation, struct channel_call *call,
                                   struct arena *arena)
{
    bool had_channel = conversation->rpc && conversation->rpc->channel.authenticated;
    bool lost = false;
    struct outcome outcome = set_back_password(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    outcome = channel_call_once(conversation, call, arena, &lost);
    uint32_t status = outcome.kind == OUTCOME_OK ? *call->status : 0;
    if (had_channel && (lost || status == STATUS_ACCESS_DENIED)) {
        rpc_channel_forget(conversation);
        outcome = channel_call_once(conversation, call, arena, &lost);
    }
    /* Without a reply, the server's state of the chain is unknown. */
    if (call->authenticator && outcome.kind != OUTCOME_OK && conversation->rpc)
        rpc_channel_forget(conversation);
    return outcome;
}

/* Undoes what a run that ended in the middle of rpc_netlogon:30 left. */
static struct outcome set_back_password(struct conversation *conversation)
{
    struct outcome outcome = rpc_need(conversation, RPC_SLOT_NETLOGON_SECURE);
    if (outcome.kind != OUTCOME_OK || !conversation->rpc->other_password)
        return outcome;
    conversation->rpc->other_password = false;
    return set_password(conversation, conversation->machine->password);
}

static struct outcome channel_call_once(struct conversation *conversation,
                                        struct channel_call *call, struct arena *arena, bool *lost)
{
    struct outcome outcome = rpc_need(conversation, RPC_SLOT_NETLOGON_SECURE);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct netlogon_channel *channel = &conversation->rpc->channel;
    int rc = call->prepare ? call->prepare(conversation, call->request) : 0;
    if (rc)
        return outcome_of_error(rc);
    if (call->authenticator)
        netlogon_channel_authenticator(channel, (uint32_t)time(NULL), call->authenticator);
    outcome = rpc_play_call(conversation, RPC_SLOT_NETLOGON_SECURE, call->opnum, call->request,
                            call->reply, arena);
    *lost = rpc_channel_lost(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    const struct netlogon_authenticator *returned =
        call->returned ? call->returned(call->reply) : NULL;
    if (!call->authenticator || (returned && netlogon_channel_check(channel, returned) == 0))
        return outcome;
    rpc_channel_forget(conversation); /* the chain is broken: the next call starts a new one */
    if (*call->status == NTSTATUS_SUCCESS)
        return outcome_failed("netlogon: the return authenticator does not verify");
    return outcome;
}

static struct netlogon_authenticator *logon_returned(void *reply)
{
    return ((struct netlogon_LogonSamLogonWithFlags_reply *)reply)->return_authenticator;
}

static struct outcome play_challenge(struct conversation *conversation, const void *details)
{
    (void)details;
    return rpc_channel_challenge(conversation);
}

static struct outcome play_dc_name(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct netlogon_DsrGetDcName_reply reply = {.status = 0};
    struct netlogon_DsrGetDcName_request request = {.computer_name =
                                                        rpc_server_name(conversation, &arena),
                                                    .domain_name = conversation->dc->dns_domain,
                                                    .flags = DS_RETURN_DNS_NAME};
    return locator_call(conversation, NETLOGON_DSR_GET_DC_NAME, &request, &reply, &arena);
}

/* A call that finds a DC. DCs refuse it from clients that have only the secure channel (MS-NRPC
 * 3.5.4.3.1), so the machine authenticates by SPNEGO. */
static struct outcome locator_call(struct conversation *conversation, uint16_t opnum, void *request,
                                   struct netlogon_DsrGetDcName_reply *reply, struct arena *arena)
{
    struct outcome outcome = rpc_play_werror(conversation, RPC_SLOT_NETLOGON_LOCATOR, opnum,
                                             request, reply, &reply->status, arena);
    arena_free(arena);
    return outcome;
}

static struct outcome play_capabilities(struct conversation *conversation, const void *details)
{
    const struct rpc_level_details *level = details;
    struct arena arena = {0};
    struct rpc_state *state = rpc_state_of(conversation);
    struct netlogon_LogonGetCapabilities_reply reply = {.status = 0};
    if (!state)
        return outcome_of_error(-ENOMEM);
    struct netlogon_LogonGetCapabilities_request request = {
        .server_name = rpc_server_name(conversation, &arena),
        .computer_name = state->computer,
        .level = level->level};
    struct channel_call call = {.opnum = NETLOGON_LOGON_GET_CAPABILITIES,
                                .request = &request,
                                .reply = &reply,
                                .status = &reply.status,
                                .authenticator = &request.authenticator,
                                .returned = capabilities_returned};
    struct outcome outcome = channel_call(conversation, &call, &arena);
    if (outcome.kind == OUTCOME_OK)
        outcome = ntstatus_outcome(reply.status);
    arena_free(&arena);
    return outcome;
}

static struct netlogon_authenticator *capabilities_returned(void *reply)
{
    return &((struct netlogon_LogonGetCapabilities_reply *)reply)->return_authenticator;
}

static struct outcome play_authenticate(struct conversation *conversation, const void *details)
{
    (void)details;
    return rpc_channel_authenticate(conversation);
}

static struct outcome play_domain_info(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct rpc_state *state = rpc_state_of(conversation);
    struct netlogon_LogonGetDomainInfo_reply reply = {.status = 0};
    if (!state)
        return outcome_of_error(-ENOMEM);
    struct netlogon_os_version version = {
        .major = 10, .build = 19045, .platform = 2, .suite = 0x100, .product = 1};
    /* flags 0x2: the client updates its own SPN (MS-NRPC 2.2.1.3.6) */
    struct netlogon_workstation workstation = {
        .dns_host_name = netlogon_dns_name(conversation, state->computer, &arena),
        .site_name = conversation->dc->site,
        .os_version = &version,
        .os_name = (char *)(uintptr_t) "Windows 10 Enterprise",
        .flags = 2};
    struct netlogon_LogonGetDomainInfo_request request = {.server_name =
                                                              rpc_server_name(conversation, &arena),
                                                          .computer_name = state->computer,
                                                          .level = 1,
                                                          .workstation = &workstation};
    struct channel_call call = {.opnum = NETLOGON_LOGON_GET_DOMAIN_INFO,
                                .request = &request,
                                .reply = &reply,
                                .status = &reply.status,
                                .authenticator = &request.authenticator,
                                .returned = domain_info_returned};
    struct outcome outcome = channel_call(conversation, &call, &arena);
    if (outcome.kind == OUTCOME_OK)
        outcome = ntstatus_outcome(reply.status);
    arena_free(&arena);
    return outcome;
}

static struct netlogon_authenticator *domain_info_returned(void *reply)
{
    return &((struct netlogon_LogonGetDomainInfo_reply *)reply)->return_authenticator;
}

/* Sets another password and then the machine's own again: a DC that is given the present one need
 * not write anything (MS-NRPC 3.5.4.4.6). Accounts from a file keep theirs at all times. */
static struct outcome play_password_set(struct conversation *conversation, const void *details)
{
    (void)details;
    char *other = NULL;
    struct outcome outcome = rpc_channel_need(conversation); /* for the channel's type */
    if (outcome.kind == OUTCOME_OK && rpc_channel_owns_password(conversation)) {
        int rc = netlogon_other_password(conversation->machine->password, &other);
        outcome = rc ? outcome_of_error(rc) : set_password(conversation, other);
        secret_free(other);
    }
    if (outcome.kind == OUTCOME_OK)
        outcome = set_password(conversation, conversation->machine->password);
    return outcome;
}

static struct outcome set_password(struct conversation *conversation, const char *password)
{
    struct arena arena = {0};
    struct netlogon_ServerPasswordSet2_reply reply = {.status = 0};
    struct rpc_state *state = conversation->rpc;
    struct password_request request = {
        .password = password,
        .call = {.server_name = rpc_server_name(conversation, &arena),
                 .account_name = conversation->machine->name,
                 .channel_type = state->channel_type,
                 .computer_name = state->computer}};
    struct channel_call call = {.opnum = NETLOGON_SERVER_PASSWORD_SET2,
                                .request = &request,
                                .reply = &reply,
                                .status = &reply.status,
                                .authenticator = &request.call.authenticator,
                                .returned = password_set_returned,
                                .prepare = prepare_password};
    struct outcome outcome = channel_call(conversation, &call, &arena);
    if (outcome.kind == OUTCOME_OK)
        outcome = ntstatus_outcome(reply.status);
    arena_free(&arena);
    return outcome;
}

static struct netlogon_authenticator *password_set_returned(void *reply)
{
    return &((struct netlogon_ServerPasswordSet2_reply *)reply)->return_authenticator;
}

/* Encrypts the password with the channel's key. */
static int prepare_password(struct conversation *conversation, void *request)
{
    struct password_request *set = request;
    return netlogon_channel_encrypt_password(&conversation->rpc->channel, set->password,
                                             &set->call);
}

static struct outcome play_dc_name_ex2(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct netlogon_DsrGetDcNameEx2_reply reply = {.status = 0};
    struct netlogon_DsrGetDcNameEx2_request request = {.computer_name =
                                                           rpc_server_name(conversation, &arena),
                                                       .domain_name = conversation->dc->dns_domain,
                                                       .flags = DS_RETURN_DNS_NAME};
    return locator_call(conversation, NETLOGON_DSR_GET_DC_NAME_EX2, &request, &reply, &arena);
}

static struct outcome play_logon_ex(struct conversation *conversation, const void *details)
{
    (void)details;
    return play_logon_by(conversation, logon_ex);
}

static struct outcome logon_ex(struct conversation *conversation, struct netlogon_network *network,
                               struct arena *arena, uint32_t *status)
{
    struct netlogon_LogonSamLogonEx_reply reply = {.status = 0};
    struct netlogon_LogonSamLogonEx_request request = {
        .server_name = rpc_server_name(conversation, arena),
        .computer_name = conversation->rpc->computer,
        .level = NETLOGON_LOGON_NETWORK_TRANSITIVE,
        .network = network,
        .validation_level = conversation->rpc->validation_level};
    struct channel_call call = {.opnum = NETLOGON_LOGON_SAM_LOGON_EX,
                                .request = &request,
                                .reply = &reply,
                                .status = &reply.status};
    struct outcome outcome = channel_call(conversation, &call, arena);
    *status = outcome.kind == OUTCOME_OK ? reply.status : 0;
    return outcome;
}

static struct outcome play_trusts(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct netlogon_DsrEnumerateDomainTrusts_reply reply = {.status = 0};
    /* DS_DOMAIN_IN_FOREST, DS_DOMAIN_DIRECT_OUTBOUND, DS_DOMAIN_DIRECT_INBOUND */
    struct netlogon_DsrEnumerateDomainTrusts_request request = {
        .server_name = rpc_server_name(conversation, &arena), .flags = 0x1 | 0x2 | 0x20};
    struct channel_call call = {.opnum = NETLOGON_DSR_ENUMERATE_DOMAIN_TRUSTS,
                                .request = &request,
                                .reply = &reply,
                                .status = &reply.status};
    struct outcome outcome = channel_call(conversation, &call, &arena);
    if (outcome.kind == OUTCOME_OK)
        outcome = rpc_werror_outcome(reply.status, false);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_logon_with_flags(struct conversation *conversation, const void *details)
{
    (void)details;
    return play_logon_by(conversation, logon_with_flags);
}

static struct outcome logon_with_flags(struct conversation *conversation,
                                       struct netlogon_network *network, struct arena *arena,
                                       uint32_t *status)
{
    return logon_with_chain(conversation, NETLOGON_LOGON_SAM_LOGON_WITH_FLAGS, network, arena,
                            status);
}
