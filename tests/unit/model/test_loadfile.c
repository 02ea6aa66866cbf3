/* SPDX-License-Identifier: Apache-2.0 */
/* Loadfiles: recognition, every word, refused lines, loops, numbers, and the plans of clients. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/loadfile/loadfile.h"
#include "model/model_load.h"
#include "model/plan.h"

static struct model *load(const char *text, struct error *error)
{
    struct model *model = NULL;
    *error = (struct error){0};
    if (model_load_text("x.load", text, strlen(text), &model, error, NULL, NULL) < 0)
        return NULL;
    return model;
}

static struct model *load_good(const char *text)
{
    struct error error;
    struct model *model = load(text, &error);
    if (!model)
        fail_msg("%s", error.text);
    return model;
}

static void assert_refused(const char *text, const char *message)
{
    struct error error;
    struct model *model = load(text, &error);
    if (model)
        fail_msg("not refused: %s", text);
    assert_int_equal(error.code, -EINVAL);
    assert_string_equal(error.text, message);
}

static void loadfiles_are_recognised_by_their_first_line(void **state)
{
    (void)state;
    assert_true(loadfile_begins("# comment\n\n  0.25 NTCreateX \"\\x\" 0 1 1 NT_STATUS_OK\n"));
    assert_true(loadfile_begins("Mkdir \"\\x\" *"));
    assert_true(loadfile_begins("LOOP 3\n"));
    assert_true(loadfile_begins("READ3 \"\\x\" 0 1 0\n")); /* refused by name later */
    assert_false(loadfile_begins("version: 3\n"));
    assert_false(loadfile_begins("1500000001.37\t11\t\t7\t1\tdns\t0\tquery\t\n"));
    assert_false(loadfile_begins("{\"version\": 2}"));
    assert_false(loadfile_begins(""));
    assert_true(loadfile_is_gzip("\x1f\x8b\x08x", 4));
    assert_false(loadfile_is_gzip("\x1f\x8b", 2));
}

static const char every_word[] =
    "# a comment\r\n"
    "Deltree \"\\clients\\client1\" NT_STATUS_OK\r\n"
    "Mkdir \"\\clients\" NT_STATUS_OK\n"
    "\n"
    "NTCreateX \"\\clients\\client1\\a file\" 0x40 0x2 9938 NT_STATUS_OK\n"
    "NTCreateX \"\\clients\\client1\\none\" 0x40 0x1 9939 NT_STATUS_OBJECT_NAME_NOT_FOUND\n"
    "NTCreateX \"\\clients\\client1\\b\" 64 2 5 0x0\n"
    "WriteX 9938 65534 1 1 NT_STATUS_OK\n"
    "Write 9938 0 65536 65536 NT_STATUS_OK\n"
    "ReadX 9938 0 65536 65535 NT_STATUS_OK\n"
    "Flush 9938 SUCCESS\n"
    "LockX 9938 2147483538 1 NT_STATUS_OK\n"
    "UnlockX 9938 2147483538 1 NT_STATUS_OK\n"
    "QUERY_FILE_INFORMATION 9938 258 NT_STATUS_OK\n"
    "SET_FILE_INFORMATION 9938 1004 NT_STATUS_OK\n"
    "Close 9938 NT_STATUS_OK\n"
    "QUERY_PATH_INFORMATION \"\\clients\\client1\\x\" 1004 0xc0000034\n"
    "QUERY_FS_INFORMATION 259 NT_STATUS_OK\n"
    "FIND_FIRST \"\\clients\\client1\\<.JNK\" 260 1366 0 NT_STATUS_NO_SUCH_FILE\n"
    "NTCreateX \"\\clients\\client1\\c\" 0x40 0x2 7 NT_STATUS_OK\n"
    "Rename \"\\clients\\client1\\b\" \"\\clients\\client1\\c\" *\n"
    "Unlink \"\\clients\\client1\\c\" 0x6 ERROR\n"
    "Rmdir \"\\clients\\client1\\d\" NT_STATUS_OK\n"
    "Sleep 250 NT_STATUS_OK\n"
    "RANDOMSTRING 1 \"ab[0123]\"\n"
    "Mkdir \"\\clients\\client1\\$1\" NT_STATUS_OK";

