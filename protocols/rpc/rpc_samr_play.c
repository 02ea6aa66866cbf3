/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SAMR packets (MS-SAMR 3.1.5) over TCP, sealed. Each opens the handles that it needs and that are
 * not open: server, domain, user or group.
 */
#include "protocols/ntstatus.h"
#include "protocols/packet_players.h"
#include "protocols/rpc/rpc_play.h"
#include "protocols/rpc/rpc_samr.h"

enum {
    GROUP_RID = 0x202, /* Domain Guests */
    ENUM_SIZE = 0xffff,
    DACL_SECURITY_INFORMATION = 4,
    STATUS_MORE_ENTRIES = 0x105,
    STATUS_NO_MORE_ENTRIES = 0x8000001a,
    PAGES_MAX = 100000 /* of one enumeration */
};

static struct outcome play_connect(struct conversation *conversation, const void *details);
static struct outcome keep_handle(struct conversation *conversation, enum samr_handle which,
                                  struct outcome outcome, const struct samr_handle_reply *reply);
static struct ndr_policy_handle handle_of(const struct conversation *conversation,
                                          enum samr_handle which);
static struct outcome samr_play_close(struct conversation *conversation, const void *details);
static bool has_handle(const struct conversation *conversation, enum samr_handle which);
static struct outcome need_server(struct conversation *conversation);
static struct outcome play_connect5(struct conversation *conversation, const void *details);
static struct outcome play_query_security(struct conversation *conversation, const void *details);
static struct outcome need_user(struct conversation *conversation);
static struct outcome play_open_user(struct conversation *conversation, const void *details);
static struct outcome need_domain(struct conversation *conversation);
static struct outcome play_open_domain(struct conversation *conversation, const void *details);
static struct outcome domain_sid(struct conversation *conversation, struct ndr_sid *sid);
static struct outcome lookup_domain(struct conversation *conversation, struct ndr_sid *sid);
static struct outcome need_rid(struct conversation *conversation);
static struct outcome samr_play_lookup_names(struct conversation *conversation,
                                             const void *details);
static struct outcome open_object(struct conversation *conversation, uint16_t opnum, uint32_t rid,
                                  enum samr_handle which);
static struct outcome play_lookup_domain(struct conversation *conversation, const void *details);
static struct outcome play_enum_domains(struct conversation *conversation, const void *details);
static struct outcome enumerate(struct conversation *conversation, uint16_t opnum,
                                enum samr_handle on);
static struct outcome enumerate_page(struct conversation *conversation, uint16_t opnum,
                                     enum samr_handle on, uint32_t *resume, bool *more);
static struct outcome play_query_domain(struct conversation *conversation, const void *details);
static struct outcome query_domain(struct conversation *conversation, uint16_t opnum,
                                   const struct rpc_level_details *details);
static struct outcome play_enum_groups(struct conversation *conversation, const void *details);
static struct outcome play_enum_users(struct conversation *conversation, const void *details);
static struct outcome play_enum_aliases(struct conversation *conversation, const void *details);
static struct outcome play_alias_membership(struct conversation *conversation, const void *details);
static struct outcome play_lookup_rids(struct conversation *conversation, const void *details);
static struct outcome play_open_group(struct conversation *conversation, const void *details);
static struct outcome play_group_members(struct conversation *conversation, const void *details);
static struct outcome call_on_object(struct conversation *conversation, uint16_t opnum,
                                     enum samr_handle on, void *reply, const uint32_t *status);
static struct outcome play_query_user(struct conversation *conversation, const void *details);
static struct outcome play_groups_for_user(struct conversation *conversation, const void *details);
static struct outcome play_display_info(struct conversation *conversation, const void *details);
static struct outcome play_password_info(struct conversation *conversation, const void *details);
static struct outcome play_query_domain2(struct conversation *conversation, const void *details);
static struct outcome play_connect2(struct conversation *conversation, const void *details);
static struct outcome play_connect4(struct conversation *conversation, const void *details);

