/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and reading result files: names, damaged and foreign files, text reports. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "replay/session/report.h"
#include "summary/compare.h"
#include "summary/grid.h"
#include "summary/reading.h"
#include "summary/result/result.h"
#include "summary/slo.h"
#include "summary/text_report.h"
#include "summary/vary.h"
#include "tests/lib/result_files.h"

static void r_and_S_are_read_from_file_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double r, S; /* 0: does not tell */
    } names[] = {
        {"dc1_r4_S5.txt", 4, 5},
        {"r4_S5.txt", 4, 5},
        {"a/b_r1_S1/dc1_r12_S11.json", 12, 11},
        {"dc1_r0.5_S3.7.txt", 0.5, 3.7},
        {"dc1_r0.5_S3.7", 0.5, 3.7},
        {"dc1_r4_S5", 4, 5},
        {"dc1_r4_S5_2.json", 4, 5},
        {"dc1_r4_S5-rerun.txt", 4, 5},
        {"dc_r1_r4_S5.txt", 4, 5},
        {"dc1_r4.txt", 0, 0},
        {"dc1_S5_r4.txt", 0, 0},
        {"dc1_r4_S5x.txt", 0, 0},
        {"dc1_r_S5.txt", 0, 0},
        {"dc1_r0_S5.txt", 0, 0},
        {"dc1_r-4_S5.txt", 0, 0},
        {"server4_S5.txt", 0, 0},
        {"dc1_r4_S5/result.txt", 0, 0},
        {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double r = 0, S = 0;
        bool found = reading_cell_of_name(names[i].name, &r, &S);
        if (found != (names[i].r > 0) || (found && (r != names[i].r || S != names[i].S)))
            fail_msg("%s: %d %g %g", names[i].name, found, r, S);
    }
}

/* Damaged, unreadable: each is named. Foreign files in a folder are counted. The rest is read. */
static void each_damaged_file_is_named_and_the_rest_is_read(void **state)
{
    (void)state;
    struct results_run run = {1, 1, 1, 1000, 0, 0};
    results_write_json(&run, results_path("good.json"));
    results_write_text(&run, results_path("same-run-as-text.txt"));
    char *bytes = results_load_text(results_path("good.json"));
    results_write_file(results_path("copy.json"), bytes);
    bytes[strlen(bytes) / 2] = '\0';
    results_write_file(results_path("cut.json"), bytes);
    free(bytes);
    results_write_file(results_path("empty.txt"), "");
    results_write_file(results_path("dc1_r4_S7.txt"), "");
    results_write_file(results_path("dc1_r4_S7.log"), "the DC's log\n");
    results_write_file(results_path("office.yaml"), "version: 3\n");
    results_write_file(results_path("dry.json"), "{\"format\": 1, \"dry_run\": true}\n");
    results_write_file(results_path("blank.txt"), " \n\n");
    results_write_file(results_path("foreign.txt"), "Dear diary,\n");
    results_write_file(results_path("other.json"), "{\"results\": []}\n");
    results_write_file(results_path("newer.json"), "{\"format\": 99}\n");
    results_write_file(results_path(".hidden"), "not looked at");
    char *python = results_load_text("tests/data/samba-runs/dc1_r4_S5.txt");
    results_write_file(results_path("no-cell.txt"), python);
    *strstr(python, "samr") = '\0';
    results_write_file(results_path("cut_r4_S5.txt"), python);
    free(python);
    assert_int_equal(mkdir(results_path("more"), 0777), 0);
    run.seed = 2;
    run.r = 2;
    results_write_json(&run, results_path("more/deep.json"));
    assert_int_equal(symlink("..", results_path("more/loop")), 0);
    assert_int_equal(symlink("nowhere", results_path("nothing")), 0);
    assert_int_equal(mkfifo(results_path("pipe"), 0666), 0);

    struct readings readings = results_read_folder();
    assert_int_equal(readings.count, 2);
    assert_int_equal(readings.repeated, 2);
    assert_string_equal(readings.items[0].path + strlen(results_folder), "/copy.json");
    assert_string_equal(readings.items[1].path + strlen(results_folder), "/more/deep.json");
    static const char *const wanted[] = {
        "/cut.json:1:",
        "/dc1_r4_S7.txt: empty\n",
        "/newer.json: written in format 99; this program reads format 1\n",
        "/no-cell.txt: neither the file nor its name contains r and S; name it like ",
        "/cut_r4_S5.txt:28: damaged: the table's rows do not add up to the operations above it\n",
        "/more/loop: link to a folder that contains it\n",
        "/nothing: dangling link\n",
        "/pipe: neither a file nor a folder\n",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!strstr(results_warnings, wanted[i]))
            fail_msg("no warning %s in\n%s", wanted[i], results_warnings);
    assert_int_equal(readings.refused, sizeof wanted / sizeof wanted[0]);
    assert_int_equal(readings.foreign, 5);
    assert_non_null(strstr(results_warnings, ": skipped 5 files not of results\n"));
    assert_null(strstr(results_warnings, ".log"));
    assert_null(strstr(results_warnings, "/foreign.txt"));
    readings_clear(&readings);

    /* Named by hand, each has a line. */
    static const char *const named[][2] = {
        {"empty.txt", "/empty.txt: empty\n"},
        {"foreign.txt", "/foreign.txt: not a result of a traffic replay\n"},
        {"other.json", "/other.json: not a result of traffic-replay\n"},
        {"office.yaml", "/office.yaml: not a result of a traffic replay\n"},
        {"dry.json", "/dry.json: the output of a --dry-run, not a result\n"},
    };
    readings = (struct readings){.warning = results_keep_warning};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        results_warnings[0] = '\0';
        assert_int_equal(readings_add(&readings, results_path("%s", named[i][0])), 0);
        if (!strstr(results_warnings, named[i][1]))
            fail_msg("no warning %s in\n%s", named[i][1], results_warnings);
        assert_int_equal(readings.refused, i + 1);
    }
    readings_clear(&readings);
}

