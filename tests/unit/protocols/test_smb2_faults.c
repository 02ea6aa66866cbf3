/* SPDX-License-Identifier: Apache-2.0 */
/* The SMB2 client against a small server that sends wrong, truncated, flipped or no replies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "protocols/smb2/smb2_negotiate.h"
#include "tests/lib/bytes.h"
#include "tests/lib/servers/smb2_client.h"

/* Plays packets until one fails, and returns its outcome. */
static struct outcome play_until_failure(struct smb2_client *client)
{
    struct outcome outcome = outcome_ok();
    for (size_t p = 0; outcome.kind == OUTCOME_OK && p < SMB2_ALL_OPCODES; p++)
        outcome = smb2_client_play(client, smb2_all_opcodes[p]);
    return outcome;
}

static struct outcome spoiled(const struct smb2_server *kind, int command,
                              enum smb2_server_fault fault, size_t at, size_t *reply_size)
{
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(kind);
    server->fault = fault;
    server->fault_command = command;
    server->fault_at = at;
    smb2_both_begin(&client, server);
    struct outcome outcome = play_until_failure(&client);
    smb2_client_end(&client);
    smb2_server_stop(server);
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
        assert_ok_for("whole", spoiled(&smb2_plain_311, all_commands[c], FAULT_NONE, 0, &size));
        assert_true(size > SMB2_HEADER_SIZE);
        /* Not each of the 3,000 bytes of data. */
        for (size_t cut = 0; cut<size; cut += cut> 300 ? 501 : 1)
            assert_int_equal(spoiled(&smb2_plain_311, all_commands[c], FAULT_CUT, cut, NULL).kind,
                             OUTCOME_FAILED);
    }
}

/* Each bit flipped by the server before signing: nothing crashes. */
static void replies_flipped_by_the_server(void **state)
{
    (void)state;
    smb2_client_timeout = INT64_C(300000000);
    for (int c = 0; c < COMMANDS; c++) {
        size_t size = 0;
        assert_ok_for("whole", spoiled(&smb2_plain_311, all_commands[c], FAULT_NONE, 0, &size));
        for (size_t bit = 0; bit < 8 * size && bit < 8 * 136; bit++) {
            struct outcome outcome =
                spoiled(&smb2_plain_311, all_commands[c], FAULT_FLIP, bit, NULL);
            assert_true(outcome.kind == OUTCOME_OK || outcome.kind == OUTCOME_FAILED);
        }
    }
    smb2_client_timeout = INT64_C(5000000000);
}

/* Each bit flipped between server and client is detected, in NEGOTIATE and SESSION_SETUP by the
 * hash from which the keys are derived. */
static void assert_flips_are_seen(const struct smb2_server *kind, size_t extra)
{
    smb2_client_timeout = INT64_C(300000000);
    for (int c = 0; c < COMMANDS; c++) {
        size_t size = 0;
        assert_ok_for("whole", spoiled(kind, all_commands[c], FAULT_NONE, 0, &size));
        size += all_commands[c] > SMB2_SESSION_SETUP ? extra : 0;
        for (size_t bit = 0; bit < 8 * size && bit < 8 * 180; bit += 5) {
            struct outcome outcome =
                spoiled(kind, all_commands[c], FAULT_FLIP_ON_THE_WAY, bit, NULL);
            if (outcome.kind != OUTCOME_FAILED)
                fail_msg("command %d, bit %zu: not seen", all_commands[c], bit);
        }
    }
    smb2_client_timeout = INT64_C(5000000000);
}

static void flips_on_the_way_are_seen_by_signatures(void **state)
{
    (void)state;
    static const enum smb2_signing algorithms[] = {SMB2_SIGNING_AES_CMAC, SMB2_SIGNING_AES_GMAC,
                                                   SMB2_SIGNING_HMAC_SHA256};
    for (size_t i = 0; i < 3; i++) {
        struct smb2_server *kind = smb2_server_new(&smb2_plain_311);
        kind->requires_signing = true;
        kind->signing = algorithms[i];
        assert_flips_are_seen(kind, 0);
        free(kind);
    }
}

static void flips_on_the_way_are_seen_by_decryption(void **state)
{
    (void)state;
    struct smb2_server *kind = smb2_server_new(&smb2_plain_311);
    kind->encrypts = true;
    assert_flips_are_seen(kind, SMB2_TRANSFORM_SIZE);
    free(kind);
}

static void faults_are_reported(void **state)
{
    (void)state;
    static const struct {
        enum smb2_server_fault fault;
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
        {FAULT_COMPOUND, SMB2_QUERY_INFO, 0, "SMB2: unexpected compounded replies"},
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
    struct smb2_server *kind = smb2_server_new(&smb2_plain_311);
    kind->requires_signing = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct outcome outcome = spoiled(kind, rows[i].command, rows[i].fault, rows[i].at, NULL);
        const char *cause = outcome.kind == OUTCOME_OK ? "" : outcome.cause;
        if (strcmp(cause, rows[i].cause ? rows[i].cause : "") != 0)
            fail_msg("row %zu: \"%s\"", i, cause);
    }
    kind->requires_signing = false;
    assert_failed(spoiled(kind, SMB2_SESSION_SETUP, FAULT_UNSIGNED, 0, NULL),
                  "SMB2: reply is not signed"); /* in 3.1.1 always */
    /* An unrequested signature must verify, too. */
    kind->dialect = 0x0302;
    kind->cipher = SMB2_CIPHER_AES128_CCM;
    kind->signing = SMB2_SIGNING_AES_CMAC;
    assert_failed(spoiled(kind, SMB2_ECHO, FAULT_WRONG_SIGNATURE, 0, NULL),
                  "SMB2: signature does not verify");
    kind->encrypts = true;
    assert_failed(spoiled(kind, SMB2_TREE_CONNECT, FAULT_IN_CLEAR, 0, NULL),
                  "SMB2: reply is not encrypted");
    /* Without the session, the server has no key either. */
    assert_failed(spoiled(kind, SMB2_TREE_CONNECT, FAULT_STATUS, 0xc0000203, NULL),
                  "NT_STATUS_USER_SESSION_DELETED");
    free(kind);
}