const struct packet_player packet_players_samr[] = {
    {.name = "samr:0", .play = play_connect},
    {.name = "samr:1", .play = samr_play_close},
    {.name = "samr:3", .play = play_query_security},
    {.name = "samr:5", .play = play_lookup_domain},
    {.name = "samr:6", .play = play_enum_domains},
    {.name = "samr:7", .play = play_open_domain},
    {.name = "samr:8", .play = play_query_domain, RPC_LEVEL_DETAILS},
    {.name = "samr:11", .play = play_enum_groups},
    {.name = "samr:13", .play = play_enum_users},
    {.name = "samr:15", .play = play_enum_aliases},
    {.name = "samr:16", .play = play_alias_membership},
    {.name = "samr:17", .play = samr_play_lookup_names},
    {.name = "samr:18", .play = play_lookup_rids},
    {.name = "samr:19", .play = play_open_group},
    {.name = "samr:25", .play = play_group_members},
    {.name = "samr:34", .play = play_open_user},
    {.name = "samr:36", .play = play_query_user, RPC_LEVEL_DETAILS},
    {.name = "samr:39", .play = play_groups_for_user},
    {.name = "samr:40", .play = play_display_info},
    {.name = "samr:44", .play = play_password_info},
    {.name = "samr:46", .play = play_query_domain2, RPC_LEVEL_DETAILS},
    {.name = "samr:57", .play = play_connect2},
    {.name = "samr:62", .play = play_connect4},
    {.name = "samr:64", .play = play_connect5},
    {.name = NULL},
};

static struct outcome play_connect(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    uint16_t name = '\\';
    struct samr_Connect_request request = {.server_name = &name, .access = SAMR_MAXIMUM_ALLOWED};
    struct samr_handle_reply reply = {.status = 0};
    struct outcome outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_CONNECT, &request,
                                               &reply, &reply.status, &arena);
    arena_free(&arena);
    return keep_handle(conversation, SAMR_HANDLE_SERVER, outcome, &reply);
}

/* Keeps a handle that a call has opened. */
static struct outcome keep_handle(struct conversation *conversation, enum samr_handle which,
                                  struct outcome outcome, const struct samr_handle_reply *reply)
{
    if (outcome.kind == OUTCOME_OK)
        conversation->rpc->samr[which] = (struct rpc_handle){true, reply->handle};
    return outcome;
}

static struct ndr_policy_handle handle_of(const struct conversation *conversation,
                                          enum samr_handle which)
{
    return conversation->rpc->samr[which].handle;
}

/* Closes the newest handle. If none is open, opens a server handle first. */
static struct outcome samr_play_close(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct samr_handle_reply reply = {.status = 0};
    int which = 0;
    while (which < SAMR_HANDLE_SERVER && !has_handle(conversation, (enum samr_handle)which))
        which++;
    struct outcome outcome = which == SAMR_HANDLE_SERVER ? need_server(conversation) : outcome_ok();
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct samr_handle_request request = {.handle =
                                              handle_of(conversation, (enum samr_handle)which)};
    conversation->rpc->samr[which].open = false;
    outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_CLOSE, &request, &reply,
                                &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

static bool has_handle(const struct conversation *conversation, enum samr_handle which)
{
    return conversation->rpc && conversation->rpc->samr[which].open &&
           conversation->rpc->associations[RPC_SLOT_SAMR] &&
           !rpc_association_broken(conversation->rpc->associations[RPC_SLOT_SAMR]);
}

static struct outcome need_server(struct conversation *conversation)
{
    return has_handle(conversation, SAMR_HANDLE_SERVER) ? outcome_ok()
                                                        : play_connect5(conversation, NULL);
}

static struct outcome play_connect5(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct samr_Connect5_request request = {.server_name = rpc_server_name(conversation, &arena),
                                            .access = SAMR_MAXIMUM_ALLOWED,
                                            .in_version = 1,
                                            .revision = 3};
    struct samr_Connect5_reply reply = {.status = 0};
    struct outcome outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_CONNECT5, &request,
                                               &reply, &reply.status, &arena);
    arena_free(&arena);
    struct samr_handle_reply opened = {.handle = reply.handle};
    return keep_handle(conversation, SAMR_HANDLE_SERVER, outcome, &opened);
}

