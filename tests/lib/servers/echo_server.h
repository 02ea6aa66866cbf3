/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TCP server on 127.0.0.1 that answers each five bytes with the same five, in one thread for up
 * to ECHO_CONNECTIONS connections.
 */
#ifndef TESTS_LIB_SERVERS_ECHO_SERVER_H
#define TESTS_LIB_SERVERS_ECHO_SERVER_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum echo_mode { ECHO_ANSWER, ECHO_SILENT, ECHO_GARBAGE, ECHO_CLOSE };

enum { ECHO_CONNECTIONS = 4000, ECHO_SOURCES = 65536 };

struct echo_connection {
    char bytes[5];
    size_t size;
    int64_t answer_at; /* 0: nothing to answer */
};

struct echo_server {
    pthread_t thread;
    bool running;
    uint16_t port;
    int listener;
    atomic_int mode;
    atomic_llong delay; /* ns before an answer */
    atomic_bool stop;
    atomic_uint answered, accepted, most_open;
    unsigned char *sources; /* by the low 16 bits of a client's address: seen */
    struct pollfd fds[ECHO_CONNECTIONS + 1];
    struct echo_connection connections[ECHO_CONNECTIONS + 1];
    nfds_t count;
};

/* Listens on the port that it had before, if there was one. server is zeroed but for sources, which
 * has room for ECHO_SOURCES. */
void echo_server_start(struct echo_server *server);

/* Closes all connections. Does nothing if the server does not run. */
void echo_server_stop(struct echo_server *server);

#endif
