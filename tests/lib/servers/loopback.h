/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets on 127.0.0.1, and a DC that has this address. Each function fails the test on an error.
 */
#ifndef TESTS_LIB_SERVERS_LOOPBACK_H
#define TESTS_LIB_SERVERS_LOOPBACK_H

#include <netinet/in.h>
#include <stdint.h>

#include "protocols/dc.h"

/* 127.0.0.1 with a port in host byte order. */
struct sockaddr_in loopback_name(uint16_t port);

/* A bound socket of a type, SOCK_STREAM or SOCK_DGRAM. *port is its port; 0 stands for a free port,
 * whose number replaces it. */
int loopback_socket(int type, uint16_t *port);

/* A TCP socket that listens on *port, as for loopback_socket(). */
int loopback_listen(uint16_t *port, int backlog);

/* A UDP socket and a listening TCP socket on the same free port. */
void loopback_pair(int *udp, int *tcp, uint16_t *port);

/* A port on which nobody listens. */
uint16_t loopback_unused_port(void);

/* A DC at 127.0.0.1 without names; the caller frees it with dc_free(). */
struct dc *loopback_dc(void);

#endif
