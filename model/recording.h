/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording: a traffic-summary text played as it is, each of its clients at its own times,
 * instead of a chain that clients walk. A model that holds one has types and details like any
 * other, but no histories. Private to the room: plan.c hands over to recording_plan_...() here.
 */
#ifndef MODEL_RECORDING_H
#define MODEL_RECORDING_H

#include "base/error.h"
#include "model/model.h"
#include "model/plan.h"

/* A client that is silent for longer, in recorded time, ends its conversation. */
enum { RECORDING_SILENCE = 60 };
enum { RECORDING_PACKETS_MAX = 1 << 24, RECORDING_CLIENTS_MAX = 1000000 };
enum { RECORDING_TYPES_MAX = 4096, RECORDING_DETAILS_MAX = 64 << 20, RECORDING_DAYS_MAX = 100 };

struct recording_packet {
    int64_t time; /* ns since the recording's first packet */
    uint32_t details;
    uint16_t type;
    bool further_leg; /* of the smb2:1 before it: a packet, but no operation */
};

_Static_assert(sizeof(struct recording_packet) == 16, "recordings hold millions of packets");

/* A client: its packets, in the order of their times. */
struct recording_client {
    uint32_t first, count;
};

struct recording {
    struct recording_packet *packets; /* client after client */
    struct recording_client *clients; /* by the time of their first packet */
    uint32_t *by_size;                /* clients, from the most packets to the fewest */
    uint32_t packet_count, client_count;
    uint64_t conversations;
    int64_t length; /* ns from the first packet to the last */
};

/*
 * Reads a text from file, which messages call name, into a model that is empty but for its name.
 * Warns of replies and further legs that it left out. 0, -EINVAL and "file:line: expected ..." in
 * error, or another negative errno with a line in error; the model is the caller's in any case.
 */
int recording_load(struct model *model, FILE *file, const char *name, struct error *error,
                   void (*warning)(void *context, const char *line), void *context);
void recording_free(struct recording *recording);

/* ---- Plan ---- */

/* What a plan of a recording holds beside what all plans hold. Owns nothing. */
struct recording_plan {
    const struct recording *recording;
    const bool *operations; /* by type */
    double replay_rate;
    int64_t end;    /* ns; nothing is due from then on */
    uint32_t whole; /* copies of all clients */
    uint32_t part;  /* clients of one copy more, spread over all sizes */
};

/*
 * Chooses the clients of -S or -T and fills in the figures (traffic-replay(1), RECORDINGS). model
 * and operations must outlive the plan. 0, or a negative errno and a line in error.
 */
int recording_plan_make(const struct model *model, const struct plan_settings *settings,
                        const bool *operations, struct recording_plan *plan,
                        struct plan_figures *figures, struct error *error);
/* plan_client_start() and plan_client_next() of such a plan. */
void recording_plan_client_start(const struct recording_plan *plan, uint32_t client,
                                 struct plan_client *cursor);
bool recording_plan_client_next(const struct recording_plan *plan, struct plan_client *cursor,
                                struct plan_step *step);

#endif
