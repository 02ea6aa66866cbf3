/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: data, how peers end, deadlines, cancellation, connecting. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/lib/stream_variant.h"

enum { PIECES_TOTAL = 20000 };

static void echo_in_pieces(struct peer *peer, struct end *end)
{
    unsigned seed = 7;
    char buffer[60];
    while (peer->count < PIECES_TOTAL) {
        ssize_t n = end_read(end, buffer, 1 + (size_t)rand_r(&seed) % sizeof buffer);
        PEER_CHECK(n > 0);
        if (n <= 0)
            break;
        if (rand_r(&seed) % 50 == 0)
            peer_nap(MS / 2);
        PEER_CHECK(end_write(end, buffer, (size_t)n));
        peer->count += (uint64_t)n;
    }
    end_close(end);
}

static void pieces(struct variant *v)
{
    struct peer peer;
    peer_start(&peer, v, echo_in_pieces);
    assert_int_equal(variant_open(v), 0);
    unsigned seed = 3;
    uint64_t sent = 0, got = 0;
    while (got < PIECES_TOTAL) {
        uint8_t out[60], in[60];
        size_t size = 1 + (size_t)rand_r(&seed) % sizeof out;
        if (size > PIECES_TOTAL - sent)
            size = PIECES_TOTAL - sent;
        for (size_t i = 0; i < size; i++)
            out[i] = peer_pattern(sent + i);
        assert_int_equal(stream_write(v->stream, out, size), 0);
        sent += size;
        size_t want = 1 + (size_t)rand_r(&seed) % (sent - got < 60 ? sent - got : 60);
        if (sent == PIECES_TOTAL)
            want = sent - got < 60 ? sent - got : 60;
        assert_int_equal(stream_read_all(v->stream, in, want), 0);
        for (size_t i = 0; i < want; i++)
            assert_int_equal(in[i], peer_pattern(got + i));
        got += want;
    }
    variant_close(v);
    peer_end(&peer);
}

enum { BIG = 8 << 20 };

static void read_slowly(struct peer *peer, struct end *end)
{
    char buffer[16384];
    peer_wait_for_go(peer);
    for (ssize_t n; peer->count < BIG && (n = end_read(end, buffer, sizeof buffer)) > 0;) {
        for (ssize_t i = 0; i < n; i++)
            peer->sum += (uint8_t)buffer[i] ^ (uint8_t)((uint64_t)i + peer->count);
        peer->count += (uint64_t)n;
    }
    PEER_CHECK(end_write(end, "k", 1));
    end_close(end);
}

static void *go_later(void *argument)
{
    struct peer *peer = argument;
    peer_nap(50 * MS);
    ssize_t n = write(peer->go[1], "x", 1);
    (void)n;
    return NULL;
}

static void big_write(struct variant *v)
{
    struct peer peer;
    peer_start(&peer, v, read_slowly);
    assert_int_equal(variant_open(v), 0);
    uint8_t *bytes = malloc(BIG);
    assert_non_null(bytes);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < BIG; i++) {
        bytes[i] = peer_pattern(i);
        sum += bytes[i] ^ (uint8_t)i;
    }
    pthread_t helper;
    assert_int_equal(pthread_create(&helper, NULL, go_later, &peer), 0);
    assert_int_equal(stream_write(v->stream, bytes, BIG), 0);
    char answer;
    assert_int_equal(stream_read_all(v->stream, &answer, 1), 0);
    pthread_join(helper, NULL);
    free(bytes);
    variant_close(v);
    peer_end(&peer);
    assert_int_equal(peer.count, BIG);
    assert_int_equal(peer.sum, sum);
}

static void close_in_mid_message(struct peer *peer, struct end *end)
{
    PEER_CHECK(end_write(end, "0123456789", 10));
    end_close(end);
}

static void peer_closes(struct variant *v)
{
    struct peer peer;
    char buffer[20];
    peer_start(&peer, v, close_in_mid_message);
    assert_int_equal(variant_open(v), 0);
    assert_int_equal(stream_read_all(v->stream, buffer, sizeof buffer), -ENODATA);
    variant_expect_sticky(v, -ENODATA);
    variant_close(v);
    peer_end(&peer);
}

