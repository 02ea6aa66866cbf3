/* SPDX-License-Identifier: Apache-2.0 */
/* For the fuzz targets of RPC interfaces: decodes a reply, and prints and encodes what was
 * understood. */
#ifndef TESTS_LIB_RPC_REPLY_H
#define TESTS_LIB_RPC_REPLY_H

#include <stdlib.h>

#include "protocols/rpc/rpc_interface.h"

static inline const struct rpc_procedure *rpc_reply_pick(const struct rpc_interface *interface,
                                                         uint8_t chance)
{
    unsigned count = 0;
    while (interface->procedures[count].name)
        count++;
    return &interface->procedures[chance % count];
}

static inline void rpc_reply_show(const struct rpc_procedure *procedure, void *reply)
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

static inline int rpc_reply_fuzz(const struct rpc_interface *interface, const uint8_t *data,
                                 size_t size)
{
    if (size < 2)
        return 0;
    const struct rpc_procedure *procedure = rpc_reply_pick(interface, data[0]);
    struct arena arena = {.limit = 64 << 20};
    struct ndr ndr;
    void *reply = calloc(1, procedure->reply_size);
    if (!reply)
        abort();
    ndr_decode_start(&ndr, data + 2, size - 2, data[1] & 1, &arena);
    procedure->reply(&ndr, procedure->name, reply, 0);
    bool good = !ndr.failed;
    ndr_end(&ndr);
    if (good)
        rpc_reply_show(procedure, reply);
    free(reply);
    arena_free(&arena);
    return 0;
}

#endif
