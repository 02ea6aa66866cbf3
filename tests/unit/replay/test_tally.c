/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: the accounting identity over every outcome at every place in and around the window, the
 * definitions of lag, service and response time, causes, merging, and the live view.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "replay/record.h"

enum { SEARCH, BIND, NBNS, TYPES };
static const struct record_type types[TYPES] = {
    {"ldap", "3", "searchRequest"}, {"ldap", "0", "bindRequest"}, {"nbns", "0", ""}};

static const int64_t ms = 1000000, second = 1000000000;
/* Warm-up 2 s, window 3.5 s: [2 s, 5.5 s). */
static const int64_t window_start = 2000000000, window_end = 5500000000;

static struct records *make(void)
{
    struct records *records = records_new(&(struct record_setup){.types = types,
                                                                 .type_count = TYPES,
                                                                 .clients = 10,
                                                                 .window_start = window_start,
                                                                 .window_end = window_end});
    assert_non_null(records);
    return records;
}

static struct outcome outcome_of(enum outcome_kind kind)
{
    struct outcome outcome = {.kind = kind};
    if (kind == OUTCOME_FAILED)
        strcpy(outcome.cause, "timed out");
    return outcome;
}

/* An operation that was due, sent 1 ms later, answered 10 ms after that, known 1 ms later. */
static void play(struct records *records, uint32_t type, int64_t due, enum outcome_kind kind)
{
    struct outcome outcome = outcome_of(kind);
    record_planned(records, type, due);
    record_started(records);
    record_event(records,
                 &(struct record_event){.type = type,
                                        .due = due,
                                        .ready = due,
                                        .first_sent = due + ms,
                                        .last_received = due + 11 * ms,
                                        .ended = due + 12 * ms},
                 &outcome);
}

static void assert_good(const struct records *records)
{
    struct error error = {0};
    if (records_check(records, &error) != 0)
        fail_msg("%s", error);
}

/* Due and ended: before, in and after the window, at its edges, across them. */
static void test_identity(void **state)
{
    (void)state;
    static const int64_t dues[] = {0,
                                   1999999999,
                                   1990000000 /* ends inside */,
                                   2000000000,
                                   3000000000,
                                   5487999999,
                                   5488000000 /* ends exactly at the end: outside */,
                                   5499999999,
                                   5500000000,
                                   6000000000};
    static const enum outcome_kind kinds[] = {OUTCOME_OK, OUTCOME_FAILED, OUTCOME_NO_ANSWER,
                                              OUTCOME_UNFINISHED};
    struct records *records = make();
    for (size_t due = 0; due < sizeof dues / sizeof dues[0]; due++) {
        for (size_t kind = 0; kind < 4; kind++)
            play(records, SEARCH, dues[due], kinds[kind]);
        record_planned(records, SEARCH, dues[due]);
        record_not_sent(records, SEARCH, dues[due]);
        record_planned(records, SEARCH, dues[due]);
        record_dropped(records, SEARCH, dues[due]);
    }
    assert_good(records);
    const struct record_packet *packet = records_packet(records, SEARCH);
    /* Due inside: 2.0, 3.0, 5.487999999, 5.488, 5.499999999. */
    assert_int_equal(packet->planned, 5 * 6);
    assert_int_equal(packet->sent, 5 * 4);
    assert_int_equal(packet->not_sent, 5);
    assert_int_equal(packet->dropped, 5);
    /* Ended inside too: the first three. */
    assert_int_equal(packet->ok, 3);
    assert_int_equal(packet->failed, 3);
    assert_int_equal(packet->no_answer, 3);
    assert_int_equal(packet->unfinished, 5 + 3 * 2);
    /* By completion: those three, and the two that were due just before the window. */
    assert_int_equal(packet->done_ok, 5);
    assert_int_equal(packet->done_failed, 5);
    assert_int_equal(packet->done_no_answer, 5);
    /* Times enter of all that were due inside and ended, even after the window. */
    assert_int_equal(packet->response.count, 10);
    assert_int_equal(packet->service.count, 10);
    assert_int_equal(packet->lag.count, 20);
    assert_int_equal(records_packet(records, BIND)->planned, 0);

    size_t rows;
    const struct record_second *seconds = records_seconds(records, &rows);
    assert_int_equal(rows, 4);
    assert_int_equal(seconds[0].planned, 6);
    assert_int_equal(seconds[0].ok, 3);
    assert_int_equal(seconds[1].planned, 6);
    assert_int_equal(seconds[1].failed, 1);
    assert_int_equal(seconds[1].response.count, 2);
    assert_int_equal(seconds[2].planned, 0);
    assert_int_equal(seconds[3].planned, 18);
    assert_int_equal(seconds[3].ok, 1);
    /* Age at the window's end of what was not sent: from 1 ns to 3.5 s. */
    const struct histogram *backlog = &records_totals(records)->backlog;
    assert_int_equal(backlog->count, 5);
    assert_int_equal(backlog->min, 1);
    assert_int_equal(backlog->max, 3500 * ms);
    records_free(records);
}

