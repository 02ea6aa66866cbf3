/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DCERPC server on 127.0.0.1 over TCP, for several connections at a time: each PDU goes to the
 * test's function, and what that says is sent back.
 */
#ifndef TESTS_LIB_SERVERS_RPC_SERVER_H
#define TESTS_LIB_SERVERS_RPC_SERVER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/lib/rpc_script.h"

/* Hears one PDU, in the server's thread; connection counts from 1. Without an answer in out, the
 * client waits. */
typedef void rpc_server_hear(void *context, unsigned connection, const uint8_t *pdu, size_t size,
                             struct rpc_script *out);

struct rpc_server {
    uint16_t port;
    rpc_server_hear *hear;
    void *context;
    int listener, stop[2];
    pthread_t thread;
};

/* server is zeroed but for hear and context; listens on a free port. */
void rpc_server_start(struct rpc_server *server);

/* Closes all connections. What the server's thread has written can be read afterwards. */
void rpc_server_stop(struct rpc_server *server);

#endif
