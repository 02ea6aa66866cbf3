/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans: how many clients play a model, and what each of them sends at which time. A plan depends
 * only on the model, seed, r, S or T, warm-up, duration and persistence, never on threads or
 * timing: each client has its own stream of random numbers and needs a few hundred bytes.
 *
 * docs/measuring.md explains the terms and the formulas.
 */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include "base/error.h"
#include "base/random.h"
#include "model/loadfile/script_plan.h"
#include "model/model.h"

struct plan;

enum { PLAN_CLIENTS_MAX = 10000000 };

struct plan_settings {
    uint64_t seed;
    double replay_rate;        /* -r */
    double scale;              /* -S; ignored when packets_per_second > 0 */
    double packets_per_second; /* -T: offered packets/s, independent of r; 0: not given */
    double warmup;             /* seconds, unmeasured, before the window */
    double duration;           /* seconds of the measured window */
    double persistence;        /* --conversation-persistence, 0..1 */
    double bytes_per_second;   /* --pace of a loadfile, per client; 0: by its times or replies */
    bool after_reply;          /* --pace reply, even if the loadfile gives times */
    uint64_t passes;           /* of a loadfile by each client; 0: until the end */
    /* True if this run sends the packet type as an operation: it has a player that uses the
     * network, and neither --only nor --skip excludes it. */
    bool (*is_operation)(const struct model_type *type, void *context);
    void *context;
};

/* The scale that follows from model and settings. For a recording these are the exact figures of
 * the clients that play: K, O and D of a recorded conversation, rho over the whole recording,
 * q = 1. */
struct plan_figures {
    uint32_t clients;               /* N */
    double conversation_packets;    /* K */
    double conversation_operations; /* O */
    double conversation_seconds;    /* D, at r = 1 and q = 1 */
    double client_rate;             /* rho = K/D, packets/s */
    double share;                   /* O/K */
    double stretch;                 /* q */
    double nominal_packets;         /* packets/s, r x R */
    double nominal_operations;      /* operations/s, r x R x share */
};

enum plan_step_kind { PLAN_PACKET, PLAN_END };

struct plan_step {
    enum plan_step_kind kind; /* PLAN_END: the conversation ends here, nothing is sent */
    bool first;               /* first packet of a conversation, or of its part after time 0 */
    /* Counts as an operation of the plan. If false, a packet that uses the network must not be
     * played: it is skipped, or it is a further leg of the packet before it. */
    bool operation;
    packet_index type;
    uint32_t details;      /* index in its details; 0 when it has none */
    uint32_t conversation; /* of this client, from 0 */
    int64_t due;           /* ns since the plan's start (the start of the warm-up) */
    /* Closed loop: due is ns after the end of the client's previous step instead. */
    bool after_reply;
};

/* The position of one client in its plan. Only model/ uses the fields. */
struct plan_client {
    union {
        struct random_stream random;
        struct script_cursor script; /* of a loadfile; then history to ended are not used */
    };
    double now; /* seconds since the plan's start */
    uint32_t history;
    uint32_t pending; /* transition that happens next */
    uint32_t conversation;
    bool fresh; /* pending was drawn, and now is its time */
    bool begun; /* the conversation has had a packet */
    bool ended;
};

/* Makes a plan, to be freed with plan_free(). model and settings.context must outlive it. 0, or a
 * negative errno with a text in error: too many clients, nothing to send, ... */
int plan_make(const struct model *model, const struct plan_settings *settings, struct plan **out,
              struct error *error);
void plan_free(struct plan *plan);

/* True: closed loop. The plan has no times, so nothing of it is known before it is played. */
bool plan_is_closed(const struct plan *plan);
/* How a loadfile is paced: "reply", "times", or the MB/s of each client; "": not a loadfile. */
enum { PLAN_PACE_SIZE = 32 };
void plan_pace(const struct plan *plan, char text[PLAN_PACE_SIZE]);

/* The figures of the plan. They live as long as the plan. */
const struct plan_figures *plan_figures(const struct plan *plan);
const struct plan_settings *plan_settings(const struct plan *plan);
const struct model *plan_model(const struct plan *plan);

/* Sets a client, 0..clients-1, to the start of its plan: in equilibrium, or at the start of its
 * recording. */
void plan_client_start(const struct plan *plan, uint32_t client, struct plan_client *cursor);

/* The client's next step. False if it is due after warm-up and duration. O(1). */
bool plan_client_next(const struct plan *plan, struct plan_client *cursor, struct plan_step *step);

#endif
