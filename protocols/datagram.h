/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question and its answer over UDP: what CLDAP, DNS, NBNS and the KDC have in common. A lost
 * question is sent again.
 */
#ifndef PROTOCOLS_DATAGRAM_H
#define PROTOCOLS_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocols/dc.h"
#include "protocols/stream.h"
#include "protocols/wire.h"

/* How long to wait after each sending of the question, in ms; ended by 0. When the last wait is
 * over, or the wire's deadline has come, the exchange has timed out. */
typedef const uint16_t datagram_waits[5];

/* What a resolver does: 1, 2, 4 and 8 s. */
extern datagram_waits datagram_waits_usual;

struct datagram_question {
    uint16_t port; /* of the DC, host byte order */
    const void *bytes;
    size_t size;
    const uint16_t *waits; /* a datagram_waits */
    /* Says whether a datagram answers this question; anything else is ignored. */
    bool (*is_answer)(const struct datagram_question *question, const uint8_t *bytes, size_t size);
    uint32_t id;         /* for is_answer() */
    const void *context; /* for is_answer() */
};

/*
 * Asks dc, on a socket of this question's own, and puts the answer into reply. Returns its size or
 * a negative errno: the stream's, -ECONNREFUSED when ICMP says that nobody listens, -EMSGSIZE when
 * the answer fills all of reply (and so may have been cut): reply has always room for a byte more.
 */
ssize_t datagram_ask(struct wire *wire, const struct dc *dc,
                     const struct datagram_question *question, uint8_t *reply, size_t reply_size);

/* The same on a socket that is used again, made by datagram_open(). After a failure it is not to be
 * used any more: a late answer may come in on it. */
int datagram_open(struct stream **out, struct wire *wire, const struct dc *dc, uint16_t port);
ssize_t datagram_ask_on(struct stream *stream, const struct datagram_question *question,
                        uint8_t *reply, size_t reply_size);

#endif