static struct outcome play_query_security(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct samr_QuerySecurity_reply reply = {.status = 0};
    struct outcome outcome = need_user(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct samr_QuerySecurity_request request = {.handle =
                                                     handle_of(conversation, SAMR_HANDLE_USER),
                                                 .security_information = DACL_SECURITY_INFORMATION};
    outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_QUERY_SECURITY, &request, &reply,
                                &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

static struct outcome need_user(struct conversation *conversation)
{
    return has_handle(conversation, SAMR_HANDLE_USER) ? outcome_ok()
                                                      : play_open_user(conversation, NULL);
}

static struct outcome play_open_user(struct conversation *conversation, const void *details)
{
    (void)details;
    struct outcome outcome = need_domain(conversation);
    if (outcome.kind == OUTCOME_OK)
        outcome = need_rid(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    return open_object(conversation, SAMR_OPEN_USER, conversation->rpc->rid, SAMR_HANDLE_USER);
}

static struct outcome need_domain(struct conversation *conversation)
{
    return has_handle(conversation, SAMR_HANDLE_DOMAIN) ? outcome_ok()
                                                        : play_open_domain(conversation, NULL);
}

static struct outcome play_open_domain(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct samr_handle_reply reply = {.status = 0};
    struct samr_OpenDomain_request request = {.access = SAMR_MAXIMUM_ALLOWED};
    struct outcome outcome = need_server(conversation);
    if (outcome.kind == OUTCOME_OK)
        outcome = domain_sid(conversation, &request.sid);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    request.handle = handle_of(conversation, SAMR_HANDLE_SERVER);
    outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_OPEN_DOMAIN, &request, &reply,
                                &reply.status, &arena);
    arena_free(&arena);
    return keep_handle(conversation, SAMR_HANDLE_DOMAIN, outcome, &reply);
}

/* The domain's SID: discovered before the run, or looked up. */
static struct outcome domain_sid(struct conversation *conversation, struct ndr_sid *sid)
{
    const char *known = conversation->dc->domain_sid;
    return known && ndr_sid_parse(known, sid) == 0 ? outcome_ok()
                                                   : lookup_domain(conversation, sid);
}

static struct outcome lookup_domain(struct conversation *conversation, struct ndr_sid *sid)
{
    struct arena arena = {0};
    struct samr_LookupDomain_reply reply = {.status = 0};
    struct outcome outcome = need_server(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct samr_LookupDomain_request request = {.handle =
                                                    handle_of(conversation, SAMR_HANDLE_SERVER),
                                                .name = conversation->dc->netbios_domain};
    outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_LOOKUP_DOMAIN, &request, &reply,
                                &reply.status, &arena);
    if (outcome.kind == OUTCOME_OK && !reply.sid)
        outcome = outcome_failed("samr: the domain has no SID");
    if (outcome.kind == OUTCOME_OK)
        *sid = *reply.sid;
    arena_free(&arena);
    return outcome;
}

static struct outcome need_rid(struct conversation *conversation)
{
    return conversation->rpc && conversation->rpc->rid ? outcome_ok()
                                                       : samr_play_lookup_names(conversation, NULL);
}

static struct outcome samr_play_lookup_names(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    char *names[] = {conversation->user->name};
    struct samr_LookupNames_reply reply = {.status = 0};
    struct outcome outcome = need_domain(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct samr_LookupNames_request request = {
        .handle = handle_of(conversation, SAMR_HANDLE_DOMAIN), .count = 1, .names = names};
    outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_LOOKUP_NAMES, &request, &reply,
                                &reply.status, &arena);
    if (outcome.kind == OUTCOME_OK && reply.rids.count != 1)
        outcome = outcome_failed("samr: wrong number of RIDs in the reply");
    if (outcome.kind == OUTCOME_OK)
        conversation->rpc->rid = reply.rids.ids[0];
    arena_free(&arena);
    return outcome;
}

static struct outcome open_object(struct conversation *conversation, uint16_t opnum, uint32_t rid,
                                  enum samr_handle which)
{
    struct arena arena = {0};
    struct samr_handle_reply reply = {.status = 0};
    struct samr_open_request request = {.handle = handle_of(conversation, SAMR_HANDLE_DOMAIN),
                                        .access = SAMR_MAXIMUM_ALLOWED,
                                        .rid = rid};
    struct outcome outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, opnum, &request, &reply,
                                               &reply.status, &arena);
    arena_free(&arena);
    return keep_handle(conversation, which, outcome, &reply);
}

static struct outcome play_lookup_domain(struct conversation *conversation, const void *details)
{
    (void)details;
    struct ndr_sid sid;
    return lookup_domain(conversation, &sid);
}

static struct outcome play_enum_domains(struct conversation *conversation, const void *details)
{
    (void)details;
    return enumerate(conversation, SAMR_ENUM_DOMAINS, SAMR_HANDLE_SERVER);
}

static struct outcome enumerate(struct conversation *conversation, uint16_t opnum,
                                enum samr_handle on)
{
    uint32_t resume = 0;
    bool more = true;
    struct outcome outcome =
        on == SAMR_HANDLE_SERVER ? need_server(conversation) : need_domain(conversation);
    for (int page = 0; outcome.kind == OUTCOME_OK && more; page++)
        outcome = page == PAGES_MAX ? outcome_failed("samr: endless enumeration")
                                    : enumerate_page(conversation, opnum, on, &resume, &more);
    return outcome;
}

/* All pages of an enumeration. */
static struct outcome enumerate_page(struct conversation *conversation, uint16_t opnum,
                                     enum samr_handle on, uint32_t *resume, bool *more)
{
    struct arena arena = {0};
    struct samr_enum_reply reply = {.status = 0};
    struct samr_EnumDomains_request all = {
        .handle = handle_of(conversation, on), .resume = *resume, .max_size = ENUM_SIZE};
    struct samr_EnumDomainUsers_request users = {
        .handle = handle_of(conversation, on), .resume = *resume, .max_size = ENUM_SIZE};
    void *request = opnum == SAMR_ENUM_DOMAIN_USERS ? (void *)&users : (void *)&all;
    struct outcome outcome =
        rpc_play_call(conversation, RPC_SLOT_SAMR, opnum, request, &reply, &arena);
    *more = false;
    if (outcome.kind == OUTCOME_OK && reply.status == STATUS_MORE_ENTRIES) {
        *more = reply.resume != *resume; /* no progress would mean an endless loop */
        *resume = reply.resume;
    } else if (outcome.kind == OUTCOME_OK && reply.status != STATUS_NO_MORE_ENTRIES) {
        outcome = ntstatus_outcome(reply.status);
    }
    arena_free(&arena);
    return outcome;
}

static struct outcome play_query_domain(struct conversation *conversation, const void *details)
{
    return query_domain(conversation, SAMR_QUERY_DOMAIN_INFO, details);
}

static struct outcome query_domain(struct conversation *conversation, uint16_t opnum,
                                   const struct rpc_level_details *details)
{
    static const uint16_t usual[] = {8, 12};
    struct arena arena = {0};
    struct samr_QueryDomainInfo_reply reply = {.status = 0};
    struct outcome outcome = need_domain(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct samr_QueryDomainInfo_request request = {
        .handle = handle_of(conversation, SAMR_HANDLE_DOMAIN),
        .level = details->level ? details->level : usual[conversation_random(conversation, 2)]};
    outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, opnum, &request, &reply, &reply.status,
                                &arena);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_enum_groups(struct conversation *conversation, const void *details)
{
    (void)details;
    return enumerate(conversation, SAMR_ENUM_DOMAIN_GROUPS, SAMR_HANDLE_DOMAIN);
}

static struct outcome play_enum_users(struct conversation *conversation, const void *details)
{
    (void)details;
    return enumerate(conversation, SAMR_ENUM_DOMAIN_USERS, SAMR_HANDLE_DOMAIN);
}

static struct outcome play_enum_aliases(struct conversation *conversation, const void *details)
{
    (void)details;
    return enumerate(conversation, SAMR_ENUM_DOMAIN_ALIASES, SAMR_HANDLE_DOMAIN);
}

static struct outcome play_alias_membership(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct ndr_sid sid, *sids[] = {&sid};
    struct samr_GetAliasMembership_reply reply = {.status = 0};
    struct outcome outcome = need_domain(conversation);
    if (outcome.kind == OUTCOME_OK)
        outcome = domain_sid(conversation, &sid);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct samr_GetAliasMembership_request request = {
        .handle = handle_of(conversation, SAMR_HANDLE_DOMAIN), .count = 1, .sids = sids};
    outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_GET_ALIAS_MEMBERSHIP, &request,
                                &reply, &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_lookup_rids(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct samr_LookupRids_reply reply = {.status = 0};
    struct outcome outcome = need_domain(conversation);
    if (outcome.kind == OUTCOME_OK)
        outcome = need_rid(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct samr_LookupRids_request request = {.handle = handle_of(conversation, SAMR_HANDLE_DOMAIN),
                                              .count = 1,
                                              .rids = &conversation->rpc->rid};
    outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_LOOKUP_RIDS, &request, &reply,
                                &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_open_group(struct conversation *conversation, const void *details)
{
    (void)details;
    struct outcome outcome = need_domain(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    return open_object(conversation, SAMR_OPEN_GROUP, GROUP_RID, SAMR_HANDLE_GROUP);
}

static struct outcome play_group_members(struct conversation *conversation, const void *details)
{
    (void)details;
    struct samr_QueryGroupMember_reply reply = {.status = 0};
    return call_on_object(conversation, SAMR_QUERY_GROUP_MEMBER, SAMR_HANDLE_GROUP, &reply,
                          &reply.status);
}

/* A call whose request is only a handle, of a group or a user, which is opened if necessary. */
static struct outcome call_on_object(struct conversation *conversation, uint16_t opnum,
                                     enum samr_handle on, void *reply, const uint32_t *status)
{
    struct arena arena = {0};
    struct outcome outcome = has_handle(conversation, on) ? outcome_ok()
                             : on == SAMR_HANDLE_GROUP    ? play_open_group(conversation, NULL)
                                                          : play_open_user(conversation, NULL);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct samr_handle_request request = {.handle = handle_of(conversation, on)};
    outcome =
        rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, opnum, &request, reply, status, &arena);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_query_user(struct conversation *conversation, const void *details)
{
    const struct rpc_level_details *level = details;
    struct arena arena = {0};
    struct samr_QueryUserInfo_reply reply = {.status = 0};
    struct outcome outcome = need_user(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct samr_QueryUserInfo_request request = {
        .handle = handle_of(conversation, SAMR_HANDLE_USER), .level = level->level};
    outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_QUERY_USER_INFO, &request, &reply,
                                &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_groups_for_user(struct conversation *conversation, const void *details)
{
    (void)details;
    struct samr_GetGroupsForUser_reply reply = {.status = 0};
    return call_on_object(conversation, SAMR_GET_GROUPS_FOR_USER, SAMR_HANDLE_USER, &reply,
                          &reply.status);
}

static struct outcome play_display_info(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct samr_QueryDisplayInfo_reply reply = {.status = 0};
    struct outcome outcome = need_domain(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct samr_QueryDisplayInfo_request request = {.handle =
                                                        handle_of(conversation, SAMR_HANDLE_DOMAIN),
                                                    .level = 1,
                                                    .max_entries = 1000,
                                                    .max_size = ENUM_SIZE};
    outcome = rpc_play_call(conversation, RPC_SLOT_SAMR, SAMR_QUERY_DISPLAY_INFO, &request, &reply,
                            &arena);
    if (outcome.kind == OUTCOME_OK && reply.status != STATUS_MORE_ENTRIES)
        outcome = ntstatus_outcome(reply.status);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_password_info(struct conversation *conversation, const void *details)
{
    (void)details;
    struct samr_GetUserPwInfo_reply reply = {.status = 0};
    return call_on_object(conversation, SAMR_GET_USER_PW_INFO, SAMR_HANDLE_USER, &reply,
                          &reply.status);
}

static struct outcome play_query_domain2(struct conversation *conversation, const void *details)
{
    return query_domain(conversation, SAMR_QUERY_DOMAIN_INFO2, details);
}

static struct outcome play_connect2(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct samr_Connect2_request request = {.server_name = rpc_server_name(conversation, &arena),
                                            .access = SAMR_MAXIMUM_ALLOWED};
    struct samr_handle_reply reply = {.status = 0};
    struct outcome outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_CONNECT2, &request,
                                               &reply, &reply.status, &arena);
    arena_free(&arena);
    return keep_handle(conversation, SAMR_HANDLE_SERVER, outcome, &reply);
}

static struct outcome play_connect4(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct samr_Connect4_request request = {.server_name = rpc_server_name(conversation, &arena),
                                            .client_revision = 2,
                                            .access = SAMR_MAXIMUM_ALLOWED};
    struct samr_handle_reply reply = {.status = 0};
    struct outcome outcome = rpc_play_ntstatus(conversation, RPC_SLOT_SAMR, SAMR_CONNECT4, &request,
                                               &reply, &reply.status, &arena);
    arena_free(&arena);
    return keep_handle(conversation, SAMR_HANDLE_SERVER, outcome, &reply);
}
