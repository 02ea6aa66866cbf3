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

/* Whether anything is printed: saves the work of preparing a message. */
bool trace_is_on(void);

/* Prints one message in one piece. Any thread may call it; does nothing without trace_to(). */
void trace_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
