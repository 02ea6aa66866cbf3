/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine against a small TCP server of this program: every operation that is planned is
 * accounted for, whatever the server does, and no client is ever lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
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
#include <sys/resource.h>
#include <sys/wait.h>
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
#include "replay/limits.h"
#include "replay/play_table.h"
#include "replay/run.h"
#include "replay/run_part.h"
#include "replay/source.h"
#include "replay/tally.h"
#include "tests/lib/udp_server.h"

static const int64_t MS = 1000000;

/* ---- stacks that cannot be had (see test_loop.c) ---- */

static atomic_int mprotect_fails;

int mprotect(void *address, size_t size, int protection)
{
    static int (*real)(void *, size_t, int);
    if (!real)
        real = (int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "mprotect");
    if (protection == PROT_NONE && atomic_load(&mprotect_fails) > 0) {
        atomic_fetch_sub(&mprotect_fails, 1);
        errno = ENOMEM;
        return -1;
    }
    return real(address, size, protection);
}

/* ---- the server: one thread, as many connections as come ---- */

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
    unsigned char *sources; /* low 16 bits of clients' addresses that were seen */
    struct pollfd fds[MAX_CONNECTIONS + 1];
    struct connection connections[MAX_CONNECTIONS + 1];
    nfds_t count;
};

static void server_drop(struct server *server, nfds_t i)
{
    close(server->fds[i].fd);
    server->count--;
    server->fds[i] = server->fds[server->count];
    server->connections[i] = server->connections[server->count];
}

static void server_accept(struct server *server)
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

/* False when the connection is over. */
static bool server_serve(struct server *server, nfds_t i)
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

static void *server_main(void *argument)
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

/* On the port that it had before, when there was one. */
static void server_start(struct server *server)
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

static void server_stop(struct server *server)
{
    if (!server->running)
        return;
    atomic_store(&server->stop, true);
    pthread_join(server->thread, NULL);
    server->running = false;
}

/* ---- packets of these tests ---- */

static atomic_uint played[10000]; /* by client, good ones */
static atomic_uint hints;

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
    atomic_fetch_add(&played[conversation->user - conversation->dc->users], 1);
    return outcome_ok();
}

static struct outcome hint(struct conversation *conversation, const void *details)
{
    (void)conversation;
    (void)details;
    atomic_fetch_add(&hints, 1);
    return outcome_nothing();
}

/* Fails without waiting: the client must not keep the thread for itself. */
static struct outcome fail_at_once(struct conversation *conversation, const void *details)
{
    (void)details;
    conversation->wire.first_sent = clock_now();
    return outcome_failed("no");
}

