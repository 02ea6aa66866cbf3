/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of two servers has the larger maximum, and by how much: a state machine without input or
 * output. Both servers play the same few candidate cells, in blocks: each block plays each
 * candidate with each server once, in random order, so that a drift of the machine affects both
 * alike.
 *
 * The maximum of a server is its rate in its best candidate. The block's logarithms of the ratio of
 * both maxima give a Student's t interval. The interval is judged after every block, so it is wider
 * than that of a fixed number of blocks: each judgement has a confidence of 99.5%, and all
 * judgements together have at least 95%.
 */
#ifndef REPLAY_SWEEP_SEARCH_RACE_H
#define REPLAY_SWEEP_SEARCH_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RACE_SIDES = 2, RACE_CANDIDATES = 3, RACE_BLOCKS_MAX = 60, RACE_BLOCKS_LEAST = 6 };

struct race {
    size_t candidates;
    double precision; /* the race ends when the interval of the ratio is not wider */
    uint64_t seed;
    /* Rates, by side, candidate and block. */
    double rates[RACE_SIDES][RACE_CANDIDATES][RACE_BLOCKS_MAX];
    unsigned missed[RACE_SIDES][RACE_CANDIDATES]; /* runs that missed the service level */
    size_t runs[RACE_SIDES][RACE_CANDIDATES];
    size_t played;
};

struct race_verdict {
    size_t blocks;           /* complete ones */
    size_t best[RACE_SIDES]; /* candidates; SIZE_MAX: none keeps the level */
    double rate[RACE_SIDES]; /* means there */
    double ratio, low, high; /* of the second side to the first; NaN: unknown */
    bool precise;
};

/* The next run; false: the race is over. */
bool race_next(const struct race *race, size_t *side, size_t *candidate);
void race_add(struct race *race, size_t side, size_t candidate, double rate, bool missed);
void race_judge(const struct race *race, struct race_verdict *verdict);

#endif
