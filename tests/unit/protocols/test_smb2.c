/* SPDX-License-Identifier: Apache-2.0 */
/* The SMB2 client against a small server: requests, credits, sessions, trees, files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/little_endian.h"
#include "protocols/smb2/smb2_negotiate.h"
#include "protocols/smb2/smb2_private.h"
#include "tests/lib/bytes.h"
#include "tests/lib/servers/smb2_client.h"

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
            struct smb2_client client;
            if (way >= ENCRYPTS && rows[i].cipher == SMB2_CIPHER_NONE)
                continue;
            struct smb2_server *server = smb2_server_new(&smb2_plain_311);
            server->dialect = rows[i].dialect;
            server->cipher = rows[i].cipher;
            server->signing = rows[i].signing;
            server->requires_signing = way == SIGNS;
            server->encrypts = way == ENCRYPTS;
            server->encrypts_share = way == SHARE_ENCRYPTS;
            smb2_both_begin(&client, server);
            client.dc->options.smb_encrypt = way == CLIENT_ENCRYPTS;
            for (size_t p = 0; p < SMB2_ALL_OPCODES; p++) {
                char what[64];
                snprintf(what, sizeof what, "row %zu, way %d, smb2:%s", i, way,
                         smb2_all_opcodes[p]);
                assert_ok_for(what, smb2_client_play(&client, smb2_all_opcodes[p]));
            }
            assert_int_equal(server->connections, 1);
            smb2_server_assert_content(server);
            smb2_both_end(&client, server);
        }
}

static void smb1_negotiate_leads_to_smb2(void **state)
{
    (void)state;
    static const uint16_t dialects[] = {0x0202, 0x0210, 0x0311};
    for (size_t i = 0; i < 3; i++) {
        struct smb2_client client;
        struct smb2_server *server = smb2_server_new(&smb2_plain_311);
        server->dialect = dialects[i];
        server->signing = dialects[i] == 0x0311 ? SMB2_SIGNING_AES_GMAC : SMB2_SIGNING_HMAC_SHA256;
        server->requires_signing = true;
        smb2_both_begin(&client, server);
        assert_ok_for("smb:0x72", smb2_client_play_with(&client, "smb", "0x72", NULL, NULL));
        assert_int_equal(server->requests[SMB2_NEGOTIATE], dialects[i] == 0x0202 ? 0 : 1);
        assert_int_equal(client.conversation.smb2->connection->dialect, dialects[i]);
        assert_ok_for("smb2:5", smb2_client_play(&client, "5"));
        smb2_server_assert_content(server);
        smb2_both_end(&client, server);
    }
}

static void both_sessions_on_one_connection(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_pipe *users, *machines;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    smb2_both_begin(&client, server);
    client.conversation.machine = &client.user; /* the server knows one account */
    assert_ok_for("user", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &users));
    assert_ok_for("machine",
                  smb2_pipe_open(&client.conversation, SMB2_MACHINE, "lsarpc", &machines));
    assert_int_equal(server->connections, 1);
    assert_int_equal(server->requests[SMB2_SESSION_SETUP], 4);
    assert_true(smb2_pipe_is_open(users) && smb2_pipe_is_open(machines));
    smb2_pipe_free(users);
    smb2_pipe_free(machines);
    smb2_both_end(&client, server);
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
    {SMB2_FLUSH, "7", NULL, NULL, "18000000000000000102030405060708090a0b0c0d0e0f10"},
    {SMB2_LOCK, "10", NULL, NULL,
     "30000100000000000102030405060708090a0b0c0d0e0f1000000000000000000100000000000000"
     "1200000000000000"},
    {SMB2_SET_INFO, "17", NULL, NULL,
     "210001042800000060000000000000000102030405060708090a0b0c0d0e0f10"
     "00000000000000000000000000000000000000000000000000000000000000000000000000000000"},
    {SMB2_SET_INFO, "17", "class", "allocation",
     "210001130800000060000000000000000102030405060708090a0b0c0d0e0f10b80b000000000000"},
    {SMB2_SET_INFO, "17", "class", "end_of_file",
     "210001140800000060000000000000000102030405060708090a0b0c0d0e0f10b80b000000000000"},
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
        struct smb2_client client;
        struct smb2_server *server = smb2_server_new(&smb2_plain_311);
        smb2_both_begin(&client, server);
        assert_ok_for(golden[i].opcode, smb2_client_play_with(&client, "smb2", golden[i].opcode,
                                                              golden[i].key, golden[i].value));
        smb2_client_end(&client);
        smb2_server_stop(server);
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