static void peer_closes_properly(struct variant *v)
{
    struct peer peer;
    char buffer[10];
    peer_start(&peer, v, close_in_mid_message);
    assert_int_equal(variant_open(v), 0);
    assert_int_equal(stream_read_all(v->stream, buffer, sizeof buffer), 0);
    assert_int_equal(stream_wait(v->stream), 0);
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 0);
    assert_int_equal(stream_read_now(v->stream, buffer, sizeof buffer), 0);
    assert_int_equal(stream_error(v->stream), 0);
    variant_close(v);
    peer_end(&peer);
}

static void cut_without_goodbye(struct peer *peer, struct end *end)
{
    PEER_CHECK(end_write(end, "0123456789", 10));
    gnutls_deinit(end->tls);
    close(end->fd);
}

/* TLS distinguishes truncation from a proper end (RFC 8446 6.1). */
static void tls_truncated(struct variant *v)
{
    struct peer peer;
    char buffer[20];
    peer_start(&peer, v, cut_without_goodbye);
    assert_int_equal(variant_open(v), 0);
    assert_int_equal(stream_read_all(v->stream, buffer, 10), 0);
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), -ENODATA);
    variant_expect_sticky(v, -ENODATA);
    variant_close(v);
    peer_end(&peer);
}

static void reset_in_mid_message(struct peer *peer, struct end *end)
{
    struct linger linger = {.l_onoff = 1};
    PEER_CHECK(end_write(end, "01234", 5));
    peer_wait_for_go(peer);
    setsockopt(end->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    if (end->tls)
        gnutls_deinit(end->tls);
    close(end->fd);
}

static void peer_resets(struct variant *v)
{
    struct peer peer;
    char buffer[20];
    peer_start(&peer, v, reset_in_mid_message);
    assert_int_equal(variant_open(v), 0);
    assert_int_equal(stream_read_all(v->stream, buffer, 5), 0);
    peer_go(&peer);
    assert_int_equal(stream_read_all(v->stream, buffer, sizeof buffer), -ECONNRESET);
    variant_expect_sticky(v, -ECONNRESET);
    assert_string_equal(stream_error_text(-ECONNRESET), "connection reset");
    variant_close(v);
    peer_end(&peer);
}

static void write_after_reset(struct variant *v)
{
    struct peer peer;
    char buffer[5];
    peer_start(&peer, v, reset_in_mid_message);
    assert_int_equal(variant_open(v), 0);
    assert_int_equal(stream_read_all(v->stream, buffer, 5), 0);
    peer_go(&peer);
    peer_end(&peer);
    int error = 0;
    for (int i = 0; i < 100 && !error; i++)
        error = stream_write(v->stream, buffer, sizeof buffer);
    assert_true(error == -ECONNRESET || error == -EPIPE);
    variant_expect_sticky(v, error);
    variant_close(v);
}

static void deadline(struct variant *v)
{
    struct peer peer;
    char byte;
    peer_start(&peer, v, peer_say_nothing);
    assert_int_equal(variant_open(v), 0);
    int64_t before = clock_now();
    v->wire.deadline = before + 40 * MS;
    assert_int_equal(stream_read(v->stream, &byte, 1), -ETIMEDOUT);
    int64_t took = clock_now() - before;
    assert_true(took >= 40 * MS);
    assert_true(took < 5000 * MS);
    variant_expect_sticky(v, -ETIMEDOUT);
    variant_close(v);
    peer_go(&peer);
    peer_end(&peer);
}

static void deadline_passed_already(struct variant *v)
{
    struct peer peer;
    char byte;
    peer_start(&peer, v, peer_say_nothing);
    assert_int_equal(variant_open(v), 0);
    v->wire.deadline = clock_now() - 1;
    assert_int_equal(stream_wait(v->stream), -ETIMEDOUT);
    assert_int_equal(stream_read(v->stream, &byte, 1), -ETIMEDOUT);
    variant_close(v);
    peer_go(&peer);
    peer_end(&peer);
}

static void speak_without_end(struct peer *peer, struct end *end)
{
    static char bytes[64 << 10];
    (void)peer;
    memset(bytes, 'x', sizeof bytes);
    while (end_write(end, bytes, sizeof bytes)) {
    }
    end_close(end);
}

struct turn {
    bool taken;
    char *bytes;
    size_t size;
};

/* Other fibers use the same read buffer. */
static void take_turn(void *argument)
{
    struct turn *turn = argument;
    turn->taken = true;
    memset(turn->bytes, 0, turn->size);
}

/* A stream that is always readable still ends at the deadline, and other fibers get their turn. */
static void endless_words(struct variant *v)
{
    struct peer peer;
    char bytes[64]; /* few, so that the peer is always ahead */
    struct turn turn = {!v->loop, bytes, sizeof bytes};
    peer_start(&peer, v, speak_without_end);
    assert_int_equal(variant_open(v), 0);
    int64_t before = clock_now();
    v->wire.deadline = before + 300 * MS;
    struct loop_timer timer = {.function = take_turn, .argument = &turn};
    if (v->loop)
        assert_int_equal(loop_timer_set(v->the_loop, &timer, before + 20 * MS), 0);
    ssize_t n = 1;
    while (n > 0 && clock_now() < before + 5000 * MS) {
        n = stream_read(v->stream, bytes, sizeof bytes);
        for (ssize_t i = 0; i < n; i++)
            assert_int_equal(bytes[i], 'x');
    }
    assert_int_equal(n, -ETIMEDOUT);
    assert_true(turn.taken);
    variant_close(v);
    peer_end(&peer);
}

static void cancel_now(void *argument)
{
    loop_cancel(argument);
}

static void cancelled(struct variant *v)
{
    struct peer peer;
    char byte;
    peer_start(&peer, v, peer_say_nothing);
    assert_int_equal(variant_open(v), 0);
    struct loop_timer timer = {.function = cancel_now, .argument = v->the_loop};
    assert_int_equal(loop_timer_set(v->the_loop, &timer, clock_now() + 20 * MS), 0);
    assert_int_equal(stream_read(v->stream, &byte, 1), -ECANCELED);
    variant_expect_sticky(v, -ECANCELED);
    variant_close(v);
    peer_go(&peer);
    peer_end(&peer);
    /* Later waits are cancelled at once. */
    assert_int_equal(loop_sleep_until(v->the_loop, clock_now() + LONG), -ECANCELED);
}

static void refused(struct variant *v)
{
    int fd = peer_listen(&v->peer, v->filling, 1);
    close(fd);
    if (v->filling != UDP) {
        v->stream = (struct stream *)v; /* must not be touched */
        assert_int_equal(variant_open_raw(v), -ECONNREFUSED);
        assert_ptr_equal(v->stream, v);
        assert_true(v->wire.first_sent != 0);
        return;
    }
    char byte;
    assert_int_equal(variant_open_raw(v), 0);
    assert_int_equal(stream_write(v->stream, "x", 1), 0);
    assert_int_equal(stream_read(v->stream, &byte, 1), -ECONNREFUSED);
    variant_expect_sticky(v, -ECONNREFUSED);
    variant_close(v);
}

/* A listener with a full backlog answers no SYN, so connecting hangs until the deadline. */
static void hanging_connect(struct variant *v)
{
    int fd = peer_listen(&v->peer, TCP, 0), fillers[8];
    for (int i = 0; i < 8; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(fillers[i], (struct sockaddr *)&v->peer, sizeof v->peer);
    }
    int64_t before = clock_now();
    v->wire.deadline = before + 60 * MS;
    assert_int_equal(variant_open_raw(v), -ETIMEDOUT);
    assert_true(clock_now() - before >= 60 * MS);
    for (int i = 0; i < 8; i++)
        close(fillers[i]);
    close(fd);
}

static void cancelled_connect(struct variant *v)
{
    int fd = peer_listen(&v->peer, TCP, 0), fillers[8];
    for (int i = 0; i < 8; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(fillers[i], (struct sockaddr *)&v->peer, sizeof v->peer);
    }
    struct loop_timer timer = {.function = cancel_now, .argument = v->the_loop};
    assert_int_equal(loop_timer_set(v->the_loop, &timer, clock_now() + 20 * MS), 0);
    assert_int_equal(variant_open_raw(v), -ECANCELED);
    for (int i = 0; i < 8; i++)
        close(fillers[i]);
    close(fd);
}

static void answer_once(struct peer *peer, struct end *end)
{
    char buffer[64];
    if (peer->filling == UDP) {
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        ssize_t n = recvfrom(end->fd, buffer, sizeof buffer, 0, (struct sockaddr *)&from, &size);
        PEER_CHECK(n > 0);
        peer->source = ntohl(from.sin_addr.s_addr);
        PEER_CHECK(sendto(end->fd, "ok", 2, 0, (struct sockaddr *)&from, size) == 2);
        return;
    }
    PEER_CHECK(end_read(end, buffer, sizeof buffer) > 0);
    PEER_CHECK(end_write(end, "ok", 2));
    end_close(end);
}

static void set_source(struct variant *v, const char *address)
{
    struct sockaddr_in *source = (struct sockaddr_in *)&v->wire.source;
    *source = (struct sockaddr_in){.sin_family = AF_INET};
    assert_int_equal(inet_pton(AF_INET, address, &source->sin_addr), 1);
    v->wire.source_len = sizeof *source;
}

static void source_address(struct variant *v)
{
    struct peer peer;
    char buffer[8];
    peer_start(&peer, v, answer_once);
    set_source(v, "127.0.9.77");
    assert_int_equal(variant_open(v), 0);
    assert_int_equal(stream_write(v->stream, "hello", 5), 0);
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 2);
    variant_close(v);
    peer_end(&peer);
    assert_int_equal(peer.source, 0x7f00094d);
}

