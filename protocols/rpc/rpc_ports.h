/* SPDX-License-Identifier: Apache-2.0 */
/* TCP ports of RPC interfaces, as the endpoint mapper told them: kept for a run, shared by all
 * threads without a lock. */
#ifndef PROTOCOLS_RPC_RPC_PORTS_H
#define PROTOCOLS_RPC_RPC_PORTS_H

#include "protocols/rpc/rpc_interface.h"

struct rpc_ports;

/* NULL when there is no memory. */
struct rpc_ports *rpc_ports_new(void);
void rpc_ports_free(struct rpc_ports *ports);

/* 0: not known. */
uint16_t rpc_ports_known(const struct rpc_ports *ports, const struct rpc_interface *interface);
void rpc_ports_remember(struct rpc_ports *ports, const struct rpc_interface *interface,
                        uint16_t port);

#endif
