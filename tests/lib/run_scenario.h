/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a small model against a TCP server of the test program: the server, the packets of
 * protocol "test", and a scenario, which is one run with its settings and its result. A test
 * program includes this once and passes set_up and tear_down to cmocka.
 */
#ifndef TESTS_LIB_RUN_SCENARIO_H
#define TESTS_LIB_RUN_SCENARIO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "model/model.h"
#include "model/model_load.h"
#include "model/plan.h"
#include "protocols/conversation.h"
#include "protocols/packet.h"
#include "protocols/stream.h"
#include "replay/play_table.h"
#include "replay/run.h"
#include "replay/run_part.h"
#include "replay/tally.h"

static __attribute__((unused)) const int64_t MS = 1000000;

/* The server: one thread, up to MAX_CONNECTIONS connections. */
enum mode { ECHO, SILENT, GARBAGE, CLOSE };

enum { MAX_CONNECTIONS = 4000, SOURCES = 65536 };

struct connection {
    char bytes[5];
    size_t size;
    int64_t answer_at; /* 0: nothing to answer */
};

struct server {
    pthread_t thread;
    bool running;
    uint16_t port;
    int listener;
    atomic_int mode;
    atomic_llong delay; /* ns before an answer */
    atomic_bool stop;
    atomic_uint answered, accepted, most_open;
    unsigned char *sources; /* by the low 16 bits of a client's address: seen */
    struct pollfd fds[MAX_CONNECTIONS + 1];
    struct connection connections[MAX_CONNECTIONS + 1];
    nfds_t count;
};

static __attribute__((unused)) void server_drop(struct server *server, nfds_t i)
{
    close(server->fds[i].fd);
    server->count--;
    server->fds[i] = server->fds[server->count];
    server->connections[i] = server->connections[server->count];
}

static __attribute__((unused)) void server_accept(struct server *server)
{
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    int fd = accept4(server->listener, (struct sockaddr *)&from, &size, SOCK_NONBLOCK);
    if (fd < 0)
        return;
    atomic_fetch_add(&server->accepted, 1);
    server->sources[ntohl(from.sin_addr.s_addr) & 0xffff] = 1;
    if (atomic_load(&server->mode) == CLOSE || server->count > MAX_CONNECTIONS) {
        close(fd);
        return;
    }
    server->fds[server->count] = (struct pollfd){.fd = fd, .events = POLLIN};
    server->connections[server->count++] = (struct connection){.size = 0};
    if (server->count - 1 > atomic_load(&server->most_open))
        atomic_store(&server->most_open, (unsigned)server->count - 1);
}

/* False: the connection is closed. */
static __attribute__((unused)) bool server_serve(struct server *server, nfds_t i)
{
    struct connection *connection = &server->connections[i];
    if (server->fds[i].revents) {
        ssize_t n = read(server->fds[i].fd, connection->bytes + connection->size,
                         sizeof connection->bytes - connection->size);
        if (n <= 0)
            return n < 0 && errno == EAGAIN;
        connection->size += (size_t)n;
        if (connection->size == sizeof connection->bytes) {
            connection->answer_at = clock_now() + atomic_load(&server->delay);
            server->fds[i].events = 0;
        }
    }
    if (!connection->answer_at || connection->answer_at > clock_now() ||
        atomic_load(&server->mode) == SILENT)
        return true;
    bool garbage = atomic_load(&server->mode) == GARBAGE;
    ssize_t n = send(server->fds[i].fd, garbage ? "#!?%&" : connection->bytes, 5, MSG_NOSIGNAL);
    if (n == 5)
        atomic_fetch_add(&server->answered, 1);
    *connection = (struct connection){.size = 0};
    server->fds[i].events = POLLIN;
    return n == 5;
}

static __attribute__((unused)) void *server_main(void *argument)
{
    struct server *server = argument;
    while (!atomic_load(&server->stop)) {
        poll(server->fds, server->count, 1);
        if (server->fds[0].revents)
            for (int i = 0; i < 100; i++)
                server_accept(server);
        for (nfds_t i = server->count - 1; i > 0; i--)
            if (!server_serve(server, i))
                server_drop(server, i);
    }
    while (server->count > 1)
        server_drop(server, server->count - 1);
    close(server->listener);
    return NULL;
}

