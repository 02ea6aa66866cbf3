/* SPDX-License-Identifier: Apache-2.0 */
/* --source CIDR: each client sends from an address of its own in the range. */
#ifndef REPLAY_SOURCE_H
#define REPLAY_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"

struct source_range {
    int family;        /* AF_INET, AF_INET6; 0: no range, the system chooses */
    uint8_t first[16]; /* the first address given out, network byte order */
    uint64_t count;    /* how many there are; UINT64_MAX: more than anybody counts */
    const char *text;  /* as given; borrowed */
};

/*
 * Reads ADDRESS/LENGTH, or an ADDRESS alone for all clients. NULL text: no range. An IPv4 range of
 * more than two addresses gives out neither its first (the network's) nor its last (broadcast), an
 * IPv6 range not its first (RFC 4291 2.6.1). 0, or -EINVAL and what is wrong in error.
 */
int source_parse(const char *text, struct source_range *range, struct error *error);

/* The address of a client (number below range->count, or any when the range is one address). */
socklen_t source_address(const struct source_range *range, uint64_t client,
                         struct sockaddr_storage *out);

/* Checks before the run that clients have addresses of the peer's family, enough of them, and that
 * this machine lets us bind each. 0, or a negative errno and one line in error with the remedy. */
int source_check(const struct source_range *range, uint64_t clients, int peer_family,
                 struct error *error);

#endif
