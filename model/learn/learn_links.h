/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of connections, sessions, pipes and questions while frames pass: a table of
 * fixed size, in which what was not touched for longest gives way. So memory does not grow with a
 * capture; a legs' count may be off where more than tens of thousands of connections are in the
 * middle of something at once.
 */
#ifndef MODEL_LEARN_LEARN_LINKS_H
#define MODEL_LEARN_LEARN_LINKS_H

#include <stdbool.h>
#include <stdint.h>

/* What a link is about: part of its key. */
enum learn_link_kind {
    LEARN_LINK_LDAP = 1,  /* connection */
    LEARN_LINK_SESSION,   /* connection and SMB2 session id */
    LEARN_LINK_PIPE,      /* connection and SMB2 file id: carries RPC */
    LEARN_LINK_RPC,       /* connection, or connection and file id */
    LEARN_LINK_PRINCIPAL, /* client, kind of request and hash of the name: asked to come again */
    LEARN_LINK_EXCHANGE,  /* connection: hash of the name in its last Kerberos request */
    LEARN_LINK_QUESTION   /* client and hash of a datagram's question */
};

enum { LEARN_LINK_CONTEXTS = 8 };

struct learn_link {
    uint64_t key; /* 0: free */
    int64_t time; /* last touched */
    uint64_t value;
    bool busy;  /* in the middle of a bind, session set-up, question */
    bool begun; /* RPC: calls were made */
    uint8_t context_count;
    uint8_t interfaces[LEARN_LINK_CONTEXTS]; /* RPC: by context */
    uint16_t contexts[LEARN_LINK_CONTEXTS];
};

struct learn_links;

struct learn_links *learn_links_new(void); /* NULL without memory */
void learn_links_free(struct learn_links *links);

/* The link of a key; made, empty, when there is none and `make`, else NULL. Valid until the next
 * call. */
struct learn_link *learn_links_get(struct learn_links *links, enum learn_link_kind kind, uint64_t a,
                                   uint64_t b, int64_t time, bool make);

#endif
