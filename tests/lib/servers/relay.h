/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A relay on 127.0.0.1 between a test and one port of the DC, TCP and UDP: counts what passes. Each
 * TCP connection has a separate thread.
 */
#ifndef TESTS_LIB_SERVERS_RELAY_H
#define TESTS_LIB_SERVERS_RELAY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>

#include "protocols/dc.h"

struct relay {
    uint16_t port;            /* of 127.0.0.1, both TCP and UDP */
    atomic_uint tcp_requests; /* connections that carried something */
    atomic_uint udp_requests;
    /* Bytes that the next TCP connection's request is answered with, in the DC's place; then 0. */
    const void *answer;
    atomic_size_t answer_size;
    struct sockaddr_storage real_address, target; /* of the DC; of the target with its port */
    socklen_t target_len, real_len;
    struct dc *dc;
    int tcp, udp, stop[2];
    pthread_t thread;
};

/* Puts the relay between dc and one of its ports: dc has the relay's address from now on, and the
 * caller sets the port in question to relay->port. */
void relay_start(struct relay *relay, struct dc *dc, uint16_t port);

/* Sets the counters to 0. */
void relay_reset(struct relay *relay);

/* Gives dc its address back. */
void relay_stop(struct relay *relay);

#endif
