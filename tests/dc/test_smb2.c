/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SMB2 packets against the lab's DC: each row of the table many times with NTLM and with Kerberos,
 * encrypted, and with each of the details; pipes; -B; a session that the server ended.
 * With TRAFFIC_REPLAY_NTLM=refused the DC is known to refuse NTLM, which must be reported;
 * TRAFFIC_REPLAY_TIMES=N plays each row so many times instead of a hundred, and
 * TRAFFIC_REPLAY_DIALECT, _CIPHER and _SIGNING (numbers) are what must be negotiated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/smb2/smb2.h"
#include "protocols/smb2/smb2_private.h"
#include "tests/lib/lab.h"

static const int64_t timeout = INT64_C(10000000000);

struct lab {
    struct dc *dc;
    struct account user, machine;
};
static struct lab lab;

/* The conversation of the running test. */
static struct conversation current;
static uint64_t random_state;

/* If the DC refuses NTLM, all tests but one use Kerberos. */
static void begin(struct conversation *conversation, uint64_t *random)
{
    lab.dc->options = (struct dc_options){
        .kdc_preauth_legs = 1, .smb_share = "scratch", .prefer_kerberos = lab_ntlm_is_refused()};
    lab_begin(conversation, random, lab.dc, &lab.user, &lab.machine);
}

static struct outcome play_with(struct conversation *conversation, const char *protocol,
                                const char *opcode, const char *key, const char *value)
{
    return form_play_value(conversation, protocol, opcode, key, value, timeout);
}

static struct outcome play(struct conversation *conversation, const char *opcode)
{
    return play_with(conversation, "smb2", opcode, NULL, NULL);
}

static unsigned number_from(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 0) : otherwise;
}

struct loop {
    struct conversation *conversation;
    unsigned rows, times;
};

static void play_row(const struct packet_row *row, struct loop *loop)
{
    char what[64];
    if (strncmp(row->protocol->name, "smb", 3) != 0 || row->kind != PACKET_OPERATION)
        return;
    loop->rows++;
    for (unsigned i = 0; i < loop->times; i++) {
        snprintf(what, sizeof what, "%s:%s, time %u", row->protocol->name, row->opcode, i);
        assert_ok_for(what,
                      play_with(loop->conversation, row->protocol->name, row->opcode, NULL, NULL));
    }
    /* The next row starts without open files. */
    bool kerberos = loop->conversation->kerberos;
    conversation_reset(loop->conversation);
    loop->conversation->kerberos = kerberos;
}

static void every_row(bool kerberos, bool encrypt)
{
    struct conversation conversation;
    uint64_t random;
    begin(&conversation, &random);
    lab.dc->options.smb_encrypt = encrypt;
    conversation.kerberos |= kerberos;
    struct loop loop = {.conversation = &conversation,
                        .times = number_from("TRAFFIC_REPLAY_TIMES", 100)};
    size_t count;
    const struct packet_row *rows = packet_rows(&count);
    for (size_t i = 0; i < count; i++)
        play_row(&rows[i], &loop);
    assert_int_equal(loop.rows, 17);
    conversation_reset(&conversation);
}

static void what_is_negotiated(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    assert_ok_for("negotiate", play(&current, "0"));
    const struct smb2_connection *connection = current.smb2->connection;
    assert_int_equal(connection->dialect,
                     number_from("TRAFFIC_REPLAY_DIALECT", connection->dialect));
    assert_int_equal(connection->cipher, number_from("TRAFFIC_REPLAY_CIPHER", connection->cipher));
    assert_int_equal(connection->signing,
                     number_from("TRAFFIC_REPLAY_SIGNING", connection->signing));
}

static bool can_encrypt(void)
{
    return number_from("TRAFFIC_REPLAY_DIALECT", 0x0311) >= 0x0300;
}

static void every_row_ntlm(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    every_row(false, false);
}

static void every_row_kerberos(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    every_row(true, false);
}

static void every_row_encrypted(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    if (!can_encrypt())
        skip();
    every_row(false, true);
}

/* All rows in one conversation, in an order at random: each must find its way from whatever is
 * open. */
static void rows_mixed(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    static const char *const opcodes[] = {"0", "1", "2",  "3",  "4",  "5", "6",
                                          "8", "9", "11", "13", "14", "16"};
    char what[64];
    for (int i = 0; i < 500; i++) {
        /* Openings and ends of sessions less often than what uses them. */
        size_t row = conversation_random(&current, sizeof opcodes / sizeof opcodes[0]);
        if (row < 3 && conversation_random(&current, 4) > 0)
            row = 5 + row;
        snprintf(what, sizeof what, "step %d, smb2:%s", i, opcodes[row]);
        assert_ok_for(what, play(&current, opcodes[row]));
    }
}

