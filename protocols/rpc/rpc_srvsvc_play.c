/* SPDX-License-Identifier: Apache-2.0 */
/* Server service packets (MS-SRVS 3.1.4) over \PIPE\srvsvc in the user's SMB2 session. */
#include <stdlib.h>

#include "base/error.h"
#include "protocols/packet_tables.h"
#include "protocols/rpc/rpc_details.h"
#include "protocols/rpc/rpc_play.h"
#include "protocols/rpc/rpc_srvsvc.h"

enum { SHARES_MAX_SIZE = 0xffffffff, USUAL_SHARE_LEVEL = 1, USUAL_SERVER_LEVEL = 101 };

static struct outcome srvsvc_play_call(struct conversation *conversation, uint16_t opnum,
                                       void *request, void *reply, const uint32_t *status,
                                       struct arena *arena)
{
    struct outcome outcome =
        rpc_play_call(conversation, RPC_SLOT_SRVSVC, &rpc_srvsvc, opnum, request, reply, arena);
    return outcome.kind == OUTCOME_OK ? rpc_werror_outcome(*status, true) : outcome;
}

static uint32_t level_of(const void *details, uint32_t usual)
{
    const struct rpc_level_details *level = details;
    return level && level->level ? level->level : usual;
}

static struct outcome play_share_info(struct conversation *conversation, const void *details)
{
    struct arena arena = {0};
    struct srvsvc_NetShareGetInfo_reply reply = {.status = 0};
    struct srvsvc_NetShareGetInfo_request request = {.server_name =
                                                         rpc_server_name(conversation, &arena),
                                                     .share_name = (char *)(uintptr_t) "IPC$",
                                                     .level = level_of(details, USUAL_SHARE_LEVEL)};
    struct outcome outcome = srvsvc_play_call(conversation, SRVSVC_NET_SHARE_GET_INFO, &request,
                                              &reply, &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_server_info(struct conversation *conversation, const void *details)
{
    struct arena arena = {0};
    struct srvsvc_NetSrvGetInfo_reply reply = {.status = 0};
    struct srvsvc_NetSrvGetInfo_request request = {.server_name =
                                                       rpc_server_name(conversation, &arena),
                                                   .level = level_of(details, USUAL_SERVER_LEVEL)};
    struct outcome outcome = srvsvc_play_call(conversation, SRVSVC_NET_SRV_GET_INFO, &request,
                                              &reply, &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

static struct outcome play_share_enum(struct conversation *conversation, const void *details)
{
    (void)details;
    struct arena arena = {0};
    uint32_t resume = 0;
    struct srvsvc_NetShareEnumAll_reply reply = {.status = 0};
    struct srvsvc_NetShareEnumAll_request request = {.server_name =
                                                         rpc_server_name(conversation, &arena),
                                                     .level = USUAL_SHARE_LEVEL,
                                                     .max_size = (uint32_t)SHARES_MAX_SIZE,
                                                     .resume = &resume};
    struct outcome outcome = srvsvc_play_call(conversation, SRVSVC_NET_SHARE_ENUM_ALL, &request,
                                              &reply, &reply.status, &arena);
    arena_free(&arena);
    return outcome;
}

static void *compile_share_level(const struct packet_field *fields, size_t count,
                                 struct error *error)
{
    static const uint16_t levels[] = {1, 2, 501, 502, 1005, 0};
    return rpc_level_compile(fields, count, levels, error);
}

static void *compile_server_level(const struct packet_field *fields, size_t count,
                                  struct error *error)
{
    static const uint16_t levels[] = {100, 101, 102, 0};
    return rpc_level_compile(fields, count, levels, error);
}

RPC_PLAY_OVER_PIPE(play_share_info)
RPC_PLAY_OVER_PIPE(play_server_info)
RPC_PLAY_OVER_PIPE(play_share_enum)

const struct packet_type packet_tables_srvsvc[] = {
    {.protocol = "srvsvc",
     .opcode = "15",
     .description = "NetShareEnumAll",
     .kind = PACKET_OPERATION,
     .available = packet_needs_dc,
     .play = play_share_enum_over_pipe},
    {.protocol = "srvsvc",
     .opcode = "16",
     .description = "NetShareGetInfo",
     .kind = PACKET_OPERATION,
     .available = packet_needs_dc,
     .compile = compile_share_level,
     .release = free,
     .play = play_share_info_over_pipe},
    {.protocol = "srvsvc",
     .opcode = "21",
     .description = "NetSrvGetInfo",
     .kind = PACKET_OPERATION,
     .available = packet_needs_dc,
     .compile = compile_server_level,
     .release = free,
     .play = play_server_info_over_pipe},
    {.protocol = NULL},
};
