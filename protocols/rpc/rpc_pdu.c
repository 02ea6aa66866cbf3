/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/rpc/rpc_pdu.h"

#include <errno.h>

#include "base/little_endian.h"

enum { FRAG_LENGTH_AT = 8, AUTH_LENGTH_AT = 10, DREP_BIG_ENDIAN_MASK = 0xf0, DREP_LITTLE = 0x10 };

/* C706 appendix E, and the Win32 errors that RPC run-times send (MS-ERREF 2.2). */
static const struct {
    uint32_t status;
    const char *name;
} fault_names[] = {
    {0x00000001, "nca_s_fault_other"},
    {0x00000005, "ERROR_ACCESS_DENIED"},
    {0x0000000e, "ERROR_OUTOFMEMORY"},
    {0x00000057, "ERROR_INVALID_PARAMETER"},
    {0x000006a6, "RPC_S_INVALID_BINDING"},
    {0x000006b5, "RPC_S_UNKNOWN_IF"},
    {0x000006ba, "RPC_S_SERVER_UNAVAILABLE"},
    {0x000006bb, "RPC_S_SERVER_TOO_BUSY"},
    {0x000006be, "RPC_S_CALL_FAILED"},
    {0x000006bf, "RPC_S_CALL_FAILED_DNE"},
    {0x000006c0, "RPC_S_PROTOCOL_ERROR"},
    {0x000006c6, "RPC_S_INVALID_BOUND"},
    {0x000006d1, "RPC_S_PROCNUM_OUT_OF_RANGE"},
    {0x000006d3, "RPC_S_UNKNOWN_AUTHN_SERVICE"},
    {0x000006d8, "EPT_S_CANT_PERFORM_OP"},
    {0x000006e4, "RPC_S_CANNOT_SUPPORT"},
    {0x000006e6, "RPC_X_SS_CONTEXT_MISMATCH"},
    {0x000006f4, "RPC_X_NULL_REF_POINTER"},
    {0x000006f7, "RPC_X_BAD_STUB_DATA"},
    {0x00000721, "RPC_S_SEC_PKG_ERROR"},
    {0x1c000001, "nca_s_fault_int_div_by_zero"},
    {0x1c000002, "nca_s_fault_addr_error"},
    {0x1c000003, "nca_s_fault_fp_div_zero"},
    {0x1c000004, "nca_s_fault_fp_underflow"},
    {0x1c000005, "nca_s_fault_fp_overflow"},
    {0x1c000006, "nca_s_fault_invalid_tag"},
    {0x1c000007, "nca_s_fault_invalid_bound"},
    {0x1c000008, "nca_s_rpc_version_mismatch"},
    {0x1c000009, "nca_s_unspec_reject"},
    {0x1c00000a, "nca_s_bad_actid"},
    {0x1c00000b, "nca_s_who_are_you_failed"},
    {0x1c00000c, "nca_s_manager_not_entered"},
    {0x1c00000d, "nca_s_fault_cancel"},
    {0x1c00000e, "nca_s_fault_ill_inst"},
    {0x1c00000f, "nca_s_fault_fp_error"},
    {0x1c000010, "nca_s_fault_int_overflow"},
    {0x1c000012, "nca_s_fault_unspec"},
    {0x1c000013, "nca_s_fault_remote_comm_failure"},
    {0x1c000014, "nca_s_fault_pipe_empty"},
    {0x1c000015, "nca_s_fault_pipe_closed"},
    {0x1c000016, "nca_s_fault_pipe_order"},
    {0x1c000017, "nca_s_fault_pipe_discipline"},
    {0x1c000018, "nca_s_fault_pipe_comm_error"},
    {0x1c000019, "nca_s_fault_pipe_memory"},
    {0x1c00001a, "nca_s_fault_context_mismatch"},
    {0x1c00001b, "nca_s_fault_remote_no_memory"},
    {0x1c00001c, "nca_s_invalid_pres_context_id"},
    {0x1c00001d, "nca_s_unsupported_authn_level"},
    {0x1c00001f, "nca_s_invalid_checksum"},
    {0x1c000020, "nca_s_invalid_crc"},
    {0x1c000021, "nca_s_fault_user_defined"},
    {0x1c000022, "nca_s_fault_tx_open_failed"},
    {0x1c000023, "nca_s_fault_codeset_conv_error"},
    {0x1c000024, "nca_s_fault_object_not_found"},
    {0x1c000025, "nca_s_fault_no_client_stub"},
    {0x1c010001, "nca_s_comm_failure"},
    {0x1c010002, "nca_s_op_rng_error"},
    {0x1c010003, "nca_s_unk_if"},
    {0x1c010006, "nca_s_wrong_boot_time"},
    {0x1c010009, "nca_s_you_crashed"},
    {0x1c01000b, "nca_s_proto_error"},
    {0x1c010013, "nca_s_out_args_too_big"},
    {0x1c010014, "nca_s_server_too_busy"},
    {0x1c010015, "nca_s_fault_string_too_large"},
    {0x1c010017, "nca_s_unsupported_type"},
};

