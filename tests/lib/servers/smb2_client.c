/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/servers/smb2_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/smb2/smb2.h"
#include "tests/lib/servers/loopback.h"
#include "tests/lib/test_random.h"

int64_t smb2_client_timeout = INT64_C(5000000000);

const struct smb2_server smb2_plain_311 = {.dialect = 0x0311,
                                           .cipher = SMB2_CIPHER_AES128_GCM,
                                           .signing = SMB2_SIGNING_AES_GMAC,
                                           .pipe_size = 68,
                                           .fault_command = -1};

const char *const smb2_all_opcodes[SMB2_ALL_OPCODES] = {"0", "1", "3",  "5",  "8", "16", "14",
                                                        "9", "6", "11", "13", "4", "2"};

void smb2_client_begin(struct smb2_client *client, const struct smb2_server *server)
{
    static char user[] = "User", machine[] = "PC-1$";
    struct dc *dc = loopback_dc();
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
    client->conversation.wire.deadline = clock_now() + smb2_client_timeout;
}

void smb2_client_end(struct smb2_client *client)
{
    conversation_reset(&client->conversation);
    dc_free(client->dc);
}

void smb2_both_begin(struct smb2_client *client, struct smb2_server *server)
{
    smb2_server_start(server);
    smb2_client_begin(client, server);
}

void smb2_both_end(struct smb2_client *client, struct smb2_server *server)
{
    smb2_client_end(client);
    smb2_server_stop(server);
    free(server);
}

struct outcome smb2_client_play_with(struct smb2_client *client, const char *protocol,
                                     const char *opcode, const char *key, const char *value)
{
    return form_play_value(&client->conversation, protocol, opcode, key, value,
                           smb2_client_timeout);
}

struct outcome smb2_client_play(struct smb2_client *client, const char *opcode)
{
    return smb2_client_play_with(client, "smb2", opcode, NULL, NULL);
}

void smb2_server_assert_content(const struct smb2_server *server)
{
    if (server->bad_requests)
        fail_msg("the server: %s", server->last_error);
}

struct smb2_server *smb2_server_new(const struct smb2_server *kind)
{
    struct smb2_server *server = malloc(sizeof *server);
    assert_non_null(server);
    memcpy(server, kind, sizeof *server);
    return server;
}
