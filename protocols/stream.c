/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: TCP, UDP and TLS on TCP. Tries a call on a non-blocking descriptor, waits, tries again.
 * An idle client's stream is this struct and its descriptor, without any buffer.
 */
#include "protocols/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "protocols/tls.h"

/* Bytes to read without a wait before the other clients of the thread get their turn. */
enum { TURN_SIZE = 256 << 10 };

struct stream {
    struct wire *wire;
    struct tls_session *tls; /* NULL: no TLS */
    struct wire_slot slot;
    int error;     /* the first failure, negative errno */
    uint16_t port; /* the peer's */
    bool connected;
    bool udp;     /* datagrams; an empty one does not end the stream */
    bool drained; /* the last read found nothing, so the next event is a new one */
    bool read;    /* was read before, so events may have been consumed */
    bool written; /* was written before */
    bool nodelay;
    uint32_t unwaited; /* bytes read since the last wait */
};

/* Causes as reports name them. For other errors, the system's text is used. */
static const struct {
    int error;
    const char *text;
} causes[] = {
    {ETIMEDOUT, "timed out"},
    {ECANCELED, "run ended"},
    {ECONNRESET, "connection reset"},
    {ECONNREFUSED, "connection refused"},
    {EPIPE, "connection closed by the server"},
    {ENODATA, "connection closed in mid-message"},
    {ECONNABORTED, "connection aborted"},
    {EHOSTUNREACH, "no route to host"},
    {ENETUNREACH, "network unreachable"},
    {EADDRNOTAVAIL, "no local port or address left"},
    {EADDRINUSE, "local address in use"},
    {EMFILE, "too many open files"},
    {ENFILE, "too many open files in the system"},
    {ENOMEM, "out of memory"},
    {EPROTO, "TLS failed"},
    {EKEYREJECTED, "certificate not accepted"},
    {EBADMSG, "malformed reply"},
    {EMSGSIZE, "message too long"},
    {ESHUTDOWN, "disconnected by the server"},
};

static int open_socket(struct stream *stream, int family);
static int bind_source(const struct wire *wire, int fd);
static int connect_to(struct stream *stream, const struct sockaddr *peer, socklen_t peer_len);
static void stamp_sent(struct stream *stream);
static int connect_result(int fd);
static int stream_wait_for(struct stream *stream, enum wire_event event);
static int wait_until(struct stream *stream, enum wire_event event, int64_t until);
static int stream_fail(struct stream *stream, int error);
static int set_nodelay(struct stream *stream);
static int yield_turn(struct stream *stream);
static ssize_t try_read(struct stream *stream, void *buffer, size_t size, enum wire_event *event);
static ssize_t receive_bytes(struct stream *stream, void *buffer, size_t size);
static bool is_readable(struct stream *stream);
static ssize_t try_write(struct stream *stream, const void *buffer, size_t size,
                         enum wire_event *event);

int stream_open(struct stream **out, struct wire *wire, enum stream_kind kind,
                const struct sockaddr *peer, socklen_t peer_len)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return -ENOMEM;
    stream->wire = wire;
    stream->udp = kind == STREAM_UDP;
    stream->port = ntohs(peer->sa_family == AF_INET6
                             ? ((const struct sockaddr_in6 *)(const void *)peer)->sin6_port
                             : ((const struct sockaddr_in *)(const void *)peer)->sin_port);
    int error = open_socket(stream, peer->sa_family);
    if (!error)
        error = connect_to(stream, peer, peer_len);
    if (!error) {
        stream->connected = true;
        wire->unreached = (struct wire_unreached){0};
        *out = stream;
        return 0;
    }
    stream_fail(stream, error);
    stream_close(stream);
    return error;
}

static int open_socket(struct stream *stream, int family)
{
    int type = stream->udp ? SOCK_DGRAM : SOCK_STREAM;
    stream->slot.fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (stream->slot.fd < 0)
        return -errno;
    return bind_source(stream->wire, stream->slot.fd);
}

/* Binds to the wire's source address, if it has one. connect(2) chooses the port. So the number of
 * ports limits an address's connections to each peer, not to all peers together. */
static int bind_source(const struct wire *wire, int fd)
{
    if (!wire->source_len)
        return 0;
    int on = 1;
    if (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) < 0 &&
        errno != ENOPROTOOPT)
        return -errno;
    if (bind(fd, (const struct sockaddr *)&wire->source, wire->source_len) < 0)
        return -errno;
    return 0;
}

static int connect_to(struct stream *stream, const struct sockaddr *peer, socklen_t peer_len)
{
    stamp_sent(stream);
    if (connect(stream->slot.fd, peer, peer_len) == 0)
        return 0;
    /* An interrupted connect continues by itself. On loopback it is often complete already. */
    int error = errno == EINTR || errno == EINPROGRESS ? connect_result(stream->slot.fd) : -errno;
    while (error == -EINPROGRESS) {
        error = stream_wait_for(stream, WIRE_WRITE);
        if (!error)
            error = connect_result(stream->slot.fd);
    }
    return error;
}

