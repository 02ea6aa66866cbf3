/* SPDX-License-Identifier: Apache-2.0 */
/* --source CIDR: each client sends from its own address in the range. */
#ifndef REPLAY_SOURCE_H
#define REPLAY_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"

struct source_range {
    int family;        /* AF_INET, AF_INET6; 0: no range, the system chooses */
    int length;        /* of the prefix, bits */
    uint8_t first[16]; /* the first client's address, network byte order */
    uint64_t count;    /* number of addresses; UINT64_MAX: at least this many */
    const char *text;  /* as given; borrowed */
};

/*
 * Reads ADDRESS/LENGTH, or one ADDRESS for all clients. NULL: no range. An IPv4 range of more than
 * two addresses excludes the first (network) and the last (broadcast), an IPv6 range the first
 * (RFC 4291 2.6.1). 0 or -EINVAL, also for a prefix shorter than /8, multicast and reserved
 * addresses.
 */
int source_parse(const char *text, struct source_range *range, struct error *error);

/* The address of a client. Its number is below range->count, or any if the range has one address.
 */
socklen_t source_address(const struct source_range *range, uint64_t client,
                         struct sockaddr_storage *out);

/*
 * Checks that the range has the peer's address family (0: that of the server's name or address, as
 * far as it can be resolved), that it has enough addresses for the
 * clients, and that each can be bound on this machine. 0, or a negative errno with a text that
 * includes the remedy. It advises a local route only for a range that holds neither the server
 * (NAME=ADDRESS, a name or an address; NULL: none) nor an address or a route of this machine;
 * otherwise -EINVAL.
 */
int source_check(const struct source_range *range, uint64_t clients, const char *server,
                 int peer_family, struct error *error);

#endif
