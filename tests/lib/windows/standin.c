/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/windows/standin.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

typedef void standin_serve(struct standin *standin, int fd, uint16_t port);

/* What is served on a port, in a thread for the port and one for each connection. */
struct standin_port {
    struct standin *standin;
    standin_serve *serve;
    uint16_t port;
    int fd;
};

static int listen_on(struct standin *standin, int type, uint16_t port, standin_serve *serve);
static int bound_socket(const struct sockaddr_storage *address, int type, uint16_t port);
static socklen_t address_with_port(const struct sockaddr_storage *from, uint16_t port,
                                   struct sockaddr_storage *to);
static void *tcp_main(void *argument);
static void *tcp_serve(void *argument);
static void start_thread(void *(*entry)(void *), const struct standin_port *port);
static void *udp_main(void *argument);
static void udp_relay(const struct standin_port *port, const uint8_t *data, size_t size,
                      const struct sockaddr_storage *from, socklen_t from_size);
static void splice_serve(struct standin *standin, int fd, uint16_t port);

static const struct {
    uint16_t port;
    standin_serve *serve;
} tcp_ports[] = {
    {53, splice_serve},        {88, splice_serve},        {135, standin_rpc_serve},
    {389, standin_ldap_serve}, {445, standin_smb2_serve}, {636, standin_ldap_serve},
};
static const uint16_t udp_ports[] = {53, 88, 137, 389};
enum { FIRST_RPC_PORT = 49152, LAST_RPC_PORT = 49160 }; /* that Samba uses */

int standin_run(struct standin *standin)
{
    int rc = 0;
    pthread_mutex_init(&standin->lock, NULL);
    for (size_t i = 0; !rc && i < sizeof tcp_ports / sizeof tcp_ports[0]; i++)
        rc = listen_on(standin, SOCK_STREAM, tcp_ports[i].port, tcp_ports[i].serve);
    for (uint16_t port = FIRST_RPC_PORT; !rc && port <= LAST_RPC_PORT; port++)
        rc = listen_on(standin, SOCK_STREAM, port, standin_rpc_serve);
    for (size_t i = 0; !rc && i < sizeof udp_ports / sizeof udp_ports[0]; i++)
        rc = listen_on(standin, SOCK_DGRAM, udp_ports[i], NULL);
    return rc;
}

static int listen_on(struct standin *standin, int type, uint16_t port, standin_serve *serve)
{
    struct standin_port served = {standin, serve, port, bound_socket(&standin->listen, type, port)};
    if (served.fd < 0 || (type == SOCK_STREAM && listen(served.fd, 512) != 0))
        return -errno;
    start_thread(type == SOCK_STREAM ? tcp_main : udp_main, &served);
    return 0;
}

static int bound_socket(const struct sockaddr_storage *address, int type, uint16_t port)
{
    struct sockaddr_storage name;
    int on = 1, fd = socket(address->ss_family, type | SOCK_CLOEXEC, 0);
    socklen_t size = address_with_port(address, port, &name);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, size) == 0)
        return fd;
    close(fd);
    return -1;
}

static socklen_t address_with_port(const struct sockaddr_storage *from, uint16_t port,
                                   struct sockaddr_storage *to)
{
    *to = *from;
    if (from->ss_family == AF_INET6) {
        ((struct sockaddr_in6 *)to)->sin6_port = htons(port);
        return sizeof(struct sockaddr_in6);
    }
    ((struct sockaddr_in *)to)->sin_port = htons(port);
    return sizeof(struct sockaddr_in);
}

static void start_thread(void *(*entry)(void *), const struct standin_port *port)
{
    pthread_t thread;
    struct standin_port *copy = malloc(sizeof *copy);
    if (!copy)
        abort();
    *copy = *port;
    if (pthread_create(&thread, NULL, entry, copy) != 0)
        abort();
    pthread_detach(thread);
}

static void *tcp_main(void *argument)
{
    struct standin_port *port = argument;
    int on = 1;
    for (int fd; (fd = accept(port->fd, NULL, NULL)) >= 0;) {
        struct standin_port connection = *port;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connection.fd = fd;
        start_thread(tcp_serve, &connection);
    }
    free(port);
    return NULL;
}

static void *tcp_serve(void *argument)
{
    struct standin_port connection = *(struct standin_port *)argument;
    free(argument);
    connection.serve(connection.standin, connection.fd, connection.port);
    return NULL;
}

static void *udp_main(void *argument)
{
    struct standin_port *port = argument;
    uint8_t data[65536];
    struct sockaddr_storage from;
    for (;;) {
        socklen_t size = sizeof from;
        ssize_t n = recvfrom(port->fd, data, sizeof data, 0, (struct sockaddr *)&from, &size);
        if (n < 0 && errno != EINTR)
            break;
        if (n > 0)
            udp_relay(port, data, (size_t)n, &from, size);
    }
    free(port);
    return NULL;
}

/* One request and its reply; a DC answers at once or not at all. */
static void udp_relay(const struct standin_port *port, const uint8_t *data, size_t size,
                      const struct sockaddr_storage *from, socklen_t from_size)
{
    struct sockaddr_storage dc;
    socklen_t dc_size = address_with_port(&port->standin->dc, port->port, &dc);
    int fd = socket(dc.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    uint8_t reply[65536];
    if (connect(fd, (struct sockaddr *)&dc, dc_size) == 0 && send(fd, data, size, 0) >= 0 &&
        poll(&wait, 1, 500) == 1) {
        ssize_t n = recv(fd, reply, sizeof reply, 0);
        if (n > 0)
            sendto(port->fd, reply, (size_t)n, 0, (const struct sockaddr *)from, from_size);
    }
    close(fd);
}

static void splice_serve(struct standin *standin, int fd, uint16_t port)
{
    struct standin_link client = {.fd = fd}, server;
    standin_link_connect(&server, &standin->dc, port);
    for (bool go = server.fd >= 0; go;) {
        unsigned ready = standin_link_wait(&client, &server, -1);
        if (ready & 1)
            go = standin_link_read(&client) &&
                 standin_link_write(&server, client.in.data, client.in.size);
        if (go && ready & 2)
            go = standin_link_read(&server) &&
                 standin_link_write(&client, server.in.data, server.in.size);
        client.in.size = server.in.size = 0;
    }
    standin_link_close(&client);
    standin_link_close(&server);
}
