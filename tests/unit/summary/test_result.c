/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From counters to report: what report_make() fills in, the text's byte layout, the JSON round
 * trip, and what result_read() refuses.
 */
#include <errno.h>
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
#include <jansson.h>

#include "base/error.h"
#include "replay/session/report.h"
#include "summary/text_report.h"
#include "tests/lib/temporary.h"

static const int64_t us = 1000, second = 1000000000;

enum { SEARCH, BIND, NBNS, ECHO, ODD, UNUSED, TYPES };

static const struct tally_type types[TYPES] = {
    {"ldap", "3", "searchRequest"}, {"ldap", "0", "bindRequest"}, {"nbns", "0", "query"},
    {"smb2", "13", "Echo"},         {"smb", "0x72", ""},          {"samr", "0", "Connect"}};

static void play(struct tally *tally, uint32_t type, int64_t due, int64_t service,
                 const char *cause)
{
    struct outcome outcome = {.kind = cause ? OUTCOME_FAILED : OUTCOME_OK};
    if (cause)
        strcpy(outcome.cause, cause);
    tally_planned(tally, type, due);
    tally_event(tally,
                &(struct tally_event){.type = type,
                                      .due = due,
                                      .ready = due,
                                      .first_sent = due + 20 * us,
                                      .last_received = due + 20 * us + service,
                                      .ended = due + 20 * us + service},
                &outcome);
}

/* Warm-up 1 s, window 10 s. */
static struct tally *make_tally(void)
{
    struct tally *tally = tally_new(&(struct tally_setup){.types = types,
                                                          .type_count = TYPES,
                                                          .clients = 49,
                                                          .window_start = second,
                                                          .window_end = 11 * second});
    assert_non_null(tally);
    return tally;
}

static struct tally *play_some(void)
{
    struct tally *tally = make_tally();
    struct outcome none = {.kind = OUTCOME_NO_ANSWER};
    for (int64_t i = 0; i < 100; i++)
        play(tally, SEARCH, second + i * 90000 * us, (i + 1) * 1000 * us,
             i % 10 == 9 ? "insufficientAccessRights" : NULL);
    for (int64_t i = 0; i < 3; i++)
        play(tally, BIND, 2 * second + i, 5000 * us, i ? "timed out" : "connection reset");
    play(tally, ECHO, 3 * second, 622 * us, NULL);
    play(tally, ODD, 3 * second, 622 * us, NULL);
    tally_planned(tally, NBNS, 4 * second);
    tally_event(tally,
                &(struct tally_event){.type = NBNS,
                                      .due = 4 * second,
                                      .ready = 4 * second,
                                      .first_sent = 4 * second,
                                      .last_received = INT64_MIN,
                                      .ended = 8 * second},
                &none);
    for (unsigned i = 0; i < 50; i++)
        tally_conversation(tally);
    tally_conversation_ended(tally);
    tally_timer_late(tally, 8146 * us);
    return tally;
}

static const uint8_t sha256[32] = {0xab, 0xcd, 0x01};
static const struct report_skipped skipped[] = {{"foo", "3", false, 12}, {"dns", "0", true, 7}};
static struct settings_pair labels[] = {
    {"prefork", "4"}, {"site", "K\xc3\xb6ln"}, {"bell", "\a\nx"}};

static struct settings make_settings(void)
{
    return (struct settings){.model = "office.yaml",
                             .dc = "dc1",
                             .replay_rate = 4,
                             .scale = 5,
                             .duration = 10,
                             .warmup = 1,
                             .instance_id = 0,
                             .labels = labels,
                             .label_count = 3,
                             .command_line = (char *)"traffic-replay -r 4 -S 5 office.yaml dc1"};
}

static struct report_facts make_facts(const struct settings *settings)
{
    return (struct report_facts){.settings = settings,
                                 .model = "office.yaml",
                                 .model_sha256 = sha256,
                                 .seed = UINT64_MAX,
                                 .clients = 49,
                                 .threads = 2,
                                 .nominal = 10.4,
                                 .nominal_packets = 12.25,
                                 .planned_conversations = 60,
                                 .planned_packets = 927,
                                 .start = 1700000000.25,
                                 .cpu_user = 0.5,
                                 .cpu_system = 0.25,
                                 .busy = 0.125,
                                 .skipped = skipped,
                                 .skipped_count = 2};
}

