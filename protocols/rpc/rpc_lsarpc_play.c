/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LSA packets (MS-LSAD 3.1.4, MS-LSAT 3.1.4). They use \PIPE\lsarpc in the machine's SMB2 session
 * and a policy handle, which is opened if there is none. LookupSids3 and LookupNames4 use TCP and
 * the secure channel.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "protocols/ntstatus.h"
#include "protocols/packet_players.h"
#include "protocols/rpc/rpc_channel.h"
#include "protocols/rpc/rpc_lsarpc.h"
#include "protocols/rpc/rpc_play.h"

enum {
    STATUS_SOME_NOT_MAPPED = 0x00000107,
    STATUS_OBJECT_NAME_NOT_FOUND = 0xc0000034,
    STATUS_NO_SUCH_DOMAIN = 0xc00000df,
    LOOKUP_WKSTA = 1, /* LsapLookupWksta, MS-LSAT 2.2.16 */
    CLIENT_REVISION = 2
};

RPC_PLAY_OVER_PIPE(lsarpc_play_close)
RPC_PLAY_OVER_PIPE(play_open_policy)
RPC_PLAY_OVER_PIPE(play_query_policy)
RPC_PLAY_OVER_PIPE(lsarpc_play_lookup_names)
RPC_PLAY_OVER_PIPE(play_lookup_sids)
RPC_PLAY_OVER_PIPE(play_query_trust)
RPC_PLAY_OVER_PIPE(play_open_policy2)
RPC_PLAY_OVER_PIPE(play_query_policy2)
static struct outcome need_policy(struct conversation *conversation);
static struct outcome keep_policy(struct conversation *conversation, struct outcome outcome,
                                  const struct lsarpc_handle_reply *reply);
static struct outcome query_policy(struct conversation *conversation, uint16_t opnum,
                                   const struct rpc_level_details *level);
static char *lsarpc_user_name(const struct conversation *conversation, struct arena *arena);
static struct outcome lookup_outcome(struct outcome outcome, uint32_t status);
static struct outcome domain_member_sid(struct conversation *conversation, struct ndr_sid *sid);
static struct outcome play_lookup_sids3(struct conversation *conversation, const void *details);
static struct outcome secure_call(struct conversation *conversation, uint16_t opnum, void *request,
                                  void *reply, struct arena *arena);
static struct outcome play_lookup_names4(struct conversation *conversation, const void *details);

const struct packet_player packet_players_lsarpc[] = {
    {.name = "lsarpc:0", .play = lsarpc_play_close_over_pipe},
    {.name = "lsarpc:6", .play = play_open_policy_over_pipe},
    {.name = "lsarpc:7", .play = play_query_policy_over_pipe, RPC_LEVEL_DETAILS},
    {.name = "lsarpc:14", .play = lsarpc_play_lookup_names_over_pipe},
    {.name = "lsarpc:15", .play = play_lookup_sids_over_pipe},
    {.name = "lsarpc:39", .play = play_query_trust_over_pipe},
    {.name = "lsarpc:44", .play = play_open_policy2_over_pipe},
    {.name = "lsarpc:46", .play = play_query_policy2_over_pipe, RPC_LEVEL_DETAILS},
    {.name = "lsarpc:76", .play = play_lookup_sids3},
    {.name = "lsarpc:77", .play = play_lookup_names4},
    {.name = NULL},
};

