/* SPDX-License-Identifier: Apache-2.0 */
/* The text report of a run: its layout byte for byte, its warnings, and the reading of such text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "replay/session/report.h"
#include "summary/text_report.h"
#include "tests/lib/sample_result.h"
#include "tests/lib/temporary.h"

static const int64_t us = 1000, second = 1000000000;

/* Takes the next line off *text. */
static const char *next_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    assert_non_null(end);
    *end = '\0';
    *text = end + 1;
    return line;
}

static void the_report_has_its_layout(void **state)
{
    (void)state;
    struct result result;
    sample_result(&result);
    char *text = sample_text(&result), *at = text;
    static const char *const head[] = {
        "Total conversations:           50",
        "Successful operations:         92 (9.200 per second)",
        "Failed operations:             13 (1.300 per second)",
        "Max sleep miss:              0.008146",
        "Maximum lag:                 0.000020",
        "Start lag:                   0.000000",
        "Planned conversations:       60",
        "Planned packets:             927",
        "Unfinished conversations:    49",
        ("Protocol    Op Code  Description                                Count       Failed     "
         "    Mean       Median          95%        Range          Max"),
        ("ldap              0  bindRequest                                    3            3     "
         "0.005000     0.005000     0.005000     0.000000     0.005000"),
    };
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        assert_string_equal(next_line(&at), head[i]);
    /* 1, 2, ... 100 ms: the mean and what is at the ends are exact. */
    const char *row = next_line(&at);
    assert_memory_equal(row,
                        "ldap              3  searchRequest                                "
                        "100           10     0.050500     0.0",
                        95);
    assert_string_equal(row + strlen(row) - 26, "     0.099000     0.100000");
    assert_string_equal(
        next_line(&at),
        "smb            0x72                                                 1      "
        "      0     0.000622     0.000622     0.000622     0.000000     0.000622");
    assert_string_equal(
        next_line(&at),
        "smb2             13  Echo                                           1      "
        "      0     0.000622     0.000622     0.000622     0.000000     0.000622");
    assert_string_equal(next_line(&at), "");
    static const char *const wanted[] = {
        "Command:                     traffic-replay -r 4 -S 5 office.yaml dc1\n",
        "Program:                     traffic-replay " TRAFFIC_VERSION "\n",
        "(SHA-256 abcd010000",
        "Label:                       prefork=4\n",
        "Label:                       bell=??x\n",
        "Random seed:                 18446744073709551615\n",
        "Replay rate (-r):            4\n",
        "Scale (-S):                  5\n",
        "Clients:                     49 in 2 threads\n",
        "Window's start:              2023-11-14 22:13:20 UTC\n",
        "Window:                      10.000 s after 1.000 s of warm-up\n",
        "Nominal:                     10.400 operations per second (12.250 packets per second)\n",
        "Planned:                     106 operations due in the window (10.600 per second)\n",
        "Achieved:                    100.0% of planned: 92 ok, 13 failed, 1 no answer\n",
        "Response time  ",
        "Service time  ",
        "Lag  ",
        "        10  ldap:3  insufficientAccessRights\n",
        "         2  ldap:0  timed out\n         1  ldap:0  connection reset\n",
        "No answer:\n         1  nbns:0\n",
        "Skipped packets that have no player:\n        12  foo:3\n",
        "Packets left out by --only or --skip:\n         7  dns:0\n",
        "0.500 s user, 0.250 s system (7.5% of one core)\n",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!strstr(at, wanted[i]))
            fail_msg("missing: %s in\n%s", wanted[i], at);
    static const char *const unwanted[] = {"nan",  "at least", "Backlog", "bottleneck",
                                           "TLS:", "(-T)",     "samr"};
    for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
        if (strstr(at, unwanted[i]))
            fail_msg("unwanted: %s in\n%s", unwanted[i], at);
    free(text);
    result_clear(&result);
}