static void test_identity_violated(void **state)
{
    (void)state;
    struct error error = {0};
    struct records *records = make();
    play(records, BIND, 3 * second, OUTCOME_OK);
    assert_good(records);
    record_planned(records, BIND, 3 * second);
    assert_int_equal(records_check(records, &error), -EPROTO);
    assert_non_null(strstr(error.text, "ldap:0"));
    assert_non_null(strstr(error.text, "2 and 1"));
    record_not_sent(records, BIND, 3 * second);
    assert_good(records);
    record_dropped(records, NBNS, 3 * second);
    assert_int_equal(records_check(records, &error), -EPROTO);
    assert_non_null(strstr(error.text, "nbns:0"));
    records_free(records);
}

static void test_times(void **state)
{
    (void)state;
    struct records *records = make();
    const struct record_packet *packet = records_packet(records, SEARCH);
    struct outcome ok = outcome_of(OUTCOME_OK), failed = outcome_of(OUTCOME_FAILED);
    int64_t due = 3 * second;
    struct record_event event = {.type = SEARCH,
                                 .due = due,
                                 .ready = due + 100 * ms, /* the reply before it came late */
                                 .first_sent = due + 103 * ms,
                                 .last_received = due + 120 * ms,
                                 .ended = due + 121 * ms};
    record_event(records, &event, &ok);
    assert_int_equal(packet->lag.max, 3 * ms);
    assert_int_equal(packet->service.max, 17 * ms);
    assert_int_equal(packet->response.max, 120 * ms);

    /* A failure ends when it is known: a time limit after the first leg's reply is time lost. */
    event.ended = due + 400 * ms;
    record_event(records, &event, &failed);
    assert_int_equal(packet->service.max, 297 * ms);
    assert_int_equal(packet->response.max, 400 * ms);

    /* Nothing left this machine: no lag and no service time, but the client waited. */
    event.first_sent = event.last_received = INT64_MIN;
    event.ended = due + 500 * ms;
    record_event(records, &event, &failed);
    assert_int_equal(packet->lag.count, 2);
    assert_int_equal(packet->service.count, 2);
    assert_int_equal(packet->response.count, 3);
    assert_int_equal(packet->response.max, 500 * ms);

    /* Good without a reply (abandon): ends when written. */
    event.first_sent = due + 100 * ms;
    event.ended = due + 600 * ms;
    record_event(records, &event, &ok);
    assert_int_equal(packet->service.max, 500 * ms);
    assert_int_equal(packet->response.max, 600 * ms);
    assert_int_equal(packet->lag.min, 0);

    assert_int_equal(records_totals(records)->max_lag, 3 * ms);
    assert_int_equal(records_totals(records)->start_lag, 0);
    event.first = true;
    event.first_sent = due + 102 * ms;
    record_event(records, &event, &ok);
    assert_int_equal(records_totals(records)->start_lag, 2 * ms);
    records_free(records);
}

