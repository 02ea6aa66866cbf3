/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/servers/ldap_server.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/servers/loopback.h"

struct ldap_connection_served {
    struct ldap_server *server;
    int fd;
    unsigned number;
};

/* A connection's socket, and the TLS session on it or NULL. */
struct served_socket {
    int fd;
    gnutls_session_t tls;
};

static void *ldap_server_main(void *argument);
static void *ldap_server_serve(void *argument);
static size_t wait_for_more(struct ldap_server *server, struct served_socket *socket,
                            uint8_t *bytes, size_t have);
static size_t message_size(const uint8_t *bytes, size_t have);
static void answer_request(struct ldap_server *server, unsigned connection, uint8_t *bytes,
                           size_t size, struct ldap_answer *answer);
static bool start_tls(const struct ldap_server *server, struct served_socket *socket);
static ssize_t ldap_server_read(struct served_socket *socket, uint8_t *bytes, size_t size);
static bool send_answer(const struct ldap_server *server, struct served_socket *socket,
                        const struct ldap_answer *answer);
static bool ldap_server_write(struct served_socket *socket, const uint8_t *bytes, size_t size);
static void end_connection(const struct ldap_server *server, struct served_socket *socket);

void ldap_answer_put(struct ldap_answer *answer, BerElement *ber)
{
    struct berval *bytes = NULL;
    assert_int_equal(ber_flatten(ber, &bytes), 0);
    assert_true(answer->size + bytes->bv_len <= sizeof answer->bytes);
    memcpy(answer->bytes + answer->size, bytes->bv_val, bytes->bv_len);
    answer->size += bytes->bv_len;
    ber_bvfree(bytes);
    ber_free(ber, 1);
}

void ldap_answer_put_result(struct ldap_answer *answer, int id, ber_tag_t type, int code,
                            const char *diagnostic)
{
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_printf(ber, "{it{ess}}", id, type, code, "", diagnostic);
    ldap_answer_put(answer, ber);
}

void ldap_answer_put_notice(struct ldap_answer *answer, int code, const char *text)
{
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_printf(ber, "{it{essts}}", 0, LDAP_RES_EXTENDED, code, "", text, LDAP_TAG_EXOP_RES_OID,
               LDAP_NOTICE_OF_DISCONNECTION);
    ldap_answer_put(answer, ber);
}

void ldap_answer_put_entry(struct ldap_answer *answer, int id, const char *dn, const char *value)
{
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_printf(ber, "{it{s{{s[s]}}}}", id, LDAP_RES_SEARCH_ENTRY, dn, "cn", value);
    ldap_answer_put(answer, ber);
}

void ldap_server_start(struct ldap_server *server)
{
    server->port = 0;
    server->listener = loopback_listen(&server->port, 128);
    assert_int_equal(pthread_create(&server->thread, NULL, ldap_server_main, server), 0);
}

static void *ldap_server_main(void *argument)
{
    struct ldap_server *server = argument;
    pthread_t threads[256];
    size_t count = 0;
    for (int fd; (fd = accept(server->listener, NULL, NULL)) >= 0;) {
        struct ldap_connection_served *served = malloc(sizeof *served);
        *served = (struct ldap_connection_served){
            .server = server, .fd = fd, .number = (unsigned)count + 1};
        if (count == 256 || pthread_create(&threads[count], NULL, ldap_server_serve, served) != 0)
            abort();
        count++;
    }
    while (count)
        pthread_join(threads[--count], NULL);
    return NULL;
}

