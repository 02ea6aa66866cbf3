/* SPDX-License-Identifier: Apache-2.0 */
/* From conversations to a model: what came after what, how long it took, what packets carried. */
#ifndef MODEL_LEARN_LEARN_MODEL_H
#define MODEL_LEARN_LEARN_MODEL_H

#include "model/learn/learn_walk.h"
#include "model/model.h"

enum { LEARN_HISTORY_MAX = 16 };

struct learn_settings {
    struct learn_walk_settings walk;
    uint32_t history;     /* 1..LEARN_HISTORY_MAX */
    uint32_t max_details; /* forms kept of a packet, at least 1 */
    const char *name;     /* of the capture, as the model tells it */
};

/* Learns a model, which is the caller's. 0 or a negative errno with a line in the capture's
 * error. */
int learn_model(struct learn_capture *capture, const struct learn_settings *settings,
                struct model **out);

#endif