static void a_lock_is_taken_back_by_the_next(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    smb2_both_begin(&client, server);
    static const uint32_t flags[] = {0x12, 4, 0x12};
    for (size_t i = 0; i < 3; i++) {
        assert_ok_for("lock", smb2_client_play(&client, "10"));
        assert_int_equal(le_get32(server->last_request[SMB2_LOCK] + 64 + 40), flags[i]);
    }
    assert_int_equal(server->requests[SMB2_CREATE], 1);
    smb2_both_end(&client, server);
}

/* --smb-dialect: no contexts without 3.1.1, and no dialect that was not offered. */
static void only_dialects_up_to_the_highest_wanted_are_offered(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    server->dialect = 0x0210;
    server->signing = SMB2_SIGNING_HMAC_SHA256;
    server->cipher = SMB2_CIPHER_NONE;
    smb2_both_begin(&client, server);
    client.dc->options.smb_dialect = 0x0210;
    assert_ok_for("echo", smb2_client_play(&client, "13"));
    const uint8_t *body = server->last_request[SMB2_NEGOTIATE] + 64;
    assert_int_equal(le_get16(body + 2), 2);
    assert_int_equal(le_get64(body + 28), 0);
    assert_int_equal(le_get16(body + 36), 0x0202);
    assert_int_equal(le_get16(body + 38), 0x0210);
    assert_int_equal(server->last_request_size[SMB2_NEGOTIATE], 64 + 40);
    conversation_reset(&client.conversation);
    client.dc->options.smb_dialect = 0x0202;
    struct outcome outcome = smb2_client_play(&client, "13");
    assert_string_equal(outcome.cause, "SMB2: malformed NEGOTIATE response");
    smb2_both_end(&client, server);
}

/* --smb-signing required: the server would not require it. */
static void signing_can_be_required_by_the_client(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    smb2_both_begin(&client, server);
    assert_ok_for("read", smb2_client_play_with(&client, "smb2", "8", "size", "10"));
    assert_int_equal(le_get32(server->last_request[SMB2_READ] + 16) & SMB2_FLAGS_SIGNED, 0);
    assert_int_equal(le_get16(server->last_request[SMB2_NEGOTIATE] + 64 + 4), 1);
    conversation_reset(&client.conversation);
    client.dc->options.smb_sign = true;
    assert_ok_for("read", smb2_client_play_with(&client, "smb2", "8", "size", "10"));
    assert_int_equal(le_get32(server->last_request[SMB2_READ] + 16) & SMB2_FLAGS_SIGNED,
                     SMB2_FLAGS_SIGNED);
    assert_int_equal(le_get16(server->last_request[SMB2_NEGOTIATE] + 64 + 4), 3);
    smb2_both_end(&client, server);
}

/* The reply's bytes, and each request; not those of a pipe. */
static void bytes_and_requests_are_counted_per_packet(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    smb2_both_begin(&client, server);
    const struct wire_data *data = &client.conversation.wire.data;
    assert_ok_for("write", smb2_client_play_with(&client, "smb2", "9", "size", "70000"));
    assert_int_equal(data->written, 70000);
    assert_int_equal(data->read, 0);
    assert_ok_for("read", smb2_client_play_with(&client, "smb2", "8", "size", "512"));
    assert_int_equal(data->read, 512);
    assert_int_equal(data->written, 0);
    assert_int_equal(data->requests, 1);
    assert_ok_for("echo", smb2_client_play(&client, "13"));
    assert_int_equal(data->read, 0);
    assert_int_equal(data->requests, 1);
    smb2_both_end(&client, server);
}

/* Message ids, credits and charges of consecutive requests. */
static void headers_of_requests(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    smb2_both_begin(&client, server);
    assert_ok_for("read", smb2_client_play_with(&client, "smb2", "8", "size", "200000"));
    const uint8_t *request = server->last_request[SMB2_READ];
    assert_bytes(request, 12, "fe534d42 4000 0400 00000000"); /* four credits for 200,000 bytes */
    assert_int_equal(le_get16(request + 12), SMB2_READ);
    assert_int_equal(le_get64(request + 24), 5); /* negotiate, two legs, tree, create */
    assert_int_equal(le_get32(request + 36), 0x77);
    assert_int_equal(le_get64(request + 40), UINT64_C(0x4000000123));
    assert_ok_for("echo", smb2_client_play(&client, "13"));
    assert_int_equal(le_get64(server->last_request[SMB2_ECHO] + 24), 9);
    smb2_both_end(&client, server);
}

/* Reads this many bytes several times; returns the credits that the last request used. */
static unsigned charge_of_read(const struct smb2_server *kind, const char *size)
{
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(kind);
    smb2_both_begin(&client, server);
    for (int i = 0; i < 3; i++)
        assert_ok_for("read", smb2_client_play_with(&client, "smb2", "8", "size", size));
    assert_ok_for("write", smb2_client_play_with(&client, "smb2", "9", "size", size));
    smb2_server_assert_content(server);
    unsigned charge = le_get16(server->last_request[SMB2_READ] + 6);
    smb2_both_end(&client, server);
    return charge;
}

