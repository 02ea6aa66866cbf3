/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of loadfiles against the small SMB2 server: requests, paths, statuses, numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/little_endian.h"
#include "model/loadfile/loadfile.h"
#include "protocols/nbench/nbench.h"
#include "protocols/packet.h"
#include "protocols/smb2/smb2_wire.h"
#include "tests/lib/bytes.h"
#include "tests/lib/servers/smb2_client.h"

/* A loadfile that is played by the third of three clients. */
struct fixture {
    struct smb2_client client;
    struct smb2_server *server;
    struct script *script;
    struct nbench *nbench;
    struct account users[3];
    uint32_t next;
};

static void begin_with(struct fixture *fixture, const char *text, struct smb2_server *server)
{
    struct error error = {0};
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    *fixture = (struct fixture){.server = server};
    if (loadfile_load(file, false, "x.load", &fixture->script, &error) < 0 ||
        nbench_new(fixture->script, "run", 3, &fixture->nbench, &error) < 0)
        fail_msg("%s", error.text);
    fclose(file);
    smb2_both_begin(&fixture->client, server);
    for (size_t i = 0; i < 3; i++)
        fixture->users[i] = fixture->client.user;
    fixture->client.dc->users = fixture->users;
    fixture->client.conversation.user = &fixture->users[2];
    fixture->client.dc->nbench = fixture->nbench;
}

static void begin(struct fixture *fixture, const char *text)
{
    begin_with(fixture, text, smb2_server_new(&smb2_plain_311));
}

static void end(struct fixture *fixture)
{
    smb2_server_assert_content(fixture->server);
    fixture->client.dc->users = NULL;
    smb2_both_end(&fixture->client, fixture->server);
    nbench_free(fixture->nbench);
    script_free(fixture->script);
}

/* Plays the next step. */
static struct outcome play(struct fixture *fixture)
{
    const struct script_step *step = &fixture->script->steps[fixture->next++];
    return packet_play(&fixture->client.conversation,
                       packet_player_find("nbench", script_words[step->op]), step,
                       smb2_client_timeout);
}

static void step_succeeds(struct fixture *fixture)
{
    struct outcome outcome = play(fixture);
    if (outcome.kind != OUTCOME_OK)
        fail_msg("step %u: %s", (unsigned)fixture->next, outcome.cause);
}

static void step_fails(struct fixture *fixture, const char *cause)
{
    struct outcome outcome = play(fixture);
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, cause);
}

static unsigned requests(const struct fixture *fixture)
{
    unsigned sum = 0;
    for (int command = SMB2_CREATE; command < 20; command++)
        sum += fixture->server->requests[command];
    return sum;
}

/* The name in the last CREATE. */
static const char *created(const struct fixture *fixture)
{
    static char name[256];
    const uint8_t *request = fixture->server->last_request[SMB2_CREATE];
    size_t at = le_get16(request + 64 + 44), size = le_get16(request + 64 + 46);
    for (size_t i = 0; i < size / 2; i++)
        name[i] = (char)request[at + 2 * i];
    name[size / 2] = '\0';
    return name;
}

static void each_line_sends_its_requests(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        unsigned count;
    } lines[] = {
        {"NTCreateX \"\\c\\f\" 0x40 0x2 1 NT_STATUS_OK\n", 1},
        {"WriteX 1 100 7 7 NT_STATUS_OK\n", 1},
        {"ReadX 1 0 3000 3000 NT_STATUS_OK\n", 1},
        {"Flush 1 NT_STATUS_OK\n", 1},
        {"LockX 1 2147483538 2 NT_STATUS_OK\n", 1},
        {"UnlockX 1 2147483538 2 NT_STATUS_OK\n", 1},
        {"QUERY_FILE_INFORMATION 1 258 NT_STATUS_OK\n", 1},
        {"SET_FILE_INFORMATION 1 1004 NT_STATUS_OK\n", 1},
        {"Close 1 NT_STATUS_OK\n", 1},
        {"QUERY_PATH_INFORMATION \"\\c\\f\" 1004 NT_STATUS_OK\n", 3},
        {"QUERY_FS_INFORMATION 259 NT_STATUS_OK\n", 2},
        {"QUERY_FS_INFORMATION 259 NT_STATUS_OK\n", 1},
        {"FIND_FIRST \"\\c\\<.JNK\" 260 1366 0 NT_STATUS_OK\n", 3},
        {"Rename \"\\c\\f\" \"\\c\\g\" NT_STATUS_OK\n", 3},
        {"Unlink \"\\c\\f\" 0x6 NT_STATUS_OK\n", 2},
        {"Mkdir \"\\c\" NT_STATUS_OK\n", 2},
        {"Rmdir \"\\c\" NT_STATUS_OK\n", 3},
    };
    struct fixture fixture;
    char text[2048] = "";
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        strcat(text, lines[i].line);
    begin(&fixture, text);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        unsigned before = requests(&fixture);
        step_succeeds(&fixture);
        if (requests(&fixture) - before != lines[i].count)
            fail_msg("%s: %u requests", lines[i].line, requests(&fixture) - before);
    }
    const struct smb2_server *server = fixture.server;
    /* MS-SMB2 2.2.17, 2.2.26, 2.2.39 */
    assert_bytes(server->last_request[SMB2_FLUSH] + 64, 24,
                 "1800 0000 00000000 0102030405060708 090a0b0c0d0e0f10");
    assert_bytes(server->last_request[SMB2_LOCK] + 64, 48,
                 "3000 0100 00000000 0102030405060708 090a0b0c0d0e0f10"
                 "92ffff7f00000000 0200000000000000 04000000 00000000");
    assert_bytes(server->last_request[SMB2_SET_INFO] + 64, 33,
                 "2100 01 0d 01000000 6000 0000 00000000 0102030405060708 090a0b0c0d0e0f10 01");
    assert_bytes(server->last_request[SMB2_WRITE] + 64 + 48, 7, "ababababababab");
    end(&fixture);
}

