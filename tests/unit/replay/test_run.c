/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine against a small TCP server of this program: every planned operation is accounted for,
 * whatever the server does, and no client is ever lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "replay/play_table.h"
#include "replay/run_part.h"
#include "tests/lib/fake_mprotect.h"
#include "tests/lib/scenario.h"

static const int64_t MS = 1000000;

static void everything_is_played(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct scenario s = scenario_usual();
        s.settings.threads = threads;
        s.settings.latency_timeout = 30;
        s.tick = scenario_count_tick;
        scenario_play_well(&s);
        assert_in_range(s.ticks, 2, 20); /* five per second */
        const struct tally_packet *packet = scenario_counts(&s, "1");
        assert_int_equal(s.clients, 20);
        assert_int_equal(s.result.end, RUN_END_WINDOW);
        assert_int_equal(s.result.threads, threads);
        assert_true(s.result.timer_p99 > 0 && s.result.timer_p99 < 0.5);
        assert_int_equal(s.result.window_start, 200 * MS);
        assert_int_equal(s.result.window_end, 1200 * MS);
        assert_true(packet->planned > 100);
        assert_int_equal(packet->planned, scenario_planned_in_window(&s));
        scenario_assert_sent(packet);
        assert_int_equal(packet->ok + packet->unfinished, packet->sent);
        assert_true(packet->unfinished <= s.clients); /* sent just before the window closed */
        assert_int_equal(packet->failed, 0);
        assert_int_equal(packet->response.count,
                         packet->sent); /* unfinished ones have times, too */
        assert_int_equal(scenario_all_played() + packet->not_sent,
                         scenario_planned_between(&s, 0, 1200 * MS));
        assert_int_equal(s.server->answered, scenario_all_played());
        assert_true(s.took < 20000 * MS); /* no wait when nothing is unfinished */
        scenario_clear(&s);
    }
}

static void a_seed_repeats(void **state)
{
    (void)state;
    uint64_t planned[3];
    for (int i = 0; i < 3; i++) {
        struct scenario s = scenario_usual();
        s.seed = i == 2 ? 2 : 1;
        s.duration = 0.4;
        scenario_play_well(&s);
        planned[i] = scenario_counts(&s, "1")->planned;
        scenario_clear(&s);
    }
    assert_int_equal(planned[0], planned[1]);
    assert_int_not_equal(planned[0], planned[2]);
}

static struct model_type model_type(const char *protocol, const char *opcode)
{
    return (struct model_type){
        .protocol = protocol, .opcode = opcode, .row = packet_row_find(protocol, opcode)};
}

static void silent_and_state_packets(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    s.model_text = "version: 3\npacket_rate: 200\nhistory: 1\nchain:\n"
                   "  \"-\": {\"test:3\": 1}\n"
                   "  \"test:3\": {\"test:2\": 1}\n"
                   "  \"test:2\": {\"foo:9\": 1}\n"
                   "  \"foo:9\": {\"test:5\": 1}\n"
                   "  \"test:5\": {\"test:1\": 1}\n"
                   "  \"test:1\": {\"wait:0\": 9, \"-\": 1}\n"
                   "  \"wait:0\": {\"test:1\": 9}\n";
    scenario_play_well(&s);
    assert_int_equal(scenario_counts(&s, "1")->planned, scenario_planned_in_window(&s));
    assert_true(scenario_counts(&s, "1")->ok > 50);
    assert_int_equal(scenario_counts(&s, "2")->planned, 0);
    assert_int_equal(scenario_counts(&s, "3")->planned, 0);
    assert_int_equal(scenario_counts(&s, "5")->planned, 0);
    assert_true(scenario_hints > 0);
    static const struct {
        const char *protocol, *opcode;
        enum run_part part;
    } parts[] = {{"test", "1", RUN_OPERATION},
                 {"test", "2", RUN_STATE},
                 {"test", "3", RUN_SILENT},
                 {"test", "5", RUN_NO_PLAYER},
                 {"foo", "9", RUN_NO_PLAYER}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct model_type type = model_type(parts[i].protocol, parts[i].opcode);
        assert_int_equal(run_part(&s.settings, &type), parts[i].part);
    }
    scenario_clear(&s);
}