/* The published head, byte for byte, from the same figures. */
static void the_head_is_the_published_one(void **state)
{
    (void)state;
    struct result result;
    result_init(&result);
    result.done_ok = 2501;
    result.done_failed = 740;
    result.window = 2501 / 119.066;
    result.conversations = 99;
    result.timer_miss = 0.023034;
    result.max_lag = 8.022160;
    result.start_lag = 0.026794;
    result.planned_conversations = 101;
    result.planned_packets = 4722;
    result.unfinished_conversations = 54;
    char *text = sample_text(&result), *at = text, line[512];
    FILE *published = fopen("tests/data/samba-runs/dc1_r4_S5.txt", "r");
    assert_non_null(published);
    for (unsigned i = 0; i < 10; i++) {
        assert_non_null(fgets(line, sizeof line, published));
        line[strcspn(line, "\n")] = '\0';
        const char *ours = next_line(&at);
        /* The two rates are of different spans. */
        if (i == 2)
            line[strcspn(line, "(")] = '\0';
        assert_memory_equal(ours, line, strlen(line) + (i != 2));
    }
    fclose(published);
    free(text);
    result_clear(&result);
}

/* Nothing was planned and there was no window. */
static void an_empty_run_has_words_for_figures(void **state)
{
    (void)state;
    struct settings settings = sample_settings();
    struct report_facts facts = sample_facts(&settings);
    struct result result;
    struct error error = {0};
    struct tally *tally = sample_tally_new();
    tally_window_end(tally, 0);
    facts.interrupted = true;
    facts.busy = NAN;
    facts.skipped_count = 0;
    assert_int_equal(report_make(tally, &facts, &result), 0);
    assert_int_equal(result_check(&result, &error), 0);
    assert_false(report_succeeded(&result));
    char *text = sample_text(&result);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_non_null(strstr(text, "Achieved:                    none: nothing was planned\n"));
    assert_non_null(strstr(text, "Response time                     none         none"));
    assert_non_null(strstr(text, "Window:                      0.000 s after 1.000 s of warm-up, "
                                 "cut short by a signal\n"));
    struct text_report report;
    if (text_report_parse(&report, text, strlen(text), "x", &error) != 0)
        fail_msg("%s", error.text);
    assert_true(isnan(report.response_p95));
    free(text);
    result_clear(&result);
    tally_free(tally);
}

/* --stop-on-any-error: text and JSON say why the run ended; older files, without the field, are
 * read as before. */
static void why_the_run_ended(void **state)
{
    (void)state;
    struct result before, after;
    struct error error = {0};
    char *path = path_in_tmp("stopped.json"), *bytes;
    size_t length;
    sample_result(&before);
    before.stopped_on_error = true;
    char *text = sample_text(&before);
    assert_non_null(strstr(text, "cut short by a failed operation (--stop-on-any-error)\n"));
    assert_int_equal(result_write(&before, path, &error), 0);
    assert_int_equal(result_load(path, &bytes, &length, &error), 0);
    result_init(&after);
    assert_int_equal(result_parse(&after, bytes, length, "x", &error), 0);
    assert_true(after.stopped_on_error);
    assert_false(after.interrupted);
    result_clear(&after);

    char *field = memmem(bytes, length, "stopped_on_error", 16);
    assert_non_null(field);
    memcpy(field, "unknown_field_16", 16);
    result_init(&after);
    assert_int_equal(result_parse(&after, bytes, length, "x", &error), 0);
    assert_false(after.stopped_on_error);
    result_clear(&after);
    unlink(path);
    free(path);
    free(bytes);
    free(text);
    result_clear(&before);
}

/* 10 seconds; the echo stands for a type that reads. */
static void bytes_requests_and_sizes_are_printed(void **state)
{
    (void)state;
    struct result result;
    struct result_count sizes[] = {{"4096", 90}, {"61440", 10}, {"7", 1}, {"6", 1},
                                   {"5", 1},     {"4", 1},      {"3", 1}};
    sample_result(&result);
    char *text = sample_text(&result);
    assert_null(strstr(text, "Data:"));
    assert_null(strstr(text, "Requests:"));
    free(text);
    for (size_t i = 0; i < result.packet_count; i++)
        if (strcmp(result.packets[i].protocol, "smb2") == 0) {
            result.packets[i].read = 2000000;
            result.packets[i].requests = 3;
            result.packets[i].sizes = sizes;
            result.packets[i].size_count = 7;
        }
    text = sample_text(&result);
    static const char lines[] =
        "\nData:                        0.200 MB/s (2.000 MB in the window; MB = 10^6 bytes)\n"
        "Data read:                   0.200 MB/s in 0.100 reads per second of 2000000 bytes\n"
        "Data written:                0.000 MB/s in 0.000 writes per second\n"
        "Data operations:             0.100 reads and writes per second (IOPS)\n"
        "Requests:                    3.00 SMB2 requests per operation\n"
        "Sizes, smb2:13:              4096 85.7%, 61440 9.5%, 7 1.0%, 6 1.0%, 5 1.0%, 4 1.0%, "
        "others 1.0%\n";
    if (!strstr(text, lines))
        fail_msg("%s", text);
    free(text);
    result_clear(&result);
}

