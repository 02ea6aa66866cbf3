/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: reads without a wait, datagrams, TLS, many fibers, failing system calls. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/tls.h"
#include "tests/lib/stream_variant.h"

/* These definitions replace the C library's in this program. */
enum call { CALL_SOCKET, CALL_CONNECT, CALL_RECV, CALL_SEND, CALL_SENDMSG, CALL_EPOLL_CTL, CALLS };

/* This many system calls of this thread succeed, then one fails with fail_errno. -1: none fails. */
static _Thread_local int fail_in = -1;
static _Thread_local int fail_errno;

static bool must_fail(void)
{
    if (fail_in < 0 || fail_in-- > 0)
        return false;
    errno = fail_errno;
    return true;
}

static void *real(enum call call)
{
    static const char *const names[CALLS] = {"socket", "connect", "recv",
                                             "send",   "sendmsg", "epoll_ctl"};
    static void *_Atomic functions[CALLS];
    void *function = atomic_load_explicit(&functions[call], memory_order_relaxed);
    if (!function) {
        function = dlsym(RTLD_NEXT, names[call]);
        atomic_store_explicit(&functions[call], function, memory_order_relaxed);
    }
    return function;
}

int socket(int family, int type, int protocol)
{
    if (must_fail())
        return -1;
    return ((int (*)(int, int, int))real(CALL_SOCKET))(family, type, protocol);
}

int connect(int fd, const struct sockaddr *peer, socklen_t size)
{
    if (must_fail())
        return -1;
    return ((int (*)(int, const struct sockaddr *, socklen_t))real(CALL_CONNECT))(fd, peer, size);
}

ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    if (must_fail())
        return -1;
    return ((ssize_t(*)(int, void *, size_t, int))real(CALL_RECV))(fd, buffer, size, flags);
}

ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
    if (must_fail())
        return -1;
    return ((ssize_t(*)(int, const void *, size_t, int))real(CALL_SEND))(fd, buffer, size, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    if (must_fail())
        return -1;
    return ((ssize_t(*)(int, const struct msghdr *, int))real(CALL_SENDMSG))(fd, message, flags);
}

int epoll_ctl(int epoll_fd, int what, int fd, struct epoll_event *event)
{
    if (what == EPOLL_CTL_ADD && must_fail())
        return -1;
    return ((int (*)(int, int, int, struct epoll_event *))real(CALL_EPOLL_CTL))(epoll_fd, what, fd,
                                                                                event);
}

static void speak_at_the_signal(struct peer *peer, struct end *end)
{
    char byte;
    for (int i = 0; i < 3; i++) {
        peer_wait_for_go(peer);
        PEER_CHECK(end_write(end, "abc", 3));
    }
    PEER_CHECK(end_read(end, &byte, 1) <= 0);
    end_close(end);
}

static ssize_t read_when_there(struct variant *v, char *buffer, size_t size)
{
    ssize_t n;
    while ((n = stream_read_now(v->stream, buffer, size)) == -EAGAIN)
        assert_int_equal(stream_wait(v->stream), 0);
    return n;
}

static void read_now(struct variant *v)
{
    struct peer peer;
    char buffer[8];
    peer_start(&peer, v, speak_at_the_signal);
    assert_int_equal(variant_open(v), 0);
    ssize_t n = stream_read_now(v->stream, buffer, sizeof buffer);
    assert_int_equal(n, -EAGAIN);
    assert_int_equal(stream_error(v->stream), 0);
    peer_go(&peer);
    assert_int_equal(read_when_there(v, buffer, sizeof buffer), 3);
    /* Bytes that have arrived unnoticed: they cause no new event. */
    peer_go(&peer);
    peer_nap(30 * MS);
    assert_int_equal(stream_wait(v->stream), 0);
    assert_int_equal(stream_read_now(v->stream, buffer, 1), 1);
    assert_int_equal(stream_wait(v->stream), 0);
    assert_int_equal(stream_pending(v->stream), v->filling == TLS);
    assert_int_equal(stream_read_now(v->stream, buffer, 8), 2);
    assert_false(stream_pending(v->stream));
    peer_go(&peer);
    assert_int_equal(read_when_there(v, buffer, sizeof buffer), 3);
    variant_close(v);
    peer_end(&peer);
}

/* The edge for this stream arrives while its fiber waits elsewhere, after EAGAIN. */
static void edge_while_elsewhere(struct variant *v)
{
    struct peer peer;
    char buffer[8];
    peer_start(&peer, v, speak_at_the_signal);
    assert_int_equal(variant_open(v), 0);
    for (int i = 0; i < 3; i++) {
        while (stream_read_now(v->stream, buffer, sizeof buffer) != -EAGAIN)
            continue;
        peer_go(&peer);
        assert_int_equal(loop_sleep_until(v->the_loop, clock_now() + 30 * MS), 0);
        assert_int_equal(stream_wait(v->stream), 0);
        assert_true(read_when_there(v, buffer, sizeof buffer) > 0);
    }
    variant_close(v);
    peer_end(&peer);
}

