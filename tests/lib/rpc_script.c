/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/rpc_script.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/little_endian.h"

const uint8_t rpc_script_bind_ack[52] = {
    0xd0, 0x16, 0xd0, 0x16,                         /* max_xmit, max_recv: 5840 */
    0x34, 0x12, 0,    0,                            /* assoc_group */
    4,    0,    '1',  '3',  '5',  0,    0,    0,    /* sec_addr and its padding */
    1,    0,    0,    0,    0,    0,    0,    0,    /* one result: accepted */
    4,    0x5d, 0x88, 0x8a, 0xeb, 0x1c, 0xc9, 0x11, /* NDR32 */
    0x9f, 0xe8, 8,    0,    0x2b, 0x10, 0x48, 0x60, 2, 0, 0, 0,
};

uint8_t *rpc_script_room(struct rpc_script *script, size_t size)
{
    script->bytes = realloc(script->bytes, script->size + size + 1);
    if (!script->bytes)
        abort();
    uint8_t *room = script->bytes + script->size;
    memset(room, 0, size);
    script->size += size;
    return room;
}

uint8_t *rpc_script_say_pdu(struct rpc_script *script, enum rpc_pdu_type type, uint8_t flags,
                            uint32_t call_id, const void *body, size_t size, size_t more)
{
    uint8_t head[8] = {5, 0, (uint8_t)type, flags, 0x10, 0, 0, 0};
    uint8_t *pdu = rpc_script_room(script, RPC_HEADER_SIZE + size + more);
    memcpy(pdu, head, sizeof head);
    le_put16(pdu + 8, (uint16_t)(RPC_HEADER_SIZE + size + more));
    le_put32(pdu + 12, call_id);
    if (size)
        memcpy(pdu + RPC_HEADER_SIZE, body, size);
    return pdu;
}

void rpc_script_respond(struct rpc_script *script, const struct rpc_interface *interface,
                        const uint8_t *pdu, size_t size, rpc_script_answer *answer, void *context)
{
    struct arena arena = {0};
    struct ndr ndr;
    uint64_t rest = 0; /* of the response's header */
    uint16_t opnum = le_get16(pdu + 22);
    const struct rpc_procedure *procedure = rpc_procedure_find(interface, opnum);
    assert_non_null(procedure);
    void *request = arena_alloc(&arena, procedure->request_size);
    void *reply = arena_alloc(&arena, procedure->reply_size);
    ndr_decode_start(&ndr, pdu + RPC_REQUEST_HEADER_SIZE, size - RPC_REQUEST_HEADER_SIZE, false,
                     &arena);
    procedure->request(&ndr, procedure->name, request, 0);
    assert_false(ndr.failed);
    ndr_end(&ndr);
    answer(context, opnum, request, reply);
    ndr_encode_start(&ndr);
    ndr_u64(&ndr, "header", &rest);
    procedure->reply(&ndr, procedure->name, reply, 0);
    assert_false(ndr.failed);
    rpc_script_say_pdu(script, RPC_PDU_RESPONSE, RPC_PFC_FIRST_FRAG | RPC_PFC_LAST_FRAG,
                       le_get32(pdu + 12), ndr.data, ndr.size, 0);
    ndr_end(&ndr);
    arena_free(&arena);
}

int rpc_script_receive(struct rpc_transport *transport, uint8_t *data, size_t size)
{
    struct rpc_script *script = (struct rpc_script *)transport;
    if (size > script->size - script->at)
        return -ENODATA;
    memcpy(data, script->bytes + script->at, size);
    script->at += size;
    return 0;
}

void rpc_script_close(struct rpc_transport *transport)
{
    (void)transport;
}

void rpc_script_clear(struct rpc_script *script)
{
    free(script->bytes);
    script->bytes = NULL;
    script->size = script->at = 0;
}
