/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/servers/udp_server.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/servers/loopback.h"

static void *udp_server_main(void *argument);

void udp_server_start(struct udp_server *server)
{
    uint16_t port = 0;
    int fd = loopback_socket(SOCK_DGRAM, &port);
    udp_server_start_on(server, fd, port);
}

void udp_server_start_on(struct udp_server *server, int fd, uint16_t port)
{
    atomic_init(&server->questions, 0);
    server->fd = fd;
    server->port = port;
    assert_int_equal(pthread_create(&server->thread, NULL, udp_server_main, server), 0);
}

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

void udp_server_stop(struct udp_server *server)
{
    shutdown(server->fd, SHUT_RDWR); /* fails (not connected), but wakes the reader all the same */
    pthread_join(server->thread, NULL);
    close(server->fd);
}
