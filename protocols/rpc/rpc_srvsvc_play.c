/* SPDX-License-Identifier: Apache-2.0 */
/* Server service packets (MS-SRVS 3.1.4) over \PIPE\srvsvc in the user's SMB2 session. */
#include "protocols/packet_players.h"
#include "protocols/rpc/rpc_play.h"
#include "protocols/rpc/rpc_srvsvc.h"

enum { SHARES_MAX_SIZE = 0xffffffff, ENUMERATION_LEVEL = 1 };

RPC_PLAY_OVER_PIPE(play_share_enum)
RPC_PLAY_OVER_PIPE(play_share_info)
RPC_PLAY_OVER_PIPE(play_server_info)

const struct packet_player packet_players_srvsvc[] = {
    {.name = "srvsvc:15", .play = play_share_enum_over_pipe},
    {.name = "srvsvc:16", .play = play_share_info_over_pipe, RPC_LEVEL_DETAILS},
    {.name = "srvsvc:21", .play = play_server_info_over_pipe, RPC_LEVEL_DETAILS},
    {.name = NULL},
};

static struct outcome play_share_enum(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    uint32_t resume = 0;
    struct srvsvc_NetShareEnumAll_reply reply = {.status = 0};
    struct srvsvc_NetShareEnumAll_request request = {.server_name =
                                                         rpc_server_name(conversation, &arena),
                                                     .level = ENUMERATION_LEVEL,
                                                     .max_size = (uint32_t)SHARES_MAX_SIZE,
                                                     .resume = &resume};
    struct outcome outcome = rpc_play_call(conversation, RPC_SLOT_SRVSVC, SRVSVC_NET_SHARE_ENUM_ALL,
                                           &request, &reply, &arena);
    if (outcome.kind == OUTCOME_OK)
        outcome = rpc_werror_outcome(reply.status, true);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_share_info(struct conversation *conversation, const void *details)
{
    struct arena arena = {0};
    struct srvsvc_NetShareGetInfo_reply reply = {.status = 0};
    struct srvsvc_NetShareGetInfo_request request = {
        .server_name = rpc_server_name(conversation, &arena),
        .share_name = (char *)(uintptr_t) "IPC$",
        .level = ((const struct rpc_level_details *)details)->level};
    struct outcome outcome =
        rpc_play_werror(conversation, RPC_SLOT_SRVSVC, SRVSVC_NET_SHARE_GET_INFO, &request, &reply,
                        &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_server_info(struct conversation *conversation, const void *details)
{
    struct arena arena = {0};
    struct srvsvc_NetSrvGetInfo_reply reply = {.status = 0};
    struct srvsvc_NetSrvGetInfo_request request = {
        .server_name = rpc_server_name(conversation, &arena),
        .level = ((const struct rpc_level_details *)details)->level};
    struct outcome outcome = rpc_play_werror(conversation, RPC_SLOT_SRVSVC, SRVSVC_NET_SRV_GET_INFO,
                                             &request, &reply, &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}
