/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What carries RPC PDUs: a TCP connection or a named pipe of an SMB2 session. Three outcomes, as
 * with streams: done, failed (a negative errno), cancelled (-ECANCELED).
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
    /* Sends a PDU; answered: the server will say something to it, so that a pipe can ask and
     * listen in one go. */
    int (*send)(struct rpc_transport *transport, const uint8_t *data, size_t size, bool answered);
    /* Exactly size bytes. */
    int (*receive)(struct rpc_transport *transport, uint8_t *data, size_t size);
    /* Why the last call failed, when it was more than the errno says: NULL or text that lives as
     * long as the transport. NULL: never more. */
    const char *(*cause)(const struct rpc_transport *transport);
    /* Whether what is below is still there. NULL: only a call can tell. */
    bool (*is_open)(const struct rpc_transport *transport);
    void (*close)(struct rpc_transport *transport);
};

struct rpc_transport {
    const struct rpc_transport_ops *ops;
};

/* Connects to the port that the interface has on the conversation's DC: from the run's cache, or
 * asked of the endpoint mapper, once more when the cached one is refused. */
struct outcome rpc_tcp_open(struct conversation *conversation,
                            const struct rpc_interface *interface, struct rpc_transport **out);

/* Connects to a port. */
struct outcome rpc_tcp_open_port(struct conversation *conversation, uint16_t port,
                                 struct rpc_transport **out);

/* Opens \PIPE\name in the user's or the machine's SMB2 session, which is set up when needed. */
struct outcome rpc_pipe_open(struct conversation *conversation, enum smb2_who who, const char *name,
                             struct rpc_transport **out);

/* Asks the endpoint mapper (epm:3) and remembers the answer for the run. */
struct outcome rpc_map_port(struct conversation *conversation,
                            const struct rpc_interface *interface, uint16_t *port);

#endif
