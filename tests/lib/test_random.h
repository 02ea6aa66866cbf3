/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers for tests: the same sequence in every run. For struct conversation's `random`. */
#ifndef TESTS_LIB_TEST_RANDOM_H
#define TESTS_LIB_TEST_RANDOM_H

#include <stdint.h>

/* The next number. state is a uint64_t, the seed at first. */
uint64_t test_random(void *state);

/* Always 0; ignores its argument. */
uint64_t test_random_zero(void *state);

#endif