static void ipv6(struct variant *v)
{
    struct sockaddr_in6 here = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t size = sizeof here;
    int fd = socket(AF_INET6, v->filling == UDP ? SOCK_DGRAM : SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&here, size) < 0) {
        if (fd >= 0)
            close(fd);
        v->skipped = true; /* a machine without IPv6 */
        return;
    }
    assert_int_equal(getsockname(fd, (struct sockaddr *)&here, &size), 0);
    if (v->filling == TCP)
        assert_int_equal(listen(fd, 1), 0);
    struct sockaddr_in6 *source = (struct sockaddr_in6 *)&v->wire.source;
    *source = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    v->wire.source_len = sizeof *source;
    assert_int_equal(stream_open(&v->stream, &v->wire, v->filling == UDP ? STREAM_UDP : STREAM_TCP,
                                 (struct sockaddr *)&here, size),
                     0);
    assert_int_equal(stream_write(v->stream, "x", 1), 0);
    variant_close(v);
    close(fd);
}

static void foreign_source_address(struct variant *v)
{
    int fd = peer_listen(&v->peer, v->filling, 1);
    set_source(v, "192.0.2.1"); /* RFC 5737: nobody has it */
    assert_int_equal(variant_open_raw(v), -EADDRNOTAVAIL);
    close(fd);
}

