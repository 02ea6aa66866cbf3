/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goes through a capture's records conversation by conversation. A conversation is what one client
 * (or one connection) asks the server until it has been silent for longer than idle.
 */
#ifndef MODEL_LEARN_LEARN_WALK_H
#define MODEL_LEARN_LEARN_WALK_H

#include "model/chain.h"
#include "model/learn/learn_capture.h"

struct learn_walk_settings {
    uint32_t server;
    bool by_connection;
    double idle; /* seconds */
};

struct learn_conversation {
    uint32_t key;        /* client or connection */
    uint32_t connection; /* of the last packet */
    int64_t start, last; /* times of its first and last packet */
    uint64_t packets;    /* so far, the present one included */
    bool used, kerberos;
    uint32_t entries[CHAIN_HISTORY_MAX]; /* the observer's to use, zeroed at the start */
};

struct learn_walk_observer {
    /* A packet and the seconds since the one before it; 0 for a conversation's first. */
    int (*packet)(void *context, struct learn_conversation *conversation, uint32_t form,
                  double gap);
    int (*end)(void *context, struct learn_conversation *conversation);
    void *context;
};

/*
 * One pass over all records. A Kerberos ticket that a client brings without having fetched it in
 * the conversation is told as a packet of the form `kerberos:` before the one that brings it. 0 or
 * what an observer returned, or a negative errno.
 */
int learn_walk(struct learn_capture *capture, const struct learn_walk_settings *settings,
               const struct learn_walk_observer *observer);

/* Whether the server's clients cannot be told apart by address, since most requests come from its
 * own. 0 or a negative errno. */
int learn_walk_is_local(struct learn_capture *capture, uint32_t server, bool *local);

#endif
