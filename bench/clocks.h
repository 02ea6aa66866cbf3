/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of the benchmark programs. */
#ifndef BENCH_CLOCKS_H
#define BENCH_CLOCKS_H

#include <sys/resource.h>
#include <time.h>

/* User and system processor time of this process, in seconds. */
static inline double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Monotonic time in seconds, from an arbitrary origin. */
static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