static void large_requests_are_paid_for(void **state)
{
    (void)state;
    struct smb2_server *kind = smb2_server_new(&smb2_plain_311);
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
        struct smb2_client client;
        struct smb2_server *server = smb2_server_new(&smb2_plain_311);
        server->dialect = rows[i].dialect;
        server->cipher = SMB2_CIPHER_NONE;
        smb2_both_begin(&client, server);
        assert_ok_for("create", smb2_client_play_with(&client, "smb2", "5", "lease", "rh"));
        const uint8_t *body = server->last_request[SMB2_CREATE] + SMB2_HEADER_SIZE;
        assert_int_equal(body[3], rows[i].oplock);
        assert_int_equal(le_get32(body + 52), rows[i].contexts);
        smb2_both_end(&client, server);
    }
}

/* The numbers of trees and files are limited. Files that end with their tree are opened again. */
static void trees_and_files_in_hand(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    smb2_both_begin(&client, server);
    assert_ok_for("read", smb2_client_play(&client, "8"));
    assert_ok_for("tree disconnect", smb2_client_play(&client, "4"));
    assert_ok_for("read", smb2_client_play(&client, "8"));
    assert_int_equal(server->requests[SMB2_CREATE], 2);
    /* Closing the second file does not bring back the first. */
    assert_ok_for("close", smb2_client_play(&client, "6"));
    assert_ok_for("read", smb2_client_play(&client, "8"));
    assert_int_equal(server->requests[SMB2_CREATE], 3);
    for (unsigned i = 1; i < SMB2_TREES_MAX; i++)
        assert_ok_for("tree connect", smb2_client_play(&client, "3"));
    assert_int_equal(server->requests[SMB2_TREE_DISCONNECT], 1);
    assert_ok_for("tree connect", smb2_client_play(&client, "3"));
    assert_int_equal(server->requests[SMB2_TREE_DISCONNECT], 2);
    assert_ok_for("read", smb2_client_play(&client, "8"));
    assert_int_equal(server->requests[SMB2_CREATE], 4);
    for (unsigned i = 1; i < SMB2_OPENS_MAX; i++)
        assert_ok_for("create", smb2_client_play(&client, "5"));
    assert_int_equal(server->requests[SMB2_CLOSE], 1);
    assert_ok_for("create", smb2_client_play(&client, "5"));
    assert_int_equal(server->requests[SMB2_CLOSE], 2);
    smb2_server_assert_content(server);
    smb2_both_end(&client, server);
}

/* A server that grants no credits is reported; nothing waits for it. */
static void credits_run_out(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    server->fault = FAULT_NO_CREDIT;
    server->fault_command = SMB2_ECHO;
    smb2_both_begin(&client, server);
    struct outcome outcome = outcome_ok();
    int echos = 0;
    for (; outcome.kind == OUTCOME_OK && echos < 500; echos++)
        outcome = smb2_client_play(&client, "13");
    assert_failed(outcome, "SMB2: the server grants too few credits");
    assert_true(echos > 30);
    smb2_both_end(&client, server);
}

/* An expired or unknown session is set up again once, not forever. */
static void ended_sessions(void **state)
{
    (void)state;
    static const uint32_t statuses[] = {0xc0000203, 0xc000035c};
    for (size_t i = 0; i < 2; i++) {
        struct smb2_client client;
        struct smb2_server *server = smb2_server_new(&smb2_plain_311);
        server->requires_signing = true;
        server->fault_command = SMB2_READ;
        smb2_both_begin(&client, server);
        assert_ok_for("read", smb2_client_play(&client, "8"));
        assert_int_equal(server->requests[SMB2_SESSION_SETUP], 2);
        server->fault_at = statuses[i];
        server->fault = FAULT_STATUS;
        assert_int_equal(smb2_client_play(&client, "8").kind, OUTCOME_FAILED);
        assert_int_equal(server->requests[SMB2_SESSION_SETUP], 4);
        assert_int_equal(server->requests[SMB2_READ], 3);
        server->fault = FAULT_NONE;
        assert_ok_for("read", smb2_client_play(&client, "8"));
        assert_int_equal(server->connections, 1);
        smb2_both_end(&client, server);
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
        struct smb2_client client;
        struct smb2_server *server = smb2_server_new(&smb2_plain_311);
        server->fault_command = SMB2_READ;
        smb2_both_begin(&client, server);
        assert_ok_for("read", smb2_client_play(&client, "8"));
        server->fault_at = rows[i].status;
        server->fault = FAULT_STATUS;
        assert_int_equal(smb2_client_play(&client, "8").kind, OUTCOME_FAILED);
        assert_int_equal(server->requests[SMB2_READ], 3);
        assert_int_equal(server->requests[SMB2_CREATE], 2);
        assert_int_equal(server->requests[SMB2_TREE_CONNECT], 1 + rows[i].trees);
        server->fault = FAULT_NONE;
        assert_ok_for("read", smb2_client_play(&client, "8"));
        assert_int_equal(server->requests[SMB2_CREATE], 3);
        assert_int_equal(server->requests[SMB2_TREE_CONNECT], 1 + 2 * rows[i].trees);
        assert_int_equal(server->requests[SMB2_SESSION_SETUP], 2);
        assert_int_equal(server->connections, 1);
        smb2_both_end(&client, server);
    }
}

