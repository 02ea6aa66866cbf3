/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's share of a client's work: connects, sends and receives as often as a protocol does,
 * and closes, but without the protocol.
 *
 * usage: bench_bare ADDRESS CLIENTS TRIPS MICROSECONDS SECONDS
 *
 * Starts a server with one process per connection, like smbd, that computes for MICROSECONDS before
 * each reply. The clients wait in epoll(7), like those of traffic-replay. Each connection has TRIPS
 * round trips of 200 bytes; with 0, connections are kept for the whole run, and round trips are
 * counted instead of connections. Prints the count and the client's CPU seconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/clocks.h"

enum { MESSAGE = 200, CLIENTS_MAX = 256, EVENTS = 64, CACHE_LINE = 64, MEMORY = 8 << 20 };

struct client {
    int fd;
    unsigned long trips;
};

struct bare {
    struct sockaddr_in address;
    int epoll_fd;
    unsigned long trips, done; /* round trips per connection; the count to print */
    struct client clients[CLIENTS_MAX];
};

/* Touches memory, so that the caches look to the client as after the work of a DC. */
static void think(double seconds)
{
    static volatile char memory[MEMORY];
    static unsigned at;
    double end = now() + seconds;
    while (now() < end)
        for (int i = 0; i < 1000; i++)
            memory[(at += CACHE_LINE) % MEMORY]++;
}

static void serve_connection(int fd, double seconds)
{
    char message[MESSAGE];
    while (recv(fd, message, sizeof message, MSG_WAITALL) == sizeof message) {
        think(seconds);
        if (send(fd, message, sizeof message, MSG_NOSIGNAL) != sizeof message)
            break;
    }
}

/* The server. Never returns; the kernel ends it with its parent. */
static void serve(int listener, double seconds)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int fd = accept(listener, NULL, NULL), one = 1;
        if (fd < 0)
            continue;
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            serve_connection(fd, seconds);
            _exit(0);
        }
        close(fd);
    }
}

static int start_server(struct bare *bare, const char *address, double seconds, pid_t *server)
{
    socklen_t size = sizeof bare->address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bare->address.sin_family = AF_INET;
    if (listener < 0 || inet_pton(AF_INET, address, &bare->address.sin_addr) != 1)
        return -EINVAL;
    if (bind(listener, (struct sockaddr *)&bare->address, size) < 0 || listen(listener, 128) < 0 ||
        getsockname(listener, (struct sockaddr *)&bare->address, &size) < 0)
        return -errno;
    *server = fork();
    if (*server == 0)
        serve(listener, seconds);
    close(listener);
    return *server < 0 ? -errno : 0;
}

static int send_message(const struct client *client)
{
    static const char message[MESSAGE];
    return send(client->fd, message, sizeof message, MSG_NOSIGNAL) == sizeof message ? 0 : -errno;
}

/* Like a stream of traffic-replay, sends the first message at once: a connect over loopback does
 * not wait. */
static int open_connection(struct bare *bare, struct client *client)
{
    int one = 1;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = client};
    client->trips = 0;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client->fd < 0)
        return -errno;
    if (connect(client->fd, (struct sockaddr *)&bare->address, sizeof bare->address) < 0 &&
        errno != EINPROGRESS)
        return -errno;
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (epoll_ctl(bare->epoll_fd, EPOLL_CTL_ADD, client->fd, &event) < 0)
        return -errno;
    return send_message(client);
}

static int take_reply(struct bare *bare, struct client *client)
{
    char message[4096];
    ssize_t n = recv(client->fd, message, sizeof message, 0);
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n != MESSAGE)
        return -EPROTO;
    client->trips++;
    bare->done += bare->trips == 0 || client->trips == bare->trips;
    if (bare->trips == 0 || client->trips < bare->trips)
        return send_message(client);
    close(client->fd);
    return open_connection(bare, client);
}

static int play(struct bare *bare, double end)
{
    struct epoll_event events[EVENTS];
    struct timespec timeout = {.tv_sec = 1};
    int rc = 0;
    while (rc == 0 && now() < end) {
        int n = epoll_pwait2(bare->epoll_fd, events, EVENTS, &timeout, NULL);
        for (int i = 0; rc == 0 && i < n; i++)
            rc = take_reply(bare, events[i].data.ptr);
    }
    return rc;
}

int main(int argc, char **argv)
{
    static struct bare bare;
    pid_t server = 0;
    if (argc != 6 || atoi(argv[2]) < 1 || atoi(argv[2]) > CLIENTS_MAX)
        return 2;
    bare.trips = strtoul(argv[3], NULL, 10);
    int rc = start_server(&bare, argv[1], 1e-6 * atof(argv[4]), &server);
    bare.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    double cpu = cpu_seconds();
    for (int i = 0; rc == 0 && i < atoi(argv[2]); i++)
        rc = open_connection(&bare, &bare.clients[i]);
    if (rc == 0)
        rc = play(&bare, now() + atof(argv[5]));
    cpu = cpu_seconds() - cpu;
    if (server > 0 && kill(server, SIGTERM) == 0)
        waitpid(server, NULL, 0);
    if (rc)
        fprintf(stderr, "bench_bare: %s\n", strerror(-rc));
    else
        printf("%lu %.6f\n", bare.done, cpu);
    return rc != 0;
}
