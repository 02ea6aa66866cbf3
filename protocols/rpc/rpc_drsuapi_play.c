/* SPDX-License-Identifier: Apache-2.0 */
/* Replication packets (MS-DRSR 4.1) over TCP, sealed, with the user's credentials. */
#include <errno.h>
#include <stdio.h>

#include "protocols/packet_players.h"
#include "protocols/rpc/rpc_drsuapi.h"
#include "protocols/rpc/rpc_play.h"

static struct outcome drsuapi_play_bind(struct conversation *conversation, const void *details);
static struct outcome bind_handle(struct conversation *conversation);
static struct outcome bind_on(struct conversation *conversation, enum rpc_slot slot,
                              struct rpc_handle *handle);
static struct outcome drsuapi_play_unbind(struct conversation *conversation, const void *details);
static struct outcome need_handle(struct conversation *conversation);
static struct outcome play_replicate(struct conversation *conversation, const void *details);
static struct outcome play_crack_names(struct conversation *conversation, const void *details);
static struct outcome play_write_spn(struct conversation *conversation, const void *details);

const struct packet_player packet_players_drsuapi[] = {
    {.name = "drsuapi:0", .play = drsuapi_play_bind},
    {.name = "drsuapi:1", .play = drsuapi_play_unbind},
    {.name = "drsuapi:3", .play = play_replicate},
    {.name = "drsuapi:12", .play = play_crack_names},
    {.name = "drsuapi:13", .play = play_write_spn},
    {.name = NULL},
};

/* Binds over a new connection, as clients do. */
static struct outcome drsuapi_play_bind(struct conversation *conversation, const void *details)
{
    (void)details;
    if (conversation->rpc)
        rpc_drop(conversation, RPC_SLOT_DRSUAPI);
    return bind_handle(conversation);
}

static struct outcome bind_handle(struct conversation *conversation)
{
    struct rpc_state *state = rpc_state_of(conversation);
    return state ? bind_on(conversation, RPC_SLOT_DRSUAPI, &state->drs) : outcome_of_error(-ENOMEM);
}

/* DRS_EXTENSIONS_INT without cb (MS-DRSR 5.39). dwFlags: BASE, GETCHGREPLY_V6, STRONG_ENCRYPTION.
 * dwExtCaps: all, or GetNCChanges is refused where an optional feature such as the Recycle Bin is
 * enabled (4.1.10.5.1). dwFlagsExt is zero, so that recycled objects are not sent as such; site,
 * pid, epoch and ConfigObjGUID are zero. */
static const uint8_t client_extensions[52] = {
    0x01, 0x80, 0x00, 0x04, [48] = 0xff, [49] = 0xff, [50] = 0xff, [51] = 0xff};

static struct outcome bind_on(struct conversation *conversation, enum rpc_slot slot,
                              struct rpc_handle *handle)
{
    struct arena arena = {0};
    struct ndr_guid client;
    struct drsuapi_extensions extensions = {.size = sizeof client_extensions,
                                            .bytes = (uint8_t *)(uintptr_t)client_extensions};
    struct drsuapi_DsBind_request request = {.client = &client, .extensions = &extensions};
    struct drsuapi_DsBind_reply reply = {.status = 0};
    if (ndr_guid_parse(DRSUAPI_CLIENT_GUID, &client) < 0)
        return outcome_of_error(-EINVAL);
    struct outcome outcome = rpc_play_werror(conversation, slot, DRSUAPI_DS_BIND, &request, &reply,
                                             &reply.status, &arena);
    if (outcome.kind == OUTCOME_OK)
        *handle = (struct rpc_handle){true, reply.handle};
    arena_free(&arena);
    return outcome;
}

