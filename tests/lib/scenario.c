/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/scenario.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "protocols/conversation.h"
#include "protocols/packet.h"
#include "protocols/stream.h"
#include "replay/play_table.h"
#include "replay/run_part.h"
#include "tests/lib/model_text.h"
#include "tests/lib/servers/loopback.h"

const char scenario_model[] = "version: 3\n"
                              "packet_rate: 123.7\n"
                              "history: 1\n"
                              "chain:\n"
                              "  \"-\": {\"test:1\": 1}\n"
                              "  \"test:1\": {\"wait:0\": 9, \"-\": 1}\n"
                              "  \"wait:0\": {\"test:1\": 9}\n";

atomic_uint scenario_played[10000], scenario_hints;

static struct echo_server *scenario_server;

static struct outcome echo(struct conversation *conversation, const void *details);
static struct outcome hint(struct conversation *conversation, const void *details);
static struct outcome fail_at_once(struct conversation *conversation, const void *details);
static void *compile_echo(const struct packet_details *details, struct packet_context *context,
                          struct error *error);

static const struct packet_protocol test_protocol = {.name = "test"};

static const struct packet_row test_rows[] = {
    {.protocol = &test_protocol, .opcode = "1", .description = "echo"},
    {.protocol = &test_protocol, .opcode = "2", .description = "", .kind = PACKET_STATE},
    {.protocol = &test_protocol, .opcode = "3", .description = "", .kind = PACKET_SILENT},
    {.protocol = &test_protocol, .opcode = "4", .description = ""},
    {.protocol = &test_protocol, .opcode = "5", .description = "", .option = "--never"},
    {.protocol = NULL},
};

static const struct packet_player test_players[] = {
    {.name = "test:1", .play = echo, .compile = compile_echo},
    {.name = "test:2", .play = hint},
    {.name = "test:4", .play = fail_at_once},
    {.name = "test:5", .play = echo},
    {.name = "ldap:3", .play = echo, .compile = compile_echo},
    {.name = NULL},
};

static void scenario_make_dc(struct scenario *s);
static void scenario_make_tally(struct scenario *s);

int scenario_set_up(void **state)
{
    (void)state;
    scenario_server = calloc(1, sizeof *scenario_server);
    scenario_server->sources = calloc(1, ECHO_SOURCES);
    echo_server_start(scenario_server);
    packet_rows_add(test_rows);
    packet_players_add(test_players);
    return 0;
}

int scenario_tear_down(void **state)
{
    (void)state;
    echo_server_stop(scenario_server);
    free(scenario_server->sources);
    free(scenario_server);
    packet_players_add(NULL);
    packet_rows_add(NULL);
    return 0;
}

struct scenario scenario_usual(void)
{
    return (struct scenario){
        .server = scenario_server,
        .model_text = scenario_model,
        .settings = {.threads = 2, .timeout = 10, .latency_timeout = 0.3},
        .warmup = 0.2,
        .duration = 1,
        .rate = 2,
        .scale = 1,
        .seed = 1,
    };
}

void scenario_load(struct scenario *s)
{
    s->model = model_of(s->model_text, NULL);
    struct plan_settings settings = {.seed = s->seed,
                                     .replay_rate = s->rate,
                                     .scale = s->scale,
                                     .warmup = s->warmup,
                                     .duration = s->duration,
                                     .is_operation = run_part_is_operation,
                                     .context = &s->settings};
    int status = plan_make(s->model, &settings, &s->plan, &s->error);
    if (status)
        print_message("# %s\n", s->error.text);
    assert_int_equal(status, 0);
    s->clients = plan_figures(s->plan)->clients;
}

void scenario_prepare(struct scenario *s)
{
    scenario_load(s);
    scenario_make_dc(s);
    scenario_make_tally(s);
    memset(scenario_played, 0, sizeof scenario_played);
    atomic_store(&scenario_hints, 0);
    atomic_store(&s->server->answered, 0);
    atomic_store(&s->server->most_open, 0);
    memset(s->server->sources, 0, ECHO_SOURCES);
}

static void scenario_make_dc(struct scenario *s)
{
    s->dc = loopback_dc();
    s->dc->ports.ldap = s->server->port;
    s->dc->users = calloc(s->clients, sizeof *s->dc->users);
    s->dc->account_count = s->clients;
}

static void scenario_make_tally(struct scenario *s)
{
    size_t count;
    const struct model_type *types = model_types(s->model, &count);
    s->types = calloc(count + 1, sizeof *s->types);
    for (size_t i = 0; i < count; i++)
        s->types[i] = (struct tally_type){types[i].protocol, types[i].opcode, ""};
    s->threads = run_threads(&s->settings, s->clients);
    assert_true(s->threads <= 16);
    for (unsigned i = 0; i < s->threads; i++) {
        struct tally_setup setup = {.types = s->types,
                                    .type_count = count,
                                    .clients = s->clients,
                                    .window_start = (int64_t)(s->warmup * 1e9),
                                    .window_end = (int64_t)((s->warmup + s->duration) * 1e9),
                                    .worker = i};
        s->tallies[i] = tally_new(&setup);
        assert_non_null(s->tallies[i]);
    }
}

