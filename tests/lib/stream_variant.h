/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs tests of streams with each type of stream (TCP, TLS, UDP) and both ways to wait (poll, the
 * event loop). Peers are threads with blocking sockets on loopback.
 */
#ifndef TESTS_LIB_STREAM_VARIANT_H
#define TESTS_LIB_STREAM_VARIANT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "protocols/stream.h"
#include "replay/engine/loop.h"

static const int64_t MS = 1000000;
static const int64_t LONG = 20000000000; /* a deadline that no test should reach */

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

struct variant_case {
    const char *name;
    void (*body)(struct variant *);
    int fillings; /* bits of enum filling */
    bool loop_only;
};

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

/* The settings of clients, which do not verify, and the certificate of the peers' authority. */
extern struct tls *variant_client_tls;
extern char variant_ca_path[];

/* Blocking reads and writes of a peer, through TLS if it uses TLS. */
ssize_t end_read(struct end *end, void *buffer, size_t size);
bool end_write(struct end *end, const void *buffer, size_t size);
bool end_start_tls(struct end *end);
void end_close(struct end *end);
/* A socket on a free port of 127.0.0.1. */
int peer_listen(struct sockaddr_in *address, enum filling filling, int backlog);
/* Starts a peer that calls serve for each connection; sets variant->peer to its address. */
void peer_start(struct peer *peer, struct variant *variant,
                void (*serve)(struct peer *, struct end *));
void peer_go(struct peer *peer);
/* Waits for peer_go(). */
void peer_wait_for_go(struct peer *peer);
/* A serve function that sends nothing until peer_go(). */
void peer_say_nothing(struct peer *peer, struct end *end);
void peer_end(struct peer *peer);
void peer_nap(int64_t ns);
/* Byte i of the data that tests send. */
uint8_t peer_pattern(uint64_t i);
/* Connects to the peer; variant_open() starts TLS as well. */
int variant_open_raw(struct variant *v);
int variant_open(struct variant *v);
void variant_close(struct variant *v);
/* Checks that every call returns the first failure. */
void variant_expect_sticky(struct variant *v, int error);

/* Runs each case in its variants; the result of main(). */
int variant_run_suite(const char *name, const struct variant_case *cases, size_t case_count);

#endif