static void stamp_sent(struct stream *stream)
{
    if (!stream->wire->first_sent)
        stream->wire->first_sent = clock_now();
}

/* 0: connected, -EINPROGRESS: not yet, else why it failed. */
static int connect_result(int fd)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0)
        return 0;
    int error = errno == ENOTCONN ? 0 : errno;
    size = sizeof error;
    if (!error && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        return -errno;
    return error ? -error : -EINPROGRESS;
}

static int stream_wait_for(struct stream *stream, enum wire_event event)
{
    int error = wait_until(stream, event, stream->wire->deadline);
    return error ? stream_fail(stream, error) : 0;
}

static int wait_until(struct stream *stream, enum wire_event event, int64_t until)
{
    struct waiter *waiter = stream->wire->waiter;
    int error = waiter->ops->wait(waiter, &stream->slot, event, until);
    if (error == -ECANCELED)
        stream->wire->cancelled = true;
    return error;
}

static int stream_fail(struct stream *stream, int error)
{
    if (!stream->error)
        stream->error = error;
    if (stream->udp || !stream->connected)
        stream_note_unreached(stream, error);
    return stream->error;
}

void stream_note_unreached(const struct stream *stream, int error)
{
    stream->wire->unreached =
        (struct wire_unreached){.error = error, .port = stream->port, .udp = stream->udp};
}

int stream_start_tls(struct stream *stream, struct tls *tls, const char *server_name)
{
    if (stream->error)
        return stream->error;
    if (stream->udp || stream->tls)
        return stream_fail(stream, -EOPNOTSUPP);
    int error = set_nodelay(stream);
    if (!error)
        error = tls_session_new(&stream->tls, tls, stream->slot.fd, server_name);
    if (error)
        return stream_fail(stream, error);
    stream->read = true;
    stamp_sent(stream);
    for (;;) {
        enum wire_event event = WIRE_READ;
        error = tls_session_handshake(stream->tls, &event);
        if (error != -EAGAIN)
            break;
        error = stream_wait_for(stream, event);
        if (error)
            break;
    }
    stream->drained = false;
    return error ? stream_fail(stream, error) : 0;
}

/* Keeps the kernel from delaying writes until an acknowledgement. It never delays the first write
 * of a connection, so connections for one request do not need this call. */
