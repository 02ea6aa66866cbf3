/* SPDX-License-Identifier: Apache-2.0 */
/* Learning: conversations, counts and pauses become a model; comparing a model with a capture;
 * the same input gives the same file. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "model/chain.h"
#include "model/learn/learn_check.h"
#include "model/learn/learn_input.h"
#include "model/learn/learn_links.h"
#include "model/learn/learn_model.h"
#include "model/learn/learn_spans.h"
#include "model/model_load.h"
#include "model/model_private.h"
#include "model/model_write.h"

struct bench {
    struct learn_capture capture;
    struct error error;
};

static int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    assert_int_equal(learn_capture_init(&bench->capture, &bench->error), 0);
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    learn_capture_clear(&bench->capture);
    free(bench);
    return 0;
}

/* Adds a request at a time in seconds. */
static void add(struct bench *bench, double time, const char *client, const char *form,
                uint32_t connection)
{
    struct learn_record record = {.time = (int64_t)llround(time * 1e9), .connection = connection};
    bool ticket = form[0] == '!';
    record.kerberos = ticket;
    assert_int_equal(learn_capture_address(&bench->capture, client, strlen(client), &record.client),
                     0);
    assert_int_equal(learn_capture_address(&bench->capture, "dc", 2, &record.server), 0);
    learn_capture_time(&bench->capture, record.time);
    assert_int_equal(learn_capture_add(&bench->capture, &record, form + ticket), 0);
}

static struct learn_settings settings_of(struct bench *bench, uint32_t history, double idle)
{
    struct learn_settings settings = {.history = history, .max_details = 50, .name = "test"};
    settings.walk.idle = idle;
    assert_int_equal(learn_capture_server(&bench->capture, &settings.walk.server), 0);
    assert_int_equal(learn_capture_finish(&bench->capture, settings.walk.server), 0);
    return settings;
}

/* The learned model as a file. The caller frees it. */
static char *learned(struct bench *bench, const struct learn_settings *settings)
{
    struct model *model = NULL;
    char *text = NULL;
    size_t size = 0;
    if (learn_model(&bench->capture, settings, &model) != 0)
        fail_msg("%s", bench->error.text);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(model_write_yaml(model, out), 0);
    fclose(out);
    model_free(model);
    return text;
}

static void expect_lines(char *text, const char *const *lines)
{
    for (; *lines; lines++)
        if (!strstr(text, *lines))
            fail_msg("%s\nis not in\n%s", *lines, text);
    free(text);
}

/* Two clients at once, one of them silent for longer than idle: three conversations, each with a
 * start and an end, and no pause between two of them. */
static void silence_separates_conversations(void **state)
{
    struct bench *bench = *state;
    add(bench, 100, "a", "dns:0", 1);
    add(bench, 100.25, "b", "dns:0", 2);
    add(bench, 100.5, "a", "ldap:3\x1fscope=base", 3);
    add(bench, 101.25, "b", "ldap:3\x1fscope=sub", 4);
    add(bench, 101.2625, "b", "ldap:2", 4);
    add(bench, 200, "a", "ldap:3\x1fscope=base", 5);
    struct learn_settings settings = settings_of(bench, 2, 60);
    static const char *const lines[] = {
        "source: {capture: test, packets: 6, seconds: 100, conversations: 3}\n",
        "packet_rate: 0.06 ",
        "  \"- -\": {\"dns:0\": 2, \"ldap:3\": 1}\n",
        "  \"- dns:0\": {\"wait:1\": 1, \"wait:2\": 1}\n",
        "  \"- ldap:3\": {\"-\": 1}\n",
        "  \"dns:0 wait:1\": {\"ldap:3\": 1}\n",
        "  \"dns:0 wait:2\": {\"ldap:3\": 1}\n",
        "  \"wait:1 ldap:3\": {\"-\": 1}\n",
        "  \"wait:2 ldap:3\": {\"ldap:2\": 1}\n",
        "  \"ldap:3 ldap:2\": {\"-\": 1}\n",
        "  \"wait:1\": [0.5, 0.5]\n",
        "  \"wait:2\": [1, 1]\n",
        "  \"ldap:2\": [0.0125, 0.0125]\n",
        "    - {count: 2, scope: base}\n    - {count: 1, scope: sub}\n",
        NULL};
    expect_lines(learned(bench, &settings), lines);
}