static void *compile_echo(const struct packet_details *details, struct packet_context *context,
                          struct error *error)
{
    (void)context;
    const char *filter = details->row->rules ? packet_details_get(details, "filter")->text : NULL;
    if (filter && strlen(filter) != 5) {
        error_set(error, -EINVAL, "filter: five letters are wanted");
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

/* ---- a run ---- */

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

static void count_tick(void *context, int64_t now)
{
    (void)now;
    ((struct scenario *)context)->ticks++;
}

static void remember_most_open(void *context, int64_t now)
{
    struct scenario *s = context;
    if (now < s->warmup * 1e9)
        s->most_open_in_warm_up = atomic_load(&s->server->most_open);
}

/* 20 clients at scale 1, each about 6 packets/s at rate 1, ten in a conversation. */
static const char echo_model[] = "version: 3\n"
                                 "packet_rate: 123.7\n"
                                 "history: 1\n"
                                 "chain:\n"
                                 "  \"-\": {\"test:1\": 1}\n"
                                 "  \"test:1\": {\"wait:0\": 9, \"-\": 1}\n"
                                 "  \"wait:0\": {\"test:1\": 9}\n";

static struct server *the_server;

static struct scenario scenario(void)
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

static void load(struct scenario *s)
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

static void make_dc(struct scenario *s)
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

static void make_tally(struct scenario *s)
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

static void prepare(struct scenario *s)
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

static void play(struct scenario *s)
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

static void play_well(struct scenario *s)
{
    prepare(s);
    play(s);
    if (s->status)
        print_message("# %s\n", s->error.text);
    assert_int_equal(s->status, 0);
}

static void clear(struct scenario *s)
{
    for (unsigned i = 0; i < s->threads; i++)
        tally_free(s->tallies[i]);
    free(s->types);
    plan_free(s->plan);
    model_free(s->model);
    dc_free(s->dc);
}

/* The counts of a packet type. */
static const struct tally_packet *counts(const struct scenario *s, const char *opcode)
{
    size_t type = model_find_type(s->model, "test", opcode);
    assert_true(type != SIZE_MAX);
    return tally_packet(s->tallies[0], type);
}

/* Nearly all of it: all but what became due just as the window closed. */
static void assert_sent(const struct tally_packet *packet)
{
    assert_true(packet->planned > 0);
    assert_int_equal(packet->sent + packet->not_sent, packet->planned);
    assert_true(packet->not_sent <= packet->planned / 3); /* on a machine that is busy */
}

static uint64_t cause(const struct tally_packet *packet, const char *text)
{
    for (size_t i = 0; i < packet->cause_count; i++)
        if (strcmp(packet->causes[i].text, text) == 0)
            return packet->causes[i].count;
    return 0;
}

/* What the plan wants inside [from, to), counted by walking it. */
static uint64_t planned_between(const struct scenario *s, int64_t from, int64_t to)
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

static uint64_t planned_in_window(const struct scenario *s)
{
    return planned_between(s, s->result.window_start, s->result.window_end);
}

static uint64_t all_played(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof played / sizeof played[0]; i++)
        sum += played[i];
    return sum;
}

/* ---- tests ---- */

static void everything_is_played(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct scenario s = scenario();
        s.settings.threads = threads;
        s.settings.latency_timeout = 30;
        s.tick = count_tick;
        play_well(&s);
        assert_in_range(s.ticks, 2, 20); /* five a second */
        const struct tally_packet *packet = counts(&s, "1");
        assert_int_equal(s.clients, 20);
        assert_int_equal(s.result.end, RUN_END_WINDOW);
        assert_int_equal(s.result.threads, threads);
        assert_true(s.result.timer_p99 > 0 && s.result.timer_p99 < 0.5);
        assert_int_equal(s.result.window_start, 200 * MS);
        assert_int_equal(s.result.window_end, 1200 * MS);
        assert_true(packet->planned > 100);
        assert_int_equal(packet->planned, planned_in_window(&s));
        assert_sent(packet);
        assert_int_equal(packet->ok + packet->unfinished, packet->sent);
        assert_true(packet->unfinished <= s.clients); /* what was just sent as the window closed */
        assert_int_equal(packet->failed, 0);
        assert_int_equal(packet->response.count, packet->sent); /* those too have their times */
        assert_int_equal(all_played() + packet->not_sent, planned_between(&s, 0, 1200 * MS));
        assert_int_equal(s.server->answered, all_played());
        assert_true(s.took < 20000 * MS); /* nobody waits when nothing is unfinished */
        clear(&s);
    }
}

