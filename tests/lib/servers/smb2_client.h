/* SPDX-License-Identifier: Apache-2.0 */
/* A client of the small SMB2 server, for tests. */
#ifndef TESTS_LIB_SERVERS_SMB2_CLIENT_H
#define TESTS_LIB_SERVERS_SMB2_CLIENT_H

#include <stdint.h>

#include "protocols/conversation.h"
#include "protocols/dc.h"
#include "tests/lib/packets.h"
#include "tests/lib/servers/smb2_server.h"

struct smb2_client {
    struct conversation conversation;
    struct dc *dc;
    struct account user, machine;
    uint64_t random;
};

/* How long each packet may take, in ns. */
extern int64_t smb2_client_timeout;

/* A server of dialect 3.1.1 without faults, for smb2_server_new(). */
extern const struct smb2_server smb2_plain_311;

/* The packets in an order in which each uses what earlier ones opened. */
enum { SMB2_ALL_OPCODES = 13 };
extern const char *const smb2_all_opcodes[SMB2_ALL_OPCODES];

/* A conversation of user "User" with a server that is running. */
void smb2_client_begin(struct smb2_client *client, const struct smb2_server *server);

void smb2_client_end(struct smb2_client *client);

/* Starts a server from smb2_server_new() and a client of it. */
void smb2_both_begin(struct smb2_client *client, struct smb2_server *server);

/* Ends both and frees the server. */
void smb2_both_end(struct smb2_client *client, struct smb2_server *server);

/* Plays a packet with one field; key NULL: without details. */
struct outcome smb2_client_play_with(struct smb2_client *client, const char *protocol,
                                     const char *opcode, const char *key, const char *value);

struct outcome smb2_client_play(struct smb2_client *client, const char *opcode);

/* Fails the test if a request of the client was wrong. */
void smb2_server_assert_content(const struct smb2_server *server);

/* A copy of a server, to change and to start; smb2_both_end() frees it. */
struct smb2_server *smb2_server_new(const struct smb2_server *kind);

#endif
