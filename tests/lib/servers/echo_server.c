/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/servers/echo_server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tests/lib/servers/loopback.h"

static void *echo_server_main(void *argument);
static void echo_server_accept(struct echo_server *server);
static bool echo_server_serve(struct echo_server *server, nfds_t i);
static void echo_server_drop(struct echo_server *server, nfds_t i);

void echo_server_start(struct echo_server *server)
{
    server->listener = loopback_listen(&server->port, 4000);
    assert_return_code(fcntl(server->listener, F_SETFL, O_NONBLOCK), errno);
    server->fds[0] = (struct pollfd){.fd = server->listener, .events = POLLIN};
    server->count = 1;
    atomic_store(&server->stop, false);
    assert_int_equal(pthread_create(&server->thread, NULL, echo_server_main, server), 0);
    server->running = true;
}

static void *echo_server_main(void *argument)
{
    struct echo_server *server = argument;
    while (!atomic_load(&server->stop)) {
        poll(server->fds, server->count, 1);
        if (server->fds[0].revents)
            for (int i = 0; i < 100; i++)
                echo_server_accept(server);
        for (nfds_t i = server->count - 1; i > 0; i--)
            if (!echo_server_serve(server, i))
                echo_server_drop(server, i);
    }
    while (server->count > 1)
        echo_server_drop(server, server->count - 1);
    close(server->listener);
    return NULL;
}

static void echo_server_accept(struct echo_server *server)
{
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    int fd = accept4(server->listener, (struct sockaddr *)&from, &size, SOCK_NONBLOCK);
    if (fd < 0)
        return;
    atomic_fetch_add(&server->accepted, 1);
    server->sources[ntohl(from.sin_addr.s_addr) & 0xffff] = 1;
    if (atomic_load(&server->mode) == ECHO_CLOSE || server->count > ECHO_CONNECTIONS) {
        close(fd);
        return;
    }
    server->fds[server->count] = (struct pollfd){.fd = fd, .events = POLLIN};
    server->connections[server->count++] = (struct echo_connection){.size = 0};
    if (server->count - 1 > atomic_load(&server->most_open))
        atomic_store(&server->most_open, (unsigned)server->count - 1);
}

/* False: the connection is closed. */
static bool echo_server_serve(struct echo_server *server, nfds_t i)
{
    struct echo_connection *connection = &server->connections[i];
    if (server->fds[i].revents) {
        ssize_t n = read(server->fds[i].fd, connection->bytes + connection->size,
                         sizeof connection->bytes - connection->size);
        if (n <= 0)
            return n < 0 && errno == EAGAIN;
        connection->size += (size_t)n;
        if (connection->size == sizeof connection->bytes) {
            connection->answer_at = clock_now() + atomic_load(&server->delay);
            server->fds[i].events = 0;
        }
    }
    if (!connection->answer_at || connection->answer_at > clock_now() ||
        atomic_load(&server->mode) == ECHO_SILENT)
        return true;
    bool garbage = atomic_load(&server->mode) == ECHO_GARBAGE;
    ssize_t n = send(server->fds[i].fd, garbage ? "#!?%&" : connection->bytes, 5, MSG_NOSIGNAL);
    if (n == 5)
        atomic_fetch_add(&server->answered, 1);
    *connection = (struct echo_connection){.size = 0};
    server->fds[i].events = POLLIN;
    return n == 5;
}

static void echo_server_drop(struct echo_server *server, nfds_t i)
{
    close(server->fds[i].fd);
    server->count--;
    server->fds[i] = server->fds[server->count];
    server->connections[i] = server->connections[server->count];
}

void echo_server_stop(struct echo_server *server)
{
    if (!server->running)
        return;
    atomic_store(&server->stop, true);
    pthread_join(server->thread, NULL);
    server->running = false;
}