static uint16_t get16(const uint8_t *data, bool big_endian);
static uint32_t get32(const uint8_t *data, bool big_endian);
static void put_syntax(struct ndr *ndr, const char *uuid, uint16_t major, uint16_t minor);

int rpc_pdu_header_decode(const uint8_t *data, struct rpc_pdu_header *header)
{
    if (data[0] != 5 || data[1] > 1)
        return -EBADMSG;
    header->type = data[2];
    header->flags = data[3];
    header->big_endian = (data[4] & DREP_BIG_ENDIAN_MASK) == 0;
    header->frag_length = get16(data + FRAG_LENGTH_AT, header->big_endian);
    header->auth_length = get16(data + AUTH_LENGTH_AT, header->big_endian);
    header->call_id = get32(data + 12, header->big_endian);
    size_t least = RPC_HEADER_SIZE;
    if (header->auth_length)
        least += (size_t)RPC_TRAILER_SIZE + header->auth_length;
    return header->frag_length < least ? -EBADMSG : 0;
}

static uint16_t get16(const uint8_t *data, bool big_endian)
{
    return big_endian ? (uint16_t)(data[0] << 8 | data[1]) : (uint16_t)(data[1] << 8 | data[0]);
}

static uint32_t get32(const uint8_t *data, bool big_endian)
{
    uint32_t low = get16(data, big_endian), high = get16(data + 2, big_endian);
    return big_endian ? low << 16 | high : high << 16 | low;
}

void rpc_pdu_begin(struct ndr *ndr, enum rpc_pdu_type type, uint8_t flags, uint32_t call_id)
{
    uint8_t head[8] = {5, 0, (uint8_t)type, flags, DREP_LITTLE, 0, 0, 0};
    uint16_t zero = 0;
    ndr_bytes(ndr, "header", head, sizeof head);
    ndr_u16(ndr, "frag_length", &zero);
    ndr_u16(ndr, "auth_length", &zero);
    ndr_u32(ndr, "call_id", &call_id);
}

void rpc_pdu_finish(struct ndr *ndr, const struct rpc_trailer *trailer, const uint8_t *token,
                    size_t token_size)
{
    if (token) {
        size_t before = ndr->size;
        ndr_align(ndr, 4);
        size_t pad = trailer->pad_length + ndr->size - before;
        uint8_t head[4] = {trailer->auth_type, trailer->auth_level, (uint8_t)pad, 0};
        uint32_t context_id = trailer->context_id;
        ndr_bytes(ndr, "sec_trailer", head, sizeof head);
        ndr_u32(ndr, "auth_context_id", &context_id);
        ndr_bytes(ndr, "auth_value", (uint8_t *)(uintptr_t)token, token_size);
    }
    if (!ndr->failed && (ndr->size > UINT16_MAX || token_size > UINT16_MAX))
        ndr_fail(ndr, "frag_length", "PDU longer than 65,535 bytes");
    if (ndr->failed)
        return;
    le_put16(ndr->data + FRAG_LENGTH_AT, (uint16_t)ndr->size);
    le_put16(ndr->data + AUTH_LENGTH_AT, (uint16_t)(token ? token_size : 0));
}

void rpc_pdu_bind_body(struct ndr *ndr, const struct rpc_interface *interface, uint32_t assoc_group)
{
    uint16_t size = RPC_FRAGMENT_MAX, context_id = 0;
    uint8_t one[4] = {1, 0, 0, 0};
    ndr_u16(ndr, "max_xmit_frag", &size);
    ndr_u16(ndr, "max_recv_frag", &size);
    ndr_u32(ndr, "assoc_group_id", &assoc_group);
    ndr_bytes(ndr, "n_context_elem", one, sizeof one);
    ndr_u16(ndr, "p_cont_id", &context_id);
    ndr_bytes(ndr, "n_transfer_syn", one, 2);
    put_syntax(ndr, interface->uuid, interface->version_major, interface->version_minor);
    put_syntax(ndr, NDR32_UUID, 2, 0);
}

