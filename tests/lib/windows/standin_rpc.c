/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/rpc/rpc_pdu.h"
#include "tests/lib/windows/standin_rpc.h"

enum { MAPPER_PORT = 135, UUID_AT = 32, FAULT_ACCESS_DENIED = 5 };

static bool read_side(struct standin_rpc *rpc, bool from_client);
static bool take_pdu(struct standin_rpc *rpc, bool from_client, uint8_t *pdu, size_t size);
static void note_token(struct standin_rpc *rpc, bool from_client,
                       const struct rpc_pdu_header *header, const uint8_t *pdu, size_t size);
static bool refused(struct standin_rpc *rpc, const struct rpc_pdu_header *header,
                    const uint8_t *pdu, size_t size);
static uint32_t status_of_request(struct standin_rpc *rpc, const struct rpc_pdu_header *header,
                                  const uint8_t *pdu, size_t size);
static bool send_fault(struct standin_rpc *rpc, uint32_t call_id, uint32_t status);

void standin_rpc_serve(struct standin *standin, int fd, uint16_t port)
{
    struct standin_rpc rpc = {.standin = standin, .client.fd = fd, .mapper = port == MAPPER_PORT};
    standin_link_connect(&rpc.server, &standin->dc, port);
    for (bool go = rpc.server.fd >= 0; go;) {
        unsigned ready = standin_link_wait(&rpc.client, &rpc.server, -1);
        if (ready & 1)
            go = read_side(&rpc, true);
        if (go && ready & 2)
            go = read_side(&rpc, false);
    }
    standin_link_close(&rpc.client);
    standin_link_close(&rpc.server);
}

static bool read_side(struct standin_rpc *rpc, bool from_client)
{
    struct standin_link *side = from_client ? &rpc->client : &rpc->server;
    struct rpc_pdu_header header;
    if (!standin_link_read(side))
        return false;
    while (side->in.size >= RPC_HEADER_SIZE) {
        if (rpc_pdu_header_decode(side->in.data, &header) != 0)
            return false;
        if (side->in.size < header.frag_length)
            break;
        if (!take_pdu(rpc, from_client, side->in.data, header.frag_length))
            return false;
        standin_bytes_take(&side->in, header.frag_length);
    }
    return true;
}

static bool take_pdu(struct standin_rpc *rpc, bool from_client, uint8_t *pdu, size_t size)
{
    struct rpc_pdu_header header;
    rpc_pdu_header_decode(pdu, &header);
    if (header.type == RPC_PDU_RESPONSE && !from_client)
        standin_rpc_note_reply(rpc, pdu + RPC_REQUEST_HEADER_SIZE, size - RPC_REQUEST_HEADER_SIZE);
    if (header.type >= RPC_PDU_BIND)
        note_token(rpc, from_client, &header, pdu, size);
    if (header.type == RPC_PDU_REQUEST && from_client && refused(rpc, &header, pdu, size))
        return true;
    return standin_link_write(from_client ? &rpc->server : &rpc->client, pdu, size);
}

static void note_token(struct standin_rpc *rpc, bool from_client,
                       const struct rpc_pdu_header *header, const uint8_t *pdu, size_t size)
{
    struct rpc_trailer trailer;
    bool bind = header->type == RPC_PDU_BIND || header->type == RPC_PDU_ALTER_CONTEXT;
    if (from_client && bind && size >= UUID_AT + sizeof rpc->interface)
        memcpy(rpc->interface, pdu + UUID_AT, sizeof rpc->interface);
    if (!rpc_trailer_decode(header, pdu, size, &trailer))
        return;
    const uint8_t *token = pdu + size - header->auth_length;
    rpc->seal.type = trailer.auth_type;
    rpc->seal.level = trailer.auth_level;
    if (from_client)
        standin_seal_client_token(rpc->standin, &rpc->seal, token, header->auth_length);
    else
        standin_seal_server_token(&rpc->seal, token, header->auth_length);
}

/* True: a fault has been sent in the DC's place. */
static bool refused(struct standin_rpc *rpc, const struct rpc_pdu_header *header,
                    const uint8_t *pdu, size_t size)
{
    rpc->opnum = le_get16(pdu + 22);
    uint32_t status = status_of_request(rpc, header, pdu, size);
    return status && send_fault(rpc, header->call_id, status);
}

static uint32_t status_of_request(struct standin_rpc *rpc, const struct rpc_pdu_header *header,
                                  const uint8_t *pdu, size_t size)
{
    struct rpc_trailer trailer;
    uint8_t *stub;
    bool sealed = rpc_trailer_decode(header, pdu, size, &trailer);
    size_t end = sealed ? size - header->auth_length - RPC_TRAILER_SIZE : size;
    if (rpc->mapper)
        return windows_rules_apply(&rpc->standin->rules, RULE_ANONYMOUS_MAPPER, !sealed)
                   ? FAULT_ACCESS_DENIED
                   : 0;
    uint32_t status = standin_rpc_refuses(rpc, sealed);
    if (status)
        return status;
    size_t length = end - RPC_REQUEST_HEADER_SIZE;
    stub = malloc(length + 1);
    memcpy(stub, pdu + RPC_REQUEST_HEADER_SIZE, length);
    if (!sealed || standin_seal_open(rpc->standin, &rpc->seal, stub, length,
                                     pdu + size - header->auth_length, header->auth_length))
        status = standin_rpc_refuses_stub(rpc, stub, length - (sealed ? trailer.pad_length : 0));
    free(stub);
    return status;
}

static bool send_fault(struct standin_rpc *rpc, uint32_t call_id, uint32_t status)
{
    uint8_t pdu[32] = {5, 0, RPC_PDU_FAULT, RPC_PFC_FIRST_FRAG | RPC_PFC_LAST_FRAG, 0x10};
    le_put16(pdu + 8, sizeof pdu);
    le_put32(pdu + 12, call_id);
    le_put32(pdu + 24, status);
    return standin_link_write(&rpc->client, pdu, sizeof pdu);
}