/* Listens on the port that it had before, if there was one. */
static __attribute__((unused)) void server_start(struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(server->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    int on = 1;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(server->listener, 4000), 0);
    getsockname(server->listener, (struct sockaddr *)&address, &size);
    server->port = ntohs(address.sin_port);
    server->fds[0] = (struct pollfd){.fd = server->listener, .events = POLLIN};
    server->count = 1;
    atomic_store(&server->stop, false);
    assert_int_equal(pthread_create(&server->thread, NULL, server_main, server), 0);
    server->running = true;
}

static __attribute__((unused)) void server_stop(struct server *server)
{
    if (!server->running)
        return;
    atomic_store(&server->stop, true);
    pthread_join(server->thread, NULL);
    server->running = false;
}

static atomic_uint played[10000]; /* successful operations, by client */
static atomic_uint hints;

static __attribute__((unused)) struct outcome echo(struct conversation *conversation,
                                                   const void *details)
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
    atomic_fetch_add(&played[conversation->user - conversation->dc->users], 1);
    return outcome_ok();
}

static __attribute__((unused)) struct outcome hint(struct conversation *conversation,
                                                   const void *details)
{
    (void)conversation;
    (void)details;
    atomic_fetch_add(&hints, 1);
    return outcome_nothing();
}

/* Fails without waiting: the client must not monopolise the thread. */
static __attribute__((unused)) struct outcome fail_at_once(struct conversation *conversation,
                                                           const void *details)
{
    (void)details;
    conversation->wire.first_sent = clock_now();
    return outcome_failed("no");
}