static void a_connection_can_be_a_client(void **state)
{
    struct bench *bench = *state;
    for (uint32_t i = 0; i < 1000; i++) /* more than fit into the first table */
        add(bench, 0.001 * i, "a", "ldap:3", i % 500);
    struct learn_settings settings = settings_of(bench, 1, 60);
    settings.walk.by_connection = true;
    static const char *const lines[] = {"conversations: 500}\n", "  \"-\": {\"ldap:3\": 500}\n",
                                        "  \"ldap:3\": {\"-\": 500, \"wait:1\": 500}\n", NULL};
    expect_lines(learned(bench, &settings), lines);
}

/* A server that also sends requests to itself does not make a capture of one machine. */
static void a_server_may_send_to_itself(void **state)
{
    struct bench *bench = *state;
    bool local = false;
    add(bench, 1, "dc", "ldap:3", 1);
    struct learn_settings settings = settings_of(bench, 1, 60);
    assert_int_equal(learn_walk_is_local(&bench->capture, settings.walk.server, &local), 0);
    assert_true(local);
    add(bench, 2, "a", "ldap:3", 2);
    settings = settings_of(bench, 1, 60);
    assert_int_equal(learn_walk_is_local(&bench->capture, settings.walk.server, &local), 0);
    assert_false(local);
}

/* A ticket that the conversation did not fetch causes one hint before the packet that uses it. */
static void a_missing_ticket_causes_one_hint(void **state)
{
    struct bench *bench = *state;
    add(bench, 1, "a", "!ldap:0", 1);
    add(bench, 1.01, "a", "!ldap:0", 1);
    add(bench, 2, "b", "kerberos:12", 2);
    add(bench, 2.01, "b", "!ldap:0", 2);
    struct learn_settings settings = settings_of(bench, 1, 60);
    static const char *const lines[] = {
        "  \"-\": {\"kerberos:\": 1, \"kerberos:12\": 1}\n", "  \"kerberos:\": {\"ldap:0\": 1}\n",
        "  \"kerberos:12\": {\"ldap:0\": 1}\n", "  \"ldap:0\": {\"-\": 2, \"ldap:0\": 1}\n", NULL};
    expect_lines(learned(bench, &settings), lines);
}

/* Rare forms count as the commonest form. */
static void rare_forms_count_as_the_commonest(void **state)
{
    struct bench *bench = *state;
    for (int i = 0; i < 20; i++) {
        char form[64];
        snprintf(form, sizeof form, "smb2:8\x1fsize=%d", i < 10 ? 4096 : i);
        add(bench, i, "a", form, 1);
    }
    struct learn_settings settings = settings_of(bench, 1, 60);
    settings.max_details = 2;
    static const char *const lines[] = {
        "  \"smb2:8\":\n    - {count: 19, size: 4096}\n    - {count: 1, size: 10}\n", NULL};
    expect_lines(learned(bench, &settings), lines);
}

/* Pauses of two kinds, short ones after dns:0 and long ones after ldap:3, get separate points. */
static void add_office(struct bench *bench)
{
    struct random_stream random;
    random_seed(&random, 7, RANDOM_PLAY, 1);
    double time = 1000;
    for (int conversation = 0; conversation < 400; conversation++, time += 100) {
        double now = time;
        do {
            bool dns = random_below(&random, 3) == 0;
            add(bench, now, "a", dns ? "dns:0" : "ldap:3", 1);
            now += dns ? 0.0001 * (1 + random_unit(&random)) : exp(-4 + 4 * random_unit(&random));
        } while (random_below(&random, 4) > 0);
    }
}

static void pauses_of_two_kinds_are_kept(void **state)
{
    struct bench *bench = *state;
    add_office(bench);
    struct learn_settings settings = settings_of(bench, 2, 60);
    char *text = learned(bench, &settings), *again = learned(bench, &settings);
    assert_string_equal(text, again);
    free(again);
    static const char *const lines[] = {"  \"ldap:3\": [", "  \"dns:0 ldap:3\": [",
                                        "  \"dns:0 dns:0\": [", NULL};
    expect_lines(text, lines);
}

