/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One suite for each type of stream (TCP, TLS, UDP where it applies) and both ways to wait (poll,
 * the event loop): EAGAIN, a closing peer and a deadline must have the same effect in all. The
 * peers are threads of this program on loopback.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/stream.h"
#include "protocols/tls.h"
#include "replay/engine/loop.h"

static const int64_t MS = 1000000;
static const int64_t LONG = 20000000000; /* a deadline that no test should reach */

enum call { CALL_SOCKET, CALL_CONNECT, CALL_RECV, CALL_SEND, CALL_SENDMSG, CALL_EPOLL_CTL, CALLS };

static _Thread_local int fail_in = -1; /* this many calls of this thread succeed, then one fails */
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
    static void *functions[CALLS];
    void *function = __atomic_load_n(&functions[call], __ATOMIC_RELAXED);
    if (!function) {
        function = dlsym(RTLD_NEXT, names[call]);
        __atomic_store_n(&functions[call], function, __ATOMIC_RELAXED);
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

enum filling { TCP = 1, TLS = 2, UDP = 4 };

struct variant {
    enum filling filling;
    bool loop; /* waits in an event loop, else in poll(2) */
    void (*body)(struct variant *variant);

    /* while it runs */
    struct wire wire;
    struct loop *the_loop;
    struct sockaddr_in peer;
    struct stream *stream;
    bool skipped;
};

static struct tls *client_tls;
static gnutls_certificate_credentials_t server_credentials;
static char ca_path[] = "/tmp/engine-test-ca-XXXXXX";

static void make_certificate(void)
{
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    unsigned char serial = 1;
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(
                         key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                     0);
    assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
    gnutls_x509_crt_set_version(certificate, 3);
    gnutls_x509_crt_set_serial(certificate, &serial, 1);
    gnutls_x509_crt_set_activation_time(certificate, time(NULL) - 3600);
    gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 86400);
    gnutls_x509_crt_set_dn(certificate, "CN=dc1.example.com", NULL);
    gnutls_x509_crt_set_basic_constraints(certificate, 1, -1);
    gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, "dc1.example.com", 15,
                                         GNUTLS_FSAN_SET);
    gnutls_x509_crt_set_key(certificate, key);
    assert_int_equal(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0), 0);
    gnutls_certificate_allocate_credentials(&server_credentials);
    assert_int_equal(gnutls_certificate_set_x509_key(server_credentials, &certificate, 1, key), 0);
    gnutls_datum_t pem;
    assert_int_equal(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem), 0);
    int fd = mkstemp(ca_path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, pem.data, pem.size), pem.size);
    close(fd);
    gnutls_free(pem.data);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
}

static int group_setup(void **state)
{
    (void)state;
    struct error error = {0};
    make_certificate();
    client_tls = tls_new(false, NULL, &error);
    assert_non_null(client_tls);
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    tls_free(client_tls);
    gnutls_certificate_free_credentials(server_credentials);
    unlink(ca_path);
    return 0;
}

struct end {
    int fd;
    gnutls_session_t tls;
};

struct peer {
    pthread_t thread;
    int listener;
    enum filling filling;
    void (*serve)(struct peer *peer, struct end *end);
    int go[2];       /* a pipe: a byte from the test lets the peer continue */
    uint64_t sum;    /* of the received bytes */
    uint64_t count;  /* bytes received */
    uint32_t source; /* the client's address */
    int failed;      /* line of the first thing that went wrong */
    int connections; /* number to serve, one after another */
};

#define PEER_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition) && !peer->failed)                                                         \
            peer->failed = __LINE__;                                                               \
    } while (0)

static ssize_t end_read(struct end *end, void *buffer, size_t size)
{
    return end->tls ? gnutls_record_recv(end->tls, buffer, size) : read(end->fd, buffer, size);
}

static bool end_write(struct end *end, const void *buffer, size_t size)
{
    while (size > 0) {
        ssize_t n =
            end->tls ? gnutls_record_send(end->tls, buffer, size) : write(end->fd, buffer, size);
        if (n <= 0)
            return false;
        buffer = (const char *)buffer + n;
        size -= (size_t)n;
    }
    return true;
}

static void end_close(struct end *end)
{
    if (end->tls) {
        gnutls_bye(end->tls, GNUTLS_SHUT_WR);
        gnutls_deinit(end->tls);
    }
    close(end->fd);
}

static void wait_for_go(struct peer *peer)
{
    char byte;
    PEER_CHECK(read(peer->go[0], &byte, 1) == 1);
}