static struct outcome lsarpc_play_close(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct lsarpc_handle_reply reply = {.status = 0};
    struct outcome outcome = need_policy(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct lsarpc_handle_request request = {.handle = conversation->rpc->policy.handle};
    conversation->rpc->policy.open = false;
    outcome = rpc_play_ntstatus(conversation, RPC_SLOT_LSARPC, LSARPC_CLOSE, &request, &reply,
                                &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

/* Opens the pipe and a policy handle unless they are open. */
static struct outcome need_policy(struct conversation *conversation)
{
    struct outcome outcome = rpc_need(conversation, RPC_SLOT_LSARPC);
    if (outcome.kind == OUTCOME_OK && !conversation->rpc->policy.open)
        outcome = play_open_policy2(conversation, NULL);
    return outcome;
}

static struct outcome play_open_policy2(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct lsarpc_handle_reply reply = {.status = 0};
    struct lsarpc_OpenPolicy2_request request = {
        .system_name = rpc_server_name(conversation, &arena), .access = LSARPC_MAXIMUM_ALLOWED};
    struct outcome outcome = rpc_play_ntstatus(conversation, RPC_SLOT_LSARPC, LSARPC_OPEN_POLICY2,
                                               &request, &reply, &reply.status, &arena);
    arena_free(&arena);
    return keep_policy(conversation, outcome, &reply);
}

static struct outcome keep_policy(struct conversation *conversation, struct outcome outcome,
                                  const struct lsarpc_handle_reply *reply)
{
    if (outcome.kind == OUTCOME_OK)
        conversation->rpc->policy = (struct rpc_handle){true, reply->handle};
    return outcome;
}

static struct outcome play_open_policy(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    uint16_t name = '\\';
    struct lsarpc_handle_reply reply = {.status = 0};
    struct lsarpc_OpenPolicy_request request = {.system_name = &name,
                                                .access = LSARPC_MAXIMUM_ALLOWED};
    struct outcome outcome = rpc_play_ntstatus(conversation, RPC_SLOT_LSARPC, LSARPC_OPEN_POLICY,
                                               &request, &reply, &reply.status, &arena);
    arena_free(&arena);
    return keep_policy(conversation, outcome, &reply);
}

static struct outcome play_query_policy(struct conversation *conversation, const void *details)
{
    return query_policy(conversation, LSARPC_QUERY_INFORMATION_POLICY, details);
}

static struct outcome query_policy(struct conversation *conversation, uint16_t opnum,
                                   const struct rpc_level_details *level)
{
    struct arena arena = {0};
    struct lsarpc_QueryInformationPolicy_reply reply = {.status = 0};
    struct outcome outcome = need_policy(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct lsarpc_QueryInformationPolicy_request request = {
        .handle = conversation->rpc->policy.handle, .level = level->level};
    outcome = rpc_play_ntstatus(conversation, RPC_SLOT_LSARPC, opnum, &request, &reply,
                                &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

static struct outcome lsarpc_play_lookup_names(struct conversation *conversation,
                                               const void *details)
{
    (void)details;
    struct arena arena = {0};
    char *names[] = {lsarpc_user_name(conversation, &arena)};
    struct lsarpc_LookupNames_reply reply = {.status = 0};
    struct outcome outcome = names[0] ? need_policy(conversation) : outcome_of_error(-ENOMEM);
    if (outcome.kind != OUTCOME_OK) {
        arena_free(&arena);
        return outcome;
    }
    struct lsarpc_LookupNames_request request = {.handle = conversation->rpc->policy.handle,
                                                 .count = 1,
                                                 .names = names,
                                                 .level = LOOKUP_WKSTA};
    outcome =
        rpc_play_call(conversation, RPC_SLOT_LSARPC, LSARPC_LOOKUP_NAMES, &request, &reply, &arena);
    outcome = lookup_outcome(outcome, reply.status);
    arena_free(&arena);
    return outcome;
}

/* "SAMDOM\\STGU-0-1" in arena; NULL: out of memory. Names like "This Organization" would depend on
 * the DC's language (MS-LSAT 3.1.1.1.1), and a DC answers them without reading its directory. */
static char *lsarpc_user_name(const struct conversation *conversation, struct arena *arena)
{
    const char *domain = conversation->dc->netbios_domain, *user = conversation->user->name;
    size_t size = strlen(domain) + 1 + strlen(user) + 1;
    char *name = arena_alloc(arena, size);
    if (name)
        snprintf(name, size, "%s\\%s", domain, user);
    return name;
}

/* The outcome of a look-up. A DC need not know all the names, so "some not mapped" is a success. */
static struct outcome lookup_outcome(struct outcome outcome, uint32_t status)
{
    if (outcome.kind != OUTCOME_OK || status == STATUS_SOME_NOT_MAPPED)
        return outcome;
    return ntstatus_outcome(status);
}

static struct outcome play_lookup_sids(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct ndr_sid sid, *sids[] = {&sid};
    struct lsarpc_LookupSids_reply reply = {.status = 0};
    struct outcome outcome = domain_member_sid(conversation, &sid);
    if (outcome.kind == OUTCOME_OK)
        outcome = need_policy(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct lsarpc_LookupSids_request request = {.handle = conversation->rpc->policy.handle,
                                                .count = 1,
                                                .sids = sids,
                                                .level = LOOKUP_WKSTA};
    outcome =
        rpc_play_call(conversation, RPC_SLOT_LSARPC, LSARPC_LOOKUP_SIDS, &request, &reply, &arena);
    outcome = lookup_outcome(outcome, reply.status);
    arena_free(&arena);
    return outcome;
}

/* A SID of the domain: the user's if SAMR has told its RID, else that of Domain Users. */
static struct outcome domain_member_sid(struct conversation *conversation, struct ndr_sid *sid)
{
    enum { DOMAIN_USERS = 513 };
    const struct rpc_state *state = rpc_state_of(conversation);
    const char *domain = conversation->dc->domain_sid;
    if (!state)
        return outcome_of_error(-ENOMEM);
    if (!domain || ndr_sid_parse(domain, sid) < 0 || sid->count == NDR_SID_AUTHORITIES_MAX)
        return outcome_failed("lsarpc: the domain's SID is unknown");
    sid->sub_authorities[sid->count++] = state->rid ? state->rid : DOMAIN_USERS;
    return outcome_ok();
}

/* A DC does not trust its own domain, so "not found" is the expected answer. */
static struct outcome play_query_trust(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct lsarpc_QueryTrustedDomainInfo_reply reply = {.status = 0};
    struct lsarpc_QueryTrustedDomainInfo_request request = {.level = 1};
    const char *sid = conversation->dc->domain_sid;
    if (!sid || ndr_sid_parse(sid, &request.sid) < 0)
        return outcome_failed("lsarpc: the domain's SID is unknown");
    struct outcome outcome = need_policy(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    request.handle = conversation->rpc->policy.handle;
    outcome = rpc_play_call(conversation, RPC_SLOT_LSARPC, LSARPC_QUERY_TRUSTED_DOMAIN_INFO_BY_SID,
                            &request, &reply, &arena);
    if (outcome.kind == OUTCOME_OK && reply.status != STATUS_OBJECT_NAME_NOT_FOUND &&
        reply.status != STATUS_NO_SUCH_DOMAIN)
        outcome = ntstatus_outcome(reply.status);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_query_policy2(struct conversation *conversation, const void *details)
{
    return query_policy(conversation, LSARPC_QUERY_INFORMATION_POLICY2, details);
}

static struct outcome play_lookup_sids3(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct ndr_sid sid, *sids[] = {&sid};
    struct lsarpc_LookupSids3_reply reply = {.status = 0};
    struct lsarpc_LookupSids3_request request = {
        .count = 1, .sids = sids, .level = LOOKUP_WKSTA, .client_revision = CLIENT_REVISION};
    struct outcome outcome = domain_member_sid(conversation, &sid);
    if (outcome.kind == OUTCOME_OK)
        outcome = secure_call(conversation, LSARPC_LOOKUP_SIDS3, &request, &reply, &arena);
    outcome = lookup_outcome(outcome, reply.status);
    arena_free(&arena);
    return outcome;
}

/* A call over the secure channel. If the server has lost the channel, repeats it over a new one. */
static struct outcome secure_call(struct conversation *conversation, uint16_t opnum, void *request,
                                  void *reply, struct arena *arena)
{
    bool had_channel = conversation->rpc && conversation->rpc->channel.authenticated;
    struct outcome outcome =
        rpc_play_call(conversation, RPC_SLOT_LSARPC_SECURE, opnum, request, reply, arena);
    if (!had_channel || !rpc_channel_lost(conversation))
        return outcome;
    rpc_channel_forget(conversation);
    return rpc_play_call(conversation, RPC_SLOT_LSARPC_SECURE, opnum, request, reply, arena);
}

static struct outcome play_lookup_names4(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    char *names[] = {lsarpc_user_name(conversation, &arena)};
    struct lsarpc_LookupNames4_reply reply = {.status = 0};
    struct lsarpc_LookupNames4_request request = {
        .count = 1, .names = names, .level = LOOKUP_WKSTA, .client_revision = CLIENT_REVISION};
    struct outcome outcome =
        names[0] ? secure_call(conversation, LSARPC_LOOKUP_NAMES4, &request, &reply, &arena)
                 : outcome_of_error(-ENOMEM);
    outcome = lookup_outcome(outcome, reply.status);
    arena_free(&arena);
    return outcome;
}