static void make_result(struct result *result)
{
    struct settings settings = make_settings();
    struct report_facts facts = make_facts(&settings);
    struct tally *tally = play_some();
    struct error error = {0};
    assert_int_equal(tally_check(tally, &error), 0);
    assert_int_equal(report_make(tally, &facts, result), 0);
    tally_free(tally);
    if (result_check(result, &error) != 0)
        fail_msg("%s", error.text);
}

static char *text_of(const struct result *result)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(report_print(stream, result), 0);
    fclose(stream);
    return text;
}

/* Takes the next line off *text. */
static const char *next_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    assert_non_null(end);
    *end = '\0';
    *text = end + 1;
    return line;
}

static void test_text(void **state)
{
    (void)state;
    struct result result;
    make_result(&result);
    char *text = text_of(&result), *at = text;
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
static void test_established_layout(void **state)
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
    char *text = text_of(&result), *at = text, line[512];
    FILE *published = fopen("tests/data/samba-runs/dc1_r4_S5.txt", "r");
    assert_non_null(published);
    for (unsigned i = 0; i < 10; i++) {
        assert_non_null(fgets(line, sizeof line, published));
        line[strcspn(line, "\n")] = '\0';
        const char *ours = next_line(&at);
        /* Their two rates go by different spans. */
        if (i == 2)
            line[strcspn(line, "(")] = '\0';
        assert_memory_equal(ours, line, strlen(line) + (i != 2));
    }
    fclose(published);
    free(text);
    result_clear(&result);
}