static void every_word_becomes_a_step(void **state)
{
    (void)state;
    static const uint8_t ops[] = {
        SCRIPT_DELTREE,  SCRIPT_MKDIR,      SCRIPT_CREATE,       SCRIPT_CREATE, SCRIPT_CREATE,
        SCRIPT_WRITE,    SCRIPT_WRITE,      SCRIPT_READ,         SCRIPT_FLUSH,  SCRIPT_LOCK,
        SCRIPT_UNLOCK,   SCRIPT_QUERY_FILE, SCRIPT_SET_FILE,     SCRIPT_CLOSE,  SCRIPT_QUERY_PATH,
        SCRIPT_QUERY_FS, SCRIPT_FIND,       SCRIPT_CREATE,       SCRIPT_RENAME, SCRIPT_UNLINK,
        SCRIPT_RMDIR,    SCRIPT_SLEEP,      SCRIPT_RANDOMSTRING, SCRIPT_MKDIR};
    struct model *model = load_good(every_word);
    const struct script *script = model_script(model);
    assert_non_null(script);
    assert_int_equal(script->step_count, sizeof ops);
    for (size_t i = 0; i < sizeof ops; i++)
        assert_int_equal(script->steps[i].op, ops[i]);
    const struct script_step *create = &script->steps[2];
    assert_string_equal(script->names[create->name], "\\clients\\client1\\a file");
    assert_true(create->offset == (UINT64_C(2) << 32 | 0x40));
    assert_int_equal(create->slot, 0);
    assert_int_equal(script->steps[3].slot, SCRIPT_NO_SLOT); /* meant to fail */
    assert_int_equal(script->steps[4].slot, 1);
    assert_int_equal(script->steps[17].slot, 0); /* free again */
    assert_int_equal(script->slot_count, 2);
    assert_int_equal(script->steps[7].size, 65536);
    assert_int_equal(script->steps[7].name, 65535);
    assert_int_equal(script->steps[1].status, SCRIPT_STATUS_ANY); /* Mkdir is not checked */
    assert_int_equal(script->steps[2].status, SCRIPT_STATUS_OK);
    assert_int_equal(script->steps[8].status, SCRIPT_STATUS_OK);
    assert_string_equal(script->statuses[script->steps[14].status].name, "0xc0000034");
    assert_int_equal(script->statuses[script->steps[14].status].line, 17);
    assert_int_equal(script->steps[21].offset, 250000);
    assert_true(script->bytes_written == 65537 && script->bytes_read == 65535);
    assert_true(script->failures == 4);
    model_free(model);
}

/* A recording of a loadfile's hash, its types, and the file's name. */
static void a_loadfile_is_a_model_of_packets(void **state)
{
    (void)state;
    struct model *model = load_good(every_word);
    size_t count;
    const struct model_type *types = model_types(model, &count);
    assert_int_equal(count, 18);
    assert_string_equal(types[0].protocol, "nbench");
    assert_string_equal(types[0].opcode, "NTCreateX");
    assert_non_null(types[0].row);
    assert_int_equal(types[0].count, 4);
    assert_int_equal(model_find_type(model, "nbench", "WriteX"), 3);
    assert_string_equal(model_name(model), "x.load");
    assert_false(model_is_recording(model));
    model_free(model);
}