static bool end_shake_hands(struct end *end)
{
    gnutls_init(&end->tls, GNUTLS_SERVER);
    gnutls_set_default_priority(end->tls);
    gnutls_credentials_set(end->tls, GNUTLS_CRD_CERTIFICATE, server_credentials);
    gnutls_transport_set_int(end->tls, end->fd);
    int n;
    do
        n = gnutls_handshake(end->tls);
    while (n < 0 && !gnutls_error_is_fatal(n));
    return n == 0;
}

static void *peer_main(void *argument)
{
    struct peer *peer = argument;
    sigset_t pipe_signal; /* streams must not raise it; our peers may */
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL);
    for (int i = 0; i < peer->connections; i++) {
        struct end end = {.fd = peer->listener};
        if (peer->filling == UDP) {
            peer->serve(peer, &end);
            continue;
        }
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        end.fd = accept(peer->listener, (struct sockaddr *)&from, &size);
        if (end.fd < 0)
            break;
        peer->source = ntohl(from.sin_addr.s_addr);
        if (peer->filling == TLS && !end_shake_hands(&end)) {
            gnutls_deinit(end.tls);
            close(end.fd);
            continue;
        }
        peer->serve(peer, &end);
    }
    return NULL;
}

static int listen_on(struct sockaddr_in *address, enum filling filling, int backlog)
{
    int fd = socket(AF_INET, filling == UDP ? SOCK_DGRAM : SOCK_STREAM, 0);
    assert_true(fd >= 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof *address;
    assert_int_equal(bind(fd, (struct sockaddr *)address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &size), 0);
    if (filling != UDP)
        assert_int_equal(listen(fd, backlog), 0);
    return fd;
}

static void peer_start(struct peer *peer, struct variant *variant,
                       void (*serve)(struct peer *, struct end *))
{
    *peer = (struct peer){.filling = variant->filling, .serve = serve, .connections = 1};
    assert_int_equal(pipe(peer->go), 0);
    peer->listener = listen_on(&variant->peer, variant->filling, 128);
    assert_int_equal(pthread_create(&peer->thread, NULL, peer_main, peer), 0);
}

static void peer_go(struct peer *peer)
{
    assert_int_equal(write(peer->go[1], "x", 1), 1);
}

static void peer_end(struct peer *peer)
{
    pthread_join(peer->thread, NULL);
    close(peer->listener);
    close(peer->go[0]);
    close(peer->go[1]);
    assert_int_equal(peer->failed, 0);
}

static int open_raw(struct variant *v)
{
    return stream_open(&v->stream, &v->wire, v->filling == UDP ? STREAM_UDP : STREAM_TCP,
                       (struct sockaddr *)&v->peer, sizeof v->peer);
}

static int open_to(struct variant *v)
{
    int error = open_raw(v);
    if (error || v->filling != TLS)
        return error;
    return stream_start_tls(v->stream, client_tls, "dc1.example.com");
}

static void close_it(struct variant *v)
{
    stream_close(v->stream);
    v->stream = NULL;
}

static void run_in_fiber(void *argument)
{
    struct variant *v = argument;
    v->body(v);
}

static void run_variant(void **state)
{
    struct variant *v = *state;
    v->wire = (struct wire){.waiter = wire_blocking_waiter(), .deadline = clock_now() + LONG};
    if (!v->loop) {
        v->body(v);
        if (v->skipped)
            skip();
        return;
    }
    v->the_loop = loop_new();
    assert_non_null(v->the_loop);
    v->wire.waiter = loop_waiter(v->the_loop);
    assert_int_equal(loop_spawn(v->the_loop, run_in_fiber, v), 0);
    assert_int_equal(loop_run(v->the_loop), 0);
    loop_free(v->the_loop);
    v->the_loop = NULL;
    if (v->skipped)
        skip();
}

static void nap(int64_t ns)
{
    struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    nanosleep(&time, NULL);
}

static uint8_t pattern(uint64_t i)
{
    return (uint8_t)(i * 131 + (i >> 8));
}

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
            nap(MS / 2);
        PEER_CHECK(end_write(end, buffer, (size_t)n));
        peer->count += (uint64_t)n;
    }
    end_close(end);
}