static void *ldap_server_serve(void *argument)
{
    struct ldap_connection_served *served = argument;
    struct ldap_server *server = served->server;
    struct served_socket socket = {.fd = served->fd};
    int on = 1;
    unsigned number = served->number;
    free(served);
    setsockopt(socket.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    uint8_t *bytes = malloc(LDAP_ANSWER_MAX);
    size_t have = 0;
    struct ldap_answer *answer = malloc(sizeof *answer);
    for (bool go = answer && bytes && start_tls(server, &socket); go;) {
        ssize_t n = ldap_server_read(&socket, bytes + have, LDAP_ANSWER_MAX - have);
        if (n <= 0)
            break;
        have += (size_t)n;
        have += wait_for_more(server, &socket, bytes, have);
        answer->size = 0;
        for (size_t size; (size = message_size(bytes, have)) != 0; have -= size) {
            answer_request(server, number, bytes, size, answer);
            memmove(bytes, bytes + size, have - size);
        }
        do
            go = send_answer(server, &socket, answer);
        while (go && server->flood);
    }
    free(bytes);
    free(answer);
    end_connection(server, &socket);
    return NULL;
}

static bool start_tls(const struct ldap_server *server, struct served_socket *socket)
{
    if (!server->tls)
        return true;
    gnutls_init(&socket->tls, GNUTLS_SERVER);
    gnutls_set_default_priority(socket->tls);
    gnutls_credentials_set(socket->tls, GNUTLS_CRD_CERTIFICATE, server->tls);
    gnutls_transport_set_int(socket->tls, socket->fd);
    int code;
    do
        code = gnutls_handshake(socket->tls);
    while (code < 0 && !gnutls_error_is_fatal(code));
    return code == 0;
}

static ssize_t ldap_server_read(struct served_socket *socket, uint8_t *bytes, size_t size)
{
    return socket->tls ? gnutls_record_recv(socket->tls, bytes, size)
                       : recv(socket->fd, bytes, size, 0);
}

/* Returns how many bytes were added. */
static size_t wait_for_more(struct ldap_server *server, struct served_socket *socket,
                            uint8_t *bytes, size_t have)
{
    size_t before = have;
    struct pollfd readable = {.fd = socket->fd, .events = POLLIN};
    while (server->together > 0) {
        size_t count = 0, at = 0;
        for (size_t size; (size = message_size(bytes + at, have - at)) != 0; at += size)
            count++;
        if (count > server->most_together)
            server->most_together = count;
        if (count >= server->together || poll(&readable, 1, 100) != 1)
            break;
        ssize_t n = ldap_server_read(socket, bytes + have, LDAP_ANSWER_MAX - have);
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    return have - before;
}

/* Reads whole messages from what is there: BER lengths of up to two bytes are enough for these
 * requests. */
static size_t message_size(const uint8_t *bytes, size_t have)
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

static void answer_request(struct ldap_server *server, unsigned connection, uint8_t *bytes,
                           size_t size, struct ldap_answer *answer)
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
    if (server->serve && request != LDAP_REQ_UNBIND)
        server->serve(server, connection, id, (int)request, bytes, size, answer);
    else if (request != LDAP_REQ_UNBIND)
        server->reply(server, id, (int)request, answer);
}

static bool send_answer(const struct ldap_server *server, struct served_socket *socket,
                        const struct ldap_answer *answer)
{
    size_t size = answer->size < server->cut_after ? answer->size : server->cut_after;
    size_t chunk = server->chunk ? server->chunk : size;
    for (size_t done = 0; done < size; done += chunk) {
        size_t part = size - done < chunk ? size - done : chunk;
        if (!ldap_server_write(socket, answer->bytes + done, part))
            return false;
        if (server->chunk)
            usleep(20);
    }
    return size == answer->size && !server->hang_up;
}

static bool ldap_server_write(struct served_socket *socket, const uint8_t *bytes, size_t size)
{
    while (size) {
        ssize_t n = socket->tls ? gnutls_record_send(socket->tls, bytes, size)
                                : send(socket->fd, bytes, size, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

static void end_connection(const struct ldap_server *server, struct served_socket *socket)
{
    char byte;
    if (server->silent)
        while (recv(socket->fd, &byte, 1, 0) > 0)
            ;
    struct linger now = {.l_onoff = 1};
    if (server->reset)
        setsockopt(socket->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    if (socket->tls)
        gnutls_deinit(socket->tls);
    close(socket->fd);
}

void ldap_server_stop(struct ldap_server *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
}

struct dc *ldap_server_dc(const struct ldap_server *server)
{
    struct dc *dc = loopback_dc();
    dc->ports.ldap = dc->ports.ldaps = server->port;
    dc->given = strdup("localhost");
    return dc;
}
