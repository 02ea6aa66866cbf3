/* SPDX-License-Identifier: Apache-2.0 */
/* SMB2 pipes, the survey of shares, listings and the details of files, against a small server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/little_endian.h"
#include "protocols/smb2/smb2.h"
#include "protocols/smb2/smb2_private.h"
#include "protocols/smb2/smb2_wire.h"
#include "tests/lib/bytes.h"
#include "tests/lib/servers/smb2_client.h"

static void long_pipe_messages(void **state)
{
    (void)state;
    static const struct {
        size_t size, part;
    } rows[] = {{68, 0}, {68, 1}, {4280, 1024}, {300000, 4000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct smb2_client client;
        struct smb2_pipe *pipe;
        uint8_t *reply = NULL;
        size_t size = 0;
        struct smb2_server *server = smb2_server_new(&smb2_plain_311);
        server->pipe_size = rows[i].size;
        server->pipe_part = rows[i].part;
        smb2_both_begin(&client, server);
        assert_ok_for("open", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &pipe));
        assert_ok_for("transceive",
                      smb2_pipe_transceive(pipe, (const uint8_t *)"abc", 3, &reply, &size));
        assert_int_equal(size, rows[i].size);
        free(reply);
        smb2_pipe_free(pipe);
        smb2_both_end(&client, server);
    }
}

/* Even if the next session's tree has the same number. */
static void pipes_go_with_their_session(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_pipe *pipe;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    smb2_both_begin(&client, server);
    assert_ok_for("open", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &pipe));
    assert_true(smb2_pipe_is_open(pipe));
    assert_ok_for("session setup", smb2_client_play(&client, "1"));
    assert_ok_for("tree connect", smb2_client_play(&client, "3"));
    assert_false(smb2_pipe_is_open(pipe));
    smb2_pipe_free(pipe);
    smb2_both_end(&client, server);
}

/* An empty part that announces more; a message that was written only in part. */
static void pipes_that_go_wrong(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_pipe *pipe;
    uint8_t *reply = NULL;
    size_t size = 0;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    server->pipe_size = 0;
    server->fault = FAULT_OTHER_STATUS;
    server->fault_command = SMB2_IOCTL;
    server->fault_at = 0x80000005;
    server->too_much = -1;
    smb2_both_begin(&client, server);
    assert_ok_for("open", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &pipe));
    assert_failed(smb2_pipe_transceive(pipe, (const uint8_t *)"abc", 3, &reply, &size),
                  "SMB2: pipe message does not end");
    assert_failed(smb2_pipe_write(pipe, (const uint8_t *)"abc", 3),
                  "SMB2: the pipe accepted only part of a message");
    smb2_pipe_free(pipe);
    smb2_both_end(&client, server);
}

static void endless_pipe_message(void **state)
{
    (void)state;
    struct smb2_client client;
    struct smb2_pipe *pipe;
    uint8_t *reply = NULL;
    size_t size = 0;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    server->pipe_size = SMB2_MESSAGE_MAX + 1;
    server->pipe_part = 50000;
    smb2_both_begin(&client, server);
    assert_ok_for("open", smb2_pipe_open(&client.conversation, SMB2_USER, "lsarpc", &pipe));
    assert_failed(smb2_pipe_transceive(pipe, (const uint8_t *)"abc", 3, &reply, &size),
                  "SMB2: pipe message is too long");
    smb2_pipe_free(pipe);
    smb2_both_end(&client, server);
}

/* Each share contains one file, "ab". */
static void survey(void **state)
{
    (void)state;
    static const struct {
        enum smb2_server_fault fault;
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
        struct smb2_client client;
        struct smb2_shared_files *files = NULL;
        struct error error = {0};
        struct smb2_server *server = smb2_server_new(&smb2_plain_311);
        server->fault = rows[i].fault;
        server->fault_command = rows[i].command;
        server->fault_at = rows[i].at;
        server->fault_skip = rows[i].skip;
        smb2_both_begin(&client, server);
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
        smb2_both_end(&client, server);
    }
}

/* A share that refuses is a usage error; a server that does not answer is not. */
static void shares_are_checked(void **state)
{
    (void)state;
    static const struct {
        enum smb2_server_fault fault;
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
        struct smb2_client client;
        struct error error = {0};
        struct smb2_server *server = smb2_server_new(&smb2_plain_311);
        server->fault = rows[i].fault;
        server->fault_command = rows[i].command;
        server->fault_at = rows[i].at;
        smb2_both_begin(&client, server);
        int rc = smb2_check_share(&client.conversation, &error);
        assert_string_equal(error.text, rows[i].error);
        assert_int_equal(rc, rows[i].error[0] ? -EINVAL : 0);
        smb2_both_end(&client, server);
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
        {"16", "level", "1", "\"level\" is not a field of smb2:16"},
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
        struct smb2_client client;
        struct smb2_server *server = smb2_server_new(&smb2_plain_311);
        const char *const file[] = {rows[i].file};
        const char *const oplock[] = {rows[i].oplock ? rows[i].oplock : rows[i].lease};
        struct packet_field fields[] = {{"file", 1, file},
                                        {"access", 1, all_rights},
                                        {rows[i].oplock ? "oplock" : "lease", 1, oplock}};
        smb2_both_begin(&client, server);
        assert_ok_for("create",
                      form_play(&client.conversation, "smb2", "5", fields, 3, smb2_client_timeout));
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
        smb2_both_end(&client, server);
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
    assert_null(packet_row_find("smb2", "12"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipes_go_with_their_session),
        cmocka_unit_test(pipes_that_go_wrong),
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
