/* SPDX-License-Identifier: Apache-2.0 */
/* A tiny UDP server on loopback, in a thread of its own, for tests. */
#ifndef TESTS_LIB_UDP_SERVER_H
#define TESTS_LIB_UDP_SERVER_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "protocols/dc.h"

struct udp_server {
    /* Makes the reply (room for 8192 bytes) to a question; returns its size, 0 for silence. nth
     * counts from 1. */
    size_t (*answer)(void *context, unsigned nth, const uint8_t *question, size_t size,
                     uint8_t *reply);
    void *context;
    uint16_t port;
    atomic_uint questions;
    uint8_t last_question[2048];
    size_t last_size;
    uint16_t last_port; /* that it came from */
    int fd;
    pthread_t thread;
};

static void *udp_server_main(void *argument)
{
    struct udp_server *server = argument;
    for (;;) {
        uint8_t question[2048], reply[8192];
        struct sockaddr_in peer;
        socklen_t peer_len = sizeof peer;
        ssize_t size =
            recvfrom(server->fd, question, sizeof question, 0, (struct sockaddr *)&peer, &peer_len);
        if (size <= 0)
            return NULL; /* udp_server_stop() */
        memcpy(server->last_question, question, (size_t)size);
        server->last_size = (size_t)size;
        server->last_port = ntohs(peer.sin_port);
        unsigned nth = atomic_fetch_add(&server->questions, 1) + 1;
        size_t answer = server->answer
                            ? server->answer(server->context, nth, question, (size_t)size, reply)
                            : 0;
        if (answer > 0)
            sendto(server->fd, reply, answer, 0, (struct sockaddr *)&peer, peer_len);
    }
}

/* A socket bound to a free port of 127.0.0.1, in *port. */
static inline int udp_server_socket(uint16_t *port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof name;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_return_code(bind(fd, (struct sockaddr *)&name, size), 0);
    assert_return_code(getsockname(fd, (struct sockaddr *)&name, &size), 0);
    *port = ntohs(name.sin_port);
    return fd;
}

static inline void udp_server_start(struct udp_server *server)
{
    atomic_init(&server->questions, 0);
    server->fd = udp_server_socket(&server->port);
    assert_int_equal(pthread_create(&server->thread, NULL, udp_server_main, server), 0);
}

static inline void udp_server_stop(struct udp_server *server)
{
    shutdown(server->fd, SHUT_RDWR); /* fails (not connected), and wakes the reader all the same */
    pthread_join(server->thread, NULL);
    close(server->fd);
}

/* A port on which nobody listens. */
static inline uint16_t udp_server_dead_port(void)
{
    uint16_t port;
    close(udp_server_socket(&port));
    return port;
}

/* A dc at 127.0.0.1. */
static inline struct dc *udp_server_dc(void)
{
    struct dc *dc = dc_new();
    assert_non_null(dc);
    struct sockaddr_in *address = (struct sockaddr_in *)&dc->address;
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    dc->address_len = sizeof *address;
    return dc;
}

#endif