static void pieces(struct variant *v)
{
    struct peer peer;
    peer_start(&peer, v, echo_in_pieces);
    assert_int_equal(open_to(v), 0);
    unsigned seed = 3;
    uint64_t sent = 0, got = 0;
    while (got < PIECES_TOTAL) {
        uint8_t out[60], in[60];
        size_t size = 1 + (size_t)rand_r(&seed) % sizeof out;
        if (size > PIECES_TOTAL - sent)
            size = PIECES_TOTAL - sent;
        for (size_t i = 0; i < size; i++)
            out[i] = pattern(sent + i);
        assert_int_equal(stream_write(v->stream, out, size), 0);
        sent += size;
        size_t want = 1 + (size_t)rand_r(&seed) % (sent - got < 60 ? sent - got : 60);
        if (sent == PIECES_TOTAL)
            want = sent - got < 60 ? sent - got : 60;
        assert_int_equal(stream_read_all(v->stream, in, want), 0);
        for (size_t i = 0; i < want; i++)
            assert_int_equal(in[i], pattern(got + i));
        got += want;
    }
    close_it(v);
    peer_end(&peer);
}

enum { BIG = 8 << 20 };

static void read_slowly(struct peer *peer, struct end *end)
{
    char buffer[16384];
    wait_for_go(peer);
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
    nap(50 * MS);
    ssize_t n = write(peer->go[1], "x", 1);
    (void)n;
    return NULL;
}

static void big_write(struct variant *v)
{
    struct peer peer;
    peer_start(&peer, v, read_slowly);
    assert_int_equal(open_to(v), 0);
    uint8_t *bytes = malloc(BIG);
    assert_non_null(bytes);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < BIG; i++) {
        bytes[i] = pattern(i);
        sum += bytes[i] ^ (uint8_t)i;
    }
    pthread_t helper;
    assert_int_equal(pthread_create(&helper, NULL, go_later, &peer), 0);
    assert_int_equal(stream_write(v->stream, bytes, BIG), 0);
    char answer;
    assert_int_equal(stream_read_all(v->stream, &answer, 1), 0);
    pthread_join(helper, NULL);
    free(bytes);
    close_it(v);
    peer_end(&peer);
    assert_int_equal(peer.count, BIG);
    assert_int_equal(peer.sum, sum);
}

static void close_in_mid_message(struct peer *peer, struct end *end)
{
    PEER_CHECK(end_write(end, "0123456789", 10));
    end_close(end);
}

static void expect_sticky(struct variant *v, int error)
{
    char byte = 0;
    assert_int_equal(stream_error(v->stream), error);
    assert_int_equal(stream_read(v->stream, &byte, 1), error);
    assert_int_equal(stream_read_now(v->stream, &byte, 1), error);
    assert_int_equal(stream_read_all(v->stream, &byte, 1), error);
    assert_int_equal(stream_wait(v->stream), error);
    assert_int_equal(stream_write(v->stream, &byte, 1), error);
    assert_int_equal(stream_start_tls(v->stream, client_tls, NULL), error);
}

static void peer_closes(struct variant *v)
{
    struct peer peer;
    char buffer[20];
    peer_start(&peer, v, close_in_mid_message);
    assert_int_equal(open_to(v), 0);
    assert_int_equal(stream_read_all(v->stream, buffer, sizeof buffer), -ENODATA);
    expect_sticky(v, -ENODATA);
    close_it(v);
    peer_end(&peer);
}

static void peer_closes_properly(struct variant *v)
{
    struct peer peer;
    char buffer[10];
    peer_start(&peer, v, close_in_mid_message);
    assert_int_equal(open_to(v), 0);
    assert_int_equal(stream_read_all(v->stream, buffer, sizeof buffer), 0);
    assert_int_equal(stream_wait(v->stream), 0);
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 0);
    assert_int_equal(stream_read_now(v->stream, buffer, sizeof buffer), 0);
    assert_int_equal(stream_error(v->stream), 0);
    close_it(v);
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
    assert_int_equal(open_to(v), 0);
    assert_int_equal(stream_read_all(v->stream, buffer, 10), 0);
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), -ENODATA);
    expect_sticky(v, -ENODATA);
    close_it(v);
    peer_end(&peer);
}

static void reset_in_mid_message(struct peer *peer, struct end *end)
{
    struct linger linger = {.l_onoff = 1};
    PEER_CHECK(end_write(end, "01234", 5));
    wait_for_go(peer);
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
    assert_int_equal(open_to(v), 0);
    assert_int_equal(stream_read_all(v->stream, buffer, 5), 0);
    peer_go(&peer);
    assert_int_equal(stream_read_all(v->stream, buffer, sizeof buffer), -ECONNRESET);
    expect_sticky(v, -ECONNRESET);
    assert_string_equal(stream_error_text(-ECONNRESET), "connection reset");
    close_it(v);
    peer_end(&peer);
}

