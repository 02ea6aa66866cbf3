/* SPDX-License-Identifier: Apache-2.0 */
/* The SMB2 client against a small server that behaves well or badly. */
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/little_endian.h"
#include "protocols/smb2/smb2.h"
#include "protocols/smb2/smb2_negotiate.h"
#include "protocols/smb2/smb2_private.h"
#include "protocols/smb2/smb2_session.h"
#include "protocols/smb2/smb2_tree.h"
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

static void client_begin(struct client *client, const struct smb2_server *server)
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

static void client_end(struct client *client)
{
    conversation_reset(&client->conversation);
    dc_free(client->dc);
}

/* Ends the client and its server from server_new(). */
static void both_end(struct client *client, struct smb2_server *server)
{
    client_end(client);
    server_stop(server);
    free(server);
}

static struct outcome play_with(struct client *client, const char *protocol, const char *opcode,
                                const char *key, const char *value)
{
    return form_play_value(&client->conversation, protocol, opcode, key, value, timeout);
}

static struct outcome play(struct client *client, const char *opcode)
{
    return play_with(client, "smb2", opcode, NULL, NULL);
}

static void assert_ok(const char *what, struct outcome outcome)
{
    if (outcome.kind != OUTCOME_OK)
        fail_msg("%s: kind %d: %s", what, (int)outcome.kind, outcome.cause);
}

static void assert_cause(struct outcome outcome, const char *cause)
{
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, cause);
}

static void assert_content(const struct smb2_server *server)
{
    if (server->bad_requests)
        fail_msg("the server: %s", server->last_error);
}

static const struct smb2_server plain_311 = {.dialect = 0x0311,
                                             .cipher = SMB2_CIPHER_AES128_GCM,
                                             .signing = SMB2_SIGNING_AES_GMAC,
                                             .pipe_size = 68,
                                             .fault_command = -1};

static struct smb2_server *server_new(const struct smb2_server *kind)
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

static void every_packet_in_every_dialect(void **state)
{
    (void)state;
    static const struct {
        uint16_t dialect;
        enum smb2_cipher cipher;
        enum smb2_signing signing;
    } rows[] = {
        {0x0202, SMB2_CIPHER_NONE, SMB2_SIGNING_HMAC_SHA256},
        {0x0210, SMB2_CIPHER_NONE, SMB2_SIGNING_HMAC_SHA256},
        {0x0300, SMB2_CIPHER_AES128_CCM, SMB2_SIGNING_AES_CMAC},
        {0x0302, SMB2_CIPHER_AES128_CCM, SMB2_SIGNING_AES_CMAC},
        {0x0311, SMB2_CIPHER_AES128_CCM, SMB2_SIGNING_HMAC_SHA256},
        {0x0311, SMB2_CIPHER_AES128_GCM, SMB2_SIGNING_AES_CMAC},
        {0x0311, SMB2_CIPHER_AES256_CCM, SMB2_SIGNING_AES_GMAC},
        {0x0311, SMB2_CIPHER_AES256_GCM, SMB2_SIGNING_AES_GMAC},
    };
    enum { PLAIN, SIGNS, ENCRYPTS, SHARE_ENCRYPTS, CLIENT_ENCRYPTS, WAYS };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int way = 0; way < WAYS; way++) {
            struct client client;
            if (way >= ENCRYPTS && rows[i].cipher == SMB2_CIPHER_NONE)
                continue;
            struct smb2_server *server = server_new(&plain_311);
            server->dialect = rows[i].dialect;
            server->cipher = rows[i].cipher;
            server->signing = rows[i].signing;
            server->requires_signing = way == SIGNS;
            server->encrypts = way == ENCRYPTS;
            server->encrypts_share = way == SHARE_ENCRYPTS;
            server_start(server);
            client_begin(&client, server);
            client.dc->options.smb_encrypt = way == CLIENT_ENCRYPTS;
            for (size_t p = 0; p < ALL; p++) {
                char what[64];
                snprintf(what, sizeof what, "row %zu, way %d, smb2:%s", i, way, all_opcodes[p]);
                assert_ok(what, play(&client, all_opcodes[p]));
            }
            assert_int_equal(server->connections, 1);
            assert_content(server);
            both_end(&client, server);
        }
}

static void smb1_negotiate_leads_to_smb2(void **state)
{
    (void)state;
    static const uint16_t dialects[] = {0x0202, 0x0210, 0x0311};
    for (size_t i = 0; i < 3; i++) {
        struct client client;
        struct smb2_server *server = server_new(&plain_311);
        server->dialect = dialects[i];
        server->signing = dialects[i] == 0x0311 ? SMB2_SIGNING_AES_GMAC : SMB2_SIGNING_HMAC_SHA256;
        server->requires_signing = true;
        server_start(server);
        client_begin(&client, server);
        assert_ok("smb:0x72", play_with(&client, "smb", "0x72", NULL, NULL));
        assert_int_equal(server->requests[SMB2_NEGOTIATE], dialects[i] == 0x0202 ? 0 : 1);
        assert_int_equal(client.conversation.smb2->connection->dialect, dialects[i]);
        assert_ok("smb2:5", play(&client, "5"));
        assert_content(server);
        both_end(&client, server);
    }
}

static void both_sessions_on_one_connection(void **state)
{
    (void)state;
    struct client client;
    struct smb2_pipe *users, *machines;
    struct smb2_server *server = server_new(&plain_311);
    server_start(server);
    client_begin(&client, server);
    client.conversation.machine = &client.user; /* the server knows one account */
    assert_ok("user", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &users));
    assert_ok("machine", smb2_pipe_open(&client.conversation, SMB2_MACHINE, "lsarpc", &machines));
    assert_int_equal(server->connections, 1);
    assert_int_equal(server->requests[SMB2_SESSION_SETUP], 4);
    assert_true(smb2_pipe_is_open(users) && smb2_pipe_is_open(machines));
    smb2_pipe_free(users);
    smb2_pipe_free(machines);
    both_end(&client, server);
}