/* A server that answers only one of two clients: no operation waits, but one time is unknown. */
static void an_unanswered_operation_has_no_time(void **state)
{
    (void)state;
    struct settings settings = sample_settings();
    struct report_facts facts = sample_facts(&settings);
    struct result result;
    struct tally *tally = sample_tally_new();
    sample_play(tally, SAMPLE_SEARCH, 2 * second, 1000 * us, NULL);
    tally_event(tally,
                &(struct tally_event){.type = SAMPLE_SEARCH,
                                      .due = 2 * second,
                                      .ready = 2 * second,
                                      .first_sent = 2 * second,
                                      .last_received = INT64_MIN,
                                      .ended = 12 * second},
                &(struct outcome){.kind = OUTCOME_UNFINISHED});
    tally_planned(tally, SAMPLE_SEARCH, 2 * second);
    assert_int_equal(report_make(tally, &facts, &result), 0);
    char *text = sample_text(&result);
    assert_non_null(strstr(text, "Response time (at least) "));
    assert_non_null(strstr(text, "Backlog: 1 operations were cut without an answer: "
                                 "response times are lower bounds\n"));
    free(text);
    result_clear(&result);
    tally_free(tally);
}

/* A server that stalls: the report lists the operations that were not sent next to the times, which
 * do not show them. */
static void operations_that_were_not_sent_are_shown(void **state)
{
    (void)state;
    struct settings settings = sample_settings();
    struct report_facts facts = sample_facts(&settings);
    struct result result;
    struct tally *tally = sample_tally_new();
    settings.scale = 0;
    settings.packets_per_second = 100;
    facts.tls_used = true;
    facts.busy = 0.97;
    facts.timing_lost = 5;
    sample_play(tally, SAMPLE_SEARCH, 2 * second, 1000 * us, NULL);
    tally_event(tally,
                &(struct tally_event){.type = SAMPLE_SEARCH,
                                      .due = 2 * second,
                                      .ready = 2 * second,
                                      .first_sent = 2 * second + 50000 * us,
                                      .last_received = INT64_MIN,
                                      .ended = 12 * second},
                &(struct outcome){.kind = OUTCOME_UNFINISHED});
    tally_planned(tally, SAMPLE_SEARCH, 2 * second);
    for (int64_t i = 0; i < 2; i++) {
        tally_planned(tally, SAMPLE_SEARCH, (4 + i) * second);
        tally_not_sent(tally, SAMPLE_SEARCH, (4 + i) * second);
    }
    tally_planned(tally, SAMPLE_SEARCH, 3 * second);
    tally_dropped(tally, SAMPLE_SEARCH, 3 * second);
    assert_int_equal(report_make(tally, &facts, &result), 0);
    char *text = sample_text(&result);
    static const char *const wanted[] = {
        "Packets per second (-T):     100\n",
        "Achieved:                    20.0% of planned: 1 ok, 0 failed, 0 no answer\n",
        "Unfinished:                  1 had no answer when the window closed\n",
        "Not sent:                    2 whose clients were still behind\n",
        "Dropped:                     1 that were older than --max-backlog\n",
        "Response time (at least) ",
        "Backlog: 2 operations were not sent; at the end their age was p50 6.",
        "max 7.000 s: response times are lower bounds\n",
        "The generator was the bottleneck: lag p99 50.0 ms with a worker busy 97.0% of the time",
        "Timing data: 5 lines were lost",
        "TLS: the server's certificate was not checked",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!strstr(text, wanted[i]))
            fail_msg("missing: %s in\n%s", wanted[i], text);
    assert_null(strstr(text, "(-S)"));
    free(text);
    result_clear(&result);
    tally_free(tally);
}