/* Nothing happened, not even a window: words, no numbers that mean nothing. */
static void test_empty(void **state)
{
    (void)state;
    struct settings settings = make_settings();
    struct report_facts facts = make_facts(&settings);
    struct result result;
    struct error error = {0};
    struct tally *tally = make_tally();
    tally_window_end(tally, 0);
    facts.interrupted = true;
    facts.busy = NAN;
    facts.skipped_count = 0;
    assert_int_equal(report_make(tally, &facts, &result), 0);
    assert_int_equal(result_check(&result, &error), 0);
    assert_false(report_succeeded(&result));
    char *text = text_of(&result);
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
    make_result(&before);
    before.stopped_on_error = true;
    char *text = text_of(&before);
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

/* A server that answers one client and not the other: nothing waits, and yet a time is unknown. */
static void test_unanswered(void **state)
{
    (void)state;
    struct settings settings = make_settings();
    struct report_facts facts = make_facts(&settings);
    struct result result;
    struct tally *tally = make_tally();
    play(tally, SEARCH, 2 * second, 1000 * us, NULL);
    tally_event(tally,
                &(struct tally_event){.type = SEARCH,
                                      .due = 2 * second,
                                      .ready = 2 * second,
                                      .first_sent = 2 * second,
                                      .last_received = INT64_MIN,
                                      .ended = 12 * second},
                &(struct outcome){.kind = OUTCOME_UNFINISHED});
    tally_planned(tally, SEARCH, 2 * second);
    assert_int_equal(report_make(tally, &facts, &result), 0);
    char *text = text_of(&result);
    assert_non_null(strstr(text, "Response time (at least) "));
    assert_non_null(strstr(text, "Backlog: 1 operations were cut without an answer: "
                                 "response times are lower bounds\n"));
    free(text);
    result_clear(&result);
    tally_free(tally);
}

/* A server that stalls: what was not sent is told beside the times that hide it. */
static void test_behind(void **state)
{
    (void)state;
    struct settings settings = make_settings();
    struct report_facts facts = make_facts(&settings);
    struct result result;
    struct tally *tally = make_tally();
    settings.scale = 0;
    settings.packets_per_second = 100;
    facts.tls_used = true;
    facts.busy = 0.97;
    facts.timing_lost = 5;
    play(tally, SEARCH, 2 * second, 1000 * us, NULL);
    tally_event(tally,
                &(struct tally_event){.type = SEARCH,
                                      .due = 2 * second,
                                      .ready = 2 * second,
                                      .first_sent = 2 * second + 50000 * us,
                                      .last_received = INT64_MIN,
                                      .ended = 12 * second},
                &(struct outcome){.kind = OUTCOME_UNFINISHED});
    tally_planned(tally, SEARCH, 2 * second);
    for (int64_t i = 0; i < 2; i++) {
        tally_planned(tally, SEARCH, (4 + i) * second);
        tally_not_sent(tally, SEARCH, (4 + i) * second);
    }
    tally_planned(tally, SEARCH, 3 * second);
    tally_dropped(tally, SEARCH, 3 * second);
    assert_int_equal(report_make(tally, &facts, &result), 0);
    char *text = text_of(&result);
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

/* One of the two signs alone is not the generator's fault. */
static void test_bottleneck_needs_both(void **state)
{
    (void)state;
    static const struct {
        int64_t lag;
        double busy;
        bool told;
    } cases[] = {{11000000, 0.96, true},
                 {11000000, 0.94, false},
                 {9000000, 0.99, false},
                 {11000000, NAN, false}};
    struct settings settings = make_settings();
    struct report_facts facts = make_facts(&settings);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tally *tally = make_tally();
        struct result result;
        tally_planned(tally, ECHO, 2 * second);
        tally_event(tally,
                    &(struct tally_event){.type = ECHO,
                                          .due = 2 * second,
                                          .ready = 2 * second,
                                          .first_sent = 2 * second + cases[i].lag,
                                          .last_received = 3 * second,
                                          .ended = 3 * second},
                    &(struct outcome){.kind = OUTCOME_OK});
        facts.busy = cases[i].busy;
        assert_int_equal(report_make(tally, &facts, &result), 0);
        assert_true(report_succeeded(&result));
        char *text = text_of(&result);
        assert_int_equal(strstr(text, "bottleneck") != NULL, cases[i].told);
        free(text);
        result_clear(&result);
        tally_free(tally);
    }
}

static void test_json_round_trip(void **state)
{
    (void)state;
    struct result before, after;
    struct error error = {0};
    char *path = path_in_tmp("round-trip.json");
    make_result(&before);
    struct result_value values[] = {{"cpu", 1.5}, {"memory", NAN}};
    struct result_sample samples[] = {{0.5, 2, values}, {1.5, 1, values}};
    before.samples = samples;
    before.sample_count = 2;
    mode_t mask = umask(027);
    assert_int_equal(result_write(&before, path, &error), 0);
    umask(mask);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);

    result_init(&after);
    if (result_read(&after, path, &error) != 0)
        fail_msg("%s", error.text);
    char *text = text_of(&before), *again = text_of(&after);
    assert_string_equal(text, again);
    assert_true(after.seed == UINT64_MAX);
    assert_int_equal(after.label_count, 3);
    assert_string_equal(after.labels[1].value, "K\xc3\xb6ln");
    assert_int_equal(after.second_count, 10);
    assert_true(isnan(after.T));
    assert_true(after.start == 1700000000.25);
    assert_int_equal(after.sample_count, 2);
    assert_int_equal(after.samples[0].value_count, 2);
    assert_string_equal(after.samples[1].values[0].name, "cpu");
    assert_true(isnan(after.samples[0].values[1].value));
    free(text);
    free(again);

    /* Written once more it is the same file. */
    char *second_path = path_in_tmp("again.json"), *bytes, *second_bytes;
    size_t length, second_length;
    assert_int_equal(result_write(&after, second_path, &error), 0);
    assert_int_equal(result_load(path, &bytes, &length, &error), 0);
    assert_int_equal(result_load(second_path, &second_bytes, &second_length, &error), 0);
    assert_int_equal(length, second_length);
    assert_memory_equal(bytes, second_bytes, length);
    unlink(path);
    unlink(second_path);
    free(bytes);
    free(second_bytes);
    free(path);
    free(second_path);
    before.sample_count = 0;
    result_clear(&before);
    result_clear(&after);
}

/* Bytes of a command line that are not UTF-8 do not cost the result. */
static void test_json_foreign_bytes(void **state)
{
    (void)state;
    struct result result, after;
    struct error error = {0};
    char *path = path_in_tmp("bytes.json");
    result_init(&result);
    result.command = "traffic-replay K\xf6ln.yaml";
    assert_int_equal(result_write(&result, path, &error), 0);
    result_init(&after);
    assert_int_equal(result_read(&after, path, &error), 0);
    assert_string_equal(after.command, "traffic-replay K?ln.yaml");
    unlink(path);
    free(path);
    result_clear(&result);
    result_clear(&after);
}

