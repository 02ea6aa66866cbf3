/* SPDX-License-Identifier: Apache-2.0 */
/* Details of RPC packets: the information level that a query asks for. */
#ifndef PROTOCOLS_RPC_RPC_DETAILS_H
#define PROTOCOLS_RPC_RPC_DETAILS_H

#include "protocols/packet.h"

struct rpc_level_details {
    uint16_t level; /* 0: the form has none, and the packet table no usual one */
};

/* For packet_player.fill, of packets with the field `level`. */
void rpc_level_fill(const struct packet_details *details, void *compiled);

#define RPC_LEVEL_DETAILS PACKET_DETAILS(struct rpc_level_details, rpc_level_fill)

#endif
