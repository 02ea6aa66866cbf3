/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tallies: the accounting identity for every outcome at every position in and around the window,
 * the definitions of lag, service and response time, causes, merging, and the live view.
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
#include "replay/tally.h"

enum { SEARCH, BIND, NBNS, TYPES };
static const struct tally_type types[TYPES] = {
    {"ldap", "3", "searchRequest"}, {"ldap", "0", "bindRequest"}, {"nbns", "0", ""}};

static const int64_t ms = 1000000, second = 1000000000;
/* Warm-up 2 s, window 3.5 s: [2 s, 5.5 s). */
static const int64_t window_start = 2000000000, window_end = 5500000000;

static struct tally *make(void)
{
    struct tally *tally = tally_new(&(struct tally_setup){.types = types,
                                                          .type_count = TYPES,
                                                          .clients = 10,
                                                          .window_start = window_start,
                                                          .window_end = window_end});
    assert_non_null(tally);
    return tally;
}

static struct outcome outcome_of(enum outcome_kind kind)
{
    struct outcome outcome = {.kind = kind};
    if (kind == OUTCOME_FAILED)
        strcpy(outcome.cause, "timed out");
    return outcome;
}

/* An operation that was sent 1 ms after it was due, answered 10 ms later, and ended 1 ms later. */
static void play(struct tally *tally, uint32_t type, int64_t due, enum outcome_kind kind)
{
    struct outcome outcome = outcome_of(kind);
    tally_planned(tally, type, due);
    tally_started(tally);
    tally_event(tally,
                &(struct tally_event){.type = type,
                                      .due = due,
                                      .ready = due,
                                      .first_sent = due + ms,
                                      .last_received = due + 11 * ms,
                                      .ended = due + 12 * ms},
                &outcome);
}

static void assert_good(const struct tally *tally)
{
    struct error error = {0};
    if (tally_check(tally, &error) != 0)
        fail_msg("%s", error.text);
}

/* Due and ended: before, in and after the window, at its edges, across them. */
static void the_identity_holds(void **state)
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
    struct tally *tally = make();
    for (size_t due = 0; due < sizeof dues / sizeof dues[0]; due++) {
        for (size_t kind = 0; kind < 4; kind++)
            play(tally, SEARCH, dues[due], kinds[kind]);
        tally_planned(tally, SEARCH, dues[due]);
        tally_not_sent(tally, SEARCH, dues[due]);
        tally_planned(tally, SEARCH, dues[due]);
        tally_dropped(tally, SEARCH, dues[due]);
    }
    assert_good(tally);
    const struct tally_packet *packet = tally_packet(tally, SEARCH);
    /* Due inside: 2.0, 3.0, 5.487999999, 5.488, 5.499999999. */
    assert_int_equal(packet->planned, 5 * 6);
    assert_int_equal(packet->sent, 5 * 4);
    assert_int_equal(packet->not_sent, 5);
    assert_int_equal(packet->dropped, 5);
    /* Also ended inside: the first three. */
    assert_int_equal(packet->ok, 3);
    assert_int_equal(packet->failed, 3);
    assert_int_equal(packet->no_answer, 3);
    assert_int_equal(packet->unfinished, 5 + 3 * 2);
    /* By completion: those three, and the two that were due just before the window. */
    assert_int_equal(packet->done_ok, 5);
    assert_int_equal(packet->done_failed, 5);
    assert_int_equal(packet->done_no_answer, 5);
    /* Times include all operations that were due inside and ended, even after the window. */
    assert_int_equal(packet->response.count, 10);
    assert_int_equal(packet->service.count, 10);
    assert_int_equal(packet->lag.count, 20);
    assert_int_equal(tally_packet(tally, BIND)->planned, 0);

    size_t rows;
    const struct tally_second *seconds = tally_seconds(tally, &rows);
    assert_int_equal(rows, 4);
    assert_int_equal(seconds[0].planned, 6);
    assert_int_equal(seconds[0].ok, 3);
    assert_int_equal(seconds[1].planned, 6);
    assert_int_equal(seconds[1].failed, 1);
    assert_int_equal(seconds[1].response.count, 2);
    assert_int_equal(seconds[2].planned, 0);
    assert_int_equal(seconds[3].planned, 18);
    assert_int_equal(seconds[3].ok, 1);
    /* Age of the unsent operations at the window's end: from 1 ns to 3.5 s. */
    const struct histogram *backlog = &tally_totals(tally)->backlog;
    assert_int_equal(backlog->count, 5);
    assert_int_equal(backlog->min, 1);
    assert_int_equal(backlog->max, 3500 * ms);
    tally_free(tally);
}

