/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client plays the conversations of one user and one machine, packet by packet, according to the
 * plan. An idle client consists of this struct, a timer in the loop's heap and the connections of
 * its conversation. It occupies a fiber only while it plays.
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
    CLIENT_WAITING, /* its next step is due; it is queued for its turn to connect */
    CLIENT_PLAYING, /* on a fiber */
    CLIENT_LEFT,    /* the window closed before its next step could be played */
    CLIENT_DONE     /* its plan has no more steps */
};

struct client {
    struct worker *worker;
    struct client *next_waiting;
    struct loop_timer timer;
    struct plan_client cursor;
    struct plan_step step; /* the current step; not counted yet */
    struct random_stream random;
    struct conversation conversation;
    int64_t previous_ended; /* of the packet before; ns since the plan's start */
    uint32_t number;
    enum client_state state;
    bool begun;     /* its conversation has sent something */
    bool connected; /* has played an operation: its first connections exist */
    bool has_turn;  /* may make its first connections now */
};

/* Prepares a zeroed client. */
void client_init(struct client *client, struct worker *worker, uint32_t number);

/* Sets the timer for the client's first step. Call after the plan's clock has started. */
void client_start(struct client *client);

/* Plays the client's current step on a fiber. */
void client_go(struct client *client);

/* Starts all clients of the worker that wait for their turn to connect. */
void client_release_waiting(struct worker *worker);

/* The window is closed: the client plays nothing more. */
void client_close_window(struct client *client);

/* Counts the rest of the client's plan as not sent and closes its connections. Call after the loop
 * has ended: a plan may have many steps left, and replies still to come must not wait for them. */
void client_finish(struct client *client);

#endif