static void write_after_reset(struct variant *v)
{
    struct peer peer;
    char buffer[5];
    peer_start(&peer, v, reset_in_mid_message);
    assert_int_equal(open_to(v), 0);
    assert_int_equal(stream_read_all(v->stream, buffer, 5), 0);
    peer_go(&peer);
    peer_end(&peer);
    int error = 0;
    for (int i = 0; i < 100 && !error; i++)
        error = stream_write(v->stream, buffer, sizeof buffer);
    assert_true(error == -ECONNRESET || error == -EPIPE);
    expect_sticky(v, error);
    close_it(v);
}

static void say_nothing(struct peer *peer, struct end *end)
{
    wait_for_go(peer);
    if (peer->filling != UDP)
        end_close(end);
}

static void deadline(struct variant *v)
{
    struct peer peer;
    char byte;
    peer_start(&peer, v, say_nothing);
    assert_int_equal(open_to(v), 0);
    int64_t before = clock_now();
    v->wire.deadline = before + 40 * MS;
    assert_int_equal(stream_read(v->stream, &byte, 1), -ETIMEDOUT);
    int64_t took = clock_now() - before;
    assert_true(took >= 40 * MS);
    assert_true(took < 5000 * MS);
    expect_sticky(v, -ETIMEDOUT);
    close_it(v);
    peer_go(&peer);
    peer_end(&peer);
}

static void deadline_passed_already(struct variant *v)
{
    struct peer peer;
    char byte;
    peer_start(&peer, v, say_nothing);
    assert_int_equal(open_to(v), 0);
    v->wire.deadline = clock_now() - 1;
    assert_int_equal(stream_wait(v->stream), -ETIMEDOUT);
    assert_int_equal(stream_read(v->stream, &byte, 1), -ETIMEDOUT);
    close_it(v);
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
    char bytes[4]; /* the peer is always ahead */
    struct turn turn = {!v->loop, bytes, sizeof bytes};
    peer_start(&peer, v, speak_without_end);
    assert_int_equal(open_to(v), 0);
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
    close_it(v);
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
    peer_start(&peer, v, say_nothing);
    assert_int_equal(open_to(v), 0);
    struct loop_timer timer = {.function = cancel_now, .argument = v->the_loop};
    assert_int_equal(loop_timer_set(v->the_loop, &timer, clock_now() + 20 * MS), 0);
    assert_int_equal(stream_read(v->stream, &byte, 1), -ECANCELED);
    expect_sticky(v, -ECANCELED);
    close_it(v);
    peer_go(&peer);
    peer_end(&peer);
    /* Later waits are cancelled at once. */
    assert_int_equal(loop_sleep_until(v->the_loop, clock_now() + LONG), -ECANCELED);
}

static void refused(struct variant *v)
{
    int fd = listen_on(&v->peer, v->filling, 1);
    close(fd);
    if (v->filling != UDP) {
        v->stream = (struct stream *)v; /* must not be touched */
        assert_int_equal(open_raw(v), -ECONNREFUSED);
        assert_ptr_equal(v->stream, v);
        assert_true(v->wire.first_sent != 0);
        return;
    }
    char byte;
    assert_int_equal(open_raw(v), 0);
    assert_int_equal(stream_write(v->stream, "x", 1), 0);
    assert_int_equal(stream_read(v->stream, &byte, 1), -ECONNREFUSED);
    expect_sticky(v, -ECONNREFUSED);
    close_it(v);
}

/* A listener with a full backlog answers no SYN, so connecting hangs until the deadline. */
static void hanging_connect(struct variant *v)
{
    int fd = listen_on(&v->peer, TCP, 0), fillers[8];
    for (int i = 0; i < 8; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(fillers[i], (struct sockaddr *)&v->peer, sizeof v->peer);
    }
    int64_t before = clock_now();
    v->wire.deadline = before + 60 * MS;
    assert_int_equal(open_raw(v), -ETIMEDOUT);
    assert_true(clock_now() - before >= 60 * MS);
    for (int i = 0; i < 8; i++)
        close(fillers[i]);
    close(fd);
}

