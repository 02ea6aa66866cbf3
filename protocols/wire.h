/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How protocols wait.
 *
 * Everything in protocols/ is straight-line code. Only a stream (stream.h) ever waits, and it does
 * so through a struct waiter. The engine's waiter is an event loop that parks the calling fiber; a
 * test can use plain poll(2).
 */
#ifndef PROTOCOLS_WIRE_H
#define PROTOCOLS_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum wire_event { WIRE_READ = 1, WIRE_WRITE = 2 };

/* A descriptor to wait for. A stream embeds it; every member but fd belongs to the waiter. */
struct wire_slot {
    int fd;          /* -1: none */
    uint8_t wanted;  /* enum wire_event to wait for; 0: nobody waits */
    uint8_t missed;  /* bits of enum wire_event that occurred while nobody waited */
    uint8_t watched; /* bits of enum wire_event that the kernel reports */
    bool hung_up;    /* the kernel reported that the peer sends nothing more */
    void *parked;    /* the waiter's record of who waits; NULL: nobody */
};

struct waiter;

struct waiter_ops {
    /*
     * Waits until slot->fd is readable or writable. Descriptors are edge-triggered: call it only
     * after EAGAIN. deadline is CLOCK_MONOTONIC nanoseconds.
     * 0: try again (may be spurious), -ETIMEDOUT, or -ECANCELED: the run is over.
     */
    int (*wait)(struct waiter *waiter, struct wire_slot *slot, enum wire_event event,
                int64_t deadline);
    /* Forgets a descriptor before it is closed. */
    void (*forget)(struct waiter *waiter, struct wire_slot *slot);
};

struct waiter {
    const struct waiter_ops *ops;
};

/* What one packet moved: bytes of files, and the SMB2 requests it took. */
struct wire_data {
    uint64_t read, written;
    uint32_t requests;
};

/* The last server port that could not be reached. */
struct wire_unreached {
    int error; /* negative errno; 0: none */
    uint16_t port;
    bool udp;
};

/*
 * A client's access to the network. packet_play() sets the deadline and clears the two times and
 * the data; streams set the times, SMB2 counts the data. Owned by the client; streams point to it.
 */
struct wire {
    struct waiter *waiter;
    int64_t deadline;      /* CLOCK_MONOTONIC ns at which every wait of this packet ends */
    int64_t first_sent;    /* when this packet's first byte or SYN was sent; 0: not yet */
    int64_t last_received; /* when this packet's last byte was received; 0: none yet */
    bool cancelled;        /* a wait of this packet ended with the run */
    struct wire_data data;
    struct wire_unreached unreached; /* opening a stream clears it */
    socklen_t source_len;            /* 0: the system chooses the source address */
    struct sockaddr_storage source;
};

/* A waiter that blocks in poll(2), for start-up and tests. Static, never freed. */
struct waiter *wire_blocking_waiter(void);

#endif