static void names_lie_in_the_folder_of_the_run_and_of_the_client(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, "Mkdir \"\\clients\" *\nMkdir \"\\clients\\client1\\client12\\x\" *\n"
                    "QUERY_PATH_INFORMATION \"\\\" 1004 NT_STATUS_OK\n"
                    "RANDOMSTRING 3 \"a[b]c[d]\"\nMkdir \"\\f$3.doc\" *\n"
                    "Rename \"\\a\" \"\\client1\\b\" *\n");
    step_succeeds(&fixture);
    assert_string_equal(created(&fixture), "run\\clients");
    step_succeeds(&fixture);
    assert_string_equal(created(&fixture), "run\\clients\\client3\\client12\\x");
    step_succeeds(&fixture);
    assert_string_equal(created(&fixture), "run");
    assert_int_equal(play(&fixture).kind, OUTCOME_NOTHING);
    step_succeeds(&fixture);
    assert_string_equal(created(&fixture), "run\\fabcd.doc");
    step_succeeds(&fixture);
    /* FileRenameInformation: not replacing, no root, 26 bytes of name */
    assert_bytes(fixture.server->last_request[SMB2_SET_INFO] + 64 + 32, 20 + 26,
                 "00 00000000000000 0000000000000000 1a000000"
                 "7200 7500 6e00 5c00 6300 6c00 6900 6500 6e00 7400 3300 5c00 6200");
    end(&fixture);
}

static void a_failure_that_is_expected_is_ok_and_another_names_both(void **state)
{
    (void)state;
    static const char text[] = "NTCreateX \"\\a\" 0x40 1 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n"
                               "NTCreateX \"\\a\" 0x40 1 1 0xc0000034\n"
                               "NTCreateX \"\\a\" 0x40 1 1 ERROR\n"
                               "NTCreateX \"\\a\" 0x40 1 1 *\n"
                               "NTCreateX \"\\a\" 0x40 1 1 NT_STATUS_ACCESS_DENIED\n"
                               "NTCreateX \"\\a\" 0x40 1 1 NT_STATUS_OK\n"
                               "ReadX 1 0 5 5 NT_STATUS_OK\n";
    struct fixture fixture;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    server->fault = FAULT_STATUS;
    server->fault_command = SMB2_CREATE;
    server->fault_at = 0xc0000034;
    begin_with(&fixture, text, server);
    for (int i = 0; i < 4; i++)
        step_succeeds(&fixture);
    step_fails(&fixture, "NT_STATUS_OBJECT_NAME_NOT_FOUND instead of NT_STATUS_ACCESS_DENIED");
    step_fails(&fixture, "NT_STATUS_OBJECT_NAME_NOT_FOUND instead of NT_STATUS_OK");
    unsigned before = requests(&fixture);
    step_fails(&fixture, "file is not open");
    assert_int_equal(requests(&fixture), before);
    end(&fixture);
}

static void a_create_that_should_have_failed_is_closed_again(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, "NTCreateX \"\\a\" 0x40 1 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n");
    step_fails(&fixture, "NT_STATUS_OK instead of NT_STATUS_OBJECT_NAME_NOT_FOUND");
    assert_int_equal(fixture.server->requests[SMB2_CLOSE], 1);
    end(&fixture);
}

/* The server's only file has 3000 bytes. */
static void another_number_of_bytes_than_expected_fails(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, "NTCreateX \"\\a\" 0x40 1 1 NT_STATUS_OK\nReadX 1 2990 20 10 NT_STATUS_OK\n"
                    "ReadX 1 2990 20 20 NT_STATUS_OK\nReadX 1 3000 20 0 NT_STATUS_OK\n"
                    "ReadX 1 3000 20 0 NT_STATUS_END_OF_FILE\n"
                    "ReadX 1 0 20 20 NT_STATUS_END_OF_FILE\n");
    step_succeeds(&fixture);
    step_succeeds(&fixture);
    assert_int_equal(fixture.client.conversation.wire.data.read, 10);
    step_fails(&fixture, "another number of bytes than expected");
    step_succeeds(&fixture);
    step_succeeds(&fixture);
    step_fails(&fixture, "NT_STATUS_OK instead of NT_STATUS_END_OF_FILE");
    end(&fixture);
}

