/* SPDX-License-Identifier: Apache-2.0 */
/* A client of the small SMB2 server, for tests. */
#ifndef TESTS_LIB_SMB2_CLIENT_H
#define TESTS_LIB_SMB2_CLIENT_H

#include "base/clock.h"
#include "protocols/smb2/smb2.h"
#include "tests/lib/packets.h"
#include "tests/lib/smb2_server.h"
#include "tests/lib/test_random.h"

struct client {
    struct conversation conversation;
    struct dc *dc;
    struct account user, machine;
    uint64_t random;
};

static int64_t timeout = INT64_C(5000000000);

static inline void client_begin(struct client *client, const struct smb2_server *server)
{
    static char user[] = "User", machine[] = "PC-1$";
    struct dc *dc = dc_new();
    assert_non_null(dc);
    struct sockaddr_in *address = (struct sockaddr_in *)&dc->address;
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    dc->address_len = sizeof *address;
    dc->ports.smb = server->port;
    dc->dns_name = strdup("server.test");
    dc->dns_domain = strdup("test");
    dc->netbios_domain = strdup("Domain");
    dc->options.smb_share = "scratch";
    memset(client, 0, sizeof *client);
    client->dc = dc;
    client->user = (struct account){.name = user, .has_nt_hash = true};
    client->machine = (struct account){.name = machine, .has_nt_hash = true};
    assert_int_equal(ntlmssp_nt_hash("Password", client->user.nt_hash), 0);
    client->random = 1;
    client->conversation = (struct conversation){.wire.waiter = wire_blocking_waiter(),
                                                 .dc = dc,
                                                 .user = &client->user,
                                                 .machine = &client->machine,
                                                 .random = test_random,
                                                 .random_state = &client->random};
    conversation_init(&client->conversation);
    client->conversation.wire.deadline = clock_now() + timeout;
}

static inline void client_end(struct client *client)
{
    conversation_reset(&client->conversation);
    dc_free(client->dc);
}

/* Starts a server from server_new() and a client of it. */
static inline void both_begin(struct client *client, struct smb2_server *server)
{
    server_start(server);
    client_begin(client, server);
}

/* Ends both and frees the server. */
static inline void both_end(struct client *client, struct smb2_server *server)
{
    client_end(client);
    server_stop(server);
    free(server);
}

static inline struct outcome play_with(struct client *client, const char *protocol,
                                       const char *opcode, const char *key, const char *value)
{
    return form_play_value(&client->conversation, protocol, opcode, key, value, timeout);
}

static inline struct outcome play(struct client *client, const char *opcode)
{
    return play_with(client, "smb2", opcode, NULL, NULL);
}

static inline void assert_ok(const char *what, struct outcome outcome)
{
    if (outcome.kind != OUTCOME_OK)
        fail_msg("%s: kind %d: %s", what, (int)outcome.kind, outcome.cause);
}

static inline void assert_cause(struct outcome outcome, const char *cause)
{
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, cause);
}

static inline void assert_content(const struct smb2_server *server)
{
    if (server->bad_requests)
        fail_msg("the server: %s", server->last_error);
}

static const struct smb2_server plain_311 = {.dialect = 0x0311,
                                             .cipher = SMB2_CIPHER_AES128_GCM,
                                             .signing = SMB2_SIGNING_AES_GMAC,
                                             .pipe_size = 68,
                                             .fault_command = -1};

static inline struct smb2_server *server_new(const struct smb2_server *kind)
{
    struct smb2_server *server = malloc(sizeof *server);
    assert_non_null(server);
    memcpy(server, kind, sizeof *server);
    return server;
}

/* The packets in an order in which each uses what earlier ones opened. */
static const char *const all_opcodes[] = {"0", "1", "3",  "5",  "8", "16", "14",
                                          "9", "6", "11", "13", "4", "2"};
enum { ALL = sizeof all_opcodes / sizeof all_opcodes[0] };

#endif