/* Lag and a busy processor together point to the generator, either of them alone does not. */
static void one_sign_alone_is_no_bottleneck(void **state)
{
    (void)state;
    static const struct {
        int64_t lag;
        double busy;
        bool reported;
    } cases[] = {{11000000, 0.96, true},
                 {11000000, 0.94, false},
                 {9000000, 0.99, false},
                 {11000000, NAN, false}};
    struct settings settings = sample_settings();
    struct report_facts facts = sample_facts(&settings);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tally *tally = sample_tally_new();
        struct result result;
        tally_planned(tally, SAMPLE_ECHO, 2 * second);
        tally_event(tally,
                    &(struct tally_event){.type = SAMPLE_ECHO,
                                          .due = 2 * second,
                                          .ready = 2 * second,
                                          .first_sent = 2 * second + cases[i].lag,
                                          .last_received = 3 * second,
                                          .ended = 3 * second},
                    &(struct outcome){.kind = OUTCOME_OK});
        facts.busy = cases[i].busy;
        assert_int_equal(report_make(tally, &facts, &result), 0);
        assert_true(report_succeeded(&result));
        char *text = sample_text(&result);
        assert_int_equal(strstr(text, "bottleneck") != NULL, cases[i].reported);
        free(text);
        result_clear(&result);
        tally_free(tally);
    }
}

/* The complete text has the figures of the result; text that ends at an earlier line is refused. */
static void a_text_report_is_read_back(void **state)
{
    (void)state;
    struct result result;
    struct text_report report;
    struct error error = {0};
    sample_result(&result);
    char *text = sample_text(&result);
    size_t length = strlen(text);
    if (text_report_parse(&report, text, length, "x", &error) != 0)
        fail_msg("%s", error.text);
    assert_true(report.ours);
    assert_int_equal(report.ok, 92);
    assert_int_equal(report.failed, 13);
    assert_true(report.ok_rate == 9.2);
    assert_true(report.r == 4 && report.S == 5);
    assert_true(report.seed == UINT64_MAX);
    assert_int_equal(report.start, 1700000000);
    assert_true(report.nominal == 10.4);
    assert_int_equal(report.planned, 106);
    struct histogram total;
    histogram_init(&total);
    assert_int_equal(result_total(&result, RESULT_RESPONSE, &total), 0);
    assert_true(fabs(report.response_p95 - (double)histogram_quantile(&total, 0.95) * 1e-9) < 1e-6);
    assert_true(fabs(report.response_p99 - (double)histogram_quantile(&total, 0.99) * 1e-9) < 1e-6);
    assert_true(fabs(report.response_mean - histogram_mean(&total) * 1e-9) < 1e-6);
    histogram_clear(&total);
    size_t complete = (size_t)(strstr(text, "Generator's processor time:") - text);
    for (size_t cut = 0; cut < complete; cut++)
        if (text[cut] == '\n' && text_report_parse(&report, text, cut + 1, "x", &error) == 0 &&
            report.ours)
            fail_msg("cut off at byte %zu it is taken as whole", cut);
    free(text);
    result_clear(&result);
}

static void rows_without_times_are_explained(void **state)
{
    (void)state;
    struct result result;
    sample_result(&result);
    static const char note[] = "\nTimes \"none\":                counts are of what ended in the "
                               "window, times of what was also due in it\n";
    char *text = sample_text(&result);
    bool all_timed = strstr(text, note) == NULL;
    free(text);
    for (size_t i = 0; i < result.packet_count; i++)
        if (result.packets[i].count > 0) {
            histogram_clear(&result.packets[i].service);
            histogram_init(&result.packets[i].service);
            break;
        }
    text = sample_text(&result);
    assert_true(all_timed);
    assert_non_null(strstr(text, note));
    free(text);
    result_clear(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_has_its_layout),
        cmocka_unit_test(the_head_is_the_published_one),
        cmocka_unit_test(an_empty_run_has_words_for_figures),
        cmocka_unit_test(why_the_run_ended),
        cmocka_unit_test(rows_without_times_are_explained),
        cmocka_unit_test(bytes_requests_and_sizes_are_printed),
        cmocka_unit_test(an_unanswered_operation_has_no_time),
        cmocka_unit_test(operations_that_were_not_sent_are_shown),
        cmocka_unit_test(one_sign_alone_is_no_bottleneck),
        cmocka_unit_test(a_text_report_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
