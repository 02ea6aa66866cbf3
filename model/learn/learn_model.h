/* SPDX-License-Identifier: Apache-2.0 */
/* Learns a model from the conversations of a capture: the order of packets, the pauses between them
 * and their details. */
#ifndef MODEL_LEARN_LEARN_MODEL_H
#define MODEL_LEARN_LEARN_MODEL_H

#include "model/learn/learn_walk.h"
#include "model/model.h"

enum { LEARN_HISTORY_MAX = 16 };

struct learn_settings {
    struct learn_walk_settings walk;
    uint32_t history;     /* entries in a history, 1..LEARN_HISTORY_MAX */
    uint32_t max_details; /* forms kept per packet, at least 1 */
    const char *name;     /* of the capture, for the model's source */
};

/* Learns a model, to be freed with model_free(). 0, or a negative errno with a text in the
 * capture's error. */
int learn_model(struct learn_capture *capture, const struct learn_settings *settings,
                struct model **out);

#endif