static void a_violated_identity_is_reported(void **state)
{
    (void)state;
    struct error error = {0};
    struct tally *tally = make();
    play(tally, BIND, 3 * second, OUTCOME_OK);
    assert_good(tally);
    tally_planned(tally, BIND, 3 * second);
    assert_int_equal(tally_check(tally, &error), -EPROTO);
    assert_non_null(strstr(error.text, "ldap:0"));
    assert_non_null(strstr(error.text, "2 and 1"));
    tally_not_sent(tally, BIND, 3 * second);
    assert_good(tally);
    tally_dropped(tally, NBNS, 3 * second);
    assert_int_equal(tally_check(tally, &error), -EPROTO);
    assert_non_null(strstr(error.text, "nbns:0"));
    tally_free(tally);
}

static void times_follow_their_definitions(void **state)
{
    (void)state;
    struct tally *tally = make();
    const struct tally_packet *packet = tally_packet(tally, SEARCH);
    struct outcome ok = outcome_of(OUTCOME_OK), failed = outcome_of(OUTCOME_FAILED);
    int64_t due = 3 * second;
    struct tally_event event = {.type = SEARCH,
                                .due = due,
                                .ready = due + 100 * ms, /* the previous reply came late */
                                .first_sent = due + 103 * ms,
                                .last_received = due + 120 * ms,
                                .ended = due + 121 * ms};
    tally_event(tally, &event, &ok);
    assert_int_equal(packet->lag.max, 3 * ms);
    assert_int_equal(packet->service.max, 17 * ms);
    assert_int_equal(packet->response.max, 120 * ms);

    /* A failure ends when its outcome is known: waiting for a time limit counts. */
    event.ended = due + 400 * ms;
    tally_event(tally, &event, &failed);
    assert_int_equal(packet->service.max, 297 * ms);
    assert_int_equal(packet->response.max, 400 * ms);

    /* Nothing was sent: no lag and no service time, but the client waited. */
    event.first_sent = event.last_received = INT64_MIN;
    event.ended = due + 500 * ms;
    tally_event(tally, &event, &failed);
    assert_int_equal(packet->lag.count, 2);
    assert_int_equal(packet->service.count, 2);
    assert_int_equal(packet->response.count, 3);
    assert_int_equal(packet->response.max, 500 * ms);

    /* Success without a reply (abandon): ends when written. */
    event.first_sent = due + 100 * ms;
    event.ended = due + 600 * ms;
    tally_event(tally, &event, &ok);
    assert_int_equal(packet->service.max, 500 * ms);
    assert_int_equal(packet->response.max, 600 * ms);
    assert_int_equal(packet->lag.min, 0);

    assert_int_equal(tally_totals(tally)->max_lag, 3 * ms);
    assert_int_equal(tally_totals(tally)->start_lag, 0);
    event.first = true;
    event.first_sent = due + 102 * ms;
    tally_event(tally, &event, &ok);
    assert_int_equal(tally_totals(tally)->start_lag, 2 * ms);
    tally_free(tally);
}

static void causes_are_counted(void **state)
{
    (void)state;
    struct tally *tally = make(), *other = make();
    struct tally_event event = {.type = BIND,
                                .due = 3 * second,
                                .ready = 3 * second,
                                .first_sent = 3 * second,
                                .last_received = INT64_MIN,
                                .ended = 3 * second};
    struct outcome outcome = {.kind = OUTCOME_FAILED};
    for (unsigned cause = 0; cause < 100; cause++)
        for (unsigned i = 0; i < 2; i++) {
            tally_planned(tally, BIND, event.due);
            snprintf(outcome.cause, sizeof outcome.cause, "cause %u", cause);
            tally_event(tally, &event, &outcome);
        }
    const struct tally_packet *packet = tally_packet(tally, BIND);
    assert_int_equal(packet->causes.count, TALLY_CAUSES_MAX);
    assert_string_equal(packet->causes.items[0].text, "cause 0");
    assert_int_equal(packet->causes.items[0].count, 2);
    assert_string_equal(packet->causes.items[TALLY_CAUSES_MAX - 1].text, "other causes");
    assert_int_equal(packet->causes.items[TALLY_CAUSES_MAX - 1].count,
                     2 * (100 - (TALLY_CAUSES_MAX - 1)));
    assert_good(tally);

    tally_planned(other, BIND, event.due);
    strcpy(outcome.cause, "cause 1");
    tally_event(other, &event, &outcome);
    tally_planned(other, BIND, event.due);
    strcpy(outcome.cause, "a new one");
    tally_event(other, &event, &outcome);
    assert_int_equal(tally_merge(tally, other), 0);
    assert_int_equal(packet->causes.items[1].count, 3);
    assert_int_equal(packet->causes.items[TALLY_CAUSES_MAX - 1].count,
                     2 * (100 - (TALLY_CAUSES_MAX - 1)) + 1);
    assert_good(tally);
    tally_free(tally);
    tally_free(other);
}