static void gzip_files_are_read_and_damaged_ones_refused(void **state)
{
    (void)state;
    char packed[8192], text[] = "Mkdir \"\\a\" *\nMkdir \"\\b\" *\n";
    z_stream stream = {.next_in = (Bytef *)text,
                       .avail_in = sizeof text - 1,
                       .next_out = (Bytef *)packed,
                       .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t size = sizeof packed - stream.avail_out;
    deflateEnd(&stream);
    memcpy(packed + size, packed, size); /* a second member */
    for (size_t cut = 3; cut <= 2 * size; cut++) {
        struct script *script = NULL;
        struct error error = {0};
        FILE *file = fmemopen(packed, cut, "r");
        int result = loadfile_load(file, true, "x.gz", &script, &error);
        fclose(file);
        if (cut == size || cut == 2 * size) {
            assert_int_equal(result, 0);
            assert_int_equal(script->step_count, cut == size ? 2 : 4);
        } else {
            assert_int_equal(result, -EINVAL);
            assert_non_null(strstr(error.text, ": the gzip data are damaged or incomplete"));
        }
        script_free(script);
    }
}

static void wrong_lines_are_refused_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"Mkdir \"\\a\" *\nFoo 1 2\n",
         "x.load:2: expected an operation such as NTCreateX, found \"Foo 1 2\""},
        {"OPEN \"/a\" SUCCESS\n", "x.load:1: OPEN belongs to another backend of dbench; expected "
                                  "the operations of NetBench, "
                                  "such as NTCreateX and ReadX"},
        {"Close 1 NT_STATUS_OK\n",
         "x.load:1: handle 1 is not open here; expected NTCreateX before"},
        {"Mkdir \"\\a\"\n", "x.load:1: expected Mkdir \"NAME\" STATUS"},
        {"Mkdir \"\\a * \n", "x.load:1: expected Mkdir \"NAME\" STATUS"},
        {"Mkdir \"\\a\"x *\n", "x.load:1: expected Mkdir \"NAME\" STATUS"},
        {"Mkdir \"\\a\" * 3\n", "x.load:1: expected Mkdir \"NAME\" STATUS"},
        {"Mkdir \"\\a\" FINE\n",
         "x.load:1: expected a status such as NT_STATUS_OK or 0xc0000034, found \"FINE\""},
        {"Mkdir \"\\a\" 0xzz\n",
         "x.load:1: expected a status such as NT_STATUS_OK or 0xc0000034, found \"0xzz\""},
        {"Mkdir \"a\" *\n", "x.load:1: name \"a\": expected a path that begins with \\"},
        {"Mkdir \"\\a\\..\\..\\b\" *\n",
         "x.load:1: name \"\\a\\..\\..\\b\": expected no . or .. in a path"},
        {"Mkdir \"\\.\" *\n", "x.load:1: name \"\\.\": expected no . or .. in a path"},
        {"Mkdir \"\\a/../b\" *\n",
         "x.load:1: name \"\\a/../b\": expected no /, :, | or control character in a path"},
        {"Mkdir \"\\a\\\" *\n",
         "x.load:1: name \"\\a\\\": expected a name between two \\ and at the end"},
        {"Unlink \"\\a*\" 0 *\n",
         "x.load:1: name \"\\a*\": expected wildcards only in the last part of FIND_FIRST"},
        {"FIND_FIRST \"\\*\\a\" 260 1 1 *\n",
         "x.load:1: name \"\\*\\a\": expected wildcards only in the last part of FIND_FIRST"},
        {"Deltree \"\\\" *\n", "x.load:1: Deltree cannot change the root of the loadfile's names"},
        {"NTCreateX \"\\a\" 0 6 1 *\n",
         "x.load:1: expected a whole number from 0 to 5, found \"6\""},
        {"NTCreateX \"\\a\" -1 1 1 *\n",
         "x.load:1: expected a whole number from 0 to 4294967295, found \"-1\""},
        {"NTCreateX \"\\a\" 0 1 1 *\nReadX 1 9223372036854775808 1 1 *\n",
         "x.load:2: expected a whole number from 0 to 9223372036854775807, found "
         "\"9223372036854775808\""},
        {"NTCreateX \"\\a\" 0 1 1 *\nReadX 1 0 5 6 *\n",
         "x.load:2: expected at most the size of 5 bytes, found 6"},
        {"NTCreateX \"\\a\" 0 1 1 *\nReadX 1 +5%0 5 5 *\n",
         "x.load:2: expected * or +NUMBER, then at most 4 of +N, *N, /N, %N, +child and "
         "+num_children, found \"+5%0\""},
        {"QUERY_PATH_INFORMATION \"\\a\" 77 *\n",
         "x.load:1: level 77 is not supported for QUERY_PATH_INFORMATION"},
        {"LOOP 0\n", "x.load:1: expected a count above 0"},
        {"LOOP 2\nMkdir \"\\a\" *\n", "x.load:2: expected ENDLOOP for the LOOP of line 1"},
        {"Mkdir \"\\a\" *\nENDLOOP\n", "x.load:2: expected LOOP before ENDLOOP"},
        {"REPEAT 2\nLOOP 2\n", "x.load:2: expected an operation after REPEAT"},
        {"Mkdir \"\\a\" *\nREPEAT 2\n", "x.load:2: expected an operation after REPEAT"},
        {"LOOP 2\n1.5 Mkdir \"\\a\" *\nENDLOOP\n",
         "x.load:2: expected no time inside LOOP or after REPEAT"},
        {"1.5 Mkdir \"\\a\" *\n1.4 Mkdir \"\\b\" *\n",
         "x.load:2: expected a time of at least 1.5 s, that of the line before"},
        {"1.5s Mkdir \"\\a\" *\n",
         "x.load:1: expected seconds from 0 to 10000000, found \"1.5s Mkdir \"\\a\" *\""},
        {"SLEEP 5\n", "x.load: contains no operation"},
        {"RANDOMSTRING 10 \"a\"\n", "x.load:1: expected a whole number from 0 to 9, found \"10\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i].text, cases[i].message);
    char *longest = malloc(1 << 20);
    memset(longest, 'x', 1 << 20);
    memcpy(longest, "Mkdir \"\\", 8);
    longest[(1 << 20) - 1] = '\0';
    assert_refused(longest, "x.load:1: expected at most 4096 bytes in a line");
    free(longest);
}

