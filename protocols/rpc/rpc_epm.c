/* SPDX-License-Identifier: Apache-2.0 */
/* Coders of epm, in the order of an IDL file; protocol towers (C706 appendix L), which are packed
 * and little-endian; and the cache of ports. */
#include "protocols/rpc/rpc_epm.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/rpc/ndr_private.h"

/* twr_t: tower_length, [size_is(tower_length)] octets; the conformance comes first */
static void tower_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    struct epm_tower *tower = value;
    uint32_t conformance = tower->size;
    if (ndr->mode != NDR_PRINT)
        ndr_u32(ndr, field, &conformance);
    ndr_u32_range(ndr, "tower_length", &tower->size, 0, EPM_TOWER_SIZE_MAX);
    if (!ndr->failed && ndr->mode != NDR_PRINT && conformance != tower->size)
        ndr_fail(ndr, field, "array size differs from its count");
    if (!ndr->failed && ndr->mode == NDR_DECODE)
        tower->bytes = ndr_arena_room(ndr, field, tower->size);
    if (!ndr->failed && tower->size && !tower->bytes)
        ndr_fail(ndr, field, "a null pointer to a counted array");
    else
        ndr_bytes(ndr, "tower_octet_string", tower->bytes, tower->size);
}

/* 3: [in,ptr] uuid *obj, [in,ptr] twr_t *map_tower, [in,out] entry_handle, [in] max_towers,
 * [out] num_towers, [out,size_is(max_towers),length_is(num_towers)] twr_p_t towers[], status */
static void epm_Map_request_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct epm_Map_request *request = value;
    ndr_full(ndr, "obj", &request->object, ndr_guid_coder, 0);
    ndr_flush(ndr);
    ndr_full(ndr, "map_tower", &request->tower, tower_coder, 0);
    ndr_flush(ndr);
    ndr_policy_handle_coder(ndr, "entry_handle", &request->handle, arg);
    ndr_u32_range(ndr, "max_towers", &request->max_towers, 1, EPM_TOWERS_MAX);
}

static void tower_pointer_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    struct epm_tower **tower = value;
    ndr_full(ndr, field, tower, tower_coder, arg);
}

static void epm_Map_reply_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct epm_Map_reply *reply = value;
    ndr_policy_handle_coder(ndr, "entry_handle", &reply->handle, arg);
    ndr_u32_range(ndr, "num_towers", &reply->count, 0, EPM_TOWERS_MAX);
    ndr_varying_array(ndr, "towers", &reply->towers, &reply->max_towers, reply->count,
                      tower_pointer_coder);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

static const struct rpc_procedure procedures[] = {
    RPC_PROCEDURE(epm, 3, Map),
    {.name = NULL},
};

const struct rpc_interface rpc_epm = {.name = "epm",
                                      .uuid = "e1af8308-5d1f-11c9-91a4-08002b14a0fa",
                                      .version_major = 3,
                                      .version_minor = 0,
                                      .pipe = "epmapper",
                                      .procedures = procedures};

/* Floors (C706 appendix I): interface, transfer syntax, connection-oriented RPC, TCP, IP. */
enum { FLOOR_UUID = 0x0d, FLOOR_RPC_CO = 0x0b, FLOOR_TCP = 0x07, FLOOR_IP = 0x09 };
enum { TOWER_SIZE = 2 + 25 + 25 + 7 + 7 + 9 };

static uint8_t *put_le16(uint8_t *out, uint16_t value);
static uint8_t *put_syntax_floor(uint8_t *out, const struct ndr_guid *guid, uint16_t major,
                                 uint16_t minor);
static uint8_t *put_guid(uint8_t *out, const struct ndr_guid *guid);
static uint8_t *put_floor(uint8_t *out, uint8_t protocol, uint16_t size);
static const uint8_t *floor_side(const struct epm_tower *tower, size_t *at, size_t *size);
static size_t ports_index_of(const struct rpc_interface *interface);

int epm_tower_build(const struct rpc_interface *interface, struct arena *arena,
                    struct epm_tower *tower)
{
    struct ndr_guid syntax, transfer;
    if (ndr_guid_parse(interface->uuid, &syntax) < 0 || ndr_guid_parse(NDR32_UUID, &transfer) < 0)
        return -EINVAL;
    uint8_t *out = arena_alloc(arena, TOWER_SIZE);
    if (!out)
        return -ENOMEM;
    *tower = (struct epm_tower){.size = TOWER_SIZE, .bytes = out};
    out = put_le16(out, 5);
    out = put_syntax_floor(out, &syntax, interface->version_major, interface->version_minor);
    out = put_syntax_floor(out, &transfer, 2, 0);
    out = put_floor(out, FLOOR_RPC_CO, 2);
    out = put_floor(out, FLOOR_TCP, 2);
    put_floor(out, FLOOR_IP, 4);
    return 0;
}

