/* SPDX-License-Identifier: Apache-2.0 */
/* How often each history is visited in one conversation: the linear system of a chain. */
#ifndef MODEL_VISITS_H
#define MODEL_VISITS_H

#include <stdint.h>

/*
 * A chain of `count` states, 0 being the start, to which an end leads back. State s has edges
 * first[s]..first[s+1]-1 with to[] and probability[] (a state's sum to 1; several may lead to the
 * same state). From every state the start can be reached.
 *
 * visits[s] becomes the expected number of visits between two starts, visits[0] = 1, those of
 * states that are never reached 0. Returns 0, -ENOMEM, or -ERANGE when the system is both too
 * large to eliminate and did not settle to 1e-12.
 */
int visits_solve(uint32_t count, const uint32_t *first, const uint32_t *to,
                 const double *probability, double *visits);

#endif