static void a_seed_repeats(void **state)
{
    (void)state;
    uint64_t planned[3];
    for (int i = 0; i < 3; i++) {
        struct scenario s = scenario();
        s.seed = i == 2 ? 2 : 1;
        s.duration = 0.4;
        play_well(&s);
        planned[i] = counts(&s, "1")->planned;
        clear(&s);
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
    struct scenario s = scenario();
    s.model_text = "version: 3\npacket_rate: 200\nhistory: 1\nchain:\n"
                   "  \"-\": {\"test:3\": 1}\n"
                   "  \"test:3\": {\"test:2\": 1}\n"
                   "  \"test:2\": {\"foo:9\": 1}\n"
                   "  \"foo:9\": {\"test:5\": 1}\n"
                   "  \"test:5\": {\"test:1\": 1}\n"
                   "  \"test:1\": {\"wait:0\": 9, \"-\": 1}\n"
                   "  \"wait:0\": {\"test:1\": 9}\n";
    play_well(&s);
    assert_int_equal(counts(&s, "1")->planned, planned_in_window(&s));
    assert_true(counts(&s, "1")->ok > 50);
    assert_int_equal(counts(&s, "2")->planned, 0);
    assert_int_equal(counts(&s, "3")->planned, 0);
    assert_int_equal(counts(&s, "5")->planned, 0);
    assert_true(hints > 0);
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
    clear(&s);
}

static void left_out(void **state)
{
    (void)state;
    struct settings_packet skip = {"test", "1"};
    struct scenario s = scenario();
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
    struct scenario s = scenario();
    s.model_text = text;
    load(&s);
    struct play_table *table = NULL;
    assert_int_equal(play_table_new(s.model, &s.settings, &table, &s.error), 0);
    size_t type = model_find_type(s.model, "ldap", "3");
    assert_int_equal(table->rows[type].details_count, 2);
    assert_string_equal(table->rows[type].details[0], "alpha");
    assert_string_equal(table->rows[type].details[1], "gamma");
    play_table_free(table);
    clear(&s);

    snprintf(text, sizeof text, model, "epsilon");
    load(&s);
    assert_int_equal(play_table_new(s.model, &s.settings, &table, &s.error), -EINVAL);
    assert_non_null(strstr(s.error.text, "details 2 of ldap:3: filter: five letters are wanted"));
    /* Left out, it is of no interest. */
    struct settings_packet skip = {"ldap", NULL};
    s.settings.skip = &skip;
    s.settings.skip_count = 1;
    assert_int_equal(play_table_new(s.model, &s.settings, &table, &s.error), 0);
    play_table_free(table);
    clear(&s);
    play_table_free(NULL);
}

static void *kill_and_restart(void *argument)
{
    struct server *server = argument;
    struct timespec time = {.tv_nsec = 500 * MS};
    nanosleep(&time, NULL);
    server_stop(server);
    nanosleep(&time, NULL);
    memset(played, 0, sizeof played); /* from here on each client must succeed again */
    server_start(server);
    return NULL;
}

static void killed_and_restarted(void **state)
{
    (void)state;
    pthread_t killer;
    struct scenario s = scenario();
    s.duration = 2.5;
    prepare(&s);
    assert_int_equal(pthread_create(&killer, NULL, kill_and_restart, s.server), 0);
    play(&s);
    pthread_join(killer, NULL);
    assert_int_equal(s.status, 0);
    const struct tally_packet *packet = counts(&s, "1");
    assert_int_equal(packet->planned, planned_in_window(&s));
    assert_sent(packet); /* refused is sent, too */
    assert_true(cause(packet, "connection refused") > 20);
    uint64_t causes = 0;
    for (size_t i = 0; i < packet->cause_count; i++)
        causes += packet->causes[i].count;
    assert_int_equal(causes, packet->done_failed);
    for (uint32_t client = 0; client < s.clients; client++)
        assert_true(played[client] > 0);
    assert_true(s.took < 10000 * MS);
    clear(&s);
}

static void accepts_and_never_answers(void **state)
{
    (void)state;
    struct scenario s = scenario();
    atomic_store(&s.server->mode, SILENT);
    s.settings.timeout = 0.3;
    s.warmup = 0;
    play_well(&s);
    const struct tally_packet *packet = counts(&s, "1");
    assert_int_equal(packet->planned, planned_in_window(&s));
    assert_int_equal(packet->ok, 0);
    assert_true(packet->failed > 20);   /* three of each client */
    assert_true(packet->not_sent > 50); /* three in a second is all a client gets to send */
    assert_int_equal(cause(packet, "timed out"), packet->done_failed);
    const struct tally_totals *totals = tally_totals(s.tallies[0]);
    assert_int_equal(totals->backlog.count, packet->not_sent);
    assert_in_range(totals->backlog.max, 1, 1000 * MS);
    clear(&s);

    /* With a longer --timeout than the run, the latency timeout ends it. */
    s = scenario();
    atomic_store(&s.server->mode, SILENT);
    play_well(&s);
    packet = counts(&s, "1");
    assert_int_equal(packet->failed + packet->ok, 0);
    /* Those due in the warm-up are in none of the window's terms, and hold up all others. */
    assert_int_equal(packet->unfinished + packet->not_sent, packet->planned);
    assert_in_range(s.took, 1500 * MS, 8000 * MS);
    clear(&s);
    atomic_store(&s.server->mode, ECHO);
}

static void answers_garbage(void **state)
{
    (void)state;
    struct scenario s = scenario();
    atomic_store(&s.server->mode, GARBAGE);
    play_well(&s);
    const struct tally_packet *packet = counts(&s, "1");
    assert_int_equal(packet->planned, planned_in_window(&s));
    assert_sent(packet);
    assert_int_equal(packet->ok, 0);
    assert_int_equal(cause(packet, "malformed reply"), packet->done_failed);
    assert_true(packet->done_failed > 100);
    clear(&s);
    atomic_store(&s.server->mode, ECHO);
}

static void accepts_and_closes(void **state)
{
    (void)state;
    struct scenario s = scenario();
    atomic_store(&s.server->mode, CLOSE);
    play_well(&s);
    const struct tally_packet *packet = counts(&s, "1");
    assert_sent(packet);
    assert_int_equal(packet->ok, 0);
    assert_true(packet->failed > 100);
    assert_int_equal(cause(packet, "connection reset") +
                         cause(packet, "connection closed in mid-message") +
                         cause(packet, "connection closed by the server"),
                     packet->done_failed);
    clear(&s);
    atomic_store(&s.server->mode, ECHO);
}

/* Answers that come after the window closed are unfinished in the counts, but have their times. */
static void answers_after_the_window(void **state)
{
    (void)state;
    struct scenario s = scenario();
    s.warmup = 0;
    s.duration = 0.3;
    s.settings.latency_timeout = 30;
    atomic_store(&s.server->delay, 400 * MS);
    play_well(&s);
    const struct tally_packet *packet = counts(&s, "1");
    assert_true(packet->unfinished > 0);
    assert_int_equal(packet->ok, 0);
    assert_int_equal(packet->response.count, packet->unfinished);
    assert_true(s.took < 15000 * MS); /* it leaves when the last has answered */
    clear(&s);
    atomic_store(&s.server->delay, 0);
}

static void max_backlog(void **state)
{
    (void)state;
    struct scenario s = scenario();
    s.rate = 20;
    s.duration = 3;
    s.settings.max_backlog = 0.1;
    atomic_store(&s.server->delay, 100 * MS);
    play_well(&s);
    const struct tally_packet *packet = counts(&s, "1");
    assert_int_equal(packet->planned, planned_in_window(&s));
    assert_true(packet->dropped > 100);
    assert_true(packet->ok > 50);
    /* None is sent that late: the wait for the one before, and the limit. */
    assert_true(packet->response.max < 1500 * MS);
    clear(&s);
    atomic_store(&s.server->delay, 0);
}

static void *interrupt_later(void *argument)
{
    struct timespec time = {.tv_nsec = *(long *)argument};
    nanosleep(&time, NULL);
    kill(getpid(), SIGINT);
    return NULL;
}

static void interrupted(void **state)
{
    (void)state;
    long delay = 600 * MS;
    pthread_t thread;
    struct scenario s = scenario();
    s.duration = 60;
    s.rate = 20;
    prepare(&s);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_later, &delay), 0);
    play(&s);
    pthread_join(thread, NULL);
    assert_int_equal(s.status, 0);
    assert_int_equal(s.result.end, RUN_END_INTERRUPTED);
    assert_in_range(s.result.window_end, 500 * MS, 20000 * MS);
    const struct tally_packet *packet = counts(&s, "1");
    assert_true(packet->planned > 50);
    assert_int_equal(packet->planned, planned_in_window(&s));
    assert_true(s.took < 30000 * MS);
    clear(&s);
}

