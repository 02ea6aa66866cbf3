/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS by GnuTLS: the settings shared by all streams of a run (credentials, priority, verification),
 * and a session on a connected, non-blocking descriptor. Sessions never wait: after -EAGAIN,
 * stream.c waits for *event.
 */
#ifndef PROTOCOLS_TLS_H
#define PROTOCOLS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "protocols/wire.h"

struct tls;
struct tls_session;

/* Refusals of certificates that have a remedy. */
#define TLS_EXPIRED           "it has expired"
#define TLS_NOT_YET_VALID     "it is not yet valid"
#define TLS_UNKNOWN_AUTHORITY "its authority is unknown"
#define TLS_OTHER_NAME        "it is for another name"

/* verify: check the server's certificate against ca_file (NULL: the system's authorities). NULL on
 * failure, with one line in error. Threads can share it, because it never changes. */
struct tls *tls_new(bool verify, const char *ca_file, struct error *error);
void tls_free(struct tls *tls);

/*
 * Creates a client's session on fd, which the caller still owns. server_name is sent in SNI unless
 * it is an address, and compared with the certificate; NULL: neither. 0 or a negative errno.
 */
int tls_session_new(struct tls_session **out, struct tls *tls, int fd, const char *server_name);

/* Continues the handshake. 0: done, -EAGAIN: wait for *event and call it again, -EKEYREJECTED:
 * certificate not accepted, -EPROTO: TLS failed, or the socket's errno. */
int tls_session_handshake(struct tls_session *session, enum wire_event *event);

/* Why the handshake ended with -EKEYREJECTED ("it has expired"); static. */
const char *tls_session_refusal(const struct tls_session *session);

/* The hash of the server's certificate, for stream_tls_end_point(). After the handshake. */
int tls_session_end_point(struct tls_session *session, uint8_t *hash, size_t *size);

/* The number of bytes read; 0: the peer closed the session; -EAGAIN: wait for *event; -ENODATA: the
 * connection ended without a closing alert; or another failure. */
ssize_t tls_session_read(struct tls_session *session, void *buffer, size_t size,
                         enum wire_event *event);

/* The number of bytes written, or as tls_session_read(). After -EAGAIN, pass the same bytes again.
 */
ssize_t tls_session_write(struct tls_session *session, const void *buffer, size_t size,
                          enum wire_event *event);

/* True if the session holds decrypted bytes. */
bool tls_session_pending(const struct tls_session *session);

/* Frees the session. close_notify: sends the closing alert first, if that needs no wait. NULL is
 * allowed. */
void tls_session_free(struct tls_session *session, bool close_notify);

#endif