static void details_of_files(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    static const struct {
        const char *opcode, *key, *value;
    } rows[] = {
        {"3", "share", "ipc"},       {"3", "share", "sysvol"}, {"3", "share", "netlogon"},
        {"3", "share", "other"},     {"5", "file", "policy"},  {"8", "size", "1"},
        {"8", "size", "1048576"},    {"6", NULL, NULL},        {"5", "file", "script"},
        {"5", "file", "dir"},        {"14", "class", "1"},     {"14", "class", "2"},
        {"14", "class", "3"},        {"14", "class", "12"},    {"14", "class", "0x25"},
        {"14", "class", "38"},       {"16", "class", "5"},     {"16", "class", "18"},
        {"16", "class", "34"},       {"16", "class", "0x207"}, {"16", "class", "0x201"},
        {"16", "class", "0x300"},    {"5", "file", "pipe"},    {"11", NULL, NULL},
        {"11", NULL, NULL},          {"16", NULL, NULL},       {"5", "file", "other"},
        {"9", "size", "1"},          {"9", "size", "1048576"}, {"8", "size", "1048576"},
        {"5", "access", "0x12019f"}, {"5", "oplock", "batch"}, {"5", "oplock", "exclusive"},
        {"5", "oplock", "level2"},   {"5", "oplock", "lease"}, {"5", "lease", "rwh"},
        {"5", "lease", "rh"},        {"9", "size", "4000000"},
    };
    char what[96];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(what, sizeof what, "smb2:%s %s %s", rows[i].opcode, rows[i].key ? rows[i].key : "",
                 rows[i].key ? rows[i].value : "");
        assert_ok_for(what,
                      play_with(&current, "smb2", rows[i].opcode, rows[i].key, rows[i].value));
    }
}

/* Pieces that end neither at a credit nor at a page. */
static void what_is_written_is_read(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    enum { SIZE = 300001 };
    current.wire.deadline = clock_now() + timeout;
    struct smb2_open_request request = {.file_class = SMB2_FILE_OTHER};
    struct smb2_target target;
    struct smb2_data data;
    assert_ok_for("open", smb2_open_file(&current, &request));
    struct smb2_open *open = smb2_newest(&current, 1u << SMB2_FILE_OTHER, &target);
    assert_non_null(open);
    uint8_t *bytes = malloc(SIZE);
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    for (uint32_t at = 0; at < SIZE;) {
        uint32_t written = 0, size = SIZE - at < 70001 ? SIZE - at : 70001;
        size = smb2_connection_payload(target.connection, target.connection->max_write, size);
        assert_ok_for("write", smb2_write(&target, open->file_id, at, bytes + at, size, &written));
        assert_int_equal(written, size);
        at += written;
    }
    for (uint32_t at = 0; at < SIZE;) {
        uint32_t size =
            smb2_connection_payload(target.connection, target.connection->max_read, 99991);
        assert_ok_for("read", smb2_read(&target, open->file_id, at, size, &data));
        assert_true(data.size > 0 && data.size <= SIZE - at);
        assert_memory_equal(data.data, bytes + at, data.size);
        at += (uint32_t)data.size;
        smb2_data_free(&data);
    }
    assert_ok_for("read at the end", smb2_read(&target, open->file_id, SIZE, 10, &data));
    assert_int_equal(data.size, 0);
    free(bytes);
}

/* The oldest files and trees are closed, the others still work. */
static void more_than_is_kept(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    for (int i = 0; i < SMB2_OPENS_MAX + 20; i++)
        assert_ok_for("create", play(&current, "5"));
    assert_int_equal(current.smb2->open_count, SMB2_OPENS_MAX);
    for (int i = 0; i < SMB2_TREES_MAX + 3; i++)
        assert_ok_for("tree connect", play(&current, "3"));
    assert_int_equal(current.smb2->open_count, 0);
    assert_ok_for("read", play(&current, "8"));
}

