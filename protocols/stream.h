/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: non-blocking TCP, UDP and TLS connections with a deadline. The only part of the program
 * that waits. Every function that may wait returns 0 or a count when it is done, or a negative
 * errno: -ETIMEDOUT (the wire's deadline), -ECANCELED (the run is over), -ECONNRESET,
 * -ECONNREFUSED, -EPIPE, -ENODATA (the peer closed in mid-message), -EPROTO (TLS), ...
 * The first failure is kept: after it every call returns the same and stream_error() tells it.
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
 * Connects to peer (UDP: a connected socket) from wire->source. wire must outlive the stream.
 * On success *out is the caller's, to be given to stream_close(). Stamps wire->first_sent.
 */
int stream_open(struct stream **out, struct wire *wire, enum stream_kind kind,
                const struct sockaddr *peer, socklen_t peer_len);

/* Shakes hands for TLS on a connected TCP stream; from then on bytes are encrypted.
 * server_name is for SNI and, when tls says so, for checking the certificate. */
int stream_start_tls(struct stream *stream, struct tls *tls, const char *server_name);

/* Reads what is there, waiting until there is at least a byte. 0: the peer closed properly.
 * On UDP: one datagram (cut at size). buffer is written to after the last wait only. Stamps
 * wire->last_received. */
ssize_t stream_read(struct stream *stream, void *buffer, size_t size);

/* Like stream_read(), but never waits: -EAGAIN (which is not kept as a failure) when nothing is
 * there. */
ssize_t stream_read_now(struct stream *stream, void *buffer, size_t size);

/* Reads exactly size bytes; -ENODATA when the peer closes before. */
int stream_read_all(struct stream *stream, void *buffer, size_t size);

/* Waits until stream_read_now() would have something to say. */
int stream_wait(struct stream *stream);

/* Like stream_wait(), but waits no longer than until (CLOCK_MONOTONIC ns): then -ETIMEDOUT, which
 * is kept as a failure only when it was the wire's deadline that came. For what is sent again.
 * Both, on UDP after a write, may wait for what comes after the write, though older datagrams are
 * there: one look that finds nothing is saved. */
int stream_wait_until(struct stream *stream, int64_t until);

/* True when TLS holds decrypted bytes: a read will not wait. */
bool stream_pending(const struct stream *stream);

/* Writes all of it. */
int stream_write(struct stream *stream, const void *buffer, size_t size);

/* Writes it if all of it can be taken at once, without waiting: for a last word before a close,
 * after which the stream is not to be written to any more. 0, or why not (-EAGAIN: no room). */
int stream_write_now(struct stream *stream, const void *buffer, size_t size);

/* The first failure as a negative errno, or 0. */
int stream_error(const struct stream *stream);

/* The descriptor, for ldap_init_fd() and the like; still owned by the stream. */
int stream_fd(const struct stream *stream);

bool stream_is_tls(const struct stream *stream);

/* Closes and frees. NULL is allowed. Never waits. */
void stream_close(struct stream *stream);

/* A cause for the report, such as "timed out" or "connection reset", for a negative errno.
 * Static text. */
const char *stream_error_text(int error);

#endif