/* Whole or not at all: the file that stood there stays, and nothing is left beside it. */
static void test_write_fails(void **state)
{
    (void)state;
    struct result result;
    struct error error = {0};
    result_init(&result);
    assert_int_equal(result_write(&result, "/nonexistent/x.json", &error), -ENOENT);
    assert_non_null(strstr(error.text, "/nonexistent/x.json: "));
    char *folder = path_in_tmp("folder.json");
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_true(result_write(&result, folder, &error) < 0);
    assert_int_equal(rmdir(folder), 0);
    free(folder);
    result_clear(&result);
}

/* What is no regular file stays what it is; a link goes on pointing to its file. */
static void test_write_special(void **state)
{
    (void)state;
    struct result result;
    struct stat status;
    struct error error = {0};
    result_init(&result);
    /* A name of its own for the device: were it replaced, /dev/null itself would be safe. */
    char *link = path_in_tmp("null.json"), *target = path_in_tmp("target.json");
    assert_int_equal(symlink("/dev/full", link), 0);
    assert_int_equal(result_write(&result, link, &error), -ENOSPC);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(link, &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_int_equal(unlink(link), 0);

    assert_int_equal(result_write(&result, target, &error), 0);
    assert_int_equal(truncate(target, 0), 0);
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(result_write(&result, link, &error), 0);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(target, &status), 0);
    assert_true(status.st_size > 100);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(unlink(target), 0);
    free(link);
    free(target);
    result_clear(&result);
}

/* The good result as a tree, to be spoiled. */
static json_t *good_tree(void)
{
    struct result result;
    struct error error = {0};
    char *path = path_in_tmp("good.json");
    make_result(&result);
    assert_int_equal(result_write(&result, path, &error), 0);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    unlink(path);
    free(path);
    result_clear(&result);
    return root;
}

static int parse_tree(const json_t *root, struct error *error)
{
    struct result result;
    result_init(&result);
    char *text = json_dumps(root, JSON_COMPACT);
    assert_non_null(text);
    int parsed = result_parse(&result, text, strlen(text), "x.json", error);
    free(text);
    result_clear(&result);
    return parsed;
}

static void spoil(json_t *root, json_t *object, const char *place, const char *name)
{
    struct error error = {0};
    json_t *value = json_incref(json_object_get(object, name));
    json_object_del(object, name);
    bool may_be_missing = strcmp(name, "stopped_on_error") == 0;
    if (parse_tree(root, &error) != (may_be_missing ? 0 : -EINVAL) ||
        (!may_be_missing && !strstr(error.text, name)))
        fail_msg("without %s%s: %s", place, name, error.text);
    json_object_set_new(object, name, json_pack("[[]]"));
    error.text[0] = '\0';
    if (parse_tree(root, &error) != -EINVAL || !strstr(error.text, name))
        fail_msg("with a list as %s%s: %s", place, name, error.text);
    json_object_set_new(object, name, value);
    if (parse_tree(root, &error) != 0)
        fail_msg("%s%s: not restored: %s", place, name, error.text);
}

/* Every field of an object: missing, or of another kind, is refused with its name. */
static void spoil_each(json_t *root, json_t *object, const char *place)
{
    /* The names first: spoiling changes the order of an object. */
    char names[64][32];
    size_t count = 0;
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) if (strcmp(name, "format") != 0)
        snprintf(names[count++], sizeof names[0], "%s", name);
    assert_true(count > 1 && count <= 64);
    for (size_t i = 0; i < count; i++)
        spoil(root, object, place, names[i]);
}

static void test_json_fields(void **state)
{
    (void)state;
    json_t *root = good_tree();
    spoil_each(root, root, "");
    spoil_each(root, json_object_get(root, "backlog"), "backlog.");
    spoil_each(root, json_object_get(root, "cpu"), "cpu.");
    spoil_each(root, json_array_get(json_object_get(root, "packets"), 1), "packets[1].");
    spoil_each(root, json_array_get(json_object_get(root, "seconds"), 3), "seconds[3].");
    json_decref(root);
}