/* A learned model is close to its capture, and the comparison detects a model that is not. */
static void the_check_detects_another_model(void **state)
{
    struct bench *bench = *state;
    struct model *model = NULL, *other = NULL;
    struct learn_check check;
    struct error error = {0};
    add_office(bench);
    struct learn_settings settings = settings_of(bench, 2, 60);
    assert_int_equal(learn_model(&bench->capture, &settings, &model), 0);
    assert_int_equal(
        learn_check_make(&check, &bench->capture, &settings.walk, model, 1, 2000000, &error), 0);
    assert_int_equal(check.capture.conversations, 400);
    assert_true(check.mix < 0.01);
    assert_true(check.gaps < 0.03);
    assert_true(check.lengths < 0.12 && check.durations < 0.12);
    assert_true(fabs(check.rate) < 0.01);
    learn_check_clear(&check);
    model_free(model);
    static const char text[] = "version: 3\npacket_rate: 1\nhistory: 1\nchain:\n"
                               "  \"-\": {\"ldap:0\": 1}\n  \"ldap:0\": {\"ldap:3\": 1}\n"
                               "  \"ldap:3\": {\"-\": 1}\n";
    assert_int_equal(model_load_text("m", text, sizeof text - 1, &other, &error, NULL, NULL), 0);
    assert_int_equal(
        learn_check_make(&check, &bench->capture, &settings.walk, other, 1, 100000, &error), 0);
    /* two thirds of the capture is ldap:3, and half of the model */
    assert_true(fabs(check.mix - 0.5) < 0.03);
    assert_true(check.lengths > 0.5 && check.gaps > 0.3);
    learn_check_clear(&check);
    model_free(other);
}

static void quantiles_of_pauses_are_close(void **state)
{
    struct learn_histogram a = {0}, b = {0}, empty = {0};
    double points[33], where;
    (void)state;
    for (int i = 1; i <= 1000; i++) {
        learn_histogram_add(&a, i * 0.001);
        learn_histogram_add(&b, i * 0.001 + 0.25);
    }
    for (int percent = 5; percent < 100; percent += 5)
        assert_true(fabs(learn_histogram_quantile(&a, percent / 100.0) / (percent / 100.0) - 1) <
                    0.011);
    assert_true(fabs(learn_histogram_distance(&a, &b, &where) - 0.25) < 0.01);
    assert_true(where >= 0.25 && where <= 1.02);
    assert_true(learn_histogram_distance(&a, &a, NULL) == 0);
    assert_true(learn_histogram_distance(&a, &empty, NULL) == 1);
    assert_true(learn_histogram_distance(&empty, &empty, NULL) == 0);
    assert_true(learn_histogram_quantile(&empty, 0.5) == 0);
    assert_int_equal(learn_histogram_points(&empty, points, 33), 0);
    /* values out of range are counted at the ends */
    learn_histogram_add(&empty, 0);
    learn_histogram_add(&empty, 1e12);
    assert_int_equal(empty.count, 2);
    assert_int_equal(empty.buckets[0] + empty.buckets[LEARN_BUCKETS - 1], 2);
}

/* The mean of the points is the mean of the values, even with a few very long ones. */
static void points_keep_the_mean(void **state)
{
    static const int longs[] = {0, 1, 7, 300};
    (void)state;
    for (size_t n = 0; n < sizeof longs / sizeof longs[0]; n++) {
        struct learn_histogram histogram = {0};
        double points[33], sum = 0;
        for (int i = 0; i < 1000; i++)
            learn_histogram_add(&histogram, i < longs[n] ? 0.09 : 0.0001 + 1e-7 * i);
        uint32_t count = learn_histogram_points(&histogram, points, 33);
        assert_int_equal(count, 33);
        for (uint32_t i = 0; i + 1 < count; i++) {
            assert_true(points[i] <= points[i + 1] && points[i] >= 0);
            sum += (points[i] + points[i + 1]) / 2;
        }
        assert_true(fabs(sum / (count - 1) / (histogram.sum / 1000) - 1) < 1e-4);
    }
}

