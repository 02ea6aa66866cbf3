/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of connections, sessions, pipes and questions while frames pass: three tables
 * of a fixed size, in which new links replace the ones unused for longest. So memory does not grow
 * with the capture, but the number of legs may be wrong if tens of thousands of connections are in
 * the middle of an exchange at once. Questions, connections and associations have a table each, so
 * that many questions and short connections do not replace what is known of an RPC association that
 * stays open for hours.
 */
#ifndef MODEL_LEARN_LEARN_LINKS_H
#define MODEL_LEARN_LEARN_LINKS_H

#include <stdbool.h>
#include <stdint.h>

/* The kind of a link, with the rest of its key. */
enum learn_link_kind {
    LEARN_LINK_LDAP = 1, /* connection */
    LEARN_LINK_SEGMENTS, /* connection and sender: the bytes that were seen */
    /* From here on associations: */
    LEARN_LINK_SESSION, /* connection and SMB2 session id */
    LEARN_LINK_PIPE,    /* connection and SMB2 file id: carries RPC */
    LEARN_LINK_RPC,     /* connection, or connection and file id */
    /* From here on questions: */
    LEARN_LINK_PRINCIPAL, /* client and hash of kind and name: asked to repeat its request */
    LEARN_LINK_EXCHANGE,  /* connection: hash of the name in its last Kerberos request */
    LEARN_LINK_QUESTION   /* client and hash of a datagram's question */
};

enum { LEARN_LINK_CONTEXTS = 16, LEARN_LINK_HOLES = 5 };

/* The bytes of one direction of a TCP connection, as sequence numbers (RFC 9293 3.4): from first to
 * next, without the holes. */
struct learn_segments {
    uint32_t first, next;
    uint32_t starts[LEARN_LINK_HOLES], ends[LEARN_LINK_HOLES]; /* of holes */
    uint8_t hole_count;
    bool begun;
};

struct learn_link {
    uint64_t key; /* 0: free */
    int64_t time; /* last touched */
    uint64_t value;
    bool busy;  /* in the middle of a bind, a session set-up or a question */
    bool begun; /* RPC: there were calls */
    bool bound; /* RPC: its bind was seen */
    union {
        struct { /* RPC */
            uint8_t context_count;
            uint8_t interfaces[LEARN_LINK_CONTEXTS]; /* by context */
            uint16_t contexts[LEARN_LINK_CONTEXTS];
        };
        struct learn_segments segments;
    };
};

struct learn_links;

/* Adds the bytes from start to end. True if one of them was not seen before. */
bool learn_segments_add(struct learn_segments *segments, uint32_t start, uint32_t end);

struct learn_links *learn_links_new(void); /* NULL: out of memory */
void learn_links_free(struct learn_links *links);

/* The link of a key. If there is none, a new empty link if make is true, else NULL. Valid until the
 * next call. */
struct learn_link *learn_links_get(struct learn_links *links, enum learn_link_kind kind, uint64_t a,
                                   uint64_t b, int64_t time, bool make);

#endif
