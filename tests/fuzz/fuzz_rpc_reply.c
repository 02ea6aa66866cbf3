/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: decodes a reply of any RPC interface, and prints and encodes what was decoded.
 * The first byte selects the interface, the second the call, the third the byte order.
 */
#include <stdlib.h>

#include "protocols/rpc/rpc_interface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rpc_procedure *select_procedure(const uint8_t selectors[2]);
static void print_and_encode(const struct rpc_procedure *procedure, void *reply);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { SELECTORS = 3 };
    if (size < SELECTORS)
        return 0;
    const struct rpc_procedure *procedure = select_procedure(data);
    struct arena arena = {.limit = 64 << 20};
    struct ndr ndr;
    void *reply = calloc(1, procedure->reply_size);
    if (!reply)
        abort();
    ndr_decode_start(&ndr, data + SELECTORS, size - SELECTORS, data[2] & 1, &arena);
    procedure->reply(&ndr, procedure->name, reply, 0);
    bool good = !ndr.failed;
    ndr_end(&ndr);
    if (good)
        print_and_encode(procedure, reply);
    free(reply);
    arena_free(&arena);
    return 0;
}

/* The seeds depend on the order of the interfaces. */
static const struct rpc_procedure *select_procedure(const uint8_t selectors[2])
{
    static const struct rpc_interface *const interfaces[] = {
        &rpc_epm, &rpc_lsarpc, &rpc_samr, &rpc_srvsvc, &rpc_drsuapi, &rpc_netlogon};
    const struct rpc_procedure *procedures =
        interfaces[selectors[0] % (sizeof interfaces / sizeof interfaces[0])]->procedures;
    unsigned count = 0;
    while (procedures[count].name)
        count++;
    return &procedures[selectors[1] % count];
}

static void print_and_encode(const struct rpc_procedure *procedure, void *reply)
{
    static FILE *nowhere;
    struct ndr ndr;
    if (!nowhere && !(nowhere = fopen("/dev/null", "we")))
        abort();
    ndr_print_start(&ndr, nowhere);
    procedure->reply(&ndr, procedure->name, reply, 0);
    ndr_end(&ndr);
    ndr_encode_start(&ndr);
    procedure->reply(&ndr, procedure->name, reply, 0);
    ndr_end(&ndr);
}
