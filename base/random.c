/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of random numbers: xoshiro256** (Blackman and Vigna), each seeded by splitmix64. */
#include "base/random.h"

static uint64_t splitmix(uint64_t *state);
static uint64_t rotate_left(uint64_t x, int bits);

/* Mixes after each of seed, purpose and number, so that similar inputs (seed 1 client 2, seed 2
 * client 1) give independent streams. */
void random_seed(struct random_stream *stream, uint64_t seed, enum random_purpose purpose,
                 uint64_t number)
{
    uint64_t state = seed;
    state = splitmix(&state) + (uint64_t)purpose;
    state = splitmix(&state) + number;
    for (int i = 0; i < 4; i++)
        stream->state[i] = splitmix(&state);
}

static uint64_t splitmix(uint64_t *state)
{
    uint64_t x = (*state += 0x9e3779b97f4a7c15u);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t random_next(struct random_stream *stream)
{
    uint64_t *s = stream->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t random_draw(void *context)
{
    return random_next(context);
}

static uint64_t rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

double random_unit(struct random_stream *stream)
{
    return (double)(random_next(stream) >> 11) * 0x1p-53;
}

/* Lemire's multiplication; rejects the few values that would cause bias. */
uint64_t random_below(struct random_stream *stream, uint64_t bound)
{
    unsigned __int128 product = (unsigned __int128)random_next(stream) * bound;
    if ((uint64_t)product < bound) {
        uint64_t bias = -bound % bound;
        while ((uint64_t)product < bias)
            product = (unsigned __int128)random_next(stream) * bound;
    }
    return (uint64_t)(product >> 64);
}