static void speak_and_leave(struct peer *peer, struct end *end)
{
    peer_wait_for_go(peer);
    PEER_CHECK(end_write(end, "bye", 3));
    end_close(end);
}

static void *go_at_once(void *argument)
{
    peer_go(argument);
    return NULL;
}

/* Bytes and the end of the stream arrive in one event; the end needs no second one. */
static void last_words(struct variant *v)
{
    struct peer peer;
    char buffer[64];
    pthread_t helper;
    for (int with_wait = 0; with_wait < 2; with_wait++) {
        peer_start(&peer, v, speak_and_leave);
        assert_int_equal(variant_open(v), 0);
        assert_int_equal(stream_read_now(v->stream, buffer, sizeof buffer), -EAGAIN);
        if (v->loop) /* the loop must know the descriptor before */
            assert_int_equal(stream_wait_until(v->stream, clock_now() + 5 * MS), -ETIMEDOUT);
        assert_int_equal(pthread_create(&helper, NULL, go_at_once, &peer), 0);
        pthread_join(helper, NULL);
        peer_end(&peer); /* by then both are sent */
        assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 3);
        if (with_wait)
            assert_int_equal(stream_wait(v->stream), 0);
        assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 0);
        assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 0);
        variant_close(v);
    }
}

/* The same, but the bytes are read before the end arrives. */
static void end_after_short_read(struct variant *v)
{
    struct peer peer;
    char buffer[64];
    peer_start(&peer, v, speak_at_the_signal);
    assert_int_equal(variant_open(v), 0);
    for (int i = 0; i < 3; i++) {
        peer_go(&peer);
        assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 3);
    }
    shutdown(stream_fd(v->stream), SHUT_WR); /* then the peer closes */
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 0);
    variant_close(v);
    peer_end(&peer);
}

static void send_three(struct peer *peer, struct end *end)
{
    char buffer[16];
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    PEER_CHECK(recvfrom(end->fd, buffer, sizeof buffer, 0, (struct sockaddr *)&from, &size) == 3);
    PEER_CHECK(sendto(end->fd, "first", 5, 0, (struct sockaddr *)&from, size) == 5);
    PEER_CHECK(sendto(end->fd, "", 0, 0, (struct sockaddr *)&from, size) == 0);
    PEER_CHECK(sendto(end->fd, "second", 6, 0, (struct sockaddr *)&from, size) == 6);
}

static void datagrams(struct variant *v)
{
    struct peer peer;
    char buffer[8];
    peer_start(&peer, v, send_three);
    assert_int_equal(variant_open(v), 0);
    assert_int_equal(stream_write(v->stream, "ask", 3), 0);
    assert_int_equal(stream_read(v->stream, buffer, 3), 3); /* cut */
    assert_memory_equal(buffer, "fir", 3);
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer),
                     6); /* the empty datagram is skipped */
    assert_memory_equal(buffer, "second", 6);
    assert_int_equal(stream_start_tls(v->stream, variant_client_tls, NULL), -EOPNOTSUPP);
    variant_close(v);
    peer_end(&peer);
}

static void speak_garbage(struct peer *peer, struct end *end)
{
    PEER_CHECK(write(end->fd, "this is not TLS, not at all\r\n", 29) == 29);
    peer_wait_for_go(peer);
    close(end->fd);
}

static void tls_garbage(struct variant *v)
{
    struct peer peer;
    v->filling = TCP; /* the peer does not start TLS */
    peer_start(&peer, v, speak_garbage);
    assert_int_equal(variant_open_raw(v), 0);
    assert_int_equal(stream_start_tls(v->stream, variant_client_tls, "dc1.example.com"), -EPROTO);
    variant_expect_sticky(v, -EPROTO);
    variant_close(v);
    peer_go(&peer);
    peer_end(&peer);
    v->filling = TLS;
}

static void tls_handshake_hangs(struct variant *v)
{
    struct peer peer;
    v->filling = TCP;
    peer_start(&peer, v, peer_say_nothing);
    assert_int_equal(variant_open_raw(v), 0);
    v->wire.deadline = clock_now() + 40 * MS;
    assert_int_equal(stream_start_tls(v->stream, variant_client_tls, "dc1.example.com"),
                     -ETIMEDOUT);
    variant_close(v);
    peer_go(&peer);
    peer_end(&peer);
    v->filling = TLS;
}

/* A client that does not trust the peer leaves in mid-handshake, so nothing is read. */
static void leave(struct peer *peer, struct end *end)
{
    (void)peer;
    end_close(end);
}

