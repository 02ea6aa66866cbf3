/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that did not measure the same thing: each kind of difference is found. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "summary/command_text.h"
#include "summary/grid.h"
#include "summary/mixed.h"
#include "tests/lib/result_files.h"

static void write_run(const struct result *result, const char *name)
{
    struct error error = {0};
    if (result_write(result, results_path("%s.json", name), &error) != 0)
        fail_msg("%s", error.text);
}

/* The lines about the runs in the folder. The caller frees them. */
static char *lines_of_folder(const char *except)
{
    struct readings readings = results_read_folder();
    struct mixed mixed;
    char *text = NULL, line[1024];
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(mixed_find(&mixed, &readings, except), 0);
    for (size_t i = 0; i < mixed.count; i++) {
        mixed_text(line, sizeof line, &mixed.kinds[i]);
        fprintf(stream, "%s\n", line);
    }
    fclose(stream);
    mixed_clear(&mixed);
    readings_clear(&readings);
    return text;
}

static void assert_lines(const char *except, const char *wanted)
{
    char *text = lines_of_folder(except);
    assert_string_equal(text, wanted);
    free(text);
}

static void each_kind_of_difference_between_runs_has_one_line(void **state)
{
    (void)state;
    struct result result;
    results_make(&result, &(struct results_run){1, 1, 1, 1000, 0, 0});
    write_run(&result, "a");
    assert_lines(NULL, "");
    result.seed = 2;
    write_run(&result, "b");
    assert_lines(NULL, "");
    result.dc = "dc2";
    result.model_sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    result.version = "9.9";
    result.window = 2000;
    result.command = "traffic-replay --serv=ldap -B 0.5 -K 'my model.yaml' dc2 -- --only=x";
    write_run(&result, "b");
    result_clear(&result);
    assert_lines(
        NULL,
        "runs differ in server (dc1, dc2), also within 1 cell: give only files that agree\n"
        "runs differ in model (model.yaml, model.yaml 01234567), also within 1 cell: give only "
        "files that agree\n"
        "runs differ in program (traffic-replay 0.1.0, traffic-replay 9.9), also within 1 cell: "
        "give only files that agree\n"
        "runs differ in window (1000 s, 2000 s), also within 1 cell: give only files that agree\n"
        "runs differ in option --server (ldap, none), also within 1 cell: give only files that "
        "agree\n"
        "runs differ in option --prefer-kerberos (given, none), also within 1 cell: give only "
        "files that agree\n"
        "runs differ in option --badpassword-frequency (0.5, none), also within 1 cell: give only "
        "files that agree\n");
}

static void write_labelled(const char *name, uint64_t seed, double r, const char *value)
{
    struct result result;
    struct result_label labels[] = {{"prefork", value}, {"repeat", name}, {"options", "-D 5"}};
    results_make(&result, &(struct results_run){r, 1, seed, 1000 * seed, 0, 0});
    result.labels = labels;
    result.label_count = 3;
    write_run(&result, name);
    result_clear(&result);
}

static void different_labels_propose_by_and_repeats_do_not_differ(void **state)
{
    (void)state;
    write_labelled("1", 1, 1, "16");
    write_labelled("2", 2, 2, "4");
    assert_lines(NULL, "runs differ in label prefork (4, 16): use --by prefork\n");
    assert_lines("prefork", "");
    write_labelled("3", 3, 1, "1");
    write_labelled("4", 4, 1, "2");
    write_labelled("5", 5, 1, "8");
    assert_lines(NULL, "runs differ in label prefork (1, 2, 4, 8 and 1 more), also within 1 cell: "
                       "use --by prefork\n");
}

static void the_mean_of_different_runs_is_marked_in_text_and_json(void **state)
{
    (void)state;
    static const struct slo no_slo;
    write_labelled("1", 1, 1, "1");
    write_labelled("2", 3, 1, "4");
    write_labelled("3", 1, 2, "4");
    struct readings readings = results_read_folder();
    struct mixed mixed;
    struct grid grid;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(mixed_find(&mixed, &readings, NULL), 0);
    assert_int_equal(grid_make(&grid, &readings, METRIC_OK, false, &no_slo), 0);
    grid_mark_mixed(&grid, &mixed);
    grid_print(stream, &grid, (struct grid_print_form){0});
    assert_int_equal(grid_print_json(stream, &grid), 0);
    fclose(stream);
    static const char wanted[] = " r\\S         1\n"
                                 "  1    *~2.000\n"
                                 "  2      1.000\n"
                                 "\n"
                                 "max: 2.000 (~ mean of runs that differ)\n"
                                 "{\n";
    assert_memory_equal(text, wanted, sizeof wanted - 1);
    assert_non_null(strstr(text, "\"mixed\": true"));
    assert_non_null(strstr(text, "\"name\": \"label prefork\""));
    assert_non_null(strstr(text, "\"values\": \"1, 4\""));
    free(text);
    grid_clear(&grid);
    mixed_clear(&mixed);
    readings_clear(&readings);
}

static void options_are_found_in_quoted_command_lines(void **state)
{
    (void)state;
    static const struct {
        const char *command, *name, *value;
    } cases[] = {
        {"traffic-replay model.yaml dc1", "server", "none"},
        {"traffic-replay --server ldap model.yaml dc1", "server", "ldap"},
        {"traffic-replay '--only=ldap:3 smb2' m dc1", "only", "ldap:3 smb2"},
        {"traffic-replay '--label=options=--only=x' m dc1", "only", "none"},
        {"traffic-replay -B0.25 m dc1", "badpassword-frequency", "0.25"},
        {"traffic-replay -B 0.25 m dc1", "badpassword-frequency", "0.25"},
        {"traffic-replay --only=x --only=y m dc1", "only", "y"},
        {"traffic-replay --smb-encrypt m dc1", "smb-encrypt", "given"},
        {"traffic-replay --only", "only", "none"},
        {"traffic-replay --only=\\'x 'cut", "only", "'x"},
    };
    char value[64];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(command_text_option(cases[i].command, cases[i].name, value, sizeof value));
        if (strcmp(value, cases[i].value) != 0)
            fail_msg("%s: %s is %s", cases[i].command, cases[i].name, value);
    }
    assert_false(command_text_option("traffic-replay", "replay-rate", value, sizeof value));
}

#define TEST(function)                                                                             \
    cmocka_unit_test_setup_teardown(function, results_make_folder, results_remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_kind_of_difference_between_runs_has_one_line),
        TEST(different_labels_propose_by_and_repeats_do_not_differ),
        TEST(the_mean_of_different_runs_is_marked_in_text_and_json),
        cmocka_unit_test(options_are_found_in_quoted_command_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