static void left_out(void **state)
{
    (void)state;
    struct settings_packet skip = {"test", "1"};
    struct scenario s = scenario_usual();
    s.settings.skip = &skip;
    s.settings.skip_count = 1;
    struct model_type type = model_type("test", "1");
    assert_int_equal(run_part(&s.settings, &type), RUN_LEFT_OUT);
    type = model_type("test", "3");
    assert_int_equal(run_part(&s.settings, &type), RUN_SILENT);
}

static void each_details_is_compiled_once(void **state)
{
    (void)state;
    static const char model[] = "version: 3\npacket_rate: 10\nhistory: 1\nchain:\n"
                                "  \"-\": {\"ldap:3\": 1}\n"
                                "  \"ldap:3\": {\"wait:0\": 9, \"-\": 1}\n"
                                "  \"wait:0\": {\"ldap:3\": 9}\n"
                                "details:\n"
                                "  \"ldap:3\":\n"
                                "    - {count: 3, filter: alpha}\n"
                                "    - {count: 1, filter: %s}\n";
    char text[1000];
    snprintf(text, sizeof text, model, "gamma");
    struct scenario s = scenario_usual();
    s.model_text = text;
    scenario_load(&s);
    struct play_table *table = NULL;
    assert_int_equal(play_table_new(s.model, &s.settings, &table, &s.error), 0);
    size_t type = model_find_type(s.model, "ldap", "3");
    assert_int_equal(table->rows[type].details_count, 2);
    assert_string_equal(table->rows[type].details[0], "alpha");
    assert_string_equal(table->rows[type].details[1], "gamma");
    play_table_free(table);
    scenario_clear(&s);

    snprintf(text, sizeof text, model, "epsilon");
    scenario_load(&s);
    assert_int_equal(play_table_new(s.model, &s.settings, &table, &s.error), -EINVAL);
    assert_non_null(strstr(s.error.text, "details 2 of ldap:3: filter: five letters are wanted"));
    /* Details of packets that are left out are not compiled. */
    struct settings_packet skip = {"ldap", NULL};
    s.settings.skip = &skip;
    s.settings.skip_count = 1;
    assert_int_equal(play_table_new(s.model, &s.settings, &table, &s.error), 0);
    play_table_free(table);
    scenario_clear(&s);
    play_table_free(NULL);
}

/* A player that runs out of memory is not a usage error. */
static void no_memory_for_details(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    s.model_text = "version: 3\npacket_rate: 10\nhistory: 1\nchain:\n"
                   "  \"-\": {\"ldap:3\": 1}\n"
                   "  \"ldap:3\": {\"-\": 1}\n"
                   "details:\n"
                   "  \"ldap:3\":\n"
                   "    - {count: 1, filter: nomem}\n";
    scenario_load(&s);
    struct play_table *table = NULL;
    assert_int_equal(play_table_new(s.model, &s.settings, &table, &s.error), -ENOMEM);
    assert_int_equal(s.error.code, -ENOMEM);
    assert_string_equal(s.error.text, "out of memory");
    scenario_clear(&s);
}

static void *kill_and_restart(void *argument)
{
    struct echo_server *server = argument;
    struct timespec time = {.tv_nsec = 500 * MS};
    nanosleep(&time, NULL);
    echo_server_stop(server);
    nanosleep(&time, NULL);
    memset(scenario_played, 0,
           sizeof scenario_played); /* each client must succeed again from here on */
    echo_server_start(server);
    return NULL;
}

