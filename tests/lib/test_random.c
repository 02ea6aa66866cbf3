/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/test_random.h"

uint64_t test_random(void *state)
{
    uint64_t *x = state;
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *x;
}

uint64_t test_random_zero(void *state)
{
    (void)state;
    return 0;
}
