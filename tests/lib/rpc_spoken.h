/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport whose other end has spoken: what it says is put behind what it said before, and is
 * read from the beginning. For peers that answer inside their send(); begins their struct.
 */
#ifndef TESTS_LIB_RPC_SPOKEN_H
#define TESTS_LIB_RPC_SPOKEN_H

#include <errno.h>
#include <string.h>

#include "protocols/rpc/rpc_transport.h"

struct spoken {
    struct rpc_transport base;
    uint8_t says[8192];
    size_t size, at; /* said; read of it */
};

/* Of struct rpc_transport_ops. */
static int spoken_receive(struct rpc_transport *transport, uint8_t *data, size_t size)
{
    struct spoken *spoken = (struct spoken *)transport;
    if (size > spoken->size - spoken->at)
        return -ENODATA;
    memcpy(data, spoken->says + spoken->at, size);
    spoken->at += size;
    return 0;
}

static void spoken_close(struct rpc_transport *transport)
{
    (void)transport;
}

#endif