static void interrupted_in_the_warm_up(void **state)
{
    (void)state;
    long delay = 100 * MS;
    pthread_t thread;
    struct scenario s = scenario();
    s.warmup = 30;
    prepare(&s);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_later, &delay), 0);
    play(&s);
    pthread_join(thread, NULL);
    assert_int_equal(s.status, 0);
    assert_int_equal(s.result.end, RUN_END_INTERRUPTED);
    assert_int_equal(s.result.window_end, s.result.window_start);
    assert_int_equal(counts(&s, "1")->planned, 0);
    assert_true(s.took < 25000 * MS);
    clear(&s);
}

static void interrupted_twice(void **state)
{
    (void)state;
    int status;
    int64_t before = clock_now();
    pid_t child = fork();
    if (child == 0) {
        struct scenario s = scenario();
        s.server = calloc(1, sizeof *s.server); /* of its own: threads do not survive fork() */
        s.server->sources = calloc(1, SOURCES);
        server_start(s.server);
        atomic_store(&s.server->mode, SILENT);
        s.duration = 60;
        s.settings.latency_timeout = 60; /* after the first signal it would wait for answers */
        prepare(&s);
        play(&s);
        _exit(1);
    }
    struct timespec time = {.tv_nsec = 600 * MS};
    nanosleep(&time, NULL);
    kill(child, SIGTERM);
    nanosleep(&time, NULL);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0); /* once is not enough */
    kill(child, SIGTERM);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    assert_true(clock_now() - before < 40000 * MS);
}

