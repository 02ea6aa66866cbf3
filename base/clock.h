/* SPDX-License-Identifier: Apache-2.0 */
/* The clock that every measurement uses. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC now, in nanoseconds. */
int64_t clock_now(void);

#endif