static void test_causes(void **state)
{
    (void)state;
    struct records *records = make(), *other = make();
    struct record_event event = {.type = BIND,
                                 .due = 3 * second,
                                 .ready = 3 * second,
                                 .first_sent = 3 * second,
                                 .last_received = INT64_MIN,
                                 .ended = 3 * second};
    struct outcome outcome = {.kind = OUTCOME_FAILED};
    for (unsigned cause = 0; cause < 100; cause++)
        for (unsigned i = 0; i < 2; i++) {
            record_planned(records, BIND, event.due);
            snprintf(outcome.cause, sizeof outcome.cause, "cause %u", cause);
            record_event(records, &event, &outcome);
        }
    const struct record_packet *packet = records_packet(records, BIND);
    assert_int_equal(packet->cause_count, RECORD_CAUSES_MAX);
    assert_string_equal(packet->causes[0].text, "cause 0");
    assert_int_equal(packet->causes[0].count, 2);
    assert_string_equal(packet->causes[RECORD_CAUSES_MAX - 1].text, "other causes");
    assert_int_equal(packet->causes[RECORD_CAUSES_MAX - 1].count,
                     2 * (100 - (RECORD_CAUSES_MAX - 1)));
    assert_good(records);

    record_planned(other, BIND, event.due);
    strcpy(outcome.cause, "cause 1");
    record_event(other, &event, &outcome);
    record_planned(other, BIND, event.due);
    strcpy(outcome.cause, "a new one");
    record_event(other, &event, &outcome);
    assert_int_equal(records_merge(records, other), 0);
    assert_int_equal(packet->causes[1].count, 3);
    assert_int_equal(packet->causes[RECORD_CAUSES_MAX - 1].count,
                     2 * (100 - (RECORD_CAUSES_MAX - 1)) + 1);
    assert_good(records);
    records_free(records);
    records_free(other);
}

/* Two workers' records merged are those of one that did all, with an empty one on either side. */
static void test_merge(void **state)
{
    (void)state;
    struct records *one = make(), *two = make(), *all = make(), *empty = make();
    for (unsigned i = 0; i < 4000; i++) {
        enum outcome_kind kind = (enum outcome_kind)(i % 4);
        struct records *worker = i % 3 ? one : two;
        int64_t due = (int64_t)i * 2 * ms;
        play(worker, i % TYPES, due, kind);
        play(all, i % TYPES, due, kind);
        record_timer_late(worker, i);
        record_timer_late(all, i);
        if (i % 5 == 0) {
            record_conversation(worker);
            record_conversation(all);
        }
        if (i % 10 == 0) {
            record_conversation_ended(worker);
            record_conversation_ended(all);
        }
        struct outcome outcome = outcome_of(kind);
        record_dns_extra(worker, &outcome);
        record_dns_extra(all, &outcome);
    }
    struct records *into = make();
    assert_int_equal(records_merge(into, empty), 0);
    assert_int_equal(records_merge(into, one), 0);
    assert_int_equal(records_merge(into, two), 0);
    assert_int_equal(records_merge(into, empty), 0);
    assert_good(into);
    for (size_t i = 0; i < TYPES; i++) {
        const struct record_packet *a = records_packet(into, i), *b = records_packet(all, i);
        assert_int_equal(a->planned, b->planned);
        assert_int_equal(a->ok, b->ok);
        assert_int_equal(a->failed, b->failed);
        assert_int_equal(a->no_answer, b->no_answer);
        assert_int_equal(a->unfinished, b->unfinished);
        assert_int_equal(a->done_ok, b->done_ok);
        assert_int_equal(a->done_failed, b->done_failed);
        assert_int_equal(a->done_no_answer, b->done_no_answer);
        assert_int_equal(a->service.count, b->service.count);
        assert_int_equal(a->response.min, b->response.min);
        assert_int_equal(histogram_quantile(&a->lag, 0.5), histogram_quantile(&b->lag, 0.5));
    }
    const struct record_totals *a = records_totals(into), *b = records_totals(all);
    assert_int_equal(a->conversations, 800);
    assert_int_equal(a->conversations_ended, 400);
    assert_int_equal(a->timer_miss, 3999);
    assert_int_equal(a->max_lag, b->max_lag);
    assert_int_equal(a->dns_extra, 3000);
    assert_int_equal(a->dns_extra_failed, 2000);
    size_t rows, other_rows;
    const struct record_second *left = records_seconds(into, &rows);
    const struct record_second *right = records_seconds(all, &other_rows);
    assert_int_equal(rows, other_rows);
    for (size_t i = 0; i < rows; i++) {
        assert_int_equal(left[i].planned, right[i].planned);
        assert_int_equal(left[i].ok, right[i].ok);
        assert_int_equal(left[i].response.count, right[i].response.count);
    }
    struct records *unused[] = {one, two, all, empty, into};
    for (size_t i = 0; i < sizeof unused / sizeof unused[0]; i++)
        records_free(unused[i]);
}