/* Wireshark dissects each of them without complaint. */
static const struct {
    int command;
    const char *opcode, *key, *value;
    const char *body;
} golden[] = {
    {SMB2_NEGOTIATE, "0", NULL, NULL,
     "2400050001000000470000007c00fd43ac6f576c1b1b4a86b386688270000000040000000202100200030203"
     "1103000001002600000000000100200001000eaa972099e1faa5c5579311cd550362f0a981b8b476a2cb7f70"
     "30e2e6812180000002000a000000000004000200010004000300000000000000080008000000000003000200"
     "0100000005001600000000007300650072007600650072002e007400650073007400"},
    {SMB2_LOGOFF, "2", NULL, NULL, "04000000"},
    {SMB2_TREE_CONNECT, "3", "share", "sysvol",
     "09000000480028005c005c007300650072007600650072002e0074006500730074005c005300590053005600"
     "4f004c00"},
    {SMB2_TREE_DISCONNECT, "4", NULL, NULL, "04000000"},
    {SMB2_CREATE, "5", NULL, NULL,
     "3900000002000000000000000000000000000000000000008900120000000000070000000100000040000000"
     "78007800000000000000000074006500730074005c0050006f006c00690063006900650073005c007b003300"
     "31004200320046003300340030002d0030003100360044002d0031003100440032002d003900340035004600"
     "2d003000300043003000340046004200390038003400460039007d005c004700500054002e0049004e004900"},
    {SMB2_CREATE, "5", "lease", "rh",
     "390000ff02000000000000000000000000000000000000008900120000000000070000000100000040000000"
     "78007800f00000004c00000074006500730074005c0050006f006c00690063006900650073005c007b003300"
     "31004200320046003300340030002d0030003100360044002d0031003100440032002d003900340035004600"
     "2d003000300043003000340046004200390038003400460039007d005c004700500054002e0049004e004900"
     "0000000010000400000018003400000052714c73000000001b1b4a86b38668820eaa972099e1faa503000000"
     "0000000000000000000000000000000000000000000000000000000000000000"},
    {SMB2_CREATE, "5", "file", "pipe",
     "3900000002000000000000000000000000000000000000009f01120000000000070000000100000000000000"
     "78000c000000000000000000730072007600730076006300"},
    {SMB2_CREATE, "5", "file", "other",
     "3900000002000000000000000000000000000000000000009f01130000000000070000000500000040100000"
     "78004000000000000000000074007200610066006600690063002d007200650070006c00610079002d005500"
     "7300650072002d00340033006600640030003000370063002e0074006d007000"},
    {SMB2_CLOSE, "6", NULL, NULL, "18000000000000000102030405060708090a0b0c0d0e0f10"},
    {SMB2_READ, "8", NULL, NULL,
     "310050000000010000000000000000000102030405060708090a0b0c0d0e0f10000000000000000000000000"
     "0000000000"},
    {SMB2_WRITE, "9", "size", "5",
     "310070000500000000000000000000000102030405060708090a0b0c0d0e0f10000000000000000000000000"
     "000000000000000000"},
    {SMB2_IOCTL, "11", NULL, NULL,
     "3900000094010600ffffffffffffffffffffffffffffffff780000001c000000000000000000000000000000"
     "00000100010000000000000004005c0074006500730074005c0073007900730076006f006c000000"},
    {SMB2_ECHO, "13", NULL, NULL, "04000000"},
    {SMB2_QUERY_DIRECTORY, "14", NULL, NULL,
     "21002501000000000102030405060708090a0b0c0d0e0f1060000200000001002a00"},
    {SMB2_QUERY_INFO, "16", NULL, NULL,
     "2900011200000100680000000000000000000000000000000102030405060708090a0b0c0d0e0f1000"},
    {SMB2_QUERY_INFO, "16", "class", "0x300",
     "2900030000000100680000000000000007000000000000000102030405060708090a0b0c0d0e0f1000"},
};

static void requests_as_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct client client;
        struct smb2_server *server = server_new(&plain_311);
        server_start(server);
        client_begin(&client, server);
        assert_ok(golden[i].opcode,
                  play_with(&client, "smb2", golden[i].opcode, golden[i].key, golden[i].value));
        client_end(&client);
        server_stop(server);
        const uint8_t *request = server->last_request[golden[i].command];
        size_t size = server->last_request_size[golden[i].command];
        assert_true(size > SMB2_HEADER_SIZE);
        if (getenv("TEST_SHOW")) {
            printf("GOLD %zu ", i);
            for (size_t b = 0; b < size; b++)
                printf("%02x", request[b]);
            printf("\n");
        } else {
            assert_bytes(request + SMB2_HEADER_SIZE, size - SMB2_HEADER_SIZE, golden[i].body);
        }
        free(server);
    }
}

/* Message ids, credits and charges of consecutive requests. */
static void headers_of_requests(void **state)
{
    (void)state;
    struct client client;
    struct smb2_server *server = server_new(&plain_311);
    server_start(server);
    client_begin(&client, server);
    assert_ok("read", play_with(&client, "smb2", "8", "size", "200000"));
    const uint8_t *request = server->last_request[SMB2_READ];
    assert_bytes(request, 12, "fe534d42 4000 0400 00000000"); /* four credits for 200,000 bytes */
    assert_int_equal(le_get16(request + 12), SMB2_READ);
    assert_int_equal(le_get64(request + 24), 5); /* negotiate, two legs, tree, create */
    assert_int_equal(le_get32(request + 36), 0x77);
    assert_int_equal(le_get64(request + 40), UINT64_C(0x4000000123));
    assert_ok("echo", play(&client, "13"));
    assert_int_equal(le_get64(server->last_request[SMB2_ECHO] + 24), 9);
    both_end(&client, server);
}

/* Plays packets until one fails, and returns its outcome. */
static struct outcome play_until_failure(struct client *client)
{
    struct outcome outcome = outcome_ok();
    for (size_t p = 0; outcome.kind == OUTCOME_OK && p < ALL; p++)
        outcome = play(client, all_opcodes[p]);
    return outcome;
}

static struct outcome spoiled(const struct smb2_server *kind, int command, enum server_fault fault,
                              size_t at, size_t *reply_size)
{
    struct client client;
    struct smb2_server *server = server_new(kind);
    server->fault = fault;
    server->fault_command = command;
    server->fault_at = at;
    server_start(server);
    client_begin(&client, server);
    struct outcome outcome = play_until_failure(&client);
    client_end(&client);
    server_stop(server);
    if (reply_size)
        *reply_size = server->reply_size;
    free(server);
    return outcome;
}

static const int all_commands[] = {
    SMB2_NEGOTIATE, SMB2_SESSION_SETUP,   SMB2_LOGOFF,    SMB2_TREE_CONNECT, SMB2_TREE_DISCONNECT,
    SMB2_CREATE,    SMB2_CLOSE,           SMB2_READ,      SMB2_WRITE,        SMB2_IOCTL,
    SMB2_ECHO,      SMB2_QUERY_DIRECTORY, SMB2_QUERY_INFO};
