/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client: one user's and one machine's conversations, played one packet at a time as the plan
 * says. While nothing is due it is this struct, a timer in the loop's heap and what its
 * conversation holds open; a fiber is taken only to play.
 */
#ifndef REPLAY_CLIENT_H
#define REPLAY_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "protocols/conversation.h"
#include "replay/engine/loop.h"

struct worker;

enum client_state {
    CLIENT_IDLE,    /* its timer is set for the next step */
    CLIENT_WAITING, /* its next step is due: it waits for its turn to connect */
    CLIENT_PLAYING, /* on a fiber */
    CLIENT_LEFT,    /* the window closed before its next step could be played */
    CLIENT_DONE     /* its plan has no more */
};

struct client {
    struct worker *worker;
    struct client *next_waiting;
    struct loop_timer timer;
    struct plan_client cursor;
    struct plan_step step; /* what is next; not recorded yet */
    struct random_stream random;
    struct conversation conversation;
    int64_t previous_ended; /* of the packet before; ns since the plan's start */
    uint32_t number;
    enum client_state state;
    bool begun;     /* the conversation has sent something */
    bool connected; /* the client has played an operation: its first connections are made */
    bool has_turn;  /* it is one of those that may make their first connections now */
};

/* Readies a zeroed client. */
void client_init(struct client *client, struct worker *worker, uint32_t number);

/* The clock runs: sets its timer for its first step. */
void client_start(struct client *client);

/* It is its turn: takes a fiber and plays. */
void client_go(struct client *client);

/* The window is closed: it plays nothing more. */
void client_close_window(struct client *client);

/* The loop has ended: counts what is left of its plan as not sent, closes its connections. (Not
 * before: a plan may have a lot left, and answers that are still to come must not wait for that.)
 */
void client_finish(struct client *client);

#endif
