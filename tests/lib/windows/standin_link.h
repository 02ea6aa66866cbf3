/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a connection through the stand-in: a blocking socket, with or without TLS, and the
 * bytes that arrived on it and are not used yet. */
#ifndef TESTS_LIB_WINDOWS_STANDIN_LINK_H
#define TESTS_LIB_WINDOWS_STANDIN_LINK_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Bytes that grow at their end and are taken from their beginning. */
struct standin_bytes {
    uint8_t *data;
    size_t size, capacity;
};

struct standin_link {
    int fd;
    gnutls_session_t tls;
    struct standin_bytes in;
};

void standin_bytes_add(struct standin_bytes *bytes, const void *data, size_t size);
void standin_bytes_take(struct standin_bytes *bytes, size_t size);
void standin_bytes_free(struct standin_bytes *bytes);

/* Connects to a TCP port; fd is negative on failure. */
void standin_link_connect(struct standin_link *link, const struct sockaddr_storage *to,
                          uint16_t port);

/* The client's or the server's half of a handshake. */
bool standin_link_tls(struct standin_link *link, bool server,
                      gnutls_certificate_credentials_t credentials);

/* Appends what has arrived to link->in. False: the connection is over. */
bool standin_link_read(struct standin_link *link);
bool standin_link_write(struct standin_link *link, const void *data, size_t size);
void standin_link_close(struct standin_link *link);

/* Waits for bytes on either side. A bit for each side that has some, 0: the time is over.
 * timeout is in milliseconds, -1: none. */
unsigned standin_link_wait(const struct standin_link *a, const struct standin_link *b, int timeout);

#endif
