/* SPDX-License-Identifier: Apache-2.0 */
/* Computes how often each history of a chain is visited in one conversation. */
#ifndef MODEL_VISITS_H
#define MODEL_VISITS_H

#include <stdint.h>

/*
 * The chain has `count` states. State 0 is the start, to which ends lead back, and which can be
 * reached from every state. State s has the edges first[s]..first[s+1]-1, each with the state that
 * it leads to and its probability. A state's probabilities sum to 1; several edges may lead to the
 * same state.
 *
 * Sets visits[s] to the expected number of visits between two starts: 1 for the start, 0 for states
 * that cannot be reached. Returns 0, -ENOMEM, or -ERANGE if the system is too large to eliminate
 * and sweeps do not converge to 1e-12.
 */
int visits_solve(uint32_t count, const uint32_t *first, const uint32_t *to,
                 const double *probability, double *visits);

#endif