static uint8_t *put_le16(uint8_t *out, uint16_t value)
{
    *out++ = (uint8_t)value;
    *out++ = (uint8_t)(value >> 8);
    return out;
}

static uint8_t *put_syntax_floor(uint8_t *out, const struct ndr_guid *guid, uint16_t major,
                                 uint16_t minor)
{
    out = put_le16(out, 19);
    *out++ = FLOOR_UUID;
    out = put_guid(out, guid);
    out = put_le16(out, major);
    out = put_le16(out, 2);
    return put_le16(out, minor);
}

static uint8_t *put_guid(uint8_t *out, const struct ndr_guid *guid)
{
    out = put_le16(out, (uint16_t)guid->time_low);
    out = put_le16(out, (uint16_t)(guid->time_low >> 16));
    out = put_le16(out, guid->time_mid);
    out = put_le16(out, guid->time_hi_and_version);
    memcpy(out, guid->clock_seq, 2);
    memcpy(out + 2, guid->node, 6);
    return out + 8;
}

static uint8_t *put_floor(uint8_t *out, uint8_t protocol, uint16_t size)
{
    out = put_le16(out, 1);
    *out++ = protocol;
    out = put_le16(out, size);
    memset(out, 0, size);
    return out + size;
}

uint16_t epm_tower_port(const struct epm_tower *tower)
{
    size_t at = 2;
    if (tower->size < 2)
        return 0;
    unsigned floors = tower->bytes[0] | (unsigned)tower->bytes[1] << 8;
    for (unsigned i = 0; i < floors; i++) {
        size_t left_size, right_size;
        const uint8_t *left = floor_side(tower, &at, &left_size);
        const uint8_t *right = left ? floor_side(tower, &at, &right_size) : NULL;
        if (!right)
            return 0;
        if (left_size == 1 && left[0] == FLOOR_TCP && right_size == 2)
            return (uint16_t)(right[0] << 8 | right[1]); /* the only big-endian field */
    }
    return 0;
}

/* Reads one side of a floor at offset *at; NULL: the tower ends too early. */
static const uint8_t *floor_side(const struct epm_tower *tower, size_t *at, size_t *size)
{
    if (tower->size - *at < 2)
        return NULL;
    *size = (size_t)tower->bytes[*at] | (size_t)tower->bytes[*at + 1] << 8;
    *at += 2;
    if (tower->size - *at < *size)
        return NULL;
    const uint8_t *side = tower->bytes + *at;
    *at += *size;
    return side;
}

/* Interfaces with a TCP port. */
static const struct rpc_interface *const mapped[] = {&rpc_lsarpc, &rpc_samr, &rpc_drsuapi,
                                                     &rpc_netlogon, &rpc_srvsvc};
enum { MAPPED_COUNT = sizeof mapped / sizeof mapped[0] };

struct rpc_ports {
    _Atomic uint16_t ports[MAPPED_COUNT];
};

struct rpc_ports *rpc_ports_new(void)
{
    return calloc(1, sizeof(struct rpc_ports));
}

void rpc_ports_free(struct rpc_ports *ports)
{
    free(ports);
}

uint16_t rpc_ports_known(const struct rpc_ports *ports, const struct rpc_interface *interface)
{
    size_t i = ports_index_of(interface);
    if (!ports || i == MAPPED_COUNT)
        return 0;
    return atomic_load_explicit(&((struct rpc_ports *)(uintptr_t)ports)->ports[i],
                                memory_order_relaxed);
}

static size_t ports_index_of(const struct rpc_interface *interface)
{
    size_t i = 0;
    while (i < MAPPED_COUNT && mapped[i] != interface)
        i++;
    return i;
}

void rpc_ports_remember(struct rpc_ports *ports, const struct rpc_interface *interface,
                        uint16_t port)
{
    size_t i = ports_index_of(interface);
    if (ports && i < MAPPED_COUNT)
        atomic_store_explicit(&ports->ports[i], port, memory_order_relaxed);
}
