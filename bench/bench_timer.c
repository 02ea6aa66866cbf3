/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How late this machine wakes a process that waits for an absolute time, with nothing else to do in
 * it: the floor under every lag. bench_timer SECONDS prints p50, p99 and the largest lateness in
 * microseconds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    enum { MOST = 100000, STEP = 1000000 }; /* one wake-up a millisecond */
    static int64_t late[MOST];
    size_t wanted = argc == 2 ? (size_t)(atof(argv[1]) * 1000) : 0;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (wanted == 0 || wanted > MOST || epoll < 0)
        return 2;
    int64_t due = now();
    for (size_t n = 0; n < wanted; n++) {
        due += STEP;
        struct epoll_event event;
        int64_t left = due - now();
        if (left > 0) {
            struct timespec wait = {.tv_nsec = left};
            (void)epoll_pwait2(epoll, &event, 1, &wait, NULL);
        }
        late[n] = now() - due;
    }
    qsort(late, wanted, sizeof late[0], ascending);
    printf("%.1f %.1f %.1f\n", 1e-3 * (double)late[wanted / 2],
           1e-3 * (double)late[wanted * 99 / 100], 1e-3 * (double)late[wanted - 1]);
    return 0;
}