/* Filter "nomem" stands for an allocation that fails. */
static __attribute__((unused)) void *compile_echo(const struct packet_details *details,
                                                  struct packet_context *context,
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

struct scenario {
    struct server *server;
    struct settings settings;
    const char *model_text;
    double warmup, duration, rate, scale;
    uint64_t seed;

    struct model *model;
    struct plan *plan;
    struct dc *dc;
    struct tally_type *types;
    struct tally *tallies[16];
    unsigned threads;
    uint32_t clients;
    struct run_result result;
    struct error error;
    int status;
    int64_t took;
    void (*tick)(void *context, int64_t now);
    unsigned ticks, most_open_in_warm_up;
};

static __attribute__((unused)) void count_tick(void *context, int64_t now)
{
    (void)now;
    ((struct scenario *)context)->ticks++;
}

static __attribute__((unused)) void remember_most_open(void *context, int64_t now)
{
    struct scenario *s = context;
    if (now < s->warmup * 1e9)
        s->most_open_in_warm_up = atomic_load(&s->server->most_open);
}

/* 20 clients at scale 1, each about 6 packets/s at rate 1, ten per conversation. */
static __attribute__((unused)) const char echo_model[] = "version: 3\n"
                                                         "packet_rate: 123.7\n"
                                                         "history: 1\n"
                                                         "chain:\n"
                                                         "  \"-\": {\"test:1\": 1}\n"
                                                         "  \"test:1\": {\"wait:0\": 9, \"-\": 1}\n"
                                                         "  \"wait:0\": {\"test:1\": 9}\n";

static struct server *the_server;

static __attribute__((unused)) struct scenario scenario(void)
{
    return (struct scenario){
        .server = the_server,
        .model_text = echo_model,
        .settings = {.threads = 2, .timeout = 10, .latency_timeout = 0.3},
        .warmup = 0.2,
        .duration = 1,
        .rate = 2,
        .scale = 1,
        .seed = 1,
    };
}

static __attribute__((unused)) void load(struct scenario *s)
{
    char path[] = "/tmp/engine-test-model-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, s->model_text, strlen(s->model_text)), strlen(s->model_text));
    close(fd);
    int status = model_load(path, &s->model, &s->error, NULL, NULL);
    unlink(path);
    if (status)
        print_message("# %s\n", s->error.text);
    assert_int_equal(status, 0);
    struct plan_settings settings = {.seed = s->seed,
                                     .replay_rate = s->rate,
                                     .scale = s->scale,
                                     .warmup = s->warmup,
                                     .duration = s->duration,
                                     .is_operation = run_part_is_operation,
                                     .context = &s->settings};
    status = plan_make(s->model, &settings, &s->plan, &s->error);
    if (status)
        print_message("# %s\n", s->error.text);
    assert_int_equal(status, 0);
    s->clients = plan_figures(s->plan)->clients;
}

static __attribute__((unused)) void make_dc(struct scenario *s)
{
    s->dc = dc_new();
    assert_non_null(s->dc);
    struct sockaddr_in *address = (struct sockaddr_in *)&s->dc->address;
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->dc->address_len = sizeof *address;
    s->dc->ports.ldap = s->server->port;
    s->dc->users = calloc(s->clients, sizeof *s->dc->users);
    s->dc->account_count = s->clients;
}

static __attribute__((unused)) void make_tally(struct scenario *s)
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

static __attribute__((unused)) void prepare(struct scenario *s)
{
    load(s);
    make_dc(s);
    make_tally(s);
    memset(played, 0, sizeof played);
    atomic_store(&hints, 0);
    atomic_store(&s->server->answered, 0);
    atomic_store(&s->server->most_open, 0);
    memset(s->server->sources, 0, SOURCES);
}

static __attribute__((unused)) void play(struct scenario *s)
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

static __attribute__((unused)) void play_well(struct scenario *s)
{
    prepare(s);
    play(s);
    if (s->status)
        print_message("# %s\n", s->error.text);
    assert_int_equal(s->status, 0);
}

static __attribute__((unused)) void clear(struct scenario *s)
{
    for (unsigned i = 0; i < s->threads; i++)
        tally_free(s->tallies[i]);
    free(s->types);
    plan_free(s->plan);
    model_free(s->model);
    dc_free(s->dc);
}

/* The counts of a packet type. */
static __attribute__((unused)) const struct tally_packet *counts(const struct scenario *s,
                                                                 const char *opcode)
{
    size_t type = model_find_type(s->model, "test", opcode);
    assert_true(type != SIZE_MAX);
    return tally_packet(s->tallies[0], type);
}

/* Nearly everything was sent, except for operations that became due just as the window closed. */
static __attribute__((unused)) void assert_sent(const struct tally_packet *packet)
{
    assert_true(packet->planned > 0);
    assert_int_equal(packet->sent + packet->not_sent, packet->planned);
    assert_true(packet->not_sent <= packet->planned / 3); /* on a busy machine */
}

static __attribute__((unused)) uint64_t cause(const struct tally_packet *packet, const char *text)
{
    for (size_t i = 0; i < packet->cause_count; i++)
        if (strcmp(packet->causes[i].text, text) == 0)
            return packet->causes[i].count;
    return 0;
}

/* The operations of the plan that are due in [from, to), counted one by one. */
static __attribute__((unused)) uint64_t planned_between(const struct scenario *s, int64_t from,
                                                        int64_t to)
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

static __attribute__((unused)) uint64_t planned_in_window(const struct scenario *s)
{
    return planned_between(s, s->result.window_start, s->result.window_end);
}

static __attribute__((unused)) uint64_t all_played(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof played / sizeof played[0]; i++)
        sum += played[i];
    return sum;
}

static __attribute__((unused)) int set_up(void **state)
{
    (void)state;
    the_server = calloc(1, sizeof *the_server);
    the_server->sources = calloc(1, SOURCES);
    server_start(the_server);
    packet_rows_add(test_rows);
    packet_players_add(test_players);
    return 0;
}

static __attribute__((unused)) int tear_down(void **state)
{
    (void)state;
    server_stop(the_server);
    free(the_server->sources);
    free(the_server);
    packet_players_add(NULL);
    packet_rows_add(NULL);
    return 0;
}

#endif
