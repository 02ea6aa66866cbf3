/* SPDX-License-Identifier: Apache-2.0 */
/* RPC interfaces: the syntax id of each and a table of its procedures. */
#ifndef PROTOCOLS_RPC_RPC_INTERFACE_H
#define PROTOCOLS_RPC_RPC_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#include "protocols/rpc/ndr.h"

/* One procedure: coders of the request's [in] parameters and of the reply's [out] parameters and
 * return value. They call ndr_flush() after each parameter. */
struct rpc_procedure {
    uint16_t opnum;
    const char *name;   /* the specification's */
    ndr_coder *request; /* NULL: no [in] parameters */
    ndr_coder *reply;
    uint32_t request_size, reply_size; /* bytes of the structs */
};

struct rpc_interface {
    const char *name; /* Wireshark's name of the protocol */
    const char *uuid;
    uint16_t version_major, version_minor;
    const char *pipe;                       /* name of its pipe; NULL: only over TCP */
    const struct rpc_procedure *procedures; /* ends with a row without a name */
};

/* The procedure with this opnum, or NULL. */
static inline const struct rpc_procedure *rpc_procedure_find(const struct rpc_interface *interface,
                                                             uint16_t opnum)
{
    for (const struct rpc_procedure *p = interface->procedures; p->name; p++)
        if (p->opnum == opnum)
            return p;
    return NULL;
}

/* A row of a table of procedures. The interface's file defines the coders and structs that it
 * names. */
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