static void killed_and_restarted(void **state)
{
    (void)state;
    pthread_t killer;
    struct scenario s = scenario_usual();
    s.duration = 2.5;
    scenario_prepare(&s);
    assert_int_equal(pthread_create(&killer, NULL, kill_and_restart, s.server), 0);
    scenario_play(&s);
    pthread_join(killer, NULL);
    assert_int_equal(s.status, 0);
    const struct tally_packet *packet = scenario_counts(&s, "1");
    assert_int_equal(packet->planned, scenario_planned_in_window(&s));
    scenario_assert_sent(packet); /* refused operations count as sent */
    assert_true(scenario_cause(packet, "connection refused") > 20);
    uint64_t causes = 0;
    for (size_t i = 0; i < packet->causes.count; i++)
        causes += packet->causes.items[i].count;
    assert_int_equal(causes, packet->done_failed);
    for (uint32_t client = 0; client < s.clients; client++)
        assert_true(scenario_played[client] > 0);
    assert_true(s.took < 10000 * MS);
    scenario_clear(&s);
}

static void accepts_and_never_answers(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    atomic_store(&s.server->mode, ECHO_SILENT);
    s.settings.timeout = 0.3;
    s.warmup = 0;
    scenario_play_well(&s);
    const struct tally_packet *packet = scenario_counts(&s, "1");
    assert_int_equal(packet->planned, scenario_planned_in_window(&s));
    assert_int_equal(packet->ok, 0);
    assert_true(packet->failed > 20);   /* three per client */
    assert_true(packet->not_sent > 50); /* a client can send only three per second */
    assert_int_equal(scenario_cause(packet, "timed out"), packet->done_failed);
    const struct tally_totals *totals = tally_totals(s.tallies[0]);
    assert_int_equal(totals->backlog.count, packet->not_sent);
    assert_in_range(totals->backlog.max, 1, 1000 * MS);
    scenario_clear(&s);

    /* If --timeout is longer than the run, the latency timeout ends the run. */
    s = scenario_usual();
    atomic_store(&s.server->mode, ECHO_SILENT);
    scenario_play_well(&s);
    packet = scenario_counts(&s, "1");
    assert_int_equal(packet->failed + packet->ok, 0);
    /* Operations due in the warm-up count in none of the window's terms, and delay all others. */
    assert_int_equal(packet->unfinished + packet->not_sent, packet->planned);
    assert_in_range(s.took, 1500 * MS, 8000 * MS);
    scenario_clear(&s);
    atomic_store(&s.server->mode, ECHO_ANSWER);
}

static void answers_garbage(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    atomic_store(&s.server->mode, ECHO_GARBAGE);
    scenario_play_well(&s);
    const struct tally_packet *packet = scenario_counts(&s, "1");
    assert_int_equal(packet->planned, scenario_planned_in_window(&s));
    scenario_assert_sent(packet);
    assert_int_equal(packet->ok, 0);
    assert_int_equal(scenario_cause(packet, "malformed reply"), packet->done_failed);
    assert_true(packet->done_failed > 100);
    scenario_clear(&s);
    atomic_store(&s.server->mode, ECHO_ANSWER);
}

static void accepts_and_closes(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    atomic_store(&s.server->mode, ECHO_CLOSE);
    scenario_play_well(&s);
    const struct tally_packet *packet = scenario_counts(&s, "1");
    scenario_assert_sent(packet);
    assert_int_equal(packet->ok, 0);
    assert_true(packet->failed > 100);
    assert_int_equal(scenario_cause(packet, "connection reset") +
                         scenario_cause(packet, "connection closed in mid-message") +
                         scenario_cause(packet, "connection closed by the server"),
                     packet->done_failed);
    scenario_clear(&s);
    atomic_store(&s.server->mode, ECHO_ANSWER);
}

/* Operations answered after the window closed count as unfinished, but their times are kept. */
static void answers_after_the_window(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    s.warmup = 0;
    s.duration = 0.3;
    s.settings.latency_timeout = 30;
    atomic_store(&s.server->delay, 400 * MS);
    scenario_play_well(&s);
    const struct tally_packet *packet = scenario_counts(&s, "1");
    assert_true(packet->unfinished > 0);
    assert_int_equal(packet->ok, 0);
    assert_int_equal(packet->response.count, packet->unfinished);
    assert_true(s.took < 15000 * MS); /* it ends when the last answer has come */
    scenario_clear(&s);
    atomic_store(&s.server->delay, 0);
}