static void cancelled_connect(struct variant *v)
{
    int fd = listen_on(&v->peer, TCP, 0), fillers[8];
    for (int i = 0; i < 8; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(fillers[i], (struct sockaddr *)&v->peer, sizeof v->peer);
    }
    struct loop_timer timer = {.function = cancel_now, .argument = v->the_loop};
    assert_int_equal(loop_timer_set(v->the_loop, &timer, clock_now() + 20 * MS), 0);
    assert_int_equal(open_raw(v), -ECANCELED);
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
    assert_int_equal(open_to(v), 0);
    assert_int_equal(stream_write(v->stream, "hello", 5), 0);
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 2);
    close_it(v);
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
    close_it(v);
    close(fd);
}

static void foreign_source_address(struct variant *v)
{
    int fd = listen_on(&v->peer, v->filling, 1);
    set_source(v, "192.0.2.1"); /* RFC 5737: nobody has it */
    assert_int_equal(open_raw(v), -EADDRNOTAVAIL);
    close(fd);
}

static void time_stamps(struct variant *v)
{
    struct peer peer;
    char buffer[8];
    peer_start(&peer, v, answer_once);
    int64_t before = clock_now();
    assert_int_equal(open_to(v), 0);
    assert_in_range(v->wire.first_sent, before, clock_now());
    int64_t first = v->wire.first_sent;
    assert_int_equal(stream_write(v->stream, "hello", 5), 0);
    assert_int_equal(v->wire.first_sent, first); /* the first byte, not the last */
    v->wire.first_sent = v->wire.last_received = 0;
    before = clock_now();
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 2);
    assert_in_range(v->wire.last_received, before, clock_now());
    assert_int_equal(v->wire.first_sent, 0);
    close_it(v);
    peer_end(&peer);
}

static void speak_when_told(struct peer *peer, struct end *end)
{
    char byte;
    for (int i = 0; i < 3; i++) {
        wait_for_go(peer);
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
    peer_start(&peer, v, speak_when_told);
    assert_int_equal(open_to(v), 0);
    ssize_t n = stream_read_now(v->stream, buffer, sizeof buffer);
    assert_int_equal(n, -EAGAIN);
    assert_int_equal(stream_error(v->stream), 0);
    peer_go(&peer);
    assert_int_equal(read_when_there(v, buffer, sizeof buffer), 3);
    /* Bytes that have arrived unnoticed: they cause no new event. */
    peer_go(&peer);
    nap(30 * MS);
    assert_int_equal(stream_wait(v->stream), 0);
    assert_int_equal(stream_read_now(v->stream, buffer, 1), 1);
    assert_int_equal(stream_wait(v->stream), 0);
    assert_int_equal(stream_pending(v->stream), v->filling == TLS);
    assert_int_equal(stream_read_now(v->stream, buffer, 8), 2);
    assert_false(stream_pending(v->stream));
    peer_go(&peer);
    assert_int_equal(read_when_there(v, buffer, sizeof buffer), 3);
    close_it(v);
    peer_end(&peer);
}

/* The edge for this stream arrives while its fiber waits elsewhere, after EAGAIN. */
static void edge_while_elsewhere(struct variant *v)
{
    struct peer peer;
    char buffer[8];
    peer_start(&peer, v, speak_when_told);
    assert_int_equal(open_to(v), 0);
    for (int i = 0; i < 3; i++) {
        while (stream_read_now(v->stream, buffer, sizeof buffer) != -EAGAIN)
            continue;
        peer_go(&peer);
        assert_int_equal(loop_sleep_until(v->the_loop, clock_now() + 30 * MS), 0);
        assert_int_equal(stream_wait(v->stream), 0);
        assert_true(read_when_there(v, buffer, sizeof buffer) > 0);
    }
    close_it(v);
    peer_end(&peer);
}

static void speak_and_leave(struct peer *peer, struct end *end)
{
    wait_for_go(peer);
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
        assert_int_equal(open_to(v), 0);
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
        close_it(v);
    }
}

/* The same, but the bytes are read before the end arrives. */
static void end_after_short_read(struct variant *v)
{
    struct peer peer;
    char buffer[64];
    peer_start(&peer, v, speak_when_told);
    assert_int_equal(open_to(v), 0);
    for (int i = 0; i < 3; i++) {
        peer_go(&peer);
        assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 3);
    }
    shutdown(stream_fd(v->stream), SHUT_WR); /* then the peer closes */
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer), 0);
    close_it(v);
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
    assert_int_equal(open_to(v), 0);
    assert_int_equal(stream_write(v->stream, "ask", 3), 0);
    assert_int_equal(stream_read(v->stream, buffer, 3), 3); /* cut */
    assert_memory_equal(buffer, "fir", 3);
    assert_int_equal(stream_read(v->stream, buffer, sizeof buffer),
                     6); /* the empty datagram is skipped */
    assert_memory_equal(buffer, "second", 6);
    assert_int_equal(stream_start_tls(v->stream, client_tls, NULL), -EOPNOTSUPP);
    close_it(v);
    peer_end(&peer);
}