/* What is known of an open association survives more questions and short connections than the
 * tables have room for; of them, the latest are kept. */
static void questions_do_not_replace_associations(void **state)
{
    enum { MANY = 1000000 };
    (void)state;
    struct learn_links *links = learn_links_new();
    assert_non_null(links);
    learn_links_get(links, LEARN_LINK_RPC, 1, 0, 0, true)->interfaces[0] = 7;
    for (uint64_t i = 1; i <= MANY; i++) {
        learn_links_get(links, LEARN_LINK_QUESTION, 2, i, (int64_t)i, true)->value = i;
        learn_links_get(links, LEARN_LINK_SEGMENTS, i, 1, (int64_t)i, true);
        learn_links_get(links, LEARN_LINK_LDAP, i, 0, (int64_t)i, true);
    }
    struct learn_link *link = learn_links_get(links, LEARN_LINK_RPC, 1, 0, MANY, false);
    assert_non_null(link);
    assert_int_equal(link->interfaces[0], 7);
    link = learn_links_get(links, LEARN_LINK_QUESTION, 2, MANY, MANY, false);
    assert_non_null(link);
    assert_int_equal(link->value, MANY);
    assert_null(learn_links_get(links, LEARN_LINK_QUESTION, 2, 1, MANY, false));
    learn_links_free(links);
}

static void add_seconds(struct learn_spans *spans, int from, int to)
{
    for (int second = from; second <= to; second++)
        learn_spans_add(spans, second * INT64_C(1000000000));
}

/* Of ten minutes each: silence of a day, a clock that is set back by an hour, two clocks that
 * differ by an hour frame by frame, and two files of the same ten minutes one after the other. */
static void time_without_frames_does_not_count(void **state)
{
    static struct learn_spans day, back, clocks, twice, quiet;
    size_t times;
    (void)state;
    add_seconds(&day, 0, 600);
    add_seconds(&day, 86400, 87000);
    assert_true(learn_spans_seconds(&day) == 1200);
    assert_true(learn_spans_silence(&day, &times) == 85800 && times == 1);
    add_seconds(&back, 10000, 10600);
    add_seconds(&back, 7000, 7600);
    assert_true(learn_spans_seconds(&back) == 1200);
    assert_true(learn_spans_silence(&back, &times) == 2400 && times == 1);
    for (int second = 0; second <= 600; second++) {
        add_seconds(&clocks, 10000 + second, 10000 + second);
        add_seconds(&clocks, 6400 + second, 6400 + second);
    }
    assert_true(learn_spans_seconds(&clocks) == 1200);
    add_seconds(&twice, 0, 600);
    add_seconds(&twice, 0, 600);
    assert_true(learn_spans_seconds(&twice) == 600);
    assert_true(learn_spans_silence(&twice, &times) == 0 && times == 0);
    add_seconds(&quiet, 0, 0);
    add_seconds(&quiet, 3600, 3600);
    assert_true(learn_spans_seconds(&quiet) == 3600);
}

/* More interruptions than the spans have room for extend the nearest one. */
static void many_interruptions_are_bounded(void **state)
{
    static struct learn_spans spans;
    size_t times;
    (void)state;
    for (int hour = 0; hour < 1000; hour++)
        add_seconds(&spans, hour * 7200, hour * 7200);
    assert_int_equal(spans.count, LEARN_SPANS_MAX);
    assert_true(learn_spans_seconds(&spans) + learn_spans_silence(&spans, &times) == 999 * 7200);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(silence_separates_conversations),
        TEST(a_connection_can_be_a_client),
        TEST(a_server_may_send_to_itself),
        TEST(a_missing_ticket_causes_one_hint),
        TEST(rare_forms_count_as_the_commonest),
        TEST(pauses_of_two_kinds_are_kept),
        TEST(the_check_detects_another_model),
        cmocka_unit_test(quantiles_of_pauses_are_close),
        cmocka_unit_test(points_keep_the_mean),
        cmocka_unit_test(time_without_frames_does_not_count),
        cmocka_unit_test(many_interruptions_are_bounded),
        cmocka_unit_test(questions_do_not_replace_associations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
