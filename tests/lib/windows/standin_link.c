/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/windows/standin_link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void standin_bytes_add(struct standin_bytes *bytes, const void *data, size_t size)
{
    if (bytes->size + size > bytes->capacity) {
        bytes->capacity = 2 * (bytes->size + size);
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (!bytes->data)
            abort();
    }
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void standin_bytes_take(struct standin_bytes *bytes, size_t size)
{
    bytes->size -= size;
    memmove(bytes->data, bytes->data + size, bytes->size);
}

void standin_bytes_free(struct standin_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct standin_bytes){0};
}

void standin_link_connect(struct standin_link *link, const struct sockaddr_storage *to,
                          uint16_t port)
{
    struct sockaddr_storage address = *to;
    bool ipv6 = address.ss_family == AF_INET6;
    int on = 1;
    if (ipv6)
        ((struct sockaddr_in6 *)&address)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&address)->sin_port = htons(port);
    *link = (struct standin_link){.fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    socklen_t size = ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (link->fd >= 0 && connect(link->fd, (struct sockaddr *)&address, size) != 0) {
        close(link->fd);
        link->fd = -1;
    }
    setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool standin_link_tls(struct standin_link *link, bool server,
                      gnutls_certificate_credentials_t credentials)
{
    int rc;
    gnutls_init(&link->tls, server ? GNUTLS_SERVER : GNUTLS_CLIENT);
    gnutls_set_default_priority(link->tls);
    gnutls_credentials_set(link->tls, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_transport_set_int(link->tls, link->fd);
    do
        rc = gnutls_handshake(link->tls);
    while (rc < 0 && !gnutls_error_is_fatal(rc));
    return rc == 0;
}

bool standin_link_read(struct standin_link *link)
{
    uint8_t bytes[65536];
    ssize_t n;
    do
        n = link->tls ? gnutls_record_recv(link->tls, bytes, sizeof bytes)
                      : recv(link->fd, bytes, sizeof bytes, 0);
    while (link->tls && n < 0 && !gnutls_error_is_fatal((int)n));
    if (n > 0)
        standin_bytes_add(&link->in, bytes, (size_t)n);
    return n > 0;
}

bool standin_link_write(struct standin_link *link, const void *data, size_t size)
{
    for (const uint8_t *at = data; size;) {
        ssize_t n = link->tls ? gnutls_record_send(link->tls, at, size)
                              : send(link->fd, at, size, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

void standin_link_close(struct standin_link *link)
{
    if (link->tls)
        gnutls_deinit(link->tls);
    if (link->fd >= 0)
        close(link->fd);
    standin_bytes_free(&link->in);
    *link = (struct standin_link){.fd = -1};
}

unsigned standin_link_wait(const struct standin_link *a, const struct standin_link *b, int timeout)
{
    struct pollfd fds[2] = {{.fd = a->fd, .events = POLLIN}, {.fd = b->fd, .events = POLLIN}};
    unsigned ready = (a->tls && gnutls_record_check_pending(a->tls) ? 1u : 0) |
                     (b->tls && gnutls_record_check_pending(b->tls) ? 2u : 0);
    if (ready)
        return ready;
    poll(fds, 2, timeout);
    return (fds[0].revents ? 1u : 0) | (fds[1].revents ? 2u : 0);
}
