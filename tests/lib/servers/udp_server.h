/* SPDX-License-Identifier: Apache-2.0 */
/* A UDP server on 127.0.0.1 for tests, in a separate thread. */
#ifndef TESTS_LIB_SERVERS_UDP_SERVER_H
#define TESTS_LIB_SERVERS_UDP_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct udp_server {
    /* Makes the reply (room for 8192 bytes) to a question; returns its size, 0 for silence. nth
     * counts from 1. NULL: never replies. */
    size_t (*answer)(void *context, unsigned nth, const uint8_t *question, size_t size,
                     uint8_t *reply);
    void *context;
    uint16_t port;
    atomic_uint questions;
    uint8_t last_question[2048];
    size_t last_size;
    uint16_t last_port; /* the sender's */
    int fd;
    pthread_t thread;
};

/* Starts the server on a free port. */
void udp_server_start(struct udp_server *server);

/* Starts the server on a bound socket, which udp_server_stop() closes. */
void udp_server_start_on(struct udp_server *server, int fd, uint16_t port);

void udp_server_stop(struct udp_server *server);

#endif