enum { COMMANDS = sizeof all_commands / sizeof all_commands[0] };

/* Each reply truncated at each length; the server signs the truncated reply. */
static void replies_cut_at_every_length(void **state)
{
    (void)state;
    for (int c = 0; c < COMMANDS; c++) {
        size_t size = 0;
        assert_ok("whole", spoiled(&plain_311, all_commands[c], FAULT_NONE, 0, &size));
        assert_true(size > SMB2_HEADER_SIZE);
        /* Not each of the 3,000 bytes of data. */
        for (size_t cut = 0; cut<size; cut += cut> 300 ? 501 : 1)
            assert_int_equal(spoiled(&plain_311, all_commands[c], FAULT_CUT, cut, NULL).kind,
                             OUTCOME_FAILED);
    }
}

/* Each bit flipped by the server before signing: nothing crashes. */
static void replies_flipped_by_the_server(void **state)
{
    (void)state;
    timeout = INT64_C(300000000);
    for (int c = 0; c < COMMANDS; c++) {
        size_t size = 0;
        assert_ok("whole", spoiled(&plain_311, all_commands[c], FAULT_NONE, 0, &size));
        for (size_t bit = 0; bit < 8 * size && bit < 8 * 136; bit++) {
            struct outcome outcome = spoiled(&plain_311, all_commands[c], FAULT_FLIP, bit, NULL);
            assert_true(outcome.kind == OUTCOME_OK || outcome.kind == OUTCOME_FAILED);
        }
    }
    timeout = INT64_C(5000000000);
}

/* Each bit flipped between server and client is detected, in NEGOTIATE and SESSION_SETUP by the
 * hash from which the keys are derived. */
static void assert_flips_are_seen(const struct smb2_server *kind, size_t extra)
{
    timeout = INT64_C(300000000);
    for (int c = 0; c < COMMANDS; c++) {
        size_t size = 0;
        assert_ok("whole", spoiled(kind, all_commands[c], FAULT_NONE, 0, &size));
        size += all_commands[c] > SMB2_SESSION_SETUP ? extra : 0;
        for (size_t bit = 0; bit < 8 * size && bit < 8 * 180; bit += 5) {
            struct outcome outcome =
                spoiled(kind, all_commands[c], FAULT_FLIP_ON_THE_WAY, bit, NULL);
            if (outcome.kind != OUTCOME_FAILED)
                fail_msg("command %d, bit %zu: not seen", all_commands[c], bit);
        }
    }
    timeout = INT64_C(5000000000);
}

static void flips_on_the_way_are_seen_by_signatures(void **state)
{
    (void)state;
    static const enum smb2_signing algorithms[] = {SMB2_SIGNING_AES_CMAC, SMB2_SIGNING_AES_GMAC,
                                                   SMB2_SIGNING_HMAC_SHA256};
    for (size_t i = 0; i < 3; i++) {
        struct smb2_server *kind = server_new(&plain_311);
        kind->requires_signing = true;
        kind->signing = algorithms[i];
        assert_flips_are_seen(kind, 0);
        free(kind);
    }
}

static void flips_on_the_way_are_seen_by_decryption(void **state)
{
    (void)state;
    struct smb2_server *kind = server_new(&plain_311);
    kind->encrypts = true;
    assert_flips_are_seen(kind, SMB2_TRANSFORM_SIZE);
    free(kind);
}

static void faults_are_told(void **state)
{
    (void)state;
    static const struct {
        enum server_fault fault;
        int command;
        size_t at;
        const char *cause; /* NULL: it succeeds */
    } rows[] = {
        {FAULT_UNSIGNED, SMB2_SESSION_SETUP, 0, "SMB2: reply is not signed"},
        {FAULT_UNSIGNED, SMB2_CREATE, 0, "SMB2: reply is not signed"},
        {FAULT_UNSIGNED, SMB2_LOGOFF, 0, "SMB2: reply is not signed"},
        {FAULT_WRONG_SIGNATURE, SMB2_ECHO, 0, "SMB2: signature does not verify"},
        {FAULT_OTHER_ID, SMB2_READ, 0, "SMB2: reply to another request"},
        {FAULT_OTHER_COMMAND, SMB2_READ, 0, "SMB2: reply to another command"},
        {FAULT_OTHER_SESSION, SMB2_READ, 0, "SMB2: reply of another session"},
        {FAULT_NO_REPLY, SMB2_READ, 0, "SMB2: malformed header"},
        {FAULT_HUGE, SMB2_READ, 0, "SMB2: malformed frame"},
        {FAULT_NETBIOS, SMB2_ECHO, 0, "SMB2: malformed frame"},
        {FAULT_COMPOUND, SMB2_QUERY_INFO, 0, "SMB2: compounded replies"},
        {FAULT_PENDING_FOREVER, SMB2_CREATE, 0, "SMB2: no reply, only interim ones"},
        {FAULT_STATUS, SMB2_NEGOTIATE, 0xc00000bb, "NT_STATUS_NOT_SUPPORTED"},
        {FAULT_STATUS, SMB2_SESSION_SETUP, 0xc000006d, "NT_STATUS_LOGON_FAILURE"},
        {FAULT_OTHER_STATUS, SMB2_SESSION_SETUP, 0xc0000016,
         "SMB2: the server requests another leg of the logon"},
        {FAULT_OTHER_STATUS, SMB2_SESSION_SETUP, 0, "SMB2: the server ended the logon too early"},
        {FAULT_STATUS, SMB2_TREE_CONNECT, 0xc00000cc, "NT_STATUS_BAD_NETWORK_NAME"},
        {FAULT_STATUS, SMB2_CREATE, 0xc0000034, "NT_STATUS_OBJECT_NAME_NOT_FOUND"},
        {FAULT_STATUS, SMB2_READ, 0xc0000022, "NT_STATUS_ACCESS_DENIED"},
        {FAULT_STATUS, SMB2_READ, 0xc0000011, NULL}, /* the end of the file */
        {FAULT_STATUS, SMB2_QUERY_DIRECTORY, 0x80000006, NULL},
        {FAULT_STATUS, SMB2_IOCTL, 0xdeadbeef, "NTSTATUS 0xdeadbeef"},
        {FAULT_STATUS, SMB2_ECHO, 0x103,
         "NT_STATUS_PENDING"}, /* not an interim reply, by its flags */
        {FAULT_PENDING, SMB2_CREATE, 0, NULL},
        {FAULT_PENDING, SMB2_ECHO, 0, NULL},
        {FAULT_BREAK_OPLOCK, SMB2_READ, 0, NULL},
        {FAULT_BREAK_LEASE, SMB2_READ, 0, NULL},
        {FAULT_BYTE_BY_BYTE, SMB2_QUERY_INFO, 0, NULL},
        {FAULT_BYTE_BY_BYTE, SMB2_NEGOTIATE, 0, NULL},
        /* The stream's cause: the peer closed. */
        {FAULT_CLOSE, SMB2_NEGOTIATE, 0, "connection closed in mid-message"},
        {FAULT_CLOSE, SMB2_CREATE, 0, "connection closed in mid-message"},
        {FAULT_HALF, SMB2_READ, 0, "connection closed in mid-message"},
    };
    struct smb2_server *kind = server_new(&plain_311);
    kind->requires_signing = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct outcome outcome = spoiled(kind, rows[i].command, rows[i].fault, rows[i].at, NULL);
        const char *cause = outcome.kind == OUTCOME_OK ? "" : outcome.cause;
        if (strcmp(cause, rows[i].cause ? rows[i].cause : "") != 0)
            fail_msg("row %zu: \"%s\"", i, cause);
    }
    kind->requires_signing = false;
    assert_cause(spoiled(kind, SMB2_SESSION_SETUP, FAULT_UNSIGNED, 0, NULL),
                 "SMB2: reply is not signed"); /* in 3.1.1 always */
    /* An unrequested signature must verify, too. */
    kind->dialect = 0x0302;
    kind->cipher = SMB2_CIPHER_AES128_CCM;
    kind->signing = SMB2_SIGNING_AES_CMAC;
    assert_cause(spoiled(kind, SMB2_ECHO, FAULT_WRONG_SIGNATURE, 0, NULL),
                 "SMB2: signature does not verify");
    kind->encrypts = true;
    assert_cause(spoiled(kind, SMB2_TREE_CONNECT, FAULT_IN_CLEAR, 0, NULL),
                 "SMB2: reply is not encrypted");
    free(kind);
}

