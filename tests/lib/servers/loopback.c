/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/servers/loopback.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static bool loopback_bind(int fd, uint16_t *port);

struct sockaddr_in loopback_name(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int loopback_socket(int type, uint16_t *port)
{
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), on = type == SOCK_STREAM;
    assert_return_code(fd, errno);
    /* A server may come back on its port although connections linger. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!loopback_bind(fd, port))
        fail_msg("127.0.0.1 port %u: %s", *port, strerror(errno));
    return fd;
}

static bool loopback_bind(int fd, uint16_t *port)
{
    struct sockaddr_in name = loopback_name(*port);
    socklen_t size = sizeof name;
    if (bind(fd, (struct sockaddr *)&name, size) != 0)
        return false;
    assert_return_code(getsockname(fd, (struct sockaddr *)&name, &size), errno);
    *port = ntohs(name.sin_port);
    return true;
}

int loopback_listen(uint16_t *port, int backlog)
{
    int fd = loopback_socket(SOCK_STREAM, port);
    assert_return_code(listen(fd, backlog), errno);
    return fd;
}

/* A port that is free for UDP may be in use for TCP, so more than one is tried. */
void loopback_pair(int *udp, int *tcp, uint16_t *port)
{
    for (int tries = 0; tries < 50; tries++) {
        *port = 0;
        *udp = loopback_socket(SOCK_DGRAM, port);
        *tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_return_code(*tcp, errno);
        if (loopback_bind(*tcp, port) && listen(*tcp, 64) == 0)
            return;
        close(*udp);
        close(*tcp);
    }
    fail_msg("no port is free for both UDP and TCP");
}

uint16_t loopback_unused_port(void)
{
    uint16_t port = 0;
    close(loopback_socket(SOCK_DGRAM, &port));
    return port;
}

struct dc *loopback_dc(void)
{
    struct dc *dc = dc_new();
    struct sockaddr_in name = loopback_name(0);
    assert_non_null(dc);
    memcpy(&dc->address, &name, sizeof name);
    dc->address_len = sizeof name;
    return dc;
}