/* The message names the first operation that failed, and it is printed once. */
static void stop_on_any_error(void **state)
{
    (void)state;
    struct scenario s = scenario();
    s.duration = 60;
    s.settings.stop_on_any_error = true;
    atomic_store(&s.server->mode, GARBAGE);
    FILE *messages = tmpfile();
    int saved = dup(STDERR_FILENO);
    dup2(fileno(messages), STDERR_FILENO);
    play_well(&s);
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
    clear(&s);
    atomic_store(&s.server->mode, ECHO);
}

/* Operations that fail without ever waiting leave the thread to timers and others. */
static void failing_at_once(void **state)
{
    (void)state;
    struct scenario s = scenario();
    s.settings.threads = 1;
    s.model_text = "version: 3\npacket_rate: 141000\nhistory: 1\nchain:\n"
                   "  \"-\": {\"test:4\": 1}\n"
                   "  \"test:4\": {\"test:4\": 999, \"-\": 1}\n";
    s.rate = 1000; /* far more than one thread can play */
    s.scale = 0.02;
    s.duration = 0.5;
    play_well(&s);
    const struct tally_packet *packet = counts(&s, "4");
    assert_true(packet->not_sent > 0);
    assert_int_equal(packet->planned, planned_in_window(&s));
    assert_in_range(s.took, 690 * MS, 30000 * MS);
    assert_true(s.result.busiest > 0.5);
    clear(&s);
}

static void no_memory_for_stacks(void **state)
{
    (void)state;
    struct scenario s = scenario();
    s.warmup = 0;
    prepare(&s);
    atomic_store(&mprotect_fails, 7);
    play(&s);
    assert_int_equal(atomic_exchange(&mprotect_fails, 0), 0);
    assert_int_equal(s.status, 0);
    const struct tally_packet *packet = counts(&s, "1");
    assert_int_equal(cause(packet, "no memory for a fiber"), 7);
    assert_int_equal(packet->planned, planned_in_window(&s));
    assert_true(packet->ok > 100);
    for (uint32_t client = 0; client < s.clients; client++)
        assert_true(played[client] > 0);
    clear(&s);
}

