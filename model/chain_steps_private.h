/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of builder_finish(), in this order. Each returns 0 or a negative errno with the error
 * set. */
#ifndef MODEL_CHAIN_STEPS_PRIVATE_H
#define MODEL_CHAIN_STEPS_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

struct builder;

/* What the steps share. Histories have two numbers: the builder's, and the model's, which is their
 * place in order. */
struct chain_work {
    struct builder *builder;
    uint32_t start;         /* the history in which conversations start */
    size_t *first;          /* by history: its first one among the sorted transitions */
    uint32_t *order;        /* the model's histories, reachable ones first */
    uint32_t *numbers;      /* by history: its place in order */
    uint32_t reached;       /* how many are reachable from the start */
    uint32_t *type_numbers; /* by the builder's type: the model's */
};

/* Leads each transition to its history, sorts transitions and orders histories. */
int chain_link(struct chain_work *work);

/* Refuses chains that cannot be played; warns of unreachable histories. */
int chain_check(const struct chain_work *work);

/* Fills the model: types, chain, pauses, alias tables, visits and details. */
int chain_fill(struct chain_work *work);

#endif