static void tls_verification(struct variant *v)
{
    struct error error = {0};
    static const struct {
        bool own_ca;
        const char *name;
        int result;
    } cases[] = {{true, "dc1.example.com", 0},
                 {true, "other.example.com", -EKEYREJECTED},
                 {true, "127.0.0.1", -EKEYREJECTED},
                 {false, "dc1.example.com", -EKEYREJECTED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct peer peer;
        struct tls *tls = tls_new(true, cases[i].own_ca ? variant_ca_path : NULL, &error);
        if (!tls && !cases[i].own_ca)
            continue; /* a system without authorities */
        assert_non_null(tls);
        v->wire.deadline = clock_now() + LONG;
        peer_start(&peer, v, leave);
        assert_int_equal(variant_open_raw(v), 0);
        assert_int_equal(stream_start_tls(v->stream, tls, cases[i].name), cases[i].result);
        variant_close(v);
        peer_end(&peer);
        tls_free(tls);
    }
    assert_null(tls_new(true, "/nonexistent/ca.pem", &error));
    assert_non_null(strstr(error.text, "/nonexistent/ca.pem"));
}

enum { MANY = 400 };

struct many {
    struct variant *v;
    int parked, done;
    struct sockaddr_in peer;
};

static void answer_many(struct peer *peer, struct end *first)
{
    struct end *ends = calloc(MANY, sizeof *ends);
    ends[0] = *first;
    for (int i = 1; i < MANY; i++) {
        ends[i].fd = accept(peer->listener, NULL, NULL);
        PEER_CHECK(ends[i].fd >= 0);
        if (peer->filling == TLS)
            PEER_CHECK(end_start_tls(&ends[i]));
    }
    peer_wait_for_go(peer);
    for (int i = MANY - 1; i >= 0; i--) {
        PEER_CHECK(end_write(&ends[i], "answer", 6));
        end_close(&ends[i]);
    }
    free(ends);
}

static void one_of_many(void *argument)
{
    struct many *many = argument;
    struct stream *stream = NULL;
    char buffer[6];
    assert_int_equal(stream_open(&stream, &many->v->wire, STREAM_TCP,
                                 (struct sockaddr *)&many->peer, sizeof many->peer),
                     0);
    if (many->v->filling == TLS)
        assert_int_equal(stream_start_tls(stream, variant_client_tls, NULL), 0);
    many->parked++;
    assert_int_equal(stream_read_all(stream, buffer, 6), 0);
    assert_memory_equal(buffer, "answer", 6);
    stream_close(stream);
    many->done++;
}

static void many_parked(struct variant *v)
{
    struct peer peer;
    peer_start(&peer, v, answer_many);
    struct many many = {.v = v, .peer = v->peer};
    for (int i = 0; i < MANY; i++)
        assert_int_equal(loop_spawn(v->the_loop, one_of_many, &many), 0);
    while (many.parked < MANY)
        assert_int_equal(loop_sleep_until(v->the_loop, clock_now() + MS), 0);
    assert_int_equal(many.done, 0);
    assert_int_equal(loop_fibers(v->the_loop), MANY + 1);
    peer_go(&peer);
    while (many.done < MANY)
        assert_int_equal(loop_sleep_until(v->the_loop, clock_now() + MS), 0);
    peer_end(&peer);
}

static int open_files(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void serve_until_closed(struct peer *peer, struct end *end)
{
    char buffer[64];
    (void)peer;
    ssize_t n;
    while ((n = end_read(end, buffer, sizeof buffer)) > 0)
        if (!end_write(end, buffer, (size_t)n))
            break;
    end_close(end);
}

static int exchange(struct variant *v)
{
    char buffer[5];
    int error = variant_open(v);
    if (!error)
        error = stream_write(v->stream, "hello", 5);
    if (!error)
        error = stream_read_all(v->stream, buffer, 5);
    if (v->stream && stream_error(v->stream))
        assert_int_equal(stream_error(v->stream), error);
    return error;
}

static void nth_call_fails(struct variant *v)
{
    static const int errors[] = {ECONNRESET, ENOBUFS, EMFILE};
    for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
        int failures = 0, nth = 0;
        bool failed = true;
        for (; failed && nth < 200; nth++) {
            struct peer peer;
            int before = open_files();
            peer_start(&peer, v, serve_until_closed);
            fail_errno = errors[e];
            fail_in = nth;
            int error = exchange(v);
            failed = fail_in < 0; /* the scenario had an nth call */
            fail_in = -1;
            assert_int_equal(error, failed ? -errors[e] : 0);
            failures += failed;
            variant_close(v);
            shutdown(peer.listener, SHUT_RDWR); /* perhaps nobody connected to it */
            peer_end(&peer);
            assert_int_equal(open_files(), before);
        }
        assert_true(failures >= 4);
        assert_false(failed);
    }
}

int main(void)
{
    static const struct variant_case cases[] = {
        {"reading without waiting, waiting without reading", read_now, TCP | TLS, false},
        {"an edge that comes while waiting elsewhere", edge_while_elsewhere, TCP | TLS, true},
        {"last words", last_words, TCP | TLS, false},
        {"the end after a short read", end_after_short_read, TCP | TLS, false},
        {"datagrams", datagrams, UDP, false},
        {"a peer that does not speak TLS", tls_garbage, TLS, false},
        {"a handshake that hangs", tls_handshake_hangs, TLS, false},
        {"verification", tls_verification, TLS, false},
        {"many fibers parked at once", many_parked, TCP | TLS, true},
        {"the nth system call fails", nth_call_fails, TCP | TLS, false},
    };
    return variant_run_suite("stream waits", cases, sizeof cases / sizeof cases[0]);
}
