/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RPC requests and replies in words, as their coders know them (traffic-replay's -vv). Keys,
 * challenges, passwords and other bytes are told by their number alone.
 */
#ifndef PROTOCOLS_RPC_TRACE_H
#define PROTOCOLS_RPC_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "protocols/rpc_interface.h"

/* From now on to out; NULL: no more. Called while no thread plays. */
void rpc_trace_to(FILE *out);

/* One request, or a reply: whose it is (NULL: nobody's), and the struct that the procedure's coder
 * takes. Does nothing without rpc_trace_to(); may be called by any thread. */
void rpc_trace(const char *client, const struct rpc_interface *interface,
               const struct rpc_procedure *procedure, bool reply, void *message);

#endif
