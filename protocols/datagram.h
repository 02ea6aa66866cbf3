/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question and its answer over UDP, for CLDAP, DNS, NBNS and Kerberos. A lost question is sent
 * again.
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

/* How long to wait after each transmission of the question, in ms; ended by 0. The exchange times
 * out after the last wait, or at the wire's deadline. */
typedef const uint16_t datagram_waits[5];

/* The waits of a resolver: 1, 2, 4 and 8 s. */
extern datagram_waits datagram_waits_default;

struct datagram_question {
    uint16_t port; /* of the DC, host byte order */
    const void *bytes;
    size_t size;
    const uint16_t *waits; /* a datagram_waits */
    /* True if a datagram answers this question. Other datagrams are ignored. */
    bool (*is_answer)(const struct datagram_question *question, const uint8_t *bytes, size_t size);
    uint32_t id;         /* for is_answer() */
    const void *context; /* for is_answer() */
};

/*
 * Asks dc on a new socket and writes the answer to reply. Returns its size or a negative errno: the
 * stream's, -ECONNREFUSED if ICMP reports that nobody listens, or -EMSGSIZE if the answer fills all
 * of reply, because it may have been truncated.
 */
ssize_t datagram_ask(struct wire *wire, const struct dc *dc,
                     const struct datagram_question *question, uint8_t *reply, size_t reply_size);

/* The same in two steps, for a socket that is used more than once. Do not use it after a failure: a
 * late answer may arrive on it. */
int datagram_open(struct stream **out, struct wire *wire, const struct dc *dc, uint16_t port);
ssize_t datagram_ask_on(struct stream *stream, const struct datagram_question *question,
                        uint8_t *reply, size_t reply_size);

#endif
