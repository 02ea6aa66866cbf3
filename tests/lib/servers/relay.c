/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/servers/relay.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/servers/loopback.h"

struct relay_connection {
    struct relay *relay;
    int fd;
};

static void *relay_main(void *argument);
static void relay_accept(struct relay *relay);
static void *relay_tcp(void *argument);
static bool relay_answer(struct relay_connection *connection);
static void relay_copy(struct relay_connection *connection, int server);
static void relay_udp(struct relay *relay);

void relay_start(struct relay *relay, struct dc *dc, uint16_t port)
{
    loopback_pair(&relay->udp, &relay->tcp, &relay->port);
    struct sockaddr_in name = loopback_name(relay->port);
    relay->dc = dc;
    relay->real_address = dc->address;
    relay->real_len = dc->address_len;
    relay->target_len = dc_address(dc, port, &relay->target);
    assert_return_code(pipe(relay->stop), errno);
    memset(&dc->address, 0, sizeof dc->address);
    memcpy(&dc->address, &name, sizeof name);
    dc->address_len = sizeof name;
    assert_int_equal(pthread_create(&relay->thread, NULL, relay_main, relay), 0);
}

static void *relay_main(void *argument)
{
    struct relay *relay = argument;
    for (;;) {
        struct pollfd fds[] = {
            {relay->tcp, POLLIN, 0}, {relay->udp, POLLIN, 0}, {relay->stop[0], POLLIN, 0}};
        if (poll(fds, 3, -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[2].revents)
            return NULL;
        if (fds[0].revents)
            relay_accept(relay);
        if (fds[1].revents)
            relay_udp(relay);
    }
}

static void relay_accept(struct relay *relay)
{
    struct relay_connection *connection = malloc(sizeof *connection);
    if (!connection)
        return;
    *connection = (struct relay_connection){relay, accept4(relay->tcp, NULL, NULL, SOCK_CLOEXEC)};
    pthread_t thread;
    if (connection->fd >= 0 && pthread_create(&thread, NULL, relay_tcp, connection) == 0)
        pthread_detach(thread);
    else
        free(connection);
}

static void *relay_tcp(void *argument)
{
    struct relay_connection *connection = argument;
    struct relay *relay = connection->relay;
    if (relay_answer(connection))
        return NULL;
    int server = socket(relay->target.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(server, (struct sockaddr *)&relay->target, relay->target_len) == 0)
        relay_copy(connection, server);
    close(server);
    close(connection->fd);
    free(connection);
    return NULL;
}

/* True when the request was not for the DC. */
static bool relay_answer(struct relay_connection *connection)
{
    char request[16384];
    struct relay *relay = connection->relay;
    size_t size = atomic_exchange(&relay->answer_size, 0);
    if (size == 0)
        return false;
    if (recv(connection->fd, request, sizeof request, 0) > 0)
        atomic_fetch_add(&relay->tcp_requests, 1);
    send(connection->fd, relay->answer, size, MSG_NOSIGNAL);
    close(connection->fd);
    free(connection);
    return true;
}

static void relay_copy(struct relay_connection *connection, int server)
{
    struct pollfd fds[] = {{connection->fd, POLLIN, 0}, {server, POLLIN, 0}};
    bool counted = false;
    for (;;) {
        char bytes[16384];
        if (poll(fds, 2, 15000) <= 0)
            return;
        for (int i = 0; i < 2; i++) {
            if (!fds[i].revents)
                continue;
            ssize_t size = recv(fds[i].fd, bytes, sizeof bytes, 0);
            if (size <= 0)
                return;
            if (i == 0 && !counted) {
                atomic_fetch_add(&connection->relay->tcp_requests, 1);
                counted = true;
            }
            if (send(fds[!i].fd, bytes, (size_t)size, MSG_NOSIGNAL) < 0)
                return;
        }
    }
}

/* One datagram there, one back. */
static void relay_udp(struct relay *relay)
{
    char bytes[16384];
    struct sockaddr_in peer;
    socklen_t peer_len = sizeof peer;
    ssize_t size =
        recvfrom(relay->udp, bytes, sizeof bytes, 0, (struct sockaddr *)&peer, &peer_len);
    if (size <= 0)
        return;
    atomic_fetch_add(&relay->udp_requests, 1);
    int server = socket(relay->target.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {.tv_sec = 5};
    setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(server, (struct sockaddr *)&relay->target, relay->target_len) == 0 &&
        send(server, bytes, (size_t)size, 0) > 0 &&
        (size = recv(server, bytes, sizeof bytes, 0)) > 0)
        sendto(relay->udp, bytes, (size_t)size, 0, (struct sockaddr *)&peer, peer_len);
    close(server);
}

void relay_reset(struct relay *relay)
{
    atomic_store(&relay->tcp_requests, 0);
    atomic_store(&relay->udp_requests, 0);
}

void relay_stop(struct relay *relay)
{
    assert_int_equal(write(relay->stop[1], "", 1), 1);
    pthread_join(relay->thread, NULL);
    close(relay->tcp);
    close(relay->udp);
    close(relay->stop[0]);
    close(relay->stop[1]);
    relay->dc->address = relay->real_address;
    relay->dc->address_len = relay->real_len;
}