static uint64_t offset_of_read(struct fixture *fixture)
{
    step_succeeds(fixture);
    return le_get64(fixture->server->last_request[SMB2_READ] + 64 + 8);
}

static void offsets_are_computed_from_the_offset_before(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture,
          "NTCreateX \"\\a\" 0x40 1 1 NT_STATUS_OK\nReadX 1 512 8 8 NT_STATUS_OK\n"
          "ReadX 1 +512%1536 8 8 NT_STATUS_OK\nReadX 1 +512%1536 8 8 NT_STATUS_OK\n"
          "ReadX 1 *%1000/4+7*2 8 8 NT_STATUS_OK\nReadX 1 *%1+child+num_children 8 8 *\n");
    step_succeeds(&fixture);
    assert_int_equal(offset_of_read(&fixture), 512);
    assert_int_equal(offset_of_read(&fixture), 1024);
    assert_int_equal(offset_of_read(&fixture), 0);
    uint64_t drawn = offset_of_read(&fixture);
    assert_true(drawn >= 14 && drawn <= 2 * (999 / 4 + 7) && drawn % 2 == 0);
    assert_int_equal(offset_of_read(&fixture), 2 + 3);
    end(&fixture);
}

/* A pass that does not close its files: the next one closes them. */
static void a_file_that_is_opened_again_is_closed_before(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, "NTCreateX \"\\a\" 0x40 1 1 NT_STATUS_OK\n");
    step_succeeds(&fixture);
    fixture.next = 0;
    step_succeeds(&fixture);
    assert_int_equal(fixture.server->requests[SMB2_CREATE], 2);
    assert_int_equal(fixture.server->requests[SMB2_CLOSE], 1);
    end(&fixture);
}

static void files_of_a_lost_session_are_not_open(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, "NTCreateX \"\\a\" 0x40 1 1 NT_STATUS_OK\nFlush 1 NT_STATUS_OK\n"
                    "Flush 1 NT_STATUS_OK\n");
    step_succeeds(&fixture);
    step_succeeds(&fixture);
    conversation_reset(&fixture.client.conversation);
    step_fails(&fixture, "file is not open");
    end(&fixture);
}

static void unknown_statuses_are_refused_with_their_line(void **state)
{
    (void)state;
    static const char *const texts[] = {"Rmdir \"\\a\" *\nRmdir \"\\a\" NT_STATUS_OBJECT_NAME\n",
                                        "Rmdir \"\\a\" *\nRmdir \"\\a\" 0xdeadbeef\n"};
    static const char *const messages[] = {"x.load:2: unknown status NT_STATUS_OBJECT_NAME",
                                           "x.load:2: unknown status 0xdeadbeef"};
    for (size_t i = 0; i < 2; i++) {
        struct script *script = NULL;
        struct nbench *nbench = NULL;
        struct error error = {0};
        FILE *file = fmemopen((void *)(uintptr_t)texts[i], strlen(texts[i]), "r");
        assert_int_equal(loadfile_load(file, false, "x.load", &script, &error), 0);
        fclose(file);
        assert_true(nbench_new(script, "run", 1, &nbench, &error) < 0);
        assert_string_equal(error.text, messages[i]);
        script_free(script);
    }
}

/* A user's own folder of that name is neither used nor removed. */
static void only_a_folder_with_the_mark_is_removed(void **state)
{
    (void)state;
    struct error error = {0};
    struct fixture fixture;
    struct smb2_server *server = smb2_server_new(&smb2_plain_311);
    server->fault = FAULT_STATUS;
    server->fault_command = SMB2_CREATE;
    server->fault_at = 0xc0000035; /* NT_STATUS_OBJECT_NAME_COLLISION */
    begin_with(&fixture, "Rmdir \"\\a\" *\n", server);
    struct conversation *conversation = &fixture.client.conversation;
    assert_true(nbench_create_folder(conversation, "run", &error) < 0);
    assert_string_equal(error.text,
                        "the share has a folder \"run\" already; remove that of a killed run with "
                        "-c, or give another --smb-folder or -I");
    server->fault_at = 0xc0000034; /* NT_STATUS_OBJECT_NAME_NOT_FOUND */
    assert_int_equal(nbench_remove_folder(conversation, "run", &error), 0);
    server->fault_skip = 1; /* the folder is there, but not the mark */
    assert_true(nbench_remove_folder(conversation, "run", &error) < 0);
    assert_int_equal(server->requests[SMB2_SET_INFO], 0);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_sends_its_requests),
        cmocka_unit_test(names_lie_in_the_folder_of_the_run_and_of_the_client),
        cmocka_unit_test(a_failure_that_is_expected_is_ok_and_another_names_both),
        cmocka_unit_test(a_create_that_should_have_failed_is_closed_again),
        cmocka_unit_test(another_number_of_bytes_than_expected_fails),
        cmocka_unit_test(offsets_are_computed_from_the_offset_before),
        cmocka_unit_test(a_file_that_is_opened_again_is_closed_before),
        cmocka_unit_test(files_of_a_lost_session_are_not_open),
        cmocka_unit_test(unknown_statuses_are_refused_with_their_line),
        cmocka_unit_test(only_a_folder_with_the_mark_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
