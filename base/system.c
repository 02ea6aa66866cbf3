/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned system_cores(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : (unsigned)count;
}

int system_write_all(int fd, const void *bytes, size_t size)
{
    for (const char *next = bytes; size > 0;) {
        ssize_t written = write(fd, next, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        next += written;
        size -= (size_t)written;
    }
    return 0;
}

bool system_is_terminal(int fd)
{
    const char *type = getenv("TERM");
    return isatty(fd) == 1 && type && *type && strcmp(type, "dumb") != 0;
}
