/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the records of a capture conversation by conversation. A conversation consists of the
 * requests of one client, or on one connection, to the server until it has been silent for longer
 * than the idle time.
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
    uint32_t key;                        /* client or connection */
    uint32_t connection;                 /* of the last packet */
    bool udp;                            /* the last packet was a datagram */
    int64_t start, last;                 /* times of its first and last packet */
    uint64_t packets;                    /* so far, including the present one */
    bool kerberos;                       /* it has fetched or used a Kerberos ticket */
    uint32_t entries[CHAIN_HISTORY_MAX]; /* for the observer; zeroed at the start */
};

struct learn_walk_observer {
    /* A packet, and the seconds since the packet before it; 0 for the first packet. */
    int (*packet)(void *context, struct learn_conversation *conversation, uint32_t form,
                  double gap);
    int (*end)(void *context, struct learn_conversation *conversation);
    void *context;
};

/*
 * Reads all records once. If a client uses a Kerberos ticket that it did not fetch in the
 * conversation, the observer gets a packet of the form `kerberos:` before the packet that uses it.
 * 0, a value other than 0 that the observer returned, or a negative errno.
 */
int learn_walk(struct learn_capture *capture, const struct learn_walk_settings *settings,
               const struct learn_walk_observer *observer);

/* Sets *local if most requests to the server come from its own address, so that addresses do not
 * distinguish its clients. 0 or a negative errno. */
int learn_walk_is_local(struct learn_capture *capture, uint32_t server, bool *local);

/* Finds a client address that uses four or more connections of one protocol at the same time, as
 * clients behind an address translator do. UINT32_MAX: there is none. 0 or a negative errno. */
int learn_walk_find_shared(struct learn_capture *capture, uint32_t *address);

#endif