static void max_backlog(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    s.rate = 20;
    s.duration = 3;
    s.settings.max_backlog = 0.1;
    atomic_store(&s.server->delay, 100 * MS);
    scenario_play_well(&s);
    const struct tally_packet *packet = scenario_counts(&s, "1");
    assert_int_equal(packet->planned, scenario_planned_in_window(&s));
    assert_true(packet->dropped > 100);
    assert_true(packet->ok > 50);
    /* None is sent later than the wait for the previous one plus the limit. */
    assert_true(packet->response.max < 1500 * MS);
    scenario_clear(&s);
    atomic_store(&s.server->delay, 0);
}

/* The message names the first operation that failed, and it is printed once. */
static void stop_on_any_error(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    s.duration = 60;
    s.settings.stop_on_any_error = true;
    atomic_store(&s.server->mode, ECHO_GARBAGE);
    FILE *messages = tmpfile();
    int saved = dup(STDERR_FILENO);
    dup2(fileno(messages), STDERR_FILENO);
    scenario_play_well(&s);
    dup2(saved, STDERR_FILENO);
    close(saved);
    char text[4096] = "";
    rewind(messages);
    size_t length = fread(text, 1, sizeof text - 1, messages);
    fclose(messages);
    static const char beginning[] = "traffic-replay: --stop-on-any-error: the run ends because "
                                    "test:1 of client ";
    assert_int_equal(strncmp(text, beginning, sizeof beginning - 1), 0);
    assert_ptr_equal(strchr(text, '\n'), text + length - 1);
    assert_int_equal(s.result.end, RUN_END_ERROR);
    assert_true(s.took < 25000 * MS);
    scenario_clear(&s);
    atomic_store(&s.server->mode, ECHO_ANSWER);
}

/* Operations that fail without waiting do not keep the thread from timers and other clients. */
static void failing_at_once(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    s.settings.threads = 1;
    s.model_text = "version: 3\npacket_rate: 141000\nhistory: 1\nchain:\n"
                   "  \"-\": {\"test:4\": 1}\n"
                   "  \"test:4\": {\"test:4\": 999, \"-\": 1}\n";
    s.rate = 1000; /* far more than one thread can play */
    s.scale = 0.02;
    s.duration = 0.5;
    scenario_play_well(&s);
    const struct tally_packet *packet = scenario_counts(&s, "4");
    assert_true(packet->not_sent > 0);
    assert_int_equal(packet->planned, scenario_planned_in_window(&s));
    assert_in_range(s.took, 690 * MS, 30000 * MS);
    assert_true(s.result.busiest > 0.5);
    scenario_clear(&s);
}

static void no_memory_for_stacks(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    s.warmup = 0;
    scenario_prepare(&s);
    fake_mprotect_fail(0, 7);
    scenario_play(&s);
    assert_int_equal(fake_mprotect_left(), 0);
    assert_int_equal(s.status, 0);
    const struct tally_packet *packet = scenario_counts(&s, "1");
    assert_int_equal(scenario_cause(packet, "no memory for a fiber"), 7);
    assert_int_equal(packet->planned, scenario_planned_in_window(&s));
    assert_true(packet->ok > 100);
    for (uint32_t client = 0; client < s.clients; client++)
        assert_true(scenario_played[client] > 0);
    scenario_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_played),
        cmocka_unit_test(a_seed_repeats),
        cmocka_unit_test(silent_and_state_packets),
        cmocka_unit_test(left_out),
        cmocka_unit_test(each_details_is_compiled_once),
        cmocka_unit_test(no_memory_for_details),
        cmocka_unit_test(killed_and_restarted),
        cmocka_unit_test(accepts_and_never_answers),
        cmocka_unit_test(answers_garbage),
        cmocka_unit_test(accepts_and_closes),
        cmocka_unit_test(answers_after_the_window),
        cmocka_unit_test(max_backlog),
        cmocka_unit_test(stop_on_any_error),
        cmocka_unit_test(failing_at_once),
        cmocka_unit_test(no_memory_for_stacks),
    };
    return cmocka_run_group_tests_name("run", tests, scenario_set_up, scenario_tear_down);
}
