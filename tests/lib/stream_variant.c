/* SPDX-License-Identifier: Apache-2.0 */
/* Variants of streams and their peers. */
#include "tests/lib/stream_variant.h"

#include <errno.h>
#include <gnutls/x509.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/tls.h"
#include "tests/lib/servers/loopback.h"

struct tls *variant_client_tls;
static gnutls_certificate_credentials_t server_credentials;
char variant_ca_path[] = "/tmp/engine-test-ca-XXXXXX";

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
    int fd = mkstemp(variant_ca_path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, pem.data, pem.size), pem.size);
    close(fd);
    gnutls_free(pem.data);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
}

static int group_set_up(void **state)
{
    (void)state;
    struct error error = {0};
    make_certificate();
    variant_client_tls = tls_new(false, NULL, &error);
    assert_non_null(variant_client_tls);
    return 0;
}

static int group_tear_down(void **state)
{
    (void)state;
    tls_free(variant_client_tls);
    gnutls_certificate_free_credentials(server_credentials);
    unlink(variant_ca_path);
    return 0;
}

ssize_t end_read(struct end *end, void *buffer, size_t size)
{
    return end->tls ? gnutls_record_recv(end->tls, buffer, size) : read(end->fd, buffer, size);
}

bool end_write(struct end *end, const void *buffer, size_t size)
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

void end_close(struct end *end)
{
    if (end->tls) {
        gnutls_bye(end->tls, GNUTLS_SHUT_WR);
        gnutls_deinit(end->tls);
    }
    close(end->fd);
}

void peer_wait_for_go(struct peer *peer)
{
    char byte;
    PEER_CHECK(read(peer->go[0], &byte, 1) == 1);
}

bool end_start_tls(struct end *end)
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
        if (peer->filling == TLS && !end_start_tls(&end)) {
            gnutls_deinit(end.tls);
            close(end.fd);
            continue;
        }
        peer->serve(peer, &end);
    }
    return NULL;
}

int peer_listen(struct sockaddr_in *address, enum filling filling, int backlog)
{
    uint16_t port = 0;
    int fd = filling == UDP ? loopback_socket(SOCK_DGRAM, &port) : loopback_listen(&port, backlog);
    *address = loopback_name(port);
    return fd;
}

void peer_start(struct peer *peer, struct variant *variant,
                void (*serve)(struct peer *, struct end *))
{
    *peer = (struct peer){.filling = variant->filling, .serve = serve, .connections = 1};
    assert_int_equal(pipe(peer->go), 0);
    peer->listener = peer_listen(&variant->peer, variant->filling, 128);
    assert_int_equal(pthread_create(&peer->thread, NULL, peer_main, peer), 0);
}

void peer_go(struct peer *peer)
{
    assert_int_equal(write(peer->go[1], "x", 1), 1);
}

void peer_end(struct peer *peer)
{
    pthread_join(peer->thread, NULL);
    close(peer->listener);
    close(peer->go[0]);
    close(peer->go[1]);
    assert_int_equal(peer->failed, 0);
}

int variant_open_raw(struct variant *v)
{
    return stream_open(&v->stream, &v->wire, v->filling == UDP ? STREAM_UDP : STREAM_TCP,
                       (struct sockaddr *)&v->peer, sizeof v->peer);
}

int variant_open(struct variant *v)
{
    int error = variant_open_raw(v);
    if (error || v->filling != TLS)
        return error;
    return stream_start_tls(v->stream, variant_client_tls, "dc1.example.com");
}

void variant_close(struct variant *v)
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

void peer_nap(int64_t ns)
{
    struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    nanosleep(&time, NULL);
}

uint8_t peer_pattern(uint64_t i)
{
    return (uint8_t)(i * 131 + (i >> 8));
}

void peer_say_nothing(struct peer *peer, struct end *end)
{
    peer_wait_for_go(peer);
    if (peer->filling != UDP)
        end_close(end);
}

void variant_expect_sticky(struct variant *v, int error)
{
    char byte = 0;
    assert_int_equal(stream_error(v->stream), error);
    assert_int_equal(stream_read(v->stream, &byte, 1), error);
    assert_int_equal(stream_read_now(v->stream, &byte, 1), error);
    assert_int_equal(stream_read_all(v->stream, &byte, 1), error);
    assert_int_equal(stream_wait(v->stream), error);
    assert_int_equal(stream_write(v->stream, &byte, 1), error);
    assert_int_equal(stream_start_tls(v->stream, variant_client_tls, NULL), error);
}

static const char *filling_name(int filling);

int variant_run_suite(const char *name, const struct variant_case *cases, size_t case_count)
{
    enum { MAX_TESTS = 256 };
    static struct variant variants[MAX_TESTS];
    static char names[MAX_TESTS][100];
    static struct CMUnitTest tests[MAX_TESTS];
    size_t count = 0;
    for (size_t i = 0; i < case_count; i++)
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
    return _cmocka_run_group_tests(name, tests, count, group_set_up, group_tear_down);
}

static const char *filling_name(int filling)
{
    return filling == TCP ? "TCP" : filling == TLS ? "TLS" : "UDP";
}
