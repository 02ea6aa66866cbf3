/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a question over UDP until it is answered. */
#include "protocols/datagram.h"

#include <errno.h>

#include "base/clock.h"

datagram_waits datagram_waits_default = {1000, 2000, 4000, 8000, 0};

static ssize_t await_answer(struct stream *stream, const struct datagram_question *question,
                            uint8_t *reply, size_t reply_size, int64_t until);

ssize_t datagram_ask(struct wire *wire, const struct dc *dc,
                     const struct datagram_question *question, uint8_t *reply, size_t reply_size)
{
    struct stream *stream = NULL;
    ssize_t size = datagram_open(&stream, wire, dc, question->port);
    if (size == 0)
        size = datagram_ask_on(stream, question, reply, reply_size);
    stream_close(stream);
    return size;
}

int datagram_open(struct stream **out, struct wire *wire, const struct dc *dc, uint16_t port)
{
    struct sockaddr_storage peer;
    socklen_t peer_len = dc_address(dc, port, &peer);
    return stream_open(out, wire, STREAM_UDP, (const struct sockaddr *)&peer, peer_len);
}

ssize_t datagram_ask_on(struct stream *stream, const struct datagram_question *question,
                        uint8_t *reply, size_t reply_size)
{
    ssize_t size = -ETIMEDOUT;
    for (const uint16_t *wait = question->waits; *wait && size == -ETIMEDOUT; wait++) {
        size = stream_write(stream, question->bytes, question->size);
        if (size == 0)
            size = await_answer(stream, question, reply, reply_size,
                                clock_now() + *wait * INT64_C(1000000));
        if (stream_error(stream))
            break;
    }
    if (size == -ETIMEDOUT)
        stream_note_unreached(stream, -ETIMEDOUT);
    return size;
}

/* Waits for the answer until the given time. Returns its size, -ETIMEDOUT (the stream stays usable
 * unless it was the wire's deadline), or the stream's failure. */
static ssize_t await_answer(struct stream *stream, const struct datagram_question *question,
                            uint8_t *reply, size_t reply_size, int64_t until)
{
    for (;;) {
        int error = stream_wait_until(stream, until);
        if (error)
            return error;
        ssize_t size;
        while ((size = stream_read_now(stream, reply, reply_size)) >= 0) {
            if ((size_t)size == reply_size)
                return -EMSGSIZE;
            if (question->is_answer(question, reply, (size_t)size))
                return size;
        }
        if (size != -EAGAIN)
            return size;
    }
}
