/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An RPC transport whose peer is a script: the bytes that it says are queued and read in order.
 * Peers that answer inside their send() begin with this struct.
 */
#ifndef TESTS_LIB_RPC_SCRIPT_H
#define TESTS_LIB_RPC_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "protocols/rpc/rpc_pdu.h"
#include "protocols/rpc/rpc_transport.h"

/* Zeroed but for base.ops: says nothing. */
struct rpc_script {
    struct rpc_transport base;
    uint8_t *bytes; /* malloc'd */
    size_t size, at;
};

/* The body of a bind_ack that accepts NDR32. */
extern const uint8_t rpc_script_bind_ack[52];

/* Queues size zeroed bytes and returns them; valid until the next call. */
uint8_t *rpc_script_room(struct rpc_script *script, size_t size);

/* Queues a PDU: its header, size bytes of body, and `more` zeroed bytes that the header's length
 * includes. Returns the PDU; valid until the next call. */
uint8_t *rpc_script_say_pdu(struct rpc_script *script, enum rpc_pdu_type type, uint8_t flags,
                            uint32_t call_id, const void *body, size_t size, size_t more);

/* Fills the zeroed reply to a decoded request. */
typedef void rpc_script_answer(void *context, uint16_t opnum, const void *request, void *reply);

/* Decodes a request without security, which must be right, and queues the response that answer
 * fills. */
void rpc_script_respond(struct rpc_script *script, const struct rpc_interface *interface,
                        const uint8_t *pdu, size_t size, rpc_script_answer *answer, void *context);

/* receive() and close() of struct rpc_transport_ops. */
int rpc_script_receive(struct rpc_transport *transport, uint8_t *data, size_t size);

void rpc_script_close(struct rpc_transport *transport);

void rpc_script_clear(struct rpc_script *script);

#endif
