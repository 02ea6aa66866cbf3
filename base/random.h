/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of random numbers, all derived from one printed seed. Each client and purpose has a
 * separate stream, so threads and timing do not affect the numbers. xoshiro256**, seeded by
 * splitmix64.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/* The largest seed: JSON integers end here. */
#define RANDOM_SEED_MAX INT64_MAX

struct random_stream {
    uint64_t state[4];
};

/* Streams of different purposes are independent. */
enum random_purpose {
    RANDOM_PLAN = 1,
    RANDOM_PLAY = 2,
    RANDOM_ACCOUNTS = 3,
    RANDOM_DNS = 4,
    RANDOM_SWEEP = 5
};

/* Initializes the stream of seed, purpose and number (of a client). */
void random_seed(struct random_stream *stream, uint64_t seed, enum random_purpose purpose,
                 uint64_t number);

/* The next 64 random bits. */
uint64_t random_next(struct random_stream *stream);

/* random_next() as a callback: context is a struct random_stream. */
uint64_t random_draw(void *context);

/* Uniform in 0 <= x < 1, 53 bits. */
double random_unit(struct random_stream *stream);

/* Uniform in 0..bound-1 without bias; bound > 0. */
uint64_t random_below(struct random_stream *stream, uint64_t bound);

#endif