static void breaks_are_acknowledged(void **state)
{
    (void)state;
    static const enum server_fault faults[] = {FAULT_BREAK_OPLOCK, FAULT_BREAK_LEASE,
                                               FAULT_BREAK_LEASE_NOTICE};
    for (size_t i = 0; i < 3; i++) {
        struct client client;
        struct smb2_server *server = server_new(&plain_311);
        server->requires_signing = true;
        server->fault = faults[i];
        server->fault_command = SMB2_READ;
        server_start(server);
        client_begin(&client, server);
        assert_ok("read", play(&client, "8"));
        assert_ok("echo", play(&client, "13")); /* ignores the reply to the acknowledgement */
        assert_int_equal(server->acknowledged, faults[i] == FAULT_BREAK_LEASE_NOTICE ? 0 : 1);
        const uint8_t *request = server->last_request[SMB2_OPLOCK_BREAK];
        size_t size = server->last_request_size[SMB2_OPLOCK_BREAK] - SMB2_HEADER_SIZE;
        if (faults[i] == FAULT_BREAK_OPLOCK)
            assert_bytes(request + SMB2_HEADER_SIZE, size,
                         "1800 01 00 00000000 0102030405060708090a0b0c0d0e0f10");
        else if (faults[i] == FAULT_BREAK_LEASE)
            assert_bytes(request + SMB2_HEADER_SIZE, size,
                         "2400 0000 00000000 000102030405060708090a0b0c0d0e0f 03000000"
                         "0000000000000000");
        assert_content(server);
        both_end(&client, server);
    }
}