/* Merging two tallies gives the same as one tally with all operations; empty ones change nothing.
 */
static void merging_equals_one_tally(void **state)
{
    (void)state;
    struct tally *one = make(), *two = make(), *all = make(), *empty = make();
    for (unsigned i = 0; i < 4000; i++) {
        enum outcome_kind kind = (enum outcome_kind)(i % 4);
        struct tally *worker = i % 3 ? one : two;
        int64_t due = (int64_t)i * 2 * ms;
        play(worker, i % TYPES, due, kind);
        play(all, i % TYPES, due, kind);
        tally_timer_late(worker, i);
        tally_timer_late(all, i);
        if (i % 5 == 0) {
            tally_conversation(worker);
            tally_conversation(all);
        }
        if (i % 10 == 0) {
            tally_conversation_ended(worker);
            tally_conversation_ended(all);
        }
        struct outcome outcome = outcome_of(kind);
        tally_dns_extra(worker, &outcome, due);
        tally_dns_extra(all, &outcome, due);
    }
    struct tally *into = make();
    assert_int_equal(tally_merge(into, empty), 0);
    assert_int_equal(tally_merge(into, one), 0);
    assert_int_equal(tally_merge(into, two), 0);
    assert_int_equal(tally_merge(into, empty), 0);
    assert_good(into);
    for (size_t i = 0; i < TYPES; i++) {
        const struct tally_packet *a = tally_packet(into, i), *b = tally_packet(all, i);
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
    const struct tally_totals *a = tally_totals(into), *b = tally_totals(all);
    assert_int_equal(a->conversations, 800);
    assert_int_equal(a->conversations_ended, 400);
    assert_int_equal(a->timer_miss, 3999);
    assert_int_equal(a->max_lag, b->max_lag);
    assert_int_equal(a->dns_extra, 3000);
    assert_int_equal(a->dns_extra_failed, 2000);
    uint64_t causes = 0;
    for (size_t i = 0; i < a->dns_extra_causes.count; i++)
        causes += a->dns_extra_causes.items[i].count;
    assert_int_equal(causes, 2000);
    size_t rows, other_rows;
    const struct tally_second *left = tally_seconds(into, &rows);
    const struct tally_second *right = tally_seconds(all, &other_rows);
    assert_int_equal(rows, other_rows);
    for (size_t i = 0; i < rows; i++) {
        assert_int_equal(left[i].planned, right[i].planned);
        assert_int_equal(left[i].ok, right[i].ok);
        assert_int_equal(left[i].response.count, right[i].response.count);
    }
    struct tally *unused[] = {one, two, all, empty, into};
    for (size_t i = 0; i < sizeof unused / sizeof unused[0]; i++)
        tally_free(unused[i]);
}

/* An operation of second 3 that moved data. */
static void play_data(struct tally *tally, int64_t ended, struct wire_data data)
{
    struct outcome ok = outcome_of(OUTCOME_OK);
    tally_planned(tally, SEARCH, 3 * second);
    tally_event(tally,
                &(struct tally_event){.type = SEARCH,
                                      .due = 3 * second,
                                      .ready = 3 * second,
                                      .first_sent = 3 * second,
                                      .last_received = ended,
                                      .ended = ended,
                                      .data = data},
                &ok);
}

static void bytes_count_in_the_second_of_completion_and_merge(void **state)
{
    (void)state;
    struct tally *tally = make(), *other = make();
    struct size_count sizes[SIZE_COUNTS_MAX];
    size_t rows;
    play_data(tally, 3 * second, (struct wire_data){4096, 0, 1});
    play_data(tally, 4500 * ms, (struct wire_data){4096, 0, 2});
    play_data(tally, 4500 * ms, (struct wire_data){0, 512, 1});
    play_data(tally, 4500 * ms, (struct wire_data){0, 0, 3});
    play_data(tally, 6 * second, (struct wire_data){1000000, 0, 1}); /* after the window */
    play_data(other, 3 * second, (struct wire_data){4096, 0, 1});
    assert_int_equal(tally_merge(tally, other), 0);
    assert_good(tally);
    const struct tally_packet *packet = tally_packet(tally, SEARCH);
    assert_int_equal(packet->read, 3 * 4096);
    assert_int_equal(packet->written, 512);
    assert_int_equal(packet->requests, 8);
    assert_int_equal(size_counts_list(&packet->sizes, sizes), 2);
    assert_int_equal(sizes[0].size, 4096);
    assert_int_equal(sizes[0].count, 3);
    assert_int_equal(sizes[1].size, 512);
    const struct tally_second *seconds = tally_seconds(tally, &rows);
    assert_int_equal(seconds[1].read, 2 * 4096);
    assert_int_equal(seconds[2].read, 4096);
    assert_int_equal(seconds[2].written, 512);
    assert_int_equal(size_counts_list(&tally_packet(tally, BIND)->sizes, sizes), 0);
    tally_free(tally);
    tally_free(other);
}

static void more_than_256_sizes_are_counted_together(void **state)
{
    (void)state;
    struct size_counts counts = {0}, copy = {0};
    struct size_count list[SIZE_COUNTS_MAX];
    for (uint64_t size = 1; size <= 300; size++)
        assert_int_equal(size_counts_add(&counts, size * 512, size), 0);
    assert_int_equal(size_counts_list(&counts, list), 256);
    assert_int_equal(list[0].size, 256 * 512);
    assert_int_equal(counts.other, (257 + 300) * 44 / 2);
    assert_int_equal(size_counts_merge(&copy, &counts), 0);
    assert_int_equal(size_counts_list(&copy, list), 256);
    assert_int_equal(copy.other, counts.other);
    size_counts_clear(&counts);
    size_counts_clear(&copy);
}

/* -B: counted with operations that ended inside, in no other sum. */
static void expected_failures_are_separate(void **state)
{
    (void)state;
    struct tally *tally = make();
    struct outcome ok = outcome_of(OUTCOME_OK);
    struct tally_event event = {.type = BIND,
                                .due = second,
                                .ready = second,
                                .first_sent = second,
                                .last_received = second,
                                .ended = second,
                                .expected_failures = 1};
    tally_event(tally, &event, &ok);
    assert_int_equal(tally_totals(tally)->expected, 0);
    event.due = event.ready = event.first_sent = event.last_received = event.ended = 3 * second;
    tally_planned(tally, BIND, event.due);
    tally_event(tally, &event, &ok);
    assert_int_equal(tally_totals(tally)->expected, 1);
    assert_int_equal(tally_packet(tally, BIND)->done_failed, 0);
    assert_good(tally);
    tally_free(tally);
}

/* An interrupt: the window ends early, and pending operations stay unfinished. */
static void an_interrupt_shortens_the_window(void **state)
{
    (void)state;
    struct tally *tally = make();
    size_t rows;
    play(tally, SEARCH, 2500 * ms, OUTCOME_OK);
    tally_planned(tally, SEARCH, 2600 * ms);
    tally_window_end(tally, 3000 * ms);
    struct outcome ok = outcome_of(OUTCOME_OK);
    tally_event(tally,
                &(struct tally_event){.type = SEARCH,
                                      .due = 2600 * ms,
                                      .ready = 2600 * ms,
                                      .first_sent = 2600 * ms,
                                      .last_received = 3100 * ms,
                                      .ended = 3100 * ms},
                &ok);
    tally_planned(tally, SEARCH, 2900 * ms);
    tally_not_sent(tally, SEARCH, 2900 * ms);
    /* The window never becomes longer. */
    tally_window_end(tally, 4000 * ms);
    assert_good(tally);
    assert_int_equal(tally_packet(tally, SEARCH)->ok, 1);
    assert_int_equal(tally_packet(tally, SEARCH)->unfinished, 1);
    assert_int_equal(tally_totals(tally)->backlog.max, 100 * ms);
    assert_int_equal(tally_setup(tally)->window_end, 3000 * ms);
    tally_seconds(tally, &rows);
    assert_int_equal(rows, 1);
    tally_free(tally);

    /* In the warm-up: an empty window, not a negative one. */
    tally = make();
    play(tally, SEARCH, second, OUTCOME_OK);
    tally_window_end(tally, 1500 * ms);
    assert_int_equal(tally_setup(tally)->window_end, window_start);
    tally_seconds(tally, &rows);
    assert_int_equal(rows, 0);
    assert_good(tally);
    tally_free(tally);
}

static void live_counters_give_quantiles(void **state)
{
    (void)state;
    struct tally *tally = make();
    struct tally_live before = {0}, now = {0};
    tally_live(tally, &before);
    assert_int_equal(tally_live_quantile(&before, &before, 0.95), -1);
    for (unsigned i = 0; i < 100; i++)
        play(tally, SEARCH, 3 * second, i < 90 ? OUTCOME_OK : OUTCOME_FAILED);
    play(tally, NBNS, 3 * second, OUTCOME_NO_ANSWER);
    tally_started(tally);
    tally_planned(tally, SEARCH, 3 * second);
    tally_live(tally, &now);
    assert_int_equal(now.planned, 102);
    assert_int_equal(now.started, 102);
    assert_int_equal(now.ended, 101);
    assert_int_equal(now.ok, 90);
    assert_int_equal(now.failed, 10);
    assert_int_equal(now.no_answer, 1);
    /* 90 took 11 ms, 10 took 12 ms. */
    int64_t p50 = tally_live_quantile(&before, &now, 0.5);
    int64_t p95 = tally_live_quantile(&before, &now, 0.95);
    assert_true(llabs(p50 - 11 * ms) <= 11 * ms * 4 / 100);
    assert_true(llabs(p95 - 12 * ms) <= 12 * ms * 4 / 100);
    /* Nothing has ended since then. */
    assert_int_equal(tally_live_quantile(&now, &now, 0.5), -1);
    /* Snapshots of several workers add up. */
    tally_live(tally, &now);
    assert_int_equal(now.ended, 202);
    tally_free(tally);
}

/* The live view is within 4% over the whole range. */
static void live_quantiles_are_within_4_percent(void **state)
{
    (void)state;
    struct outcome ok = outcome_of(OUTCOME_OK);
    for (int64_t time = 1000; time < 3600 * second; time += time / 7) {
        struct tally *tally = make();
        struct tally_live before = {0}, now = {0};
        tally_event(tally, &(struct tally_event){.last_received = time, .ended = time}, &ok);
        tally_live(tally, &now);
        int64_t got = tally_live_quantile(&before, &now, 1);
        assert_true(llabs(got - time) * 100 <= time * 4);
        tally_free(tally);
    }
}

/* --log-failures: exactly the first few failures of all workers, one line each. */
static void *fail_often(void *argument)
{
    struct tally *tally = argument;
    for (unsigned i = 0; i < 500; i++)
        play(tally, BIND, 3 * second, OUTCOME_FAILED);
    return NULL;
}

static void the_first_failures_are_logged(void **state)
{
    (void)state;
    enum { WORKERS = 4, FIRST = 7 };
    struct failure_log *log = failure_log_new(FIRST);
    assert_non_null(log);
    struct tally *tallies[WORKERS];
    pthread_t threads[WORKERS];
    FILE *file = tmpfile();
    assert_non_null(file);
    int kept = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    for (unsigned i = 0; i < WORKERS; i++) {
        tallies[i] = tally_new(&(struct tally_setup){.types = types,
                                                     .type_count = TYPES,
                                                     .clients = 10,
                                                     .window_start = window_start,
                                                     .window_end = window_end,
                                                     .worker = i,
                                                     .log = log});
        pthread_create(&threads[i], NULL, fail_often, tallies[i]);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        tally_free(tallies[i]);
    }
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    char line[256];
    unsigned lines = 0;
    while (fgets(line, sizeof line, file)) {
        assert_string_equal(line,
                            "traffic-replay: failure: ldap:0 of client 0 at 3.012 s: timed out\n");
        lines++;
    }
    assert_int_equal(lines, FIRST);
    fclose(file);
    failure_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_identity_holds),
        cmocka_unit_test(a_violated_identity_is_reported),
        cmocka_unit_test(times_follow_their_definitions),
        cmocka_unit_test(causes_are_counted),
        cmocka_unit_test(merging_equals_one_tally),
        cmocka_unit_test(bytes_count_in_the_second_of_completion_and_merge),
        cmocka_unit_test(more_than_256_sizes_are_counted_together),
        cmocka_unit_test(expected_failures_are_separate),
        cmocka_unit_test(an_interrupt_shortens_the_window),
        cmocka_unit_test(live_counters_give_quantiles),
        cmocka_unit_test(live_quantiles_are_within_4_percent),
        cmocka_unit_test(the_first_failures_are_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