static void time_stamps(struct variant *v)
{
    struct peer peer;
    char buffer[8];
    peer_start(&peer, v, answer_once);
    int64_t before = clock_now();
    assert_int_equal(variant_open(v), 0);
    assert_in_range(v->wire.first_sent, before, clock_now());
    int64_t first = v->wire.first_sent;
    assert_int_equal(stream_write(v->stream, "hello", 5), 0);
    assert_int_equal(v->wire.first_sent, first); /* the first byte, not the last */
    v->wire.first_sent = v->wire.last_received = 0;
    before = clock_now();
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 2);
    assert_in_range(v->wire.last_received, before, clock_now());
    assert_int_equal(v->wire.first_sent, 0);
    variant_close(v);
    peer_end(&peer);
}

int main(void)
{
    static const struct variant_case cases[] = {
        {"pieces of 1 to 60 bytes", pieces, TCP | TLS, false},
        {"a large write to a slow reader", big_write, TCP | TLS, false},
        {"the peer closes in mid-message", peer_closes, TCP | TLS, false},
        {"the peer closes properly", peer_closes_properly, TCP | TLS, false},
        {"the peer resets in mid-message", peer_resets, TCP | TLS, false},
        {"writing after a reset", write_after_reset, TCP | TLS, false},
        {"deadline", deadline, TCP | TLS | UDP, false},
        {"a deadline that has passed", deadline_passed_already, TCP | TLS | UDP, false},
        {"a peer that speaks without end", endless_words, TCP | TLS, false},
        {"cancel", cancelled, TCP | TLS | UDP, true},
        {"connection refused", refused, TCP | UDP, false},
        {"connecting hangs", hanging_connect, TCP, false},
        {"connecting is cancelled", cancelled_connect, TCP, true},
        {"source address", source_address, TCP | TLS | UDP, false},
        {"IPv6", ipv6, TCP | UDP, false},
        {"foreign source address", foreign_source_address, TCP | UDP, false},
        {"time stamps", time_stamps, TCP | TLS | UDP, false},
        {"truncation", tls_truncated, TLS, false},
    };
    return variant_run_suite("stream", cases, sizeof cases / sizeof cases[0]);
}
