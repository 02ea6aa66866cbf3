/* SPDX-License-Identifier: Apache-2.0 */
/* Details of RPC packets: the information level that a query asks for. */
#ifndef PROTOCOLS_RPC_RPC_DETAILS_H
#define PROTOCOLS_RPC_RPC_DETAILS_H

#include "base/error.h"
#include "protocols/packet.h"

struct rpc_level_details {
    uint16_t level; /* 0: the packet's usual one */
};

/* For packet_type.compile: `level` must be one of levels (ended by 0). Freed with free(). */
void *rpc_level_compile(const struct packet_field *fields, size_t count, const uint16_t *levels,
                        struct error *error);

#endif