static void test_json_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } wrong[] = {
        {"", "x.json:1:0: not JSON"},
        {"{\"format\": 1", "x.json:1:12: not JSON"},
        {"[]", "x.json: not a result"},
        {"{}", "x.json: not a result"},
        {"{\"format\": \"1\"}", "x.json: not a result"},
        {"{\"format\": 2}", "x.json: written in format 2; this program reads format 1"},
        {"{\"format\": 1, \"format\": 1}", "duplicate"},
        {"{\"format\": 1}", "x.json: program: expected a string"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct result result;
        struct error error = {0};
        result_init(&result);
        bool foreign = strstr(wrong[i].error, "not a result") != NULL;
        assert_int_equal(
            result_parse(&result, wrong[i].text, strlen(wrong[i].text), "x.json", &error),
            foreign ? -ENOMSG : -EINVAL);
        if (!strstr(error.text, wrong[i].error))
            fail_msg("%s: %s", wrong[i].text, error.text);
        result_clear(&result);
    }
}

/* Values that contradict each other. */
static void test_json_damaged(void **state)
{
    (void)state;
    static const char *const counts[] = {"planned", "sent",    "not_sent",    "dropped",   "ok",
                                         "failed",  "done_ok", "done_failed", "unfinished"};
    json_t *root = good_tree();
    struct error error = {0};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        json_int_t value = json_integer_value(json_object_get(root, counts[i]));
        json_object_set_new(root, counts[i], json_integer(value + 1));
        assert_int_equal(parse_tree(root, &error), -EINVAL);
        assert_non_null(strstr(error.text, "x.json: damaged: "));
        json_object_set_new(root, counts[i], json_integer(-1));
        assert_int_equal(parse_tree(root, &error), -EINVAL);
        json_object_set_new(root, counts[i], json_integer(value));
    }
    json_t *packet = json_array_get(json_object_get(root, "packets"), 0);
    json_object_set_new(json_object_get(packet, "causes"), "more", json_integer(1));
    assert_int_equal(parse_tree(root, &error), -EINVAL);
    json_object_del(json_object_get(packet, "causes"), "more");
    json_t *row = json_array_get(json_object_get(root, "seconds"), 2);
    json_object_set_new(row, "ok", json_integer(1000));
    assert_int_equal(parse_tree(root, &error), -EINVAL);
    json_object_set_new(row, "t", json_integer(1));
    assert_int_equal(parse_tree(root, &error), -EINVAL);
    assert_non_null(strstr(error.text, "seconds[2].t"));
    /* What a later version may add does not matter. */
    json_t *fresh = good_tree();
    json_object_set_new(fresh, "weather", json_string("fine"));
    assert_int_equal(parse_tree(fresh, &error), 0);
    json_decref(fresh);
    json_decref(root);
}

/* Cut off at any byte it is refused, and never read beyond. */
static void test_json_truncated(void **state)
{
    (void)state;
    json_t *root = good_tree();
    struct error error = {0};
    char *text = json_dumps(root, JSON_COMPACT);
    size_t length = strlen(text);
    for (size_t cut = 0; cut < length; cut += cut < 3000 ? 1 : 97) {
        char *part = malloc(cut ? cut : 1);
        assert_non_null(part);
        memcpy(part, text, cut);
        struct result result;
        result_init(&result);
        assert_int_equal(result_parse(&result, part, cut, "x.json", &error), -EINVAL);
        result_clear(&result);
        free(part);
    }
    free(text);
    json_decref(root);
}

/* Our text, cut off at any line, is refused; whole, it gives the figures of the result. */
static void test_text_read_back(void **state)
{
    (void)state;
    struct result result;
    struct text_report report;
    struct error error = {0};
    make_result(&result);
    char *text = text_of(&result);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_established_layout),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(why_the_run_ended),
        cmocka_unit_test(test_unanswered),
        cmocka_unit_test(test_behind),
        cmocka_unit_test(test_bottleneck_needs_both),
        cmocka_unit_test(test_json_round_trip),
        cmocka_unit_test(test_json_foreign_bytes),
        cmocka_unit_test(test_write_fails),
        cmocka_unit_test(test_write_special),
        cmocka_unit_test(test_json_fields),
        cmocka_unit_test(test_json_refusals),
        cmocka_unit_test(test_json_damaged),
        cmocka_unit_test(test_json_truncated),
        cmocka_unit_test(test_text_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