/* In the warm-up at most 512 clients make their first connections at a time; the others follow when
 * it ends. Here nobody is answered before that. */
static void connecting_in_turn(void **state)
{
    (void)state;
    struct scenario s = scenario();
    s.rate = 40;
    s.scale = 75;
    s.warmup = 1;
    s.duration = 1;
    s.settings.latency_timeout = 2;
    atomic_store(&s.server->delay, 1300 * MS);
    prepare(&s);
    s.tick = remember_most_open;
    play(&s);
    assert_int_equal(s.status, 0);
    assert_in_range(s.clients, 1450, 1550);
    assert_in_range(s.most_open_in_warm_up, 200, 512);
    assert_true(s.server->most_open > 600);
    for (uint32_t client = 0; client < s.clients; client++)
        assert_true(played[client] > 0);
    clear(&s);
    atomic_store(&s.server->delay, 0);
}

static void source_addresses(void **state)
{
    (void)state;
    struct scenario s = scenario();
    s.settings.source = "127.9.8.0/24";
    play_well(&s);
    for (unsigned i = 0; i < SOURCES; i++)
        assert_int_equal(s.server->sources[i], i >= 0x801 && i < 0x801 + s.clients);
    clear(&s);

    static const struct {
        const char *source, *message;
    } wrong[] = {
        {"127.9.8.0/28", "holds 14 addresses for 20 clients"},
        {"192.0.2.0/24", "192.0.2.1 is not an address of this machine"},
        {"fd00::/64", "the server's address is an IPv4 one"},
        {"127.0.0.1/33", "expected ADDRESS/LENGTH"},
        {"127.0.0.1/", "expected ADDRESS/LENGTH"},
        {"127.0.0.1/-1", "expected ADDRESS/LENGTH"},
        {"127.0.0.1/8x", "expected ADDRESS/LENGTH"},
        {"localhost/8", "expected ADDRESS/LENGTH"},
        {"", "expected ADDRESS/LENGTH"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        s = scenario();
        s.settings.source = wrong[i].source;
        prepare(&s);
        play(&s);
        assert_true(s.status < 0);
        if (!strstr(s.error.text, wrong[i].message))
            print_message("# %s: %s\n", wrong[i].source, s.error.text);
        assert_non_null(strstr(s.error.text, wrong[i].message));
        assert_null(strchr(s.error.text, '\n'));
        clear(&s);
    }
}

static void source_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t client, count;
        const char *address;
    } cases[] = {
        {"10.0.0.0/8", 0, (1 << 24) - 2, "10.0.0.1"},
        {"10.0.0.77/8", 255, (1 << 24) - 2, "10.0.1.0"},
        {"10.0.0.5", 9, 1, "10.0.0.5"},
        {"10.0.0.5/32", 9, 1, "10.0.0.5"},
        {"10.0.0.4/31", 1, 2, "10.0.0.5"},
        {"10.0.0.4/30", 1, 2, "10.0.0.6"},
        {"0.0.0.0/0", 65535, 0xfffffffe, "0.1.0.0"},
        {"fd00:1::/64", 0, UINT64_MAX - 1, "fd00:1::1"},
        {"fd00:1::ffff:0/112", 65533, 65535, "fd00:1::ffff:fffe"},
        {"fd00::7/128", 3, 1, "fd00::7"},
        {"::1", 3, 1, "::1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct source_range range;
        struct sockaddr_storage address;
        struct error error = {0};
        char text[INET6_ADDRSTRLEN];
        assert_int_equal(source_parse(cases[i].text, &range, &error), 0);
        assert_int_equal(range.count, cases[i].count);
        socklen_t size = source_address(&range, cases[i].client, &address);
        bool v4 = address.ss_family == AF_INET;
        assert_int_equal(size, v4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
        inet_ntop(address.ss_family,
                  v4 ? (void *)&((struct sockaddr_in *)&address)->sin_addr
                     : (void *)&((struct sockaddr_in6 *)&address)->sin6_addr,
                  text, sizeof text);
        assert_string_equal(text, cases[i].address);
    }
}

static void too_few_accounts(void **state)
{
    (void)state;
    struct scenario s = scenario();
    prepare(&s);
    s.dc->account_count = 19;
    play(&s);
    s.dc->account_count = 20;
    assert_int_equal(s.status, -EINVAL);
    assert_non_null(strstr(s.error.text, "19 accounts for 20 clients"));
    clear(&s);
}

static void files_a_client(void **state)
{
    (void)state;
    static const struct {
        const char *chain;
        bool generic;
        unsigned files;
    } cases[] = {
        {"  \"-\": {\"ldap:0\": 1}\n  \"ldap:0\": {\"ldap:3\": 1}\n"
         "  \"ldap:3\": {\"ldap:3\": 9, \"-\": 1}\n",
         true, 1},
        {"  \"-\": {\"ldap:0\": 1}\n  \"ldap:0\": {\"ldap:0\": 3, \"-\": 1}\n", true, 4},
        {"  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": 1}\n", false, 2}, /* and a ticket's */
        {"  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"cldap:3\": 1}\n"
         "  \"cldap:3\": {\"-\": 1}\n",
         true, 2},
        {"  \"-\": {\"cldap:3\": 1}\n  \"cldap:3\": {\"-\": 1}\n", true, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        struct play_table *table = NULL;
        snprintf(text, sizeof text, "version: 3\npacket_rate: 10\nhistory: 1\nchain:\n%s",
                 cases[i].chain);
        struct scenario s = scenario();
        s.model_text = text;
        s.settings.play.generic_ldap = cases[i].generic;
        load(&s);
        assert_int_equal(play_table_new(s.model, &s.settings, &table, &s.error), 0);
        assert_int_equal(limits_files_per_client(s.model, table, &s.settings), cases[i].files);
        play_table_free(table);
        clear(&s);
    }
}

/* Limits of the machine, tried where they bind us: in a child that is not root. */
static void limits_are_told(void **state)
{
    (void)state;
    struct error error = {0};
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (geteuid() == 0) {
        /* As root the hard limit gives way. */
        int status;
        pid_t child = fork();
        if (child == 0) {
            struct rlimit low = {.rlim_cur = 64, .rlim_max = 64};
            if (setrlimit(RLIMIT_NOFILE, &low))
                _exit(2);
            struct rlimit high = {.rlim_cur = 64, .rlim_max = 5000};
            if (setrlimit(RLIMIT_NOFILE, &high)) /* a root without CAP_SYS_RESOURCE */
                _exit(limits_prepare(5000, 10, &error) == -EMFILE ? 0 : 5);
            setrlimit(RLIMIT_NOFILE, &low);
            if (limits_prepare(5000, 10, &error))
                _exit(3);
            getrlimit(RLIMIT_NOFILE, &low);
            _exit(low.rlim_cur >= 5000 ? 0 : 4);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit low = {.rlim_cur = 64, .rlim_max = 200};
        if (setrlimit(RLIMIT_NOFILE, &low) || (geteuid() == 0 && setuid(65534)))
            _exit(2);
        if (limits_prepare(150, 10, &error)) /* the soft limit is ours */
            _exit(3);
        if (limits_prepare(5000, 10, &error) != -EMFILE)
            _exit(4);
        _exit(strstr(error.text, "5000") && strstr(error.text, "200") && !strchr(error.text, '\n')
                  ? 0
                  : 5);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(limits_prepare(10, UINT64_MAX / 4, &error), -ENOMEM);
    assert_non_null(strstr(error.text, "sysctl -w vm.max_map_count="));
    assert_null(strchr(error.text, '\n'));
}

/* Every third name does not exist, the server says; nobody has heard of any before. */
static size_t answer_query(void *context, unsigned nth, const uint8_t *question, size_t size,
                           uint8_t *reply)
{
    (void)context;
    memcpy(reply, question, size);
    reply[2] |= 0x80;                /* RFC 1035 4.1.1: QR, */
    reply[3] = nth % 3 == 0 ? 5 : 3; /* REFUSED, which is a failure, or NXDOMAIN, which is none */
    return size;
}

static void extra_dns_queries(void **state)
{
    (void)state;
    struct udp_server dns = {.answer = answer_query};
    struct scenario s = scenario();
    s.settings.dns_rate = 500;
    s.settings.source = "127.9.8.0/24";
    prepare(&s);
    udp_server_start(&dns);
    s.dc->ports.dns = dns.port;
    s.dc->realm = strdup("EXAMPLE.COM");
    s.dc->dns_domain = strdup("example.com");
    s.dc->dns_name = strdup("dc1.example.com");
    play(&s);
    udp_server_stop(&dns);
    assert_int_equal(s.status, 0);
    const struct tally_totals *totals = tally_totals(s.tallies[0]);
    /* A Poisson process of 500 a second for 1.2 s and five standard deviations; fewer are sent when
     * the machine is too busy. */
    assert_in_range(totals->dns_extra, 300, 725);
    /* Those that were on their way as the run ended are in neither. */
    assert_in_range(dns.questions, totals->dns_extra, totals->dns_extra + 10);
    assert_in_range(totals->dns_extra_failed, totals->dns_extra / 3 - 5, totals->dns_extra / 3 + 5);
    /* Beside the plan, not in it. */
    assert_int_equal(counts(&s, "1")->planned, planned_in_window(&s));
    assert_int_equal(counts(&s, "1")->failed, 0);
    clear(&s);

    s = scenario();
    s.settings.dns_rate = 500;
    s.settings.play.generic_ldap = true;
    prepare(&s);
    play(&s);
    assert_int_equal(s.status, -EINVAL);
    assert_non_null(strstr(s.error.text, "--dns-rate"));
    clear(&s);
}

static int set_up(void **state)
{
    (void)state;
    the_server = calloc(1, sizeof *the_server);
    the_server->sources = calloc(1, SOURCES);
    server_start(the_server);
    packet_rows_add(test_rows);
    packet_players_add(test_players);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    server_stop(the_server);
    free(the_server->sources);
    free(the_server);
    packet_players_add(NULL);
    packet_rows_add(NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_played),
        cmocka_unit_test(a_seed_repeats),
        cmocka_unit_test(silent_and_state_packets),
        cmocka_unit_test(left_out),
        cmocka_unit_test(each_details_is_compiled_once),
        cmocka_unit_test(killed_and_restarted),
        cmocka_unit_test(accepts_and_never_answers),
        cmocka_unit_test(answers_garbage),
        cmocka_unit_test(accepts_and_closes),
        cmocka_unit_test(answers_after_the_window),
        cmocka_unit_test(max_backlog),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(interrupted_in_the_warm_up),
        cmocka_unit_test(interrupted_twice),
        cmocka_unit_test(stop_on_any_error),
        cmocka_unit_test(failing_at_once),
        cmocka_unit_test(no_memory_for_stacks),
        cmocka_unit_test(connecting_in_turn),
        cmocka_unit_test(extra_dns_queries),
        cmocka_unit_test(source_addresses),
        cmocka_unit_test(source_ranges),
        cmocka_unit_test(too_few_accounts),
        cmocka_unit_test(files_a_client),
        cmocka_unit_test(limits_are_told),
    };
    return cmocka_run_group_tests_name("run", tests, set_up, tear_down);
}
