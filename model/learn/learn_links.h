/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of connections, sessions, pipes and questions while frames pass: a table of a
 * fixed size, in which new links replace the ones unused for longest. So memory does not grow with
 * the capture, but the number of legs may be wrong if tens of thousands of connections are in the
 * middle of an exchange at once.
 */
#ifndef MODEL_LEARN_LEARN_LINKS_H
#define MODEL_LEARN_LEARN_LINKS_H

#include <stdbool.h>
#include <stdint.h>

/* The kind of a link, with the rest of its key. */
enum learn_link_kind {
    LEARN_LINK_LDAP = 1,  /* connection */
    LEARN_LINK_SESSION,   /* connection and SMB2 session id */
    LEARN_LINK_PIPE,      /* connection and SMB2 file id: carries RPC */
    LEARN_LINK_RPC,       /* connection, or connection and file id */
    LEARN_LINK_PRINCIPAL, /* client and hash of kind and name: asked to repeat its request */
    LEARN_LINK_EXCHANGE,  /* connection: hash of the name in its last Kerberos request */
    LEARN_LINK_QUESTION   /* client and hash of a datagram's question */
};

enum { LEARN_LINK_CONTEXTS = 8 };

struct learn_link {
    uint64_t key; /* 0: free */
    int64_t time; /* last touched */
    uint64_t value;
    bool busy;  /* in the middle of a bind, a session set-up or a question */
    bool begun; /* RPC: there were calls */
    uint8_t context_count;
    uint8_t interfaces[LEARN_LINK_CONTEXTS]; /* RPC: by context */
    uint16_t contexts[LEARN_LINK_CONTEXTS];
};

struct learn_links;

struct learn_links *learn_links_new(void); /* NULL: out of memory */
void learn_links_free(struct learn_links *links);

/* The link of a key. If there is none, a new empty link if make is true, else NULL. Valid until the
 * next call. */
struct learn_link *learn_links_get(struct learn_links *links, enum learn_link_kind kind, uint64_t a,
                                   uint64_t b, int64_t time, bool make);

#endif