static void speak_garbage(struct peer *peer, struct end *end)
{
    PEER_CHECK(write(end->fd, "this is not TLS, not at all\r\n", 29) == 29);
    wait_for_go(peer);
    close(end->fd);
}

static void tls_garbage(struct variant *v)
{
    struct peer peer;
    v->filling = TCP; /* the peer does not start TLS */
    peer_start(&peer, v, speak_garbage);
    assert_int_equal(open_raw(v), 0);
    assert_int_equal(stream_start_tls(v->stream, client_tls, "dc1.example.com"), -EPROTO);
    expect_sticky(v, -EPROTO);
    close_it(v);
    peer_go(&peer);
    peer_end(&peer);
    v->filling = TLS;
}

static void tls_handshake_hangs(struct variant *v)
{
    struct peer peer;
    v->filling = TCP;
    peer_start(&peer, v, say_nothing);
    assert_int_equal(open_raw(v), 0);
    v->wire.deadline = clock_now() + 40 * MS;
    assert_int_equal(stream_start_tls(v->stream, client_tls, "dc1.example.com"), -ETIMEDOUT);
    close_it(v);
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
        struct tls *tls = tls_new(true, cases[i].own_ca ? ca_path : NULL, &error);
        if (!tls && !cases[i].own_ca)
            continue; /* a system without authorities */
        assert_non_null(tls);
        v->wire.deadline = clock_now() + LONG;
        peer_start(&peer, v, leave);
        assert_int_equal(open_raw(v), 0);
        assert_int_equal(stream_start_tls(v->stream, tls, cases[i].name), cases[i].result);
        assert_true(stream_is_tls(v->stream));
        close_it(v);
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
            PEER_CHECK(end_shake_hands(&ends[i]));
    }
    wait_for_go(peer);
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
        assert_int_equal(stream_start_tls(stream, client_tls, NULL), 0);
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
    int error = open_to(v);
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
            close_it(v);
            shutdown(peer.listener, SHUT_RDWR); /* perhaps nobody connected to it */
            peer_end(&peer);
            assert_int_equal(open_files(), before);
        }
        assert_true(failures >= 4);
        assert_false(failed);
    }
}

static const struct {
    const char *name;
    void (*body)(struct variant *);
    int fillings;
    bool loop_only;
} cases[] = {
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
    {"reading without waiting, waiting without reading", read_now, TCP | TLS, false},
    {"an edge that comes while waiting elsewhere", edge_while_elsewhere, TCP | TLS, true},
    {"last words", last_words, TCP | TLS, false},
    {"the end after a short read", end_after_short_read, TCP | TLS, false},
    {"datagrams", datagrams, UDP, false},
    {"truncation", tls_truncated, TLS, false},
    {"a peer that does not speak TLS", tls_garbage, TLS, false},
    {"a handshake that hangs", tls_handshake_hangs, TLS, false},
    {"verification", tls_verification, TLS, false},
    {"many fibers parked at once", many_parked, TCP | TLS, true},
    {"the nth system call fails", nth_call_fails, TCP | TLS, false},
};

enum { MAX_TESTS = 256 };
static struct variant variants[MAX_TESTS];
static char names[MAX_TESTS][100];
static struct CMUnitTest tests[MAX_TESTS];

static const char *filling_name(int filling)
{
    return filling == TCP ? "TCP" : filling == TLS ? "TLS" : "UDP";
}

int main(void)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int filling = TCP; filling <= UDP; filling *= 2)
            for (int loop = cases[i].loop_only; loop < 2; loop++) {
                if (!(cases[i].fillings & filling))
                    continue;
                variants[count] = (struct variant){
                    .filling = (enum filling)filling, .loop = loop, .body = cases[i].body};
                snprintf(names[count], sizeof names[count], "%s, %s: %s", filling_name(filling),
                         loop ? "loop" : "poll", cases[i].name);
                tests[count] = (struct CMUnitTest){.name = names[count],
                                                   .test_func = run_variant,
                                                   .initial_state = &variants[count]};
                count++;
            }
    return _cmocka_run_group_tests("stream", tests, count, group_setup, group_teardown);
}