static void survey_finds_the_policies(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    struct conversation conversation;
    struct smb2_shared_files *files = NULL;
    uint64_t random;
    struct error error = {0};
    begin(&conversation, &random);
    conversation.wire.deadline = clock_now() + timeout;
    if (smb2_survey(&conversation, &files, &error) != 0)
        fail_msg("%s", error.text);
    assert_true(smb2_shared_files_count(files, SMB2_SHARED_POLICY) >= 2);
    assert_true(smb2_shared_files_count(files, SMB2_SHARED_DIRECTORY) >= 6);
    bool gpt = false;
    for (uint64_t i = 0; i < smb2_shared_files_count(files, SMB2_SHARED_POLICY); i++) {
        const char *path = smb2_shared_files_pick(files, SMB2_SHARED_POLICY, i)->path;
        gpt |= strstr(path, "{31B2F340-016D-11D2-945F-00C04FB984F9}\\GPT.INI") != NULL;
    }
    assert_true(gpt);
    conversation_reset(&conversation);
    /* A run opens the files that were found. */
    begin(&conversation, &random);
    lab.dc->shared_files = files;
    for (int i = 0; i < 50; i++) {
        assert_ok_for("policy", play_with(&conversation, "smb2", "5", "file", "policy"));
        assert_ok_for("dir", play_with(&conversation, "smb2", "5", "file", "dir"));
        assert_ok_for("script", play_with(&conversation, "smb2", "5", "file", "script"));
        assert_ok_for("read", play(&conversation, "8"));
    }
    conversation_reset(&conversation);
    lab.dc->shared_files = NULL;
    smb2_shared_files_free(files);
}

/* An RPC bind of lsarpc (MS-RPCE), which a pipe answers. */
static const uint8_t lsarpc_bind[72] = {
    5,    0,    11,   3,    0x10, 0,    0,    0,    72,   0,    0,    0,    1,    0,    0,
    0,    0xb8, 0x10, 0xb8, 0x10, 0,    0,    0,    0,    1,    0,    0,    0,    0,    0,
    1,    0,    0x78, 0x57, 0x34, 0x12, 0x34, 0x12, 0xcd, 0xab, 0xef, 0x00, 0x01, 0x23, 0x45,
    0x67, 0x89, 0xab, 0,    0,    0,    0,    0x04, 0x5d, 0x88, 0x8a, 0xeb, 0x1c, 0xc9, 0x11,
    0x9f, 0xe8, 0x08, 0x00, 0x2b, 0x10, 0x48, 0x60, 2,    0,    0,    0};

static void bind_pipe(struct smb2_pipe *pipe)
{
    uint8_t *reply = NULL;
    size_t size = 0;
    assert_ok_for("transceive",
                  smb2_pipe_transceive(pipe, lsarpc_bind, sizeof lsarpc_bind, &reply, &size));
    assert_true(size >= 24);
    assert_int_equal(reply[2], 12); /* bind_ack */
    free(reply);
}

static void pipes_of_both_sessions(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    struct smb2_pipe *users, *machines, *again;
    current.wire.deadline = clock_now() + 3 * timeout;
    assert_ok_for("user's", smb2_pipe_open(&current, SMB2_USER, "lsarpc", &users));
    struct smb2_connection *connection = current.smb2->connection;
    assert_ok_for("machine's", smb2_pipe_open(&current, SMB2_MACHINE, "lsarpc", &machines));
    /* One connection, two sessions. */
    assert_ptr_equal(connection, current.smb2->connection);
    assert_int_not_equal(connection->sessions[SMB2_USER].id, connection->sessions[SMB2_MACHINE].id);
    bind_pipe(users);
    bind_pipe(machines);
    /* The same with separate write and read. */
    assert_ok_for("another", smb2_pipe_open(&current, SMB2_MACHINE, "lsarpc", &again));
    uint8_t *reply = NULL;
    size_t size = 0;
    assert_ok_for("write", smb2_pipe_write(again, lsarpc_bind, sizeof lsarpc_bind));
    assert_ok_for("read", smb2_pipe_read(again, &reply, &size));
    assert_int_equal(reply[2], 12);
    free(reply);
    smb2_pipe_free(again);
    /* The user's logoff closes the user's pipe only. */
    assert_ok_for("logoff", play(&current, "2"));
    assert_false(smb2_pipe_is_open(users));
    assert_true(smb2_pipe_is_open(machines));
    assert_int_equal(smb2_pipe_transceive(users, lsarpc_bind, 72, &reply, &size).kind,
                     OUTCOME_FAILED);
    /* A new connection closes all. */
    assert_ok_for("negotiate", play(&current, "0"));
    assert_false(smb2_pipe_is_open(machines));
    smb2_pipe_free(users);
    smb2_pipe_free(machines);
    assert_int_equal(smb2_pipe_open(&current, SMB2_USER, "no such pipe", &users).kind,
                     OUTCOME_FAILED);
    assert_null(users);
}

static void wrong_passwords_of_minus_b(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    if (lab_ntlm_is_refused())
        skip();
    lab.dc->options.badpassword_frequency = 1;
    unsigned expected = 0;
    for (int i = 0; i < 6; i++) {
        assert_ok_for("session setup", play(&current, "1"));
        expected += current.expected_failures;
    }
    assert_int_equal(expected, 3); /* never twice in a row */
}