/* No request exceeds the server's maximum. */
static void small_transactions(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_pipe *pipe;
    uint8_t *reply = NULL;
    size_t size = 0;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    server->io_max = 4096;
    server->pipe_size = 9000;
    server->pipe_part = 1000;
    smb2_both_begin(&client, server);
    assert_ok_for("query info", smb2_client_play(&client, "16"));
    assert_ok_for("query directory", smb2_client_play(&client, "14"));
    assert_ok_for("referral", smb2_client_play(&client, "11"));
    assert_ok_for("open", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &pipe));
    const uint8_t *info = server->last_request[SMB2_QUERY_INFO] + SMB2_HEADER_SIZE;
    const uint8_t *directory = server->last_request[SMB2_QUERY_DIRECTORY] + SMB2_HEADER_SIZE;
    const uint8_t *ioctl = server->last_request[SMB2_IOCTL] + SMB2_HEADER_SIZE;
    const uint8_t *read = server->last_request[SMB2_READ] + SMB2_HEADER_SIZE;
    assert_int_equal(le_get32(info + 4), 4096);
    assert_int_equal(le_get32(directory + 28), 4096);
    assert_int_equal(le_get32(ioctl + 44), 4096);
    assert_ok_for("transceive",
                  smb2_pipe_transceive(pipe, (const uint8_t *)"abc", 3, &reply, &size));
    assert_int_equal(size, 9000);
    assert_int_equal(le_get32(ioctl + 44), 4096);
    assert_int_equal(le_get32(read + 4), 4096);
    free(reply);
    smb2_pipe_free(pipe);
    smb2_both_end(&client, server);
}

/* After a broken connection the next packet opens another. */
static void next_packet_after_a_broken_connection(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    server->fault = FAULT_CLOSE;
    server->fault_command = SMB2_READ;
    smb2_both_begin(&client, server);
    assert_int_equal(smb2_client_play(&client, "8").kind, OUTCOME_FAILED);
    server->fault = FAULT_NONE;
    assert_ok_for("read", smb2_client_play(&client, "8"));
    assert_int_equal(server->connections, 2);
    smb2_both_end(&client, server);
}

static void wrong_password(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    smb2_both_begin(&client, server);
    client.dc->options.badpassword_frequency = 1;
    for (unsigned i = 0; i < 4; i++) {
        assert_ok_for("session setup", smb2_client_play(&client, "1"));
        assert_int_equal(client.conversation.expected_failures, i % 2 == 0 ? 1 : 0);
    }
    client.dc->options.badpassword_frequency = 0;
    client.user.nt_hash[0] ^= 1;
    assert_failed(smb2_client_play(&client, "1"), "NT_STATUS_LOGON_FAILURE");
    smb2_both_end(&client, server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packet_in_every_dialect),
        cmocka_unit_test(smb1_negotiate_leads_to_smb2),
        cmocka_unit_test(both_sessions_on_one_connection),
        cmocka_unit_test(requests_as_bytes),
        cmocka_unit_test(only_dialects_up_to_the_highest_wanted_are_offered),
        cmocka_unit_test(a_lock_is_taken_back_by_the_next),
        cmocka_unit_test(signing_can_be_required_by_the_client),
        cmocka_unit_test(bytes_and_requests_are_counted_per_packet),
        cmocka_unit_test(headers_of_requests),
        cmocka_unit_test(large_requests_are_paid_for),
        cmocka_unit_test(leases_of_each_dialect),
        cmocka_unit_test(trees_and_files_in_hand),
        cmocka_unit_test(credits_run_out),
        cmocka_unit_test(ended_sessions),
        cmocka_unit_test(ended_trees_and_files),
        cmocka_unit_test(small_transactions),
        cmocka_unit_test(next_packet_after_a_broken_connection),
        cmocka_unit_test(wrong_password),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
