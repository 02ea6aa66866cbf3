/* SPDX-License-Identifier: Apache-2.0 */
/* One RPC connection over TCP through the stand-in, for its own files. */
#ifndef TESTS_LIB_WINDOWS_STANDIN_RPC_H
#define TESTS_LIB_WINDOWS_STANDIN_RPC_H

#include "tests/lib/windows/standin_seal.h"

struct standin_rpc {
    struct standin *standin;
    struct standin_link client, server;
    struct standin_seal seal;
    bool mapper;
    uint8_t interface[16]; /* UUID of the last bind, as on the wire */
    uint16_t opnum;        /* of the last request */
    char computer[64];     /* that set up a channel here */
    uint32_t drs_capabilities;
};

/* The status of the fault for a request, by what is in clear; 0: none. */
uint32_t standin_rpc_refuses(struct standin_rpc *rpc, bool authenticated);

/* ... by its content. */
uint32_t standin_rpc_refuses_stub(struct standin_rpc *rpc, const uint8_t *stub, size_t size);

/* Learns the session keys of secure channels from replies in clear. */
void standin_rpc_note_reply(struct standin_rpc *rpc, const uint8_t *stub, size_t size);

/* True if UTF-16 text names one of the accounts whose names depend on the DC's language. */
bool standin_names_localized(const uint8_t *data, size_t size);

#endif
