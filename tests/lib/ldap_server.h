/* SPDX-License-Identifier: Apache-2.0 */
/* A tiny LDAP server on loopback, in threads of its own, for tests: it answers what the test says,
 * and in what way. */
#ifndef TESTS_LIB_LDAP_SERVER_H
#define TESTS_LIB_LDAP_SERVER_H

#include <arpa/inet.h>
#include <lber.h>
#include <ldap.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "protocols/dc.h"

enum { ANSWER_MAX = 1 << 20 };

struct answer {
    uint8_t bytes[ANSWER_MAX];
    size_t size;
};

/* How the server treats the connections that come. */
struct server {
    /* Appends the answer to one request. */
    void (*reply)(struct server *server, int id, int request, struct answer *answer);
    /* Called before that, with the number of the connection (from 1) and the whole request. In one
     * thread at a time as long as the client waits for its answers. May be NULL. */
    void (*note)(struct server *server, unsigned connection, int request, const uint8_t *bytes,
                 size_t size);
    void *context;
    size_t chunk;     /* so many bytes a write; 0: all at once */
    size_t cut_after; /* then nothing more is sent; SIZE_MAX: never */
    bool reset;       /* ends with a reset instead of a close */
    bool silent;      /* stays, but says no more */
    bool flood;       /* sends the answer again and again */
    int listener;
    uint16_t port;
    pthread_t thread;
};

static inline void put_message(struct answer *answer, BerElement *ber)
{
    struct berval *bytes = NULL;
    assert_int_equal(ber_flatten(ber, &bytes), 0);
    assert_true(answer->size + bytes->bv_len <= sizeof answer->bytes);
    memcpy(answer->bytes + answer->size, bytes->bv_val, bytes->bv_len);
    answer->size += bytes->bv_len;
    ber_bvfree(bytes);
    ber_free(ber, 1);
}

static inline void put_result(struct answer *answer, int id, ber_tag_t type, int code,
                              const char *diagnostic)
{
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_printf(ber, "{it{ess}}", id, type, code, "", diagnostic);
    put_message(answer, ber);
}

static inline void put_entry(struct answer *answer, int id, const char *dn, const char *value)
{
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_printf(ber, "{it{s{{s[s]}}}}", id, LDAP_RES_SEARCH_ENTRY, dn, "cn", value);
    put_message(answer, ber);
}

/* Reads whole messages from what is there: BER lengths of up to two bytes are enough for these
 * requests. */
static inline size_t message_size(const uint8_t *bytes, size_t have)
{
    if (have < 2)
        return 0;
    size_t header = 2, size = bytes[1];
    if (size & 0x80) {
        size_t count = size & 0x7f;
        header += count;
        if (have < header)
            return 0;
        size = 0;
        for (size_t i = 0; i < count; i++)
            size = size << 8 | bytes[2 + i];
    }
    return have >= header + size ? header + size : 0;
}

static inline bool write_all(int fd, const uint8_t *bytes, size_t size)
{
    while (size) {
        ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

static inline bool send_answer(const struct server *server, int fd, const struct answer *answer)
{
    size_t size = answer->size < server->cut_after ? answer->size : server->cut_after;
    size_t chunk = server->chunk ? server->chunk : size;
    for (size_t done = 0; done < size; done += chunk) {
        size_t part = size - done < chunk ? size - done : chunk;
        if (!write_all(fd, answer->bytes + done, part))
            return false;
        if (server->chunk)
            usleep(20);
    }
    return size == answer->size;
}

static inline void answer_request(struct server *server, unsigned connection, uint8_t *bytes,
                                  size_t size, struct answer *answer)
{
    struct berval value = {.bv_val = (char *)bytes, .bv_len = size};
    BerElement *ber = ber_init(&value);
    ber_int_t id = 0;
    ber_len_t length;
    ber_scanf(ber, "{i", &id);
    ber_tag_t request = ber_peek_tag(ber, &length);
    ber_free(ber, 1);
    if (server->note)
        server->note(server, connection, (int)request, bytes, size);
    if (request != LDAP_REQ_UNBIND)
        server->reply(server, id, (int)request, answer);
}

struct served {
    struct server *server;
    int fd;
    unsigned number;
};

static inline void end_connection(const struct server *server, int fd)
{
    char byte;
    if (server->silent)
        while (recv(fd, &byte, 1, 0) > 0)
            ;
    struct linger now = {.l_onoff = 1};
    if (server->reset)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

static inline void *serve(void *argument)
{
    struct served *served = argument;
    struct server *server = served->server;
    int fd = served->fd, on = 1;
    unsigned number = served->number;
    free(served);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    uint8_t bytes[8192];
    size_t have = 0;
    struct answer *answer = malloc(sizeof *answer);
    for (bool go = answer != NULL; go;) {
        ssize_t n = recv(fd, bytes + have, sizeof bytes - have, 0);
        if (n <= 0)
            break;
        have += (size_t)n;
        answer->size = 0;
        for (size_t size; (size = message_size(bytes, have)) != 0; have -= size) {
            answer_request(server, number, bytes, size, answer);
            memmove(bytes, bytes + size, have - size);
        }
        do
            go = send_answer(server, fd, answer);
        while (go && server->flood);
    }
    free(answer);
    end_connection(server, fd);
    return NULL;
}

static inline void *accept_all(void *argument)
{
    struct server *server = argument;
    pthread_t threads[256];
    size_t count = 0;
    for (int fd; (fd = accept(server->listener, NULL, NULL)) >= 0;) {
        struct served *served = malloc(sizeof *served);
        *served = (struct served){.server = server, .fd = fd, .number = (unsigned)count + 1};
        if (count == 256 || pthread_create(&threads[count], NULL, serve, served) != 0)
            abort();
        count++;
    }
    while (count)
        pthread_join(threads[--count], NULL);
    return NULL;
}

static inline void server_start(struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(server->listener >= 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(server->listener, 128), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
    server->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, accept_all, server), 0);
}

static inline void server_stop(struct server *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
}

static inline uint64_t no_chance(void *state)
{
    (void)state;
    return 0;
}

static inline struct dc *dc_of(const struct server *server)
{
    struct dc *dc = dc_new();
    assert_non_null(dc);
    struct sockaddr_in *address = (struct sockaddr_in *)&dc->address;
    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    dc->address_len = sizeof *address;
    dc->ports.ldap = server->port;
    dc->given = strdup("localhost");
    return dc;
}

#endif
