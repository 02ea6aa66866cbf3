/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS queries to the DC (RFC 1035): the packet dns:0, the probe before the run that tells which
 * names it knows, and the extra queries of --dns-rate.
 */
#ifndef PROTOCOLS_NAMES_DNS_H
#define PROTOCOLS_NAMES_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/conversation.h"
#include "protocols/names/dns_names.h"
#include "protocols/packet.h"

/*
 * The probe: asks dc (dns_names_prepare() done) for the i-th of DNS_PROBES names and types that
 * packets may ask for, and notes whether there was an answer record, which it returns: only where
 * there was one is "no such name" a failure later. Waits 2 s for an answer.
 */
bool dns_probe(struct dc *dc, struct wire *wire, unsigned i);

/* An extra query of --dns-rate: one of the file's lines, or without a file what dns:0 would ask. */
extern const struct packet_player dns_extra_player;

/*
 * Reads a reply to a query of that name and type. Returns the number of its answer records,
 * DNS_TRUNCATED, or -EBADMSG: malformed, or of another question. *rcode: RFC 1035 4.1.1.
 */
enum { DNS_TRUNCATED = -1000 };
int dns_reply_parse(const uint8_t *bytes, size_t size, const char *name, uint16_t type, int *rcode);

#endif