/* -B: counted with the operations that ended inside, beside all sums. */
static void test_expected(void **state)
{
    (void)state;
    struct records *records = make();
    struct outcome ok = outcome_of(OUTCOME_OK);
    struct record_event event = {.type = BIND,
                                 .due = second,
                                 .ready = second,
                                 .first_sent = second,
                                 .last_received = second,
                                 .ended = second,
                                 .expected_failures = 1};
    record_event(records, &event, &ok);
    assert_int_equal(records_totals(records)->expected, 0);
    event.due = event.ready = event.first_sent = event.last_received = event.ended = 3 * second;
    record_planned(records, BIND, event.due);
    record_event(records, &event, &ok);
    assert_int_equal(records_totals(records)->expected, 1);
    assert_int_equal(records_packet(records, BIND)->done_failed, 0);
    assert_good(records);
    records_free(records);
}

/* An interrupt: the window ends earlier, what is waited for stays unfinished. */
static void test_interrupted(void **state)
{
    (void)state;
    struct records *records = make();
    size_t rows;
    play(records, SEARCH, 2500 * ms, OUTCOME_OK);
    record_planned(records, SEARCH, 2600 * ms);
    record_window_end(records, 3000 * ms);
    struct outcome ok = outcome_of(OUTCOME_OK);
    record_event(records,
                 &(struct record_event){.type = SEARCH,
                                        .due = 2600 * ms,
                                        .ready = 2600 * ms,
                                        .first_sent = 2600 * ms,
                                        .last_received = 3100 * ms,
                                        .ended = 3100 * ms},
                 &ok);
    record_planned(records, SEARCH, 2900 * ms);
    record_not_sent(records, SEARCH, 2900 * ms);
    /* It never gets longer again. */
    record_window_end(records, 4000 * ms);
    assert_good(records);
    assert_int_equal(records_packet(records, SEARCH)->ok, 1);
    assert_int_equal(records_packet(records, SEARCH)->unfinished, 1);
    assert_int_equal(records_totals(records)->backlog.max, 100 * ms);
    assert_int_equal(records_setup(records)->window_end, 3000 * ms);
    records_seconds(records, &rows);
    assert_int_equal(rows, 1);
    records_free(records);

    /* In the warm-up: an empty window, not a negative one. */
    records = make();
    play(records, SEARCH, second, OUTCOME_OK);
    record_window_end(records, 1500 * ms);
    assert_int_equal(records_setup(records)->window_end, window_start);
    records_seconds(records, &rows);
    assert_int_equal(rows, 0);
    assert_good(records);
    records_free(records);
}

