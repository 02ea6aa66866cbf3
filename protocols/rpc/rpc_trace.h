/* SPDX-License-Identifier: Apache-2.0 */
/* RPC requests and replies for -vv, printed by their coders in NDR_PRINT mode. */
#ifndef PROTOCOLS_RPC_RPC_TRACE_H
#define PROTOCOLS_RPC_RPC_TRACE_H

#include "protocols/rpc/rpc_interface.h"

/* Prints a request or a reply: message is the struct that the procedure's coder takes. client may
 * be NULL. Keys, passwords and other bytes are printed as their number alone. */
void rpc_trace(const char *client, const struct rpc_interface *interface,
               const struct rpc_procedure *procedure, bool reply, void *message);

/* Prints where a request or a reply could not be encoded or decoded: ndr is the failed cursor. */
void rpc_trace_error(const char *client, const struct rpc_interface *interface,
                     const struct rpc_procedure *procedure, bool reply, const struct ndr *ndr);

#endif