static void breaks_are_acknowledged(void **state)
{
    (void)state;
    static const enum smb2_server_fault faults[] = {FAULT_BREAK_OPLOCK, FAULT_BREAK_LEASE,
                                                    FAULT_BREAK_LEASE_NOTICE};
    for (size_t i = 0; i < 3; i++) {
        struct smb2_client client;
        struct smb2_server *server = smb2_server_new(&smb2_plain_311);
        server->requires_signing = true;
        server->fault = faults[i];
        server->fault_command = SMB2_READ;
        smb2_both_begin(&client, server);
        assert_ok_for("read", smb2_client_play(&client, "8"));
        assert_ok_for(
            "echo", smb2_client_play(&client, "13")); /* ignores the reply to the acknowledgement */
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
        smb2_server_assert_content(server);
        smb2_both_end(&client, server);
    }
}

static void servers_that_will_not_do(void **state)
{
    (void)state;
    struct smb2_server *kind = smb2_server_new(&smb2_plain_311);
    static const unsigned types[] = {1, 2, 8};
    for (size_t i = 0; i < 3; i++) {
        kind->context_twice = types[i];
        assert_failed(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    }
    kind->context_twice = 0;
    /* Features that were not offered, and sizes that are too small (2.2.4). */
    kind->cipher = (enum smb2_cipher)5;
    assert_failed(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    kind->cipher = SMB2_CIPHER_AES128_GCM;
    kind->signing = (enum smb2_signing)3;
    assert_failed(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    kind->signing = SMB2_SIGNING_AES_GMAC;
    kind->io_max = 4095;
    assert_failed(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    kind->io_max = 4096;
    assert_ok_for("4 KiB", spoiled(kind, -1, FAULT_NONE, 0, NULL));
    kind->io_max = 0;
    kind->guest = true;
    assert_failed(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: logged on as guest");
    kind->guest = false;
    kind->no_contexts = true;
    assert_failed(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    kind->no_contexts = false;
    kind->cipher = SMB2_CIPHER_NONE;
    kind->encrypts = true;
    assert_failed(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: the server does not encrypt");
    kind->encrypts = false;
    kind->encrypts_share = true;
    assert_failed(spoiled(kind, -1, FAULT_NONE, 0, NULL),
                  "SMB2: no cipher in common for an encrypted share");
    kind->encrypts_share = false;
    static const uint16_t dialects[] = {0x0305, 0x02ff};
    for (size_t i = 0; i < 2; i++) {
        kind->dialect = dialects[i];
        assert_failed(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: malformed NEGOTIATE response");
    }
    /* Before 3.1.1 the capabilities determine whether there is a cipher. */
    kind->dialect = 0x0302;
    kind->signing = SMB2_SIGNING_AES_CMAC;
    kind->encrypts = true;
    assert_failed(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: the server does not encrypt");
    kind->encrypts = false;
    kind->never_done = true;
    assert_failed(spoiled(kind, -1, FAULT_NONE, 0, NULL), "SMB2: the logon does not end");
    free(kind);
}

/* The answer to an SMB1 negotiate must be 2.0.2 or the wildcard. */
static void smb1_negotiate_leads_nowhere(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    server->smb1_dialect = 0x0210;
    smb2_both_begin(&client, server);
    assert_failed(smb2_client_play_with(&client, "smb", "0x72", NULL, NULL),
                  "SMB2: malformed NEGOTIATE response");
    smb2_both_end(&client, server);
}

/* Replies with more data than requested, or that claim to have written more than was sent. */
static void more_than_there_is(void **state)
{
    (void)state;
    static const char *const opcodes[] = {"8", "9"};
    for (size_t i = 0; i < 2; i++) {
        struct smb2_client client;
        struct smb2_server *server = smb2_server_new(&smb2_plain_311);
        server->too_much = 1;
        smb2_both_begin(&client, server);
        assert_failed(smb2_client_play_with(&client, "smb2", opcodes[i], "size", "10"),
                      "SMB2: malformed reply");
        smb2_both_end(&client, server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_cut_at_every_length),
        cmocka_unit_test(replies_flipped_by_the_server),
        cmocka_unit_test(flips_on_the_way_are_seen_by_signatures),
        cmocka_unit_test(flips_on_the_way_are_seen_by_decryption),
        cmocka_unit_test(faults_are_reported),
        cmocka_unit_test(breaks_are_acknowledged),
        cmocka_unit_test(servers_that_will_not_do),
        cmocka_unit_test(smb1_negotiate_leads_nowhere),
        cmocka_unit_test(more_than_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