static void servers_that_will_not_do(void **state)
{
    (void)state;
    struct smb2_server *kind = server_new(&plain_311);
    static const unsigned types[] = {1, 2, 8};
    for (size_t i = 0; i < 3; i++) {
        kind->context_twice = types[i];
        assert_cause(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    }
    kind->context_twice = 0;
    /* Features that were not offered, and sizes that are too small (2.2.4). */
    kind->cipher = (enum smb2_cipher)5;
    assert_cause(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    kind->cipher = SMB2_CIPHER_AES128_GCM;
    kind->signing = (enum smb2_signing)3;
    assert_cause(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    kind->signing = SMB2_SIGNING_AES_GMAC;
    kind->io_max = 4095;
    assert_cause(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    kind->io_max = 4096;
    assert_ok("4 KiB", spoiled(kind, -1, FAULT_NONE, 0, NULL));
    kind->io_max = 0;
    kind->guest = true;
    assert_cause(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: logged on as guest");
    kind->guest = false;
    kind->no_contexts = true;
    assert_cause(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    kind->no_contexts = false;
    kind->cipher = SMB2_CIPHER_NONE;
    kind->encrypts = true;
    assert_cause(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: the server does not encrypt");
    kind->encrypts = false;
    kind->encrypts_share = true;
    assert_cause(spoiled(kind, -1, FAULT_NONE, 0, NULL),
                 "SMB2: no cipher in common for an encrypted share");
    kind->encrypts_share = false;
    static const uint16_t dialects[] = {0x0305, 0x02ff};
    for (size_t i = 0; i < 2; i++) {
        kind->dialect = dialects[i];
        assert_cause(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    }
    /* Before 3.1.1 the capabilities determine whether there is a cipher. */
    kind->dialect = 0x0302;
    kind->signing = SMB2_SIGNING_AES_CMAC;
    kind->encrypts = true;
    assert_cause(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: the server does not encrypt");
    kind->encrypts = false;
    kind->never_done = true;
    assert_cause(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: the logon does not end");
    free(kind);
}

/* Reads this many bytes several times; returns the credits that the last request used. */
static unsigned charge_of_read(const struct smb2_server *kind, const char *size)
{
    struct client client;
    struct smb2_server *server = server_new(kind);
    server_start(server);
    client_begin(&client, server);
    for (int i = 0; i < 3; i++)
        assert_ok("read", play_with(&client, "smb2", "8", "size", size));
    assert_ok("write", play_with(&client, "smb2", "9", "size", size));
    assert_content(server);
    unsigned charge = le_get16(server->last_request[SMB2_READ] + 6);
    both_end(&client, server);
    return charge;
}

static void large_requests_are_paid_for(void **state)
{
    (void)state;
    struct smb2_server *kind = server_new(&plain_311);
    assert_int_equal(charge_of_read(kind, "1"), 1);
    assert_int_equal(charge_of_read(kind, "65536"), 1);
    assert_int_equal(charge_of_read(kind, "65537"), 2);
    assert_int_equal(charge_of_read(kind, "1048576"), 16);
    kind->io_max = 100000;
    assert_int_equal(charge_of_read(kind, "1048576"), 2);
    kind->io_max = 0;
    kind->credits_most = 4; /* one is kept for an acknowledgement */
    assert_int_equal(charge_of_read(kind, "1048576"), 3);
    kind->fault = FAULT_BREAK_OPLOCK;
    kind->fault_command = SMB2_READ;
    /* The second read precedes the reply to the acknowledgement of the first. */
    assert_int_equal(charge_of_read(kind, "1048576"), 2);
    kind->fault = FAULT_NONE;
    kind->credits_most = 0;
    kind->no_multi_credit = true;
    assert_int_equal(charge_of_read(kind, "1048576"), 0);
    kind->no_multi_credit = false;
    kind->dialect = 0x0202;
    kind->signing = SMB2_SIGNING_HMAC_SHA256;
    assert_int_equal(charge_of_read(kind, "1048576"), 0);
    free(kind);
}

/* The answer to an SMB1 negotiate must be 2.0.2 or the wildcard. */
static void smb1_negotiate_leads_nowhere(void **state)
{
    (void)state;
    struct client client;
    struct smb2_server *server = server_new(&plain_311);
    server->smb1_dialect = 0x0210;
    server_start(server);
    client_begin(&client, server);
    assert_cause(play_with(&client, "smb", "0x72", NULL, NULL),
                 "SMB2: malformed NEGOTIATE response");
    both_end(&client, server);
}

/* Replies with more data than requested, or that claim to have written more than was sent. */
static void more_than_there_is(void **state)
{
    (void)state;
    static const char *const opcodes[] = {"8", "9"};
    for (size_t i = 0; i < 2; i++) {
        struct client client;
        struct smb2_server *server = server_new(&plain_311);
        server->too_much = 1;
        server_start(server);
        client_begin(&client, server);
        assert_cause(play_with(&client, "smb2", opcodes[i], "size", "10"), "SMB2: malformed reply");
        both_end(&client, server);
    }
}

/* 2.2.13.2.8 and .10: 32 bytes before dialect 3.0, 52 since; none in 2.0.2. */
static void leases_of_each_dialect(void **state)
{
    (void)state;
    static const struct {
        uint16_t dialect;
        uint8_t oplock;
        uint32_t contexts;
    } rows[] = {{0x0202, 0x01, 0}, {0x0210, 0xff, 24 + 32}, {0x0300, 0xff, 24 + 52}};
    for (size_t i = 0; i < 3; i++) {
        struct client client;
        struct smb2_server *server = server_new(&plain_311);
        server->dialect = rows[i].dialect;
        server->cipher = SMB2_CIPHER_NONE;
        server_start(server);
        client_begin(&client, server);
        assert_ok("create", play_with(&client, "smb2", "5", "lease", "rh"));
        const uint8_t *body = server->last_request[SMB2_CREATE] + SMB2_HEADER_SIZE;
        assert_int_equal(body[3], rows[i].oplock);
        assert_int_equal(le_get32(body + 52), rows[i].contexts);
        both_end(&client, server);
    }
}

/* The numbers of trees and files are limited. Files that end with their tree are opened again. */
static void trees_and_files_in_hand(void **state)
{
    (void)state;
    struct client client;
    struct smb2_server *server = server_new(&plain_311);
    server_start(server);
    client_begin(&client, server);
    assert_ok("read", play(&client, "8"));
    assert_ok("tree disconnect", play(&client, "4"));
    assert_ok("read", play(&client, "8"));
    assert_int_equal(server->requests[SMB2_CREATE], 2);
    /* Closing the second file does not bring back the first. */
    assert_ok("close", play(&client, "6"));
    assert_ok("read", play(&client, "8"));
    assert_int_equal(server->requests[SMB2_CREATE], 3);
    for (unsigned i = 1; i < SMB2_TREES_MAX; i++)
        assert_ok("tree connect", play(&client, "3"));
    assert_int_equal(server->requests[SMB2_TREE_DISCONNECT], 1);
    assert_ok("tree connect", play(&client, "3"));
    assert_int_equal(server->requests[SMB2_TREE_DISCONNECT], 2);
    assert_ok("read", play(&client, "8"));
    assert_int_equal(server->requests[SMB2_CREATE], 4);
    for (unsigned i = 1; i < SMB2_OPENS_MAX; i++)
        assert_ok("create", play(&client, "5"));
    assert_int_equal(server->requests[SMB2_CLOSE], 1);
    assert_ok("create", play(&client, "5"));
    assert_int_equal(server->requests[SMB2_CLOSE], 2);
    assert_content(server);
    both_end(&client, server);
}

/* A server that grants no credits is reported; nothing waits for it. */
static void credits_run_out(void **state)
{
    (void)state;
    struct client client;
    struct smb2_server *server = server_new(&plain_311);
    server->fault = FAULT_NO_CREDIT;
    server->fault_command = SMB2_ECHO;
    server_start(server);
    client_begin(&client, server);
    struct outcome outcome = outcome_ok();
    int echos = 0;
    for (; outcome.kind == OUTCOME_OK && echos < 500; echos++)
        outcome = play(&client, "13");
    assert_cause(outcome, "SMB2: the server grants too few credits");
    assert_true(echos > 30);
    both_end(&client, server);
}

/* An expired or unknown session is set up again once, not forever. */
static void ended_sessions(void **state)
{
    (void)state;
    static const uint32_t statuses[] = {0xc0000203, 0xc000035c};
    for (size_t i = 0; i < 2; i++) {
        struct client client;
        struct smb2_server *server = server_new(&plain_311);
        server->requires_signing = true;
        server->fault_command = SMB2_READ;
        server_start(server);
        client_begin(&client, server);
        assert_ok("read", play(&client, "8"));
        assert_int_equal(server->requests[SMB2_SESSION_SETUP], 2);
        server->fault_at = statuses[i];
        server->fault = FAULT_STATUS;
        assert_int_equal(play(&client, "8").kind, OUTCOME_FAILED);
        assert_int_equal(server->requests[SMB2_SESSION_SETUP], 4);
        assert_int_equal(server->requests[SMB2_READ], 3);
        server->fault = FAULT_NONE;
        assert_ok("read", play(&client, "8"));
        assert_int_equal(server->connections, 1);
        both_end(&client, server);
    }
}

/* The same for a tree whose share the server closed, with its files, and for a closed file. */
static void ended_trees_and_files(void **state)
{
    (void)state;
    static const struct {
        uint32_t status;
        unsigned trees; /* connected again each time */
    } rows[] = {{0xc00000c9, 1}, {0xc0000128, 0}};
    for (unsigned i = 0; i < 2; i++) {
        struct client client;
        struct smb2_server *server = server_new(&plain_311);
        server->fault_command = SMB2_READ;
        server_start(server);
        client_begin(&client, server);
        assert_ok("read", play(&client, "8"));
        server->fault_at = rows[i].status;
        server->fault = FAULT_STATUS;
        assert_int_equal(play(&client, "8").kind, OUTCOME_FAILED);
        assert_int_equal(server->requests[SMB2_READ], 3);
        assert_int_equal(server->requests[SMB2_CREATE], 2);
        assert_int_equal(server->requests[SMB2_TREE_CONNECT], 1 + rows[i].trees);
        server->fault = FAULT_NONE;
        assert_ok("read", play(&client, "8"));
        assert_int_equal(server->requests[SMB2_CREATE], 3);
        assert_int_equal(server->requests[SMB2_TREE_CONNECT], 1 + 2 * rows[i].trees);
        assert_int_equal(server->requests[SMB2_SESSION_SETUP], 2);
        assert_int_equal(server->connections, 1);
        both_end(&client, server);
    }
}

/* No request exceeds the server's maximum. */
static void small_transactions(void **state)
{
    (void)state;
    struct client client;
    struct smb2_pipe *pipe;
    uint8_t *reply = NULL;
    size_t size = 0;
    struct smb2_server *server = server_new(&plain_311);
    server->io_max = 4096;
    server->pipe_size = 9000;
    server->pipe_part = 1000;
    server_start(server);
    client_begin(&client, server);
    assert_ok("query info", play(&client, "16"));
    assert_ok("query directory", play(&client, "14"));
    assert_ok("referral", play(&client, "11"));
    assert_ok("open", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &pipe));
    const uint8_t *info = server->last_request[SMB2_QUERY_INFO] + SMB2_HEADER_SIZE;
    const uint8_t *directory = server->last_request[SMB2_QUERY_DIRECTORY] + SMB2_HEADER_SIZE;
    const uint8_t *ioctl = server->last_request[SMB2_IOCTL] + SMB2_HEADER_SIZE;
    const uint8_t *read = server->last_request[SMB2_READ] + SMB2_HEADER_SIZE;
    assert_int_equal(le_get32(info + 4), 4096);
    assert_int_equal(le_get32(directory + 28), 4096);
    assert_int_equal(le_get32(ioctl + 44), 4096);
    assert_ok("transceive", smb2_pipe_transceive(pipe, (const uint8_t *)"abc", 3, &reply, &size));
    assert_int_equal(size, 9000);
    assert_int_equal(le_get32(ioctl + 44), 4096);
    assert_int_equal(le_get32(read + 4), 4096);
    free(reply);
    smb2_pipe_free(pipe);
    both_end(&client, server);
}

/* After a broken connection the next packet opens another. */
static void next_packet_after_a_broken_connection(void **state)
{
    (void)state;
    struct client client;
    struct smb2_server *server = server_new(&plain_311);
    server->fault = FAULT_CLOSE;
    server->fault_command = SMB2_READ;
    server_start(server);
    client_begin(&client, server);
    assert_int_equal(play(&client, "8").kind, OUTCOME_FAILED);
    server->fault = FAULT_NONE;
    assert_ok("read", play(&client, "8"));
    assert_int_equal(server->connections, 2);
    both_end(&client, server);
}

static void wrong_password(void **state)
{
    (void)state;
    struct client client;
    struct smb2_server *server = server_new(&plain_311);
    server_start(server);
    client_begin(&client, server);
    client.dc->options.badpassword_frequency = 1;
    for (unsigned i = 0; i < 4; i++) {
        assert_ok("session setup", play(&client, "1"));
        assert_int_equal(client.conversation.expected_failures, i % 2 == 0 ? 1 : 0);
    }
    client.dc->options.badpassword_frequency = 0;
    client.user.nt_hash[0] ^= 1;
    assert_cause(play(&client, "1"), "NT_STATUS_LOGON_FAILURE");
    both_end(&client, server);
}

static void long_pipe_messages(void **state)
{
    (void)state;
    static const struct {
        size_t size, part;
    } rows[] = {{68, 0}, {68, 1}, {4280, 1024}, {300000, 4000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct client client;
        struct smb2_pipe *pipe;
        uint8_t *reply = NULL;
        size_t size = 0;
        struct smb2_server *server = server_new(&plain_311);
        server->pipe_size = rows[i].size;
        server->pipe_part = rows[i].part;
        server_start(server);
        client_begin(&client, server);
        assert_ok("open", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &pipe));
        assert_ok("transceive",
                  smb2_pipe_transceive(pipe, (const uint8_t *)"abc", 3, &reply, &size));
        assert_int_equal(size, rows[i].size);
        free(reply);
        smb2_pipe_free(pipe);
        both_end(&client, server);
    }
}

/* Even if the next session's tree has the same number. */
static void pipes_go_with_their_session(void **state)
{
    (void)state;
    struct client client;
    struct smb2_pipe *pipe;
    struct smb2_server *server = server_new(&plain_311);
    server_start(server);
    client_begin(&client, server);
    assert_ok("open", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &pipe));
    assert_true(smb2_pipe_is_open(pipe));
    assert_ok("session setup", play(&client, "1"));
    assert_ok("tree connect", play(&client, "3"));
    assert_false(smb2_pipe_is_open(pipe));
    smb2_pipe_free(pipe);
    both_end(&client, server);
}

/* An empty part that announces more; a message that was written only in part. */
static void pipes_that_go_wrong(void **state)
{
    (void)state;
    struct client client;
    struct smb2_pipe *pipe;
    uint8_t *reply = NULL;
    size_t size = 0;
    struct smb2_server *server = server_new(&plain_311);
    server->pipe_size = 0;
    server->fault = FAULT_OTHER_STATUS;
    server->fault_command = SMB2_IOCTL;
    server->fault_at = 0x80000005;
    server->too_much = -1;
    server_start(server);
    client_begin(&client, server);
    assert_ok("open", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &pipe));
    assert_cause(smb2_pipe_transceive(pipe, (const uint8_t *)"abc", 3, &reply, &size),
                 "SMB2: pipe message does not end");
    assert_cause(smb2_pipe_write(pipe, (const uint8_t *)"abc", 3),
                 "SMB2: pipe took part of a message");
    smb2_pipe_free(pipe);
    both_end(&client, server);
}

static void endless_pipe_message(void **state)
{
    (void)state;
    struct client client;
    struct smb2_pipe *pipe;
    uint8_t *reply = NULL;
    size_t size = 0;
    struct smb2_server *server = server_new(&plain_311);
    server->pipe_size = SMB2_MESSAGE_MAX + 1;
    server->pipe_part = 50000;
    server_start(server);
    client_begin(&client, server);
    assert_ok("open", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &pipe));
    assert_cause(smb2_pipe_transceive(pipe, (const uint8_t *)"abc", 3, &reply, &size),
                 "SMB2: pipe message is too long");
    smb2_pipe_free(pipe);
    both_end(&client, server);
}

/* Each share contains one file, "ab". */
static void survey(void **state)
{
    (void)state;
    static const struct {
        enum server_fault fault;
        int command;
        size_t at;
        unsigned skip;
        const char *error; /* NULL: success, with this many files */
        size_t policies, scripts;
    } rows[] = {
        {FAULT_NONE, -1, 0, 0, NULL, 1, 1},
        /* The file in SYSVOL (the second CREATE) is not readable and skipped. */
        {FAULT_STATUS, SMB2_CREATE, 0xc0000022, 1,
         "reading NETLOGON over SMB2: NT_STATUS_ACCESS_DENIED", 0, 0},
        {FAULT_STATUS, SMB2_TREE_CONNECT, 0xc00000cc, 0,
         "reading SYSVOL over SMB2: NT_STATUS_BAD_NETWORK_NAME", 0, 0},
        {FAULT_CLOSE, SMB2_CREATE, 0, 1,
         "reading SYSVOL over SMB2: connection closed in mid-message", 0, 0},
        {FAULT_CUT, SMB2_QUERY_DIRECTORY, 100, 0, "reading SYSVOL over SMB2: SMB2: malformed reply",
         0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct client client;
        struct smb2_shared_files *files = NULL;
        struct error error = {0};
        struct smb2_server *server = server_new(&plain_311);
        server->fault = rows[i].fault;
        server->fault_command = rows[i].command;
        server->fault_at = rows[i].at;
        server->fault_skip = rows[i].skip;
        server_start(server);
        client_begin(&client, server);
        int rc = smb2_survey(&client.conversation, &files, &error);
        assert_string_equal(error.text, rows[i].error ? rows[i].error : "");
        assert_int_equal(rc == 0, rows[i].error == NULL);
        assert_int_equal(smb2_shared_files_count(files, SMB2_SHARED_POLICY), rows[i].policies);
        assert_int_equal(smb2_shared_files_count(files, SMB2_SHARED_SCRIPT), rows[i].scripts);
        assert_int_equal(smb2_shared_files_count(files, SMB2_SHARED_DIRECTORY), 0);
        if (rc == 0)
            assert_string_equal(smb2_shared_files_pick(files, SMB2_SHARED_SCRIPT, 5)->path, "ab");
        assert_null(smb2_shared_files_pick(files, SMB2_SHARED_DIRECTORY, 5));
        smb2_shared_files_free(files);
        both_end(&client, server);
    }
}

/* A share that refuses is a usage error; a server that does not answer is not. */
static void shares_are_checked(void **state)
{
    (void)state;
    static const struct {
        enum server_fault fault;
        int command;
        size_t at;
        const char *error; /* "": not refused */
    } rows[] = {
        {FAULT_NONE, -1, 0, ""},
        {FAULT_STATUS, SMB2_TREE_CONNECT, 0xc00000cc,
         "--smb-share: cannot connect to share \"scratch\": NT_STATUS_BAD_NETWORK_NAME"},
        {FAULT_STATUS, SMB2_CREATE, 0xc0000022,
         "--smb-share: a test user cannot write to share \"scratch\": NT_STATUS_ACCESS_DENIED"},
        {FAULT_STATUS, SMB2_SESSION_SETUP, 0xc000006d, ""},
        {FAULT_CLOSE, SMB2_TREE_CONNECT, 0, ""},
        {FAULT_CUT, SMB2_CREATE, 100, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct client client;
        struct error error = {0};
        struct smb2_server *server = server_new(&plain_311);
        server->fault = rows[i].fault;
        server->fault_command = rows[i].command;
        server->fault_at = rows[i].at;
        server_start(server);
        client_begin(&client, server);
        int rc = smb2_check_share(&client.conversation, &error);
        assert_string_equal(error.text, rows[i].error);
        assert_int_equal(rc, rows[i].error[0] ? -EINVAL : 0);
        both_end(&client, server);
    }
}

static void directory_entries(void **state)
{
    (void)state;
    uint8_t listing[256] = {0};
    struct smb2_entry entry;
    size_t at = 0, size = 72 + 66;
    le_put32(listing, 72);
    le_put64(listing + 40, 1234);
    le_put32(listing + 56, 0x10);
    le_put32(listing + 60, 4);
    le_put32(listing + 72 + 60, 2);
    assert_int_equal(smb2_entry_next(listing, size, &at, &entry), 1);
    assert_int_equal(entry.end_of_file, 1234);
    assert_int_equal(entry.attributes, 0x10);
    assert_int_equal(entry.name.size, 4);
    assert_int_equal(smb2_entry_next(listing, size, &at, &entry), 1);
    assert_int_equal(entry.name.size, 2);
    assert_int_equal(smb2_entry_next(listing, size, &at, &entry), 0);
    for (size_t cut = 1; cut < size; cut++) {
        uint8_t *copy = bytes_exact(listing, cut);
        int rc;
        at = 0;
        while ((rc = smb2_entry_next(copy, cut, &at, &entry)) == 1) {
        }
        assert_int_equal(rc, cut == 72 ? 0 : -EBADMSG);
        free(copy);
    }
    le_put32(listing, 65); /* the next entry inside this one's name */
    at = 0;
    assert_int_equal(smb2_entry_next(listing, size, &at, &entry), -EBADMSG);
}

static void dfs_referrals(void **state)
{
    (void)state;
    uint8_t data[64];
    unsigned count;
    size_t size =
        bytes_from_hex("0000 0200 00000000 0300 0c00 00000000 00000000 0100 0800 00000000", data);
    assert_int_equal(smb2_dfs_referrals_decode(data, size, &count), 0);
    assert_int_equal(count, 2);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *copy = bytes_exact(data, cut);
        assert_int_equal(smb2_dfs_referrals_decode(copy, cut, &count), -EBADMSG);
        free(copy);
    }
    data[10] = 0; /* a referral without a length */
    assert_int_equal(smb2_dfs_referrals_decode(data, size, &count), -EBADMSG);
}

static void wrong_details(void **state)
{
    (void)state;
    static const struct {
        const char *opcode, *key, *value, *error;
    } rows[] = {
        {"3", "share", "c$", "share: expected one of ipc, sysvol, netlogon, other, found \"c$\""},
        {"5", "file", "", "file: expected one of policy, script, dir, pipe, other, found \"\""},
        {"5", "access", "-1", "access: expected a whole number from 0 to 4294967295, found \"-1\""},
        {"5", "access", "0x100000000",
         "access: expected a whole number from 0 to 4294967295, found \"0x100000000\""},
        {"5", "oplock", "9",
         "oplock: expected one of none, level2, exclusive, batch, lease, found \"9\""},
        {"5", "lease", "w", "lease: expected one of none, r, rh, rw, rwh, found \"w\""},
        {"8", "size", "0", "size: expected a whole number from 1 to 4294967295, found \"0\""},
        {"8", "size", "1k", "size: expected a whole number from 1 to 4294967295, found \"1k\""},
        {"9", "size", "16777217",
         "size: expected a whole number from 1 to 16777216, found \"16777217\""},
        {"14", "class", "256", "class: expected a whole number from 1 to 255, found \"256\""},
        {"16", "class", "0x500", "class: expected a whole number from 1 to 1279, found \"0x500\""},
        {"16", "level", "1", "\"level\" is no field of smb2:16"},
    };
    struct form form;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct packet_field field = {rows[i].key, 1, &rows[i].value};
        struct error error = {0};
        assert_false(form_compile(&form, "smb2", rows[i].opcode, &field, 1, &error));
        form_release(&form);
        assert_string_equal(error.text, rows[i].error);
    }
    const char *two[] = {"1", "2"};
    struct packet_field field = {"size", 2, two};
    struct error error = {0};
    assert_false(form_compile(&form, "smb2", "8", &field, 1, &error));
    form_release(&form);
    assert_string_equal(error.text, "size: expected one value, found 2");
}

/* Rights that no user has on SYSVOL and NETLOGON, and oplocks that need an answer while idle, are
 * requested only for the conversation's own file. */
static void shared_files_are_opened_to_be_read(void **state)
{
    (void)state;
    static const struct {
        const char *file, *oplock, *lease;
        uint8_t wanted_oplock;
        uint32_t wanted_access, wanted_lease;
    } rows[] = {
        {"policy", "batch", NULL, SMB2_OPLOCK_II, 0x00120089, 0},
        {"policy", NULL, "rwh", SMB2_OPLOCK_LEASE, 0x00120089, 3},
        {"other", "batch", NULL, SMB2_OPLOCK_BATCH, 0x501fffff, 0},
        {"other", NULL, "rwh", SMB2_OPLOCK_LEASE, 0x501fffff, 7},
        {"pipe", "batch", NULL, SMB2_OPLOCK_NONE, 0x501fffff, 0},
    };
    static const char *const all_rights[] = {"0x501fffff"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct client client;
        struct smb2_server *server = server_new(&plain_311);
        const char *const file[] = {rows[i].file};
        const char *const oplock[] = {rows[i].oplock ? rows[i].oplock : rows[i].lease};
        struct packet_field fields[] = {{"file", 1, file},
                                        {"access", 1, all_rights},
                                        {rows[i].oplock ? "oplock" : "lease", 1, oplock}};
        server_start(server);
        client_begin(&client, server);
        assert_ok("create", form_play(&client.conversation, "smb2", "5", fields, 3, timeout));
        const uint8_t *body = server->last_request[SMB2_CREATE] + SMB2_HEADER_SIZE;
        assert_int_equal(body[3], rows[i].wanted_oplock);
        if (strcmp(rows[i].file, "policy") == 0)
            assert_int_equal(le_get32(body + 24) & 0x500d0156, 0);
        else
            assert_int_equal(le_get32(body + 24) & 0x501fffff, 0x501fffff);
        if (rows[i].wanted_lease) {
            size_t context = le_get32(body + 48);
            assert_int_equal(le_get32(server->last_request[SMB2_CREATE] + context + 40),
                             rows[i].wanted_lease);
        }
        both_end(&client, server);
    }
}

static void writing_needs_a_share(void **state)
{
    (void)state;
    const struct packet_row *write = packet_row_find("smb2", "9");
    struct dc_options options = {.smb_share = NULL};
    assert_false(packet_is_available(write, &options));
    options.smb_share = "scratch";
    assert_true(packet_is_available(write, &options));
    assert_int_equal(packet_row_find("smb", "0x73")->kind, PACKET_SILENT);
    assert_null(packet_row_find("smb2", "7"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packet_in_every_dialect),
        cmocka_unit_test(smb1_negotiate_leads_to_smb2),
        cmocka_unit_test(both_sessions_on_one_connection),
        cmocka_unit_test(requests_as_bytes),
        cmocka_unit_test(headers_of_requests),
        cmocka_unit_test(replies_cut_at_every_length),
        cmocka_unit_test(replies_flipped_by_the_server),
        cmocka_unit_test(flips_on_the_way_are_seen_by_signatures),
        cmocka_unit_test(flips_on_the_way_are_seen_by_decryption),
        cmocka_unit_test(faults_are_told),
        cmocka_unit_test(breaks_are_acknowledged),
        cmocka_unit_test(servers_that_will_not_do),
        cmocka_unit_test(large_requests_are_paid_for),
        cmocka_unit_test(smb1_negotiate_leads_nowhere),
        cmocka_unit_test(more_than_there_is),
        cmocka_unit_test(leases_of_each_dialect),
        cmocka_unit_test(trees_and_files_in_hand),
        cmocka_unit_test(pipes_go_with_their_session),
        cmocka_unit_test(pipes_that_go_wrong),
        cmocka_unit_test(credits_run_out),
        cmocka_unit_test(ended_sessions),
        cmocka_unit_test(ended_trees_and_files),
        cmocka_unit_test(small_transactions),
        cmocka_unit_test(next_packet_after_a_broken_connection),
        cmocka_unit_test(wrong_password),
        cmocka_unit_test(long_pipe_messages),
        cmocka_unit_test(endless_pipe_message),
        cmocka_unit_test(survey),
        cmocka_unit_test(shares_are_checked),
        cmocka_unit_test(directory_entries),
        cmocka_unit_test(dfs_referrals),
        cmocka_unit_test(wrong_details),
        cmocka_unit_test(shared_files_are_opened_to_be_read),
        cmocka_unit_test(writing_needs_a_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
