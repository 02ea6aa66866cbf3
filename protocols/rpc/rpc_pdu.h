/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PDUs of connection-oriented DCERPC (C706 12.6, MS-RPCE 2.2.2): headers, binds and their answers.
 * Encoding only: rpc_association.c sends and protects them.
 */
#ifndef PROTOCOLS_RPC_RPC_PDU_H
#define PROTOCOLS_RPC_RPC_PDU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/rpc/rpc_interface.h"

enum rpc_pdu_type {
    RPC_PDU_REQUEST = 0,
    RPC_PDU_RESPONSE = 2,
    RPC_PDU_FAULT = 3,
    RPC_PDU_BIND = 11,
    RPC_PDU_BIND_ACK = 12,
    RPC_PDU_BIND_NAK = 13,
    RPC_PDU_ALTER_CONTEXT = 14,
    RPC_PDU_ALTER_CONTEXT_RESP = 15,
    RPC_PDU_AUTH3 = 16
};

enum {
    RPC_PFC_FIRST_FRAG = 0x01,
    RPC_PFC_LAST_FRAG = 0x02,
    RPC_PFC_SUPPORT_HEADER_SIGN = 0x04 /* in bind and bind_ack, MS-RPCE 2.2.2.3 */
};

enum {
    RPC_HEADER_SIZE = 16,
    RPC_REQUEST_HEADER_SIZE = 24, /* of requests and responses, before the stub */
    RPC_TRAILER_SIZE = 8,
    RPC_FRAGMENT_MAX = 5840, /* what Windows and Samba offer */
    RPC_FRAGMENT_MIN = 1432, /* what everyone must accept (C706 12.6.3.1) */
    RPC_REPLY_MAX = 4 << 20
};

struct rpc_pdu_header {
    uint8_t type, flags;
    bool big_endian;
    uint16_t frag_length, auth_length;
    uint32_t call_id;
};

/* sec_trailer, MS-RPCE 2.2.2.11 */
struct rpc_trailer {
    uint8_t auth_type, auth_level, pad_length;
    uint32_t context_id;
};

/* Decodes RPC_HEADER_SIZE bytes. -EBADMSG: not version 5, or the fragment is too short for its
 * header and token. */
int rpc_pdu_header_decode(const uint8_t *data, struct rpc_pdu_header *header);

/* Appends a header with frag_length 0; rpc_pdu_finish() sets it. */
void rpc_pdu_begin(struct ndr *ndr, enum rpc_pdu_type type, uint8_t flags, uint32_t call_id);

/* Pads to 4 bytes, appends trailer and token, and sets both lengths. The padding is added to the
 * trailer's pad_length. token NULL: sets the lengths only. */
void rpc_pdu_finish(struct ndr *ndr, const struct rpc_trailer *trailer, const uint8_t *token,
                    size_t token_size);

/* The body of bind and alter_context: one presentation context (id 0) of interface over NDR32. */
void rpc_pdu_bind_body(struct ndr *ndr, const struct rpc_interface *interface,
                       uint32_t assoc_group);

/* C706 12.6.3.1 and 12.6.4.4 */
enum {
    RPC_USER_REJECTION = 1,
    RPC_PROVIDER_REJECTION = 2,
    RPC_ABSTRACT_SYNTAX_NOT_SUPPORTED = 1 /* reason of RPC_PROVIDER_REJECTION */
};

/* Contents of a bind_ack or alter_context_resp. */
struct rpc_bind_ack {
    uint16_t max_xmit, max_recv;
    uint32_t assoc_group;
    uint16_t result, reason; /* of the only context; result 0: accepted */
};

/* data is the PDU from its header on, without its token. 0 or -EBADMSG. */
int rpc_bind_ack_decode(const struct rpc_pdu_header *header, const uint8_t *data, size_t size,
                        struct rpc_bind_ack *ack);

/* The status of a fault or the reason of a bind_nak; 0 if the PDU is too short. */
uint32_t rpc_fault_decode(const struct rpc_pdu_header *header, const uint8_t *data, size_t size);

/* Text for a bind_ack's result other than 0 and its reason. Static, never NULL. */
const char *rpc_rejection_text(uint16_t result, uint16_t reason);

/* "nca_s_op_rng_error"; NULL for a value without a name (C706 appendix E, MS-ERREF 2.2). */
const char *rpc_fault_name(uint32_t status);

/* "protocol_version_not_supported"; NULL for a reason without a name (C706 12.6.3.1,
 * p_reject_reason_t; MS-RPCE 2.2.2.9 has 8 and 9). */
const char *rpc_reject_reason_name(uint32_t reason);

/* Decodes the trailer before the token of a PDU of size bytes. False: no token, or the PDU is too
 * short. */
bool rpc_trailer_decode(const struct rpc_pdu_header *header, const uint8_t *data, size_t size,
                        struct rpc_trailer *trailer);

#endif
