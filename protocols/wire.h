/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a protocol waits, without knowing who lets it wait.
 *
 * Everything in protocols/ is written as straight-line code. The one thing that ever waits is a
 * stream (stream.h), and it does so through a struct waiter: the engine's is an event loop that
 * parks the calling fiber, a test's may be a plain poll(2).
 */
#ifndef PROTOCOLS_WIRE_H
#define PROTOCOLS_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum wire_event { WIRE_READ = 1, WIRE_WRITE = 2 };

/* One descriptor that may be waited for. A stream embeds it; all but fd belong to the waiter. */
struct wire_slot {
    int fd;          /* -1: none */
    uint8_t wanted;  /* enum wire_event that is being waited for, 0: nobody waits */
    uint8_t missed;  /* enum wire_event that came while nobody waited for them */
    uint8_t watched; /* enum wire_event that the waiter has asked the kernel for */
    bool hung_up;    /* the waiter was told that the peer sends no more */
    void *parked;    /* who waits */
};

struct waiter;

struct waiter_ops {
    /*
     * Waits until slot->fd may be read or written. Descriptors are watched edge-triggered: call
     * this only after EAGAIN. deadline is absolute, CLOCK_MONOTONIC nanoseconds.
     * Returns 0 (try again; may be spurious), -ETIMEDOUT, or -ECANCELED when the run is over.
     */
    int (*wait)(struct waiter *waiter, struct wire_slot *slot, enum wire_event event,
                int64_t deadline);
    /* The descriptor is about to be closed: forgets it. */
    void (*forget)(struct waiter *waiter, struct wire_slot *slot);
};

struct waiter {
    const struct waiter_ops *ops;
};

/*
 * One client's way to the network: the packet being played sets the deadline and clears the two
 * times, streams stamp them. Owned by the client; streams point to it.
 */
struct wire {
    struct waiter *waiter;
    int64_t deadline;      /* CLOCK_MONOTONIC ns at which every wait of this packet ends */
    int64_t first_sent;    /* first byte (or SYN) of this packet left; 0: nothing was sent yet */
    int64_t last_received; /* last byte of this packet came in; 0: none yet */
    bool cancelled;        /* a wait of this packet ended because the run is over */
    socklen_t source_len;  /* 0: the system chooses the source address */
    struct sockaddr_storage source;
};

/* Gives a waiter that blocks in poll(2): for start-up and tests. Static, never freed. */
struct waiter *wire_blocking_waiter(void);

#endif