void scenario_play(struct scenario *s)
{
    struct play_table *table = NULL;
    s->status = play_table_new(s->model, &s->settings, &table, &s->error);
    if (s->status)
        return;
    struct run_setup setup = {.settings = &s->settings,
                              .plan = s->plan,
                              .table = table,
                              .dc = s->dc,
                              .tallies = s->tallies,
                              .tick = s->tick,
                              .context = s};
    int64_t before = clock_now();
    s->status = run_play(&setup, &s->result, &s->error);
    s->took = clock_now() - before;
    play_table_free(table);
    if (s->status)
        return;
    struct error error = {0};
    for (unsigned i = 1; i < s->threads; i++)
        assert_int_equal(tally_merge(s->tallies[0], s->tallies[i]), 0);
    if (tally_check(s->tallies[0], &error)) {
        print_message("# %s\n", error.text);
        fail();
    }
}

void scenario_play_well(struct scenario *s)
{
    scenario_prepare(s);
    scenario_play(s);
    if (s->status)
        print_message("# %s\n", s->error.text);
    assert_int_equal(s->status, 0);
}

void scenario_clear(struct scenario *s)
{
    for (unsigned i = 0; i < s->threads; i++)
        tally_free(s->tallies[i]);
    free(s->types);
    plan_free(s->plan);
    model_free(s->model);
    dc_free(s->dc);
}

const struct tally_packet *scenario_counts(const struct scenario *s, const char *opcode)
{
    size_t type = model_find_type(s->model, "test", opcode);
    assert_true(type != SIZE_MAX);
    return tally_packet(s->tallies[0], type);
}

void scenario_assert_sent(const struct tally_packet *packet)
{
    assert_true(packet->planned > 0);
    assert_int_equal(packet->sent + packet->not_sent, packet->planned);
    assert_true(packet->not_sent <= packet->planned / 3); /* on a busy machine */
}

uint64_t scenario_cause(const struct tally_packet *packet, const char *text)
{
    for (size_t i = 0; i < packet->causes.count; i++)
        if (strcmp(packet->causes.items[i].text, text) == 0)
            return packet->causes.items[i].count;
    return 0;
}

uint64_t scenario_planned_between(const struct scenario *s, int64_t from, int64_t to)
{
    uint64_t count = 0;
    for (uint32_t client = 0; client < s->clients; client++) {
        struct plan_client cursor;
        struct plan_step step;
        plan_client_start(s->plan, client, &cursor);
        while (plan_client_next(s->plan, &cursor, &step))
            count +=
                step.kind == PLAN_PACKET && step.operation && step.due >= from && step.due < to;
    }
    return count;
}

uint64_t scenario_planned_in_window(const struct scenario *s)
{
    return scenario_planned_between(s, s->result.window_start, s->result.window_end);
}

uint64_t scenario_all_played(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof scenario_played / sizeof scenario_played[0]; i++)
        sum += scenario_played[i];
    return sum;
}

void scenario_count_tick(void *context, int64_t now)
{
    (void)now;
    ((struct scenario *)context)->ticks++;
}

void scenario_remember_most_open(void *context, int64_t now)
{
    struct scenario *s = context;
    if (now < s->warmup * 1e9)
        s->most_open_in_warm_up = atomic_load(&s->server->most_open);
}

static struct outcome echo(struct conversation *conversation, const void *details)
{
    const char *text = details ? details : "hello";
    struct sockaddr_storage peer;
    socklen_t size = dc_address(conversation->dc, conversation->dc->ports.ldap, &peer);
    struct stream *stream = NULL;
    char answer[5];
    int error =
        stream_open(&stream, &conversation->wire, STREAM_TCP, (struct sockaddr *)&peer, size);
    if (!error)
        error = stream_write(stream, text, 5);
    if (!error)
        error = stream_read_all(stream, answer, sizeof answer);
    stream_close(stream);
    if (error)
        return outcome_of_error(error);
    if (memcmp(answer, text, 5) != 0)
        return outcome_failed("malformed reply");
    atomic_fetch_add(&scenario_played[conversation->user - conversation->dc->users], 1);
    return outcome_ok();
}

static struct outcome hint(struct conversation *conversation, const void *details)
{
    (void)conversation;
    (void)details;
    atomic_fetch_add(&scenario_hints, 1);
    return outcome_nothing();
}

/* Fails without waiting: the client must not monopolise the thread. */
static struct outcome fail_at_once(struct conversation *conversation, const void *details)
{
    (void)details;
    conversation->wire.first_sent = clock_now();
    return outcome_failed("no");
}

/* With filter "nomem" an allocation fails. */
static void *compile_echo(const struct packet_details *details, struct packet_context *context,
                          struct error *error)
{
    (void)context;
    const char *filter = details->row->rules ? packet_details_get(details, "filter")->text : NULL;
    if (filter && strlen(filter) != 5) {
        error_set(error, -EINVAL, "filter: five letters are wanted");
        return NULL;
    }
    if (filter && strcmp(filter, "nomem") == 0) {
        error_no_memory(error);
        return NULL;
    }
    return strdup(filter ? filter : "usual");
}
