/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS by GnuTLS: the settings shared by all streams of a run (credentials, priority, what is
 * checked), and one session over a connected, non-blocking descriptor. Sessions never wait:
 * stream.c does, for what *event says after -EAGAIN.
 */
#ifndef PROTOCOLS_TLS_H
#define PROTOCOLS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "protocols/wire.h"

struct tls;
struct tls_session;

/* verify: check the server's certificate against ca_file (NULL: the system's authorities). On
 * failure NULL and a line in error. Immutable afterwards: shared by threads. */
struct tls *tls_new(bool verify, const char *ca_file, struct error *error);
void tls_free(struct tls *tls);

/*
 * A client's session on fd, which stays the caller's. server_name goes into SNI unless it is an
 * address, and is what the certificate is checked for; may be NULL. 0 or a negative errno.
 */
int tls_session_new(struct tls_session **out, struct tls *tls, int fd, const char *server_name);

/* Goes on with the handshake: 0 done, -EAGAIN (wait for *event, call again), or the failure:
 * -EKEYREJECTED (certificate), -EPROTO (TLS), a socket's errno. */
int tls_session_handshake(struct tls_session *session, enum wire_event *event);

/* At least a byte, 0 when the peer said that it closes, -EAGAIN (wait for *event), -ENODATA when
 * the connection ended without a word, or the failure. */
ssize_t tls_session_read(struct tls_session *session, void *buffer, size_t size,
                         enum wire_event *event);

/* How much was taken, or as tls_session_read(). After -EAGAIN the same bytes must be given. */
ssize_t tls_session_write(struct tls_session *session, const void *buffer, size_t size,
                          enum wire_event *event);

/* True when decrypted bytes are held. */
bool tls_session_pending(const struct tls_session *session);

/* Frees; says goodbye before (without waiting) when that is wanted. NULL is allowed. */
void tls_session_free(struct tls_session *session, bool goodbye);

#endif