static void put_syntax(struct ndr *ndr, const char *uuid, uint16_t major, uint16_t minor)
{
    struct ndr_guid guid;
    if (ndr_guid_parse(uuid, &guid) < 0)
        ndr_fail(ndr, "if_uuid", "not a UUID");
    ndr_guid_coder(ndr, "if_uuid", &guid, 0);
    ndr_u16(ndr, "if_version", &major);
    ndr_u16(ndr, "if_version", &minor);
}

int rpc_bind_ack_decode(const struct rpc_pdu_header *header, const uint8_t *data, size_t size,
                        struct rpc_bind_ack *ack)
{
    struct arena arena = {0};
    struct ndr ndr;
    uint16_t address_size = 0;
    uint8_t address[256], count[4] = {0};
    ndr_decode_start(&ndr, data, size, header->big_endian, &arena);
    ndr.offset = RPC_HEADER_SIZE;
    ndr_u16(&ndr, "max_xmit_frag", &ack->max_xmit);
    ndr_u16(&ndr, "max_recv_frag", &ack->max_recv);
    ndr_u32(&ndr, "assoc_group_id", &ack->assoc_group);
    ndr_u16(&ndr, "sec_addr", &address_size);
    if (address_size > sizeof address)
        ndr_fail(&ndr, "sec_addr", "longer than 256 bytes");
    else
        ndr_bytes(&ndr, "sec_addr", address, address_size);
    ndr_align(&ndr, 4);
    ndr_bytes(&ndr, "n_results", count, sizeof count);
    if (!ndr.failed && count[0] < 1)
        ndr_fail(&ndr, "n_results", "no result");
    ndr_u16(&ndr, "result", &ack->result);
    ndr_u16(&ndr, "reason", &ack->reason);
    bool good = !ndr.failed;
    ndr_end(&ndr);
    return good ? 0 : -EBADMSG;
}

uint32_t rpc_fault_decode(const struct rpc_pdu_header *header, const uint8_t *data, size_t size)
{
    if (header->type == RPC_PDU_BIND_NAK)
        return size < RPC_HEADER_SIZE + 2 ? 0 : get16(data + RPC_HEADER_SIZE, header->big_endian);
    if (size < RPC_REQUEST_HEADER_SIZE + 4)
        return 0;
    return get32(data + RPC_REQUEST_HEADER_SIZE, header->big_endian);
}

const char *rpc_rejection_text(uint16_t result, uint16_t reason)
{
    static const char *const texts[] = {"reason_not_specified", "abstract_syntax_not_supported",
                                        "proposed_transfer_syntaxes_not_supported",
                                        "local_limit_exceeded"};
    if (result == RPC_USER_REJECTION)
        return "user_rejection";
    if (result != RPC_PROVIDER_REJECTION)
        return "unknown result";
    return reason < sizeof texts / sizeof texts[0] ? texts[reason] : "unknown reason";
}

const char *rpc_fault_name(uint32_t status)
{
    for (size_t i = 0; i < sizeof fault_names / sizeof fault_names[0]; i++)
        if (fault_names[i].status == status)
            return fault_names[i].name;
    return NULL;
}

const char *rpc_reject_reason_name(uint32_t reason)
{
    static const char *const names[] = {[0] = "reason_not_specified",
                                        [1] = "temporary_congestion",
                                        [2] = "local_limit_exceeded",
                                        [3] = "called_paddr_unknown",
                                        [4] = "protocol_version_not_supported",
                                        [5] = "default_context_not_supported",
                                        [6] = "user_data_not_readable",
                                        [7] = "no_psap_available",
                                        [8] = "authentication_type_not_recognized",
                                        [9] = "invalid_checksum"};
    return reason < sizeof names / sizeof names[0] ? names[reason] : NULL;
}

bool rpc_trailer_decode(const struct rpc_pdu_header *header, const uint8_t *data, size_t size,
                        struct rpc_trailer *trailer)
{
    size_t tail = (size_t)RPC_TRAILER_SIZE + header->auth_length;
    if (!header->auth_length || size < RPC_HEADER_SIZE + tail)
        return false;
    const uint8_t *at = data + size - tail;
    trailer->auth_type = at[0];
    trailer->auth_level = at[1];
    trailer->pad_length = at[2];
    trailer->context_id = get32(at + 4, header->big_endian);
    return true;
}
