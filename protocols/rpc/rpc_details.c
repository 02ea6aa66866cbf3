/* SPDX-License-Identifier: Apache-2.0 */
/* Details of RPC packets. */
#include "protocols/rpc/rpc_details.h"

void rpc_level_fill(const struct packet_details *details, void *compiled)
{
    struct rpc_level_details *level = compiled;
    level->level = (uint16_t)packet_details_get(details, "level")->number;
}
