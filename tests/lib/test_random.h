/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers for tests: the same sequence in every run. */
#ifndef TESTS_LIB_TEST_RANDOM_H
#define TESTS_LIB_TEST_RANDOM_H

#include <stdint.h>

/* The next number, for struct conversation's `random`. state is a uint64_t, the seed at first. */
static inline uint64_t test_random(void *state)
{
    uint64_t *x = state;
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *x;
}

#endif