static struct outcome drsuapi_play_unbind(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct drsuapi_DsUnbind_reply reply = {.status = 0};
    struct outcome outcome = need_handle(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct drsuapi_DsUnbind_request request = {.handle = conversation->rpc->drs.handle};
    conversation->rpc->drs.open = false;
    outcome = rpc_play_werror(conversation, RPC_SLOT_DRSUAPI, DRSUAPI_DS_UNBIND, &request, &reply,
                              &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

static struct outcome need_handle(struct conversation *conversation)
{
    struct outcome outcome = rpc_need(conversation, RPC_SLOT_DRSUAPI);
    if (outcome.kind == OUTCOME_OK && !conversation->rpc->drs.open)
        outcome = bind_handle(conversation);
    return outcome;
}

/* The first page of the domain, requested as by a DC without any data (MS-DRSR 4.1.10). Uses the
 * administrator's account, and only with --allow-replication. */
enum { DRS_WRIT_REP = 0x10, DRS_INIT_SYNC = 0x20, PAGE_OBJECTS = 402, PAGE_BYTES = 1 << 20 };

static struct outcome play_replicate(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    struct rpc_state *state = rpc_state_of(conversation);
    struct drsuapi_DsGetNCChanges_reply reply = {.version = 0};
    struct drsuapi_dsname domain = {.dn = conversation->dc->base_dn};
    if (!state)
        return outcome_of_error(-ENOMEM);
    struct outcome outcome = rpc_need(conversation, RPC_SLOT_REPLICATION);
    if (outcome.kind == OUTCOME_OK && !state->replication.open)
        outcome = bind_on(conversation, RPC_SLOT_REPLICATION, &state->replication);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct drsuapi_DsGetNCChanges_request request = {.handle = state->replication.handle,
                                                     .naming_context = &domain,
                                                     .flags = DRS_WRIT_REP | DRS_INIT_SYNC,
                                                     .max_objects = PAGE_OBJECTS,
                                                     .max_bytes = PAGE_BYTES};
    outcome = rpc_play_call(conversation, RPC_SLOT_REPLICATION, DRSUAPI_GET_NC_CHANGES, &request,
                            &reply, &arena);
    if (outcome.kind == OUTCOME_OK && reply.version != 6)
        outcome = outcome_failed("drsuapi: GetNCChanges reply of version %u", reply.version);
    if (outcome.kind == OUTCOME_OK)
        outcome = rpc_werror_outcome(reply.error, false);
    arena_free(&arena);
    return outcome;
}

/* Translates the DC's name, as a canonical name, into a random format (MS-DRSR 4.1.4.1.3). "Cannot
 * be translated" is a success. */
static struct outcome play_crack_names(struct conversation *conversation, const void *details)
{
    (void)details;
    static const uint32_t formats[] = {1, 2, 3, 6, 7, 8, 9, 10, 11, 12};
    struct arena arena = {0};
    char *names[] = {conversation->dc->dns_name};
    struct drsuapi_DsCrackNames_reply reply = {.status = 0};
    struct outcome outcome = need_handle(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct drsuapi_DsCrackNames_request request = {
        .handle = conversation->rpc->drs.handle,
        .code_page = 1252,
        .locale = 0x409,
        .offered = 7,
        .desired = formats[conversation_random(conversation, sizeof formats / sizeof formats[0])],
        .count = 1,
        .names = names};
    outcome = rpc_play_werror(conversation, RPC_SLOT_DRSUAPI, DRSUAPI_DS_CRACK_NAMES, &request,
                              &reply, &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

/* Replaces the user's SPNs with foo/USER. */
static struct outcome play_write_spn(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    char spn[512], *spns[] = {spn};
    struct drsuapi_DsWriteAccountSpn_reply reply = {.status = 0};
    struct outcome outcome = need_handle(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    snprintf(spn, sizeof spn, "foo/%s", conversation->user->name);
    struct drsuapi_DsWriteAccountSpn_request request = {.handle = conversation->rpc->drs.handle,
                                                        .operation = DRSUAPI_SPN_REPLACE,
                                                        .account_dn = conversation->user->dn,
                                                        .count = 1,
                                                        .spns = spns};
    outcome = rpc_play_werror(conversation, RPC_SLOT_DRSUAPI, DRSUAPI_DS_WRITE_ACCOUNT_SPN,
                              &request, &reply, &reply.status, &arena);
    if (outcome.kind == OUTCOME_OK)
        outcome = rpc_werror_outcome(reply.result, false);
    arena_free(&arena);
    return outcome;
}
