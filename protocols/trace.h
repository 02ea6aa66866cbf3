/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What traffic-replay's -vv prints: RPC requests and replies in words, as their coders know them,
 * and SMB2 calls by name. Keys, challenges, passwords and other bytes are told by their number
 * alone.
 */
#ifndef PROTOCOLS_TRACE_H
#define PROTOCOLS_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "protocols/rpc/rpc_interface.h"

/* From now on to out; NULL: no more. Called while no thread plays. */
void trace_to(FILE *out);

/* One request, or a reply: whose it is (NULL: nobody's), and the struct that the procedure's coder
 * takes. Does nothing without trace_to(); may be called by any thread. */
void trace_rpc(const char *client, const struct rpc_interface *interface,
               const struct rpc_procedure *procedure, bool reply, void *message);

/* An SMB2 call that was answered: its command, the bytes of both messages, the reply's status. As
 * trace_rpc(). */
void trace_smb2(const char *client, unsigned command, size_t sent, size_t received,
                uint32_t status);

#endif