static void a_folder_without_results_is_refused(void **state)
{
    (void)state;
    struct readings readings = {.warning = results_keep_warning};
    results_warnings[0] = '\0';
    assert_int_equal(readings_add(&readings, results_folder), 0);
    assert_non_null(strstr(results_warnings, ": contains no result files"));
    assert_int_equal(readings_add(&readings, results_path("missing.json")), 0);
    assert_non_null(
        strstr(results_warnings, "missing.json: cannot be read: No such file or directory"));
    assert_int_equal(readings.refused, 2);
    assert_int_equal(readings_finish(&readings), 0);
    assert_int_equal(readings.count, 0);
    readings_clear(&readings);
}

/* A text report cut off or changed at any place is either refused or unchanged in what it says. */
static void a_damaged_text_report_is_refused_or_unchanged(void **state)
{
    (void)state;
    char *text = results_load_text("tests/data/samba-runs/dc1_r8_S10.txt");
    size_t length = strlen(text);
    struct error error = {0};
    struct text_report whole, report;
    assert_int_equal(text_report_parse(&whole, text, length, "x", &error), 0);
    for (size_t cut = 0; cut < length; cut++)
        if (text_report_parse(&report, text, cut, "x", &error) == 0)
            assert_true(report.ok == whole.ok && report.failed == whole.failed &&
                        cut > length - 40);
    free(text);
}

/* Timing data that -t - wrote before the report does not hide it; CRLF does not spoil it. */
static void text_around_a_report_is_ignored(void **state)
{
    (void)state;
    struct error error = {0};
    struct text_report report;
    static const char text[] = "time\tconv\tprotocol\ttype\tduration\tsuccessful\terror\r\n"
                               "1.0\t0\tldap\t3\t0.1\tTrue\t\r\n"
                               "Total conversations:            1\r\n"
                               "Successful operations:          1 (0.500 per second)\r\n"
                               "Failed operations:              0 (0.000 per second)\r\n"
                               "Planned packets:             1\r\n"
                               "Protocol    Op Code  Description\r\n"
                               "ldap              3  search of all things     "
                               "1 0 0.5 0.5 0.5 0.0 0.5\r\n";
    if (text_report_parse(&report, text, sizeof text - 1, "x", &error) != 0)
        fail_msg("%s", error.text);
    assert_true(report.mean == 0.5);
    assert_int_equal(report.ok, 1);
    assert_int_equal(text_report_parse(&report, "Total\0", 6, "x", &error), -ENOMSG);
}

#define TEST(function)                                                                             \
    cmocka_unit_test_setup_teardown(function, results_make_folder, results_remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(r_and_S_are_read_from_file_names),
        TEST(each_damaged_file_is_named_and_the_rest_is_read),
        TEST(a_folder_without_results_is_refused),
        TEST(a_damaged_text_report_is_refused_or_unchanged),
        TEST(text_around_a_report_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
