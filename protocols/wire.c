/* SPDX-License-Identifier: Apache-2.0 */
/* A waiter that blocks. */
#include "protocols/wire.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <time.h>

#include "base/clock.h"

static int blocking_wait(struct waiter *waiter, struct wire_slot *slot, enum wire_event event,
                         int64_t deadline);
static void blocking_forget(struct waiter *waiter, struct wire_slot *slot);

struct waiter *wire_blocking_waiter(void)
{
    static const struct waiter_ops ops = {.wait = blocking_wait, .forget = blocking_forget};
    static struct waiter waiter = {.ops = &ops};
    return &waiter;
}

static int blocking_wait(struct waiter *waiter, struct wire_slot *slot, enum wire_event event,
                         int64_t deadline)
{
    (void)waiter;
    int64_t left = deadline - clock_now();
    if (left <= 0)
        return -ETIMEDOUT;
    struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    struct pollfd fd = {.fd = slot->fd, .events = event == WIRE_READ ? POLLIN : POLLOUT};
    int n = ppoll(&fd, 1, &timeout, NULL);
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    return n == 0 ? -ETIMEDOUT : 0;
}

static void blocking_forget(struct waiter *waiter, struct wire_slot *slot)
{
    (void)waiter;
    (void)slot;
}
