/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/servers/rpc_server.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/little_endian.h"
#include "tests/lib/servers/loopback.h"

enum { CONNECTIONS = 16, LISTENER = CONNECTIONS, STOP };

static void *serve(void *context);
static bool serve_pdu(struct rpc_server *server, int fd, unsigned connection);

void rpc_server_start(struct rpc_server *server)
{
    server->listener = loopback_listen(&server->port, CONNECTIONS);
    assert_return_code(pipe(server->stop), errno);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

void rpc_server_stop(struct rpc_server *server)
{
    close(server->stop[1]);
    pthread_join(server->thread, NULL);
    close(server->stop[0]);
    close(server->listener);
}

static void *serve(void *context)
{
    struct rpc_server *server = context;
    struct pollfd fds[CONNECTIONS + 2];
    nfds_t count = 0;
    for (nfds_t i = 0; i < CONNECTIONS; i++)
        fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    fds[LISTENER] = (struct pollfd){.fd = server->listener, .events = POLLIN};
    fds[STOP] = (struct pollfd){.fd = server->stop[0], .events = POLLIN};
    while (poll(fds, CONNECTIONS + 2, -1) > 0 && !fds[STOP].revents) {
        for (nfds_t i = 0; i < count; i++)
            if (fds[i].fd >= 0 && fds[i].revents &&
                !serve_pdu(server, fds[i].fd, (unsigned)i + 1)) {
                close(fds[i].fd);
                fds[i].fd = -1;
            }
        if (fds[LISTENER].revents && count < CONNECTIONS)
            fds[count++].fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
    }
    for (nfds_t i = 0; i < count; i++)
        if (fds[i].fd >= 0)
            close(fds[i].fd);
    return NULL;
}

/* False: the client has closed the connection. */
static bool serve_pdu(struct rpc_server *server, int fd, unsigned connection)
{
    static const struct rpc_script silent;
    uint8_t pdu[UINT16_MAX];
    struct rpc_script out = silent;
    if (recv(fd, pdu, RPC_HEADER_SIZE, MSG_WAITALL) != RPC_HEADER_SIZE)
        return false;
    size_t size = le_get16(pdu + 8), rest = size - RPC_HEADER_SIZE;
    if (size < RPC_HEADER_SIZE ||
        recv(fd, pdu + RPC_HEADER_SIZE, rest, MSG_WAITALL) != (ssize_t)rest)
        return false;
    server->hear(server->context, connection, pdu, size, &out);
    bool sent = send(fd, out.bytes, out.size, MSG_NOSIGNAL) == (ssize_t)out.size;
    rpc_script_clear(&out);
    return sent;
}