static int set_nodelay(struct stream *stream)
{
    int on = 1;
    if (!stream->nodelay &&
        setsockopt(stream->slot.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        return -errno;
    stream->nodelay = true;
    return 0;
}

const char *stream_tls_refusal(const struct stream *stream)
{
    return tls_session_refusal(stream->tls);
}

int stream_tls_end_point(const struct stream *stream, uint8_t *hash, size_t *size)
{
    return stream->tls ? tls_session_end_point(stream->tls, hash, size) : -ENOTCONN;
}

ssize_t stream_read(struct stream *stream, void *buffer, size_t size)
{
    if (stream->error || yield_turn(stream))
        return stream->error;
    /* Right after a request nothing has arrived yet: this saves a system call. */
    bool worth_trying = !stream->drained || stream->tls || stream->udp;
    for (;; worth_trying = true) {
        enum wire_event event = WIRE_READ;
        ssize_t n = worth_trying ? try_read(stream, buffer, size, &event) : -EAGAIN;
        if (n >= 0) {
            stream->unwaited += (uint32_t)(n < TURN_SIZE ? n : TURN_SIZE);
            return n;
        }
        if (n != -EAGAIN)
            return stream_fail(stream, (int)n);
        int error = stream_wait_for(stream, event);
        stream->drained = false;
        stream->unwaited = 0;
        if (error)
            return error;
    }
}

/* If a server sends faster than we read, no read ever waits. This wait notices the deadline and the
 * end of the run, and lets the thread's other clients run. It comes before the read, because they
 * may use the same buffer. */
static int yield_turn(struct stream *stream)
{
    if (stream->unwaited < TURN_SIZE)
        return 0;
    stream->unwaited = 0;
    int64_t now = clock_now();
    if (now >= stream->wire->deadline)
        return stream_fail(stream, -ETIMEDOUT);
    int error = wait_until(stream, WIRE_READ, now);
    stream->drained = false; /* the wait may have consumed an event */
    return error && error != -ETIMEDOUT ? stream_fail(stream, error) : 0;
}

/* Tries to read: a count, 0 at the end of the stream, -EAGAIN (wait for *event), or the failure. */
static ssize_t try_read(struct stream *stream, void *buffer, size_t size, enum wire_event *event)
{
    stream->read = true;
    *event = WIRE_READ;
    ssize_t n = stream->tls ? tls_session_read(stream->tls, buffer, size, event)
                            : receive_bytes(stream, buffer, size);
    /* epoll(7), question 9: a short read of a byte stream has drained it, and more data causes a
     * new event, unless the peer's end was part of an earlier one. */
    bool took_all = n > 0 && (size_t)n < size && !stream->tls && !stream->udp;
    stream->drained = n == -EAGAIN || (took_all && !stream->slot.hung_up);
    if (n > 0)
        stream->wire->last_received = clock_now();
    return n;
}

static ssize_t receive_bytes(struct stream *stream, void *buffer, size_t size)
{
    for (;;) {
        ssize_t n = recv(stream->slot.fd, buffer, size, 0);
        if (n > 0 || (n == 0 && !stream->udp))
            return n;
        if (n < 0 && errno != EINTR)
            return -errno;
    }
}

ssize_t stream_read_now(struct stream *stream, void *buffer, size_t size)
{
    if (stream->error)
        return stream->error;
    enum wire_event event;
    ssize_t n = try_read(stream, buffer, size, &event);
    return n >= 0 || n == -EAGAIN ? n : stream_fail(stream, (int)n);
}

int stream_read_all(struct stream *stream, void *buffer, size_t size)
{
    for (size_t have = 0; have < size;) {
        ssize_t n = stream_read(stream, (char *)buffer + have, size - have);
        if (n < 0)
            return (int)n;
        if (n == 0)
            return stream_fail(stream, -ENODATA);
        have += (size_t)n;
    }
    return stream->error;
}

int stream_wait(struct stream *stream)
{
    return stream_wait_until(stream, stream->wire->deadline);
}

int stream_wait_until(struct stream *stream, int64_t until)
{
    if (stream->error)
        return stream->error;
    if (is_readable(stream))
        return 0;
    bool last = until >= stream->wire->deadline;
    int error = wait_until(stream, WIRE_READ, last ? stream->wire->deadline : until);
    stream->drained = false; /* even on timeout: an event may have just occurred */
    return error && (last || error != -ETIMEDOUT) ? stream_fail(stream, error) : error;
}

/* True if a read would return something other than -EAGAIN. */
static bool is_readable(struct stream *stream)
{
    if (stream_pending(stream))
        return true;
    if (stream->drained)
        return false;
    /* No read has returned EAGAIN since the last event, so check before waiting for the next. */
    char byte;
    ssize_t n = recv(stream->slot.fd, &byte, 1, MSG_PEEK);
    return n >= 0 || errno != EAGAIN; /* an error too: the next read reports it */
}

bool stream_pending(const struct stream *stream)
{
    return stream->tls && tls_session_pending(stream->tls);
}

bool stream_has_input(struct stream *stream)
{
    const struct wire_slot *slot = &stream->slot;
    if (stream->error || stream_pending(stream))
        return true;
    /* The event loop has noted what came since the last wait: this saves a system call. */
    bool noted = (slot->watched & WIRE_READ) && stream->drained;
    if (noted && !(slot->missed & WIRE_READ) && !slot->hung_up)
        return false;
    char byte;
    ssize_t n = recv(slot->fd, &byte, 1, MSG_PEEK);
    return n >= 0 || errno != EAGAIN;
}

int stream_write(struct stream *stream, const void *buffer, size_t size)
{
    if (stream->error)
        return stream->error;
    stamp_sent(stream);
    for (size_t done = 0; done < size;) {
        enum wire_event event;
        ssize_t n = try_write(stream, (const char *)buffer + done, size - done, &event);
        if (n >= 0) {
            done += (size_t)n;
            continue;
        }
        if (n != -EAGAIN)
            return stream_fail(stream, (int)n);
        int error = stream_wait_for(stream, event);
        if (error)
            return error;
    }
    /* An answer that has already arrived causes an event all the same. */
    if (stream->udp || !stream->read)
        stream->drained = true;
    return 0;
}

static ssize_t try_write(struct stream *stream, const void *buffer, size_t size,
                         enum wire_event *event)
{
    *event = WIRE_WRITE;
    int error = stream->written && !stream->udp ? set_nodelay(stream) : 0;
    if (error)
        return error;
    stream->written = true;
    if (stream->tls)
        return tls_session_write(stream->tls, buffer, size, event);
    ssize_t n;
    do
        n = send(stream->slot.fd, buffer, size, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

int stream_write_now(struct stream *stream, const void *buffer, size_t size)
{
    if (stream->error)
        return stream->error;
    enum wire_event event;
    ssize_t n = try_write(stream, buffer, size, &event);
    return n < 0 ? (int)n : (size_t)n == size ? 0 : -EAGAIN;
}

int stream_error(const struct stream *stream)
{
    return stream->error;
}

int stream_fd(const struct stream *stream)
{
    return stream->slot.fd;
}

void stream_close(struct stream *stream)
{
    if (!stream)
        return;
    tls_session_free(stream->tls, stream->error == 0);
    if (stream->slot.fd >= 0) {
        stream->wire->waiter->ops->forget(stream->wire->waiter, &stream->slot);
        close(stream->slot.fd);
    }
    free(stream);
}

const char *stream_error_text(int error)
{
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (causes[i].error == -error)
            return causes[i].text;
    const char *text = strerrordesc_np(-error);
    return text ? text : "unknown error";
}