static void a_wrong_password_is_reported(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    struct account wrong = lab.user;
    if (lab_ntlm_is_refused())
        skip();
    wrong.nt_hash[3] ^= 1;
    current.user = &wrong;
    assert_failed(play(&current, "1"), "NT_STATUS_LOGON_FAILURE");
    /* The connection stays open. */
    current.user = &lab.user;
    assert_ok_for("session setup", play(&current, "1"));
}

/* The forms of a name that an administrator can give. */
static void domain_in_the_name(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    if (lab_ntlm_is_refused())
        skip();
    for (int i = 0; i < 2; i++) {
        struct account named = lab.user;
        assert_true(asprintf(&named.name, i == 0 ? "%s\\%s" : "%2$s@%1$s",
                             i == 0 ? lab.dc->netbios_domain : lab.dc->dns_domain,
                             lab.user.name) > 0);
        current.user = &named;
        assert_ok_for(named.name, play(&current, "1"));
        free(named.name);
    }
}

static void refused_ntlm_is_reported(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    current.kerberos = false;
    struct outcome outcome = play(&current, "1");
    assert_int_equal(outcome.kind, lab_ntlm_is_refused() ? OUTCOME_FAILED : OUTCOME_OK);
    assert_string_equal(outcome.cause, lab_ntlm_is_refused() ? "NT_STATUS_NTLM_BLOCKED" : "");
}

/* The operation that finds a session ended recreates it. */
static void an_ended_session_is_recreated(void **state)
{
    (void)state;
    LAB_NEED(lab.dc);
    assert_ok_for("create", play(&current, "5"));
    struct smb2_session *session = &current.smb2->connection->sessions[SMB2_USER];
    uint64_t id = session->id;
    session->id ^= UINT64_C(0x5a5a0000); /* the server knows no such session */
    if (session->encrypts) {
        /* The server closes the connection if it cannot decrypt. */
        assert_int_equal(play(&current, "8").kind, OUTCOME_FAILED);
        assert_ok_for("read", play(&current, "8"));
        conversation_reset(&current);
        return;
    }
    assert_ok_for("read", play(&current, "8"));
    assert_int_not_equal(session->id, id);
    assert_int_not_equal(session->id, id ^ UINT64_C(0x5a5a0000));
}

static int set_up(void **state)
{
    (void)state;
    struct error error = {0};
    if (!lab_is_there())
        return 0;
    lab.dc = lab_dc();
    LDAP *ldap = lab_ldap(lab.dc);
    char user[32], machine[32];
    snprintf(user, sizeof user, "smb2u%d", (int)getpid());
    snprintf(machine, sizeof machine, "SMB2M%d$", (int)getpid());
    lab_make_account(ldap, lab.dc, user, &lab.user);
    lab_make_account(ldap, lab.dc, machine, &lab.machine);
    ldap_unbind_ext_s(ldap, NULL, NULL);
    if (kerberos_global_init(lab.dc, &error) != 0)
        fail_msg("%s", error.text);
    struct account *accounts[] = {&lab.user, &lab.machine};
    for (size_t i = 0; i < 2; i++)
        lab_derive_keys(lab.dc, accounts[i]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (!lab.dc)
        return 0;
    struct account *accounts[] = {&lab.user, &lab.machine};
    lab_end(lab.dc, accounts, 2);
    return 0;
}

static int begin_test(void **state)
{
    (void)state;
    if (lab.dc)
        begin(&current, &random_state);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    if (lab.dc)
        conversation_reset(&current);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_negotiated, begin_test, end_test),
        cmocka_unit_test(every_row_ntlm),
        cmocka_unit_test(every_row_kerberos),
        cmocka_unit_test(every_row_encrypted),
        cmocka_unit_test_setup_teardown(rows_mixed, begin_test, end_test),
        cmocka_unit_test_setup_teardown(details_of_files, begin_test, end_test),
        cmocka_unit_test_setup_teardown(what_is_written_is_read, begin_test, end_test),
        cmocka_unit_test_setup_teardown(more_than_is_kept, begin_test, end_test),
        cmocka_unit_test(survey_finds_the_policies),
        cmocka_unit_test_setup_teardown(pipes_of_both_sessions, begin_test, end_test),
        cmocka_unit_test_setup_teardown(wrong_passwords_of_minus_b, begin_test, end_test),
        cmocka_unit_test_setup_teardown(a_wrong_password_is_reported, begin_test, end_test),
        cmocka_unit_test_setup_teardown(domain_in_the_name, begin_test, end_test),
        cmocka_unit_test_setup_teardown(refused_ntlm_is_reported, begin_test, end_test),
        cmocka_unit_test_setup_teardown(an_ended_session_is_recreated, begin_test, end_test),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