/* Its lines fail as they are played if the create fails. */
static void a_handle_of_a_create_that_is_meant_to_fail_can_be_used(void **state)
{
    (void)state;
    struct model *model = load_good("NTCreateX \"\\a\" 0 1 5 NT_STATUS_ACCESS_DENIED\n"
                                    "NTCreateX \"\\b\" 0 1 6 NT_STATUS_OK\n"
                                    "ReadX 5 0 1 1 NT_STATUS_OK\nClose 5 NT_STATUS_OK\n");
    const struct script *script = model_script(model);
    assert_int_equal(script->steps[0].slot, 1);
    assert_int_equal(script->steps[1].slot, 0);
    assert_int_equal(script->steps[2].slot, 1);
    assert_int_equal(script->slot_count, 2);
    model_free(model);
}

static void at_most_eight_loops_lie_inside_each_other(void **state)
{
    (void)state;
    assert_refused("LOOP 1\nLOOP 1\nLOOP 1\nLOOP 1\nLOOP 1\nLOOP 1\nLOOP 1\nLOOP 1\nLOOP 1\n",
                   "x.load:9: expected at most 8 loops inside each other");
}

/* --- Plans --- */

static bool play_all(const struct model_type *type, void *context)
{
    const char *skipped = context;
    return !skipped || strcmp(type->opcode, skipped) != 0;
}

static struct plan_settings settings_of(double scale)
{
    return (struct plan_settings){
        .replay_rate = 1, .scale = scale, .warmup = 0, .duration = 100, .is_operation = play_all};
}

static struct plan *plan_of(const struct model *model, const struct plan_settings *settings)
{
    struct plan *plan = NULL;
    struct error error = {0};
    if (plan_make(model, settings, &plan, &error) < 0)
        fail_msg("%s", error.text);
    return plan;
}

/* The steps of a client as letters: the first of the name that each opens; and their times. */
static void assert_steps(const struct plan *plan, const char *letters, const double *seconds)
{
    const struct script *script = model_script(plan_model(plan));
    struct plan_client cursor;
    struct plan_step step;
    plan_client_start(plan, 0, &cursor);
    for (size_t i = 0; letters[i]; i++) {
        if (letters[i] == '.') {
            assert_false(plan_client_next(plan, &cursor, &step));
            return;
        }
        assert_true(plan_client_next(plan, &cursor, &step));
        assert_int_equal(step.kind, PLAN_PACKET);
        assert_int_equal(step.first, i == 0);
        assert_int_equal(script->names[script->steps[step.details].name][1], letters[i]);
        assert_int_equal(step.after_reply, plan_is_closed(plan));
        if (seconds)
            assert_int_equal(step.due, (int64_t)(seconds[i] * 1e9));
    }
}

static void in_closed_loop_the_file_starts_again_at_its_end(void **state)
{
    (void)state;
    struct model *model =
        load_good("Mkdir \"\\a\" *\nLOOP 2\nMkdir \"\\b\" *\nREPEAT 3\nMkdir \"\\c\" *\nENDLOOP\n"
                  "SLEEP 2000000\nMkdir \"\\d\" *\n");
    struct plan_settings settings = settings_of(3);
    struct plan *plan = plan_of(model, &settings);
    char pace[PLAN_PACE_SIZE];
    plan_pace(plan, pace);
    assert_string_equal(pace, "reply");
    assert_int_equal(plan_figures(plan)->clients, 3);
    static const double pauses[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0};
    assert_steps(plan, "abcccbcccdab", pauses);
    plan_free(plan);
    settings.passes = 2;
    plan = plan_of(model, &settings);
    assert_steps(plan, "abcccbcccdabcccbcccd.", NULL);
    plan_free(plan);
    model_free(model);
}

static void a_loop_without_played_lines_takes_no_time(void **state)
{
    (void)state;
    struct model *model = load_good("LOOP 4000000000\nLOOP 4000000000\nRmdir \"\\a\" *\nENDLOOP\n"
                                    "ENDLOOP\nMkdir \"\\b\" *\n");
    struct plan_settings settings = settings_of(1);
    settings.context = "Rmdir";
    struct plan *plan = plan_of(model, &settings);
    assert_steps(plan, "bbb", NULL);
    plan_free(plan);
    model_free(model);
}