static void test_live(void **state)
{
    (void)state;
    struct records *records = make();
    struct record_live before = {0}, now = {0};
    records_live(records, &before);
    assert_int_equal(record_live_quantile(&before, &before, 0.95), -1);
    for (unsigned i = 0; i < 100; i++)
        play(records, SEARCH, 3 * second, i < 90 ? OUTCOME_OK : OUTCOME_FAILED);
    play(records, NBNS, 3 * second, OUTCOME_NO_ANSWER);
    record_started(records);
    record_planned(records, SEARCH, 3 * second);
    records_live(records, &now);
    assert_int_equal(now.planned, 102);
    assert_int_equal(now.started, 102);
    assert_int_equal(now.ended, 101);
    assert_int_equal(now.ok, 90);
    assert_int_equal(now.failed, 10);
    assert_int_equal(now.no_answer, 1);
    /* 90 took 11 ms, 10 took 12 ms. */
    int64_t p50 = record_live_quantile(&before, &now, 0.5);
    int64_t p95 = record_live_quantile(&before, &now, 0.95);
    assert_true(llabs(p50 - 11 * ms) <= 11 * ms * 4 / 100);
    assert_true(llabs(p95 - 12 * ms) <= 12 * ms * 4 / 100);
    /* Nothing since then. */
    assert_int_equal(record_live_quantile(&now, &now, 0.5), -1);
    /* Snapshots of several workers add up. */
    records_live(records, &now);
    assert_int_equal(now.ended, 202);
    records_free(records);
}

/* The live view is within 4% over the whole range. */
static void test_live_error(void **state)
{
    (void)state;
    struct outcome ok = outcome_of(OUTCOME_OK);
    for (int64_t time = 1000; time < 3600 * second; time += time / 7) {
        struct records *records = make();
        struct record_live before = {0}, now = {0};
        record_event(records, &(struct record_event){.last_received = time, .ended = time}, &ok);
        records_live(records, &now);
        int64_t got = record_live_quantile(&before, &now, 1);
        assert_true(llabs(got - time) * 100 <= time * 4);
        records_free(records);
    }
}

/* --log-failures: exactly the first few of all workers, one line each. */
static void *fail_often(void *argument)
{
    struct records *records = argument;
    for (unsigned i = 0; i < 500; i++)
        play(records, BIND, 3 * second, OUTCOME_FAILED);
    return NULL;
}

static void test_log_failures(void **state)
{
    (void)state;
    enum { WORKERS = 4, FIRST = 7 };
    struct failure_log *log = failure_log_new(FIRST);
    assert_non_null(log);
    struct records *records[WORKERS];
    pthread_t threads[WORKERS];
    FILE *file = tmpfile();
    assert_non_null(file);
    int kept = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    for (unsigned i = 0; i < WORKERS; i++) {
        records[i] = records_new(&(struct record_setup){.types = types,
                                                        .type_count = TYPES,
                                                        .clients = 10,
                                                        .window_start = window_start,
                                                        .window_end = window_end,
                                                        .worker = i,
                                                        .log = log});
        pthread_create(&threads[i], NULL, fail_often, records[i]);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        records_free(records[i]);
    }
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    char line[256];
    unsigned lines = 0;
    while (fgets(line, sizeof line, file)) {
        assert_string_equal(line, "failure: ldap:0 of client 0 at 3.012 s: timed out\n");
        lines++;
    }
    assert_int_equal(lines, FIRST);
    fclose(file);
    failure_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),    cmocka_unit_test(test_identity_violated),
        cmocka_unit_test(test_times),       cmocka_unit_test(test_causes),
        cmocka_unit_test(test_merge),       cmocka_unit_test(test_expected),
        cmocka_unit_test(test_interrupted), cmocka_unit_test(test_live),
        cmocka_unit_test(test_live_error),  cmocka_unit_test(test_log_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
