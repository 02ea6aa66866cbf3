/* SPDX-License-Identifier: Apache-2.0 */
/* The replies of tests/lib/servers/smb2_server.c, before they are signed, encrypted or spoiled. */
#ifndef TESTS_LIB_SERVERS_SMB2_SERVER_PRIVATE_H
#define TESTS_LIB_SERVERS_SMB2_SERVER_PRIVATE_H

#include "tests/lib/servers/smb2_server.h"

/* A reply that is being made: the message, from its header on. */
struct server_reply {
    uint8_t *message;
    size_t size;
};

void server_reply_make(struct smb2_server *server, struct server_reply *reply,
                       const uint8_t *request, size_t size);

void server_reply_hex(struct server_reply *reply, const char *hex);

void server_reply_begin(struct server_reply *reply, const uint8_t *request, uint32_t status);

void server_reply_error(struct server_reply *reply, const uint8_t *request, uint32_t status);

void server_reply_negotiate(struct smb2_server *server, struct server_reply *reply);

#endif
