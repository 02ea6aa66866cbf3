/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What carries RPC PDUs: a TCP connection or a named pipe of an SMB2 session. Functions return 0 or
 * a negative errno; -ECANCELED means that the run ended, as with streams.
 */
#ifndef PROTOCOLS_RPC_RPC_TRANSPORT_H
#define PROTOCOLS_RPC_RPC_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/conversation.h"
#include "protocols/packet.h"
#include "protocols/rpc/rpc_interface.h"
#include "protocols/smb2/smb2.h"

struct rpc_transport;

struct rpc_transport_ops {
    /* Sends a PDU. answered: the server will answer it, so a pipe can write and read in one call.
     */
    int (*send)(struct rpc_transport *transport, const uint8_t *data, size_t size, bool answered);
    /* Reads exactly size bytes. */
    int (*receive)(struct rpc_transport *transport, uint8_t *data, size_t size);
    /* Explains the last failure beyond its errno: text that lives as long as the transport, or
     * NULL. The function itself may be NULL. */
    const char *(*cause)(const struct rpc_transport *transport);
    /* Whether the connection or session below is still open. NULL: unknown until the next call. */
    bool (*is_open)(const struct rpc_transport *transport);
    void (*close)(struct rpc_transport *transport);
};

struct rpc_transport {
    const struct rpc_transport_ops *ops;
};

/* Connects to the interface's port on the conversation's DC. The port comes from the run's cache
 * or, if there is none or the connection is refused, from the endpoint mapper. */
struct outcome rpc_tcp_open(struct conversation *conversation,
                            const struct rpc_interface *interface, struct rpc_transport **out);

/* Opens \PIPE\name in the user's or the machine's SMB2 session, which is set up if needed. */
struct outcome rpc_pipe_open(struct conversation *conversation, enum smb2_who who, const char *name,
                             struct rpc_transport **out);

/* Asks the endpoint mapper (epm:3) and caches the answer for the run. */
struct outcome rpc_map_port(struct conversation *conversation,
                            const struct rpc_interface *interface, uint16_t *port);

#endif
