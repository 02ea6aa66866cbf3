/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: non-blocking TCP, UDP and TLS connections with a deadline. Nothing else in the program
 * waits. Functions that may wait return 0 or a count, or a negative errno: -ETIMEDOUT (the wire's
 * deadline), -ECANCELED (the run is over), -ECONNRESET, -ECONNREFUSED, -EPIPE, -ENODATA (the peer
 * closed in mid-message), -EPROTO (TLS), ...
 * The first failure is kept: every later call and stream_error() return it.
 */
#ifndef PROTOCOLS_STREAM_H
#define PROTOCOLS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocols/wire.h"

enum stream_kind { STREAM_TCP, STREAM_UDP };

struct stream;

/* TLS settings shared by all streams of a run (credentials, priority); see tls.h. */
struct tls;

/*
 * Connects to peer (UDP: a connected socket) from wire->source, and sets wire->first_sent. wire
 * must outlive the stream. On success the caller owns *out and closes it with stream_close().
 */
int stream_open(struct stream **out, struct wire *wire, enum stream_kind kind,
                const struct sockaddr *peer, socklen_t peer_len);

/* Starts TLS on a connected TCP stream. server_name is used for SNI and, if tls verifies
 * certificates, compared with the server's. */
int stream_start_tls(struct stream *stream, struct tls *tls, const char *server_name);

/* Why stream_start_tls() has returned -EKEYREJECTED ("it has expired"); static. */
const char *stream_tls_refusal(const struct stream *stream);

/* Writes the hash of the server's certificate that identifies the TLS session's end point (RFC 5929
 * 4.1). *size is the room in hash, then the hash's size. 0, -ENOTCONN: the stream has no TLS,
 * -EOPNOTSUPP: no hash is defined for this certificate, -ENOSPC, -ENOMEM. Not kept as a failure. */
int stream_tls_end_point(const struct stream *stream, uint8_t *hash, size_t *size);

/* Reads what has arrived; waits for the first byte. 0: the peer closed the connection properly. On
 * UDP it reads one datagram, truncated to size. It writes to buffer only after its last wait, and
 * sets wire->last_received. */
ssize_t stream_read(struct stream *stream, void *buffer, size_t size);

/* Like stream_read(), but never waits. -EAGAIN: nothing has arrived; that is not kept as a failure.
 */
ssize_t stream_read_now(struct stream *stream, void *buffer, size_t size);

/* Reads exactly size bytes. -ENODATA: the peer closed the connection before. */
int stream_read_all(struct stream *stream, void *buffer, size_t size);

/* Waits until stream_read_now() returns something other than -EAGAIN. */
int stream_wait(struct stream *stream);

/* Like stream_wait(), but returns -ETIMEDOUT at `until` (CLOCK_MONOTONIC ns), for requests that are
 * sent again. The timeout is a lasting failure only at the wire's deadline. On UDP, after a write,
 * both functions may overlook datagrams that arrived before it, which saves a system call. */
int stream_wait_until(struct stream *stream, int64_t until);

/* True if TLS holds decrypted bytes, so that a read does not wait. */
bool stream_pending(const struct stream *stream);

/* Notes in the wire that the server's port does not answer, for outcome_of_wire(). Streams that
 * cannot connect do it themselves; this is for datagrams that were sent in vain. */
void stream_note_unreached(const struct stream *stream, int error);

/* True if the peer of an idle connection has sent something or ended it. Never waits. */
bool stream_has_input(struct stream *stream);

/* Writes all size bytes. */
int stream_write(struct stream *stream, const void *buffer, size_t size);

/* Writes without waiting, for a last message before a close. Do not write again afterwards. 0, or a
 * negative errno; -EAGAIN: there was no room for all of it. */
int stream_write_now(struct stream *stream, const void *buffer, size_t size);

/* The first failure as a negative errno, or 0. */
int stream_error(const struct stream *stream);

/* The descriptor, for functions such as ldap_init_fd(). The stream still owns it. */
int stream_fd(const struct stream *stream);

/* Closes and frees. NULL is allowed. Never waits. */
void stream_close(struct stream *stream);

/* The cause that reports name for a negative errno, such as "timed out". Static text. */
const char *stream_error_text(int error);

#endif
