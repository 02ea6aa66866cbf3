/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoint mapper's packet: ept_map on TCP 135. */
#include "protocols/packet_players.h"
#include "protocols/rpc/rpc_play.h"

static struct outcome play_map(struct conversation *conversation, const void *details);
static const struct rpc_interface *interface_wanted(const struct conversation *conversation);

const struct packet_player packet_players_epm[] = {
    {.name = "epm:3", .play = play_map},
    {.name = NULL},
};

static struct outcome play_map(struct conversation *conversation, const void *details)
{
    (void)details;
    uint16_t port;
    return rpc_map_port(conversation, interface_wanted(conversation), &port);
}

/* Which interface the conversation will use next is not known here (a packet comes in, an outcome
 * goes out): the first one with a TCP port of its own that it has no association to; members ask
 * for netlogon first. */
static const struct rpc_interface *interface_wanted(const struct conversation *conversation)
{
    static const struct {
        enum rpc_slot slot;
        const struct rpc_interface *interface;
    } order[] = {{RPC_SLOT_NETLOGON_SECURE, &rpc_netlogon},
                 {RPC_SLOT_LSARPC_SECURE, &rpc_lsarpc},
                 {RPC_SLOT_SAMR, &rpc_samr},
                 {RPC_SLOT_DRSUAPI, &rpc_drsuapi}};
    for (size_t i = 0; conversation->rpc && i < sizeof order / sizeof order[0]; i++)
        if (!conversation->rpc->associations[order[i].slot])
            return order[i].interface;
    return &rpc_netlogon;
}
