/* SPDX-License-Identifier: Apache-2.0 */
/* What an RPC interface is: its syntax id and its procedures, as rows of a table. */
#ifndef PROTOCOLS_RPC_RPC_INTERFACE_H
#define PROTOCOLS_RPC_RPC_INTERFACE_H

#include <stdint.h>

#include "protocols/rpc/ndr.h"

/* One procedure: a coder for the request's [in] parameters and one for the reply's [out] parameters
 * and return value. Each struct's coder calls ndr_flush() after each parameter. */
struct rpc_procedure {
    uint16_t opnum;
    const char *name;   /* as the specification calls it */
    ndr_coder *request; /* NULL: no [in] parameters */
    ndr_coder *reply;
    uint32_t request_size, reply_size; /* of the structs in memory */
};

struct rpc_interface {
    const char *name; /* Wireshark's protocol name */
    const char *uuid;
    uint16_t version_major, version_minor;
    const char *pipe; /* the named pipe it is reached by, NULL: only over TCP */
    const struct rpc_procedure *procedures; /* ended by a row without a name */
};

/* The row of an opnum, or NULL. */
const struct rpc_procedure *rpc_procedure_find(const struct rpc_interface *interface,
                                               uint16_t opnum);

#define RPC_PROCEDURE(interface_, opnum_, name_)                                                   \
    {                                                                                              \
        .opnum = (opnum_), .name = #name_, .request = interface_##_##name_##_request_coder,        \
        .reply = interface_##_##name_##_reply_coder,                                               \
        .request_size = sizeof(struct interface_##_##name_##_request),                             \
        .reply_size = sizeof(struct interface_##_##name_##_reply)                                  \
    }

extern const struct rpc_interface rpc_epm, rpc_lsarpc, rpc_samr, rpc_srvsvc, rpc_drsuapi,
    rpc_netlogon;

#endif
