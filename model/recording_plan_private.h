/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a plan that plays a recording. */
#ifndef MODEL_RECORDING_PLAN_PRIVATE_H
#define MODEL_RECORDING_PLAN_PRIVATE_H

#include "model/plan.h"

struct recording;

/* Owns nothing. */
struct recording_plan {
    const struct recording *recording;
    const bool *operations; /* by type */
    double replay_rate;
    int64_t end;    /* ns; nothing is due from then on */
    uint32_t whole; /* copies of all clients */
    uint32_t part;  /* clients of one more copy, spread over all sizes */
};

/*
 * Chooses the clients for -S or -T and fills in the figures (traffic-model(5), PLAYING RECORDINGS).
 * model and operations must outlive the plan. 0, or a negative errno with a text in error.
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