static void times_and_bytes_make_an_open_loop(void **state)
{
    (void)state;
    struct model *model =
        load_good("0 NTCreateX \"\\a\" 0x40 2 1 *\n0.5 Mkdir \"\\b\" *\nMkdir \"\\c\" *\n"
                  "2 Mkdir \"\\d\" *\n");
    struct plan_settings settings = settings_of(1);
    struct plan *plan = plan_of(model, &settings);
    char pace[PLAN_PACE_SIZE];
    plan_pace(plan, pace);
    assert_string_equal(pace, "times");
    assert_false(plan_is_closed(plan));
    static const double times[] = {0, 0.5, 0.5, 2, 2, 2.5, 2.5, 4};
    assert_steps(plan, "abcdabcd", times);
    plan_free(plan);
    settings.replay_rate = 2;
    settings.duration = 1.5;
    plan = plan_of(model, &settings);
    static const double faster[] = {0, 0.25, 0.25, 1, 1, 1.25, 1.25};
    assert_steps(plan, "abcdabc.", faster);
    plan_free(plan);
    settings = settings_of(1);
    settings.after_reply = true;
    plan = plan_of(model, &settings);
    assert_true(plan_is_closed(plan));
    plan_free(plan);
    model_free(model);

    model = load_good("NTCreateX \"\\a\" 0x40 2 1 *\nWriteX 1 0 500000 500000 NT_STATUS_OK\n"
                      "Mkdir \"\\b\" *\nWriteX 1 0 1000000 1000000 NT_STATUS_OK\n");
    settings = settings_of(1);
    settings.bytes_per_second = 1e6;
    plan = plan_of(model, &settings);
    plan_pace(plan, pace);
    assert_string_equal(pace, "1 MB/s");
    static const double due[] = {0, 0, 0.5, 0.5, 1.5, 1.5, 2};
    struct plan_client cursor;
    struct plan_step step;
    plan_client_start(plan, 0, &cursor);
    for (size_t i = 0; i < 7; i++) {
        assert_true(plan_client_next(plan, &cursor, &step));
        assert_int_equal(step.due, (int64_t)(due[i] * 1e9));
    }
    plan_free(plan);
    model_free(model);
}

static void options_that_do_not_fit_a_loadfile_are_refused(void **state)
{
    (void)state;
    struct model *model = load_good("Mkdir \"\\a\" *\n");
    struct plan *plan = NULL;
    static const struct {
        struct plan_settings settings;
        const char *message;
    } cases[] = {
        {{.replay_rate = 1, .packets_per_second = 5},
         "-T: x.load is a loadfile, which each client plays at its own pace; give -S CLIENTS"},
        {{.replay_rate = 1, .scale = 1.5}, "-S: x.load is a loadfile, which takes whole clients"},
        {{.replay_rate = 2, .scale = 1},
         "-r: x.load is played in closed loop, where each reply sets the pace; omit the option"},
        {{.replay_rate = 1, .scale = 1, .persistence = 0.5},
         "--conversation-persistence: x.load is a loadfile; omit the option"},
        {{.replay_rate = 1, .scale = 1, .bytes_per_second = 1e6},
         "--pace: x.load takes no time at this pace; give --pace reply or --passes N"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan_settings settings = cases[i].settings;
        struct error error = {0};
        settings.duration = 10;
        settings.is_operation = play_all;
        assert_true(plan_make(model, &settings, &plan, &error) < 0);
        assert_string_equal(error.text, cases[i].message);
    }
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loadfiles_are_recognised_by_their_first_line),
        cmocka_unit_test(every_word_becomes_a_step),
        cmocka_unit_test(a_loadfile_is_a_model_of_packets),
        cmocka_unit_test(gzip_files_are_read_and_damaged_ones_refused),
        cmocka_unit_test(wrong_lines_are_refused_with_their_place),
        cmocka_unit_test(a_handle_of_a_create_that_is_meant_to_fail_can_be_used),
        cmocka_unit_test(at_most_eight_loops_lie_inside_each_other),
        cmocka_unit_test(in_closed_loop_the_file_starts_again_at_its_end),
        cmocka_unit_test(a_loop_without_played_lines_takes_no_time),
        cmocka_unit_test(times_and_bytes_make_an_open_loop),
        cmocka_unit_test(options_that_do_not_fit_a_loadfile_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
