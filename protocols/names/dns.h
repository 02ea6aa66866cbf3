/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS queries to the DC (RFC 1035): the packet dns:0, the probe before the run that finds out which
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
 * Probes the i-th of the DNS_PROBES names and types that packets use, after dns_names_prepare().
 * Waits 2 s. Notes and returns whether there was an answer record: only then is "no such name" a
 * failure during the run.
 */
bool dns_probe(struct dc *dc, struct wire *wire, unsigned i);

/* An extra query of --dns-rate: a line of the file, or without a file the query of dns:0. */
extern const struct packet_player dns_extra_player;

/*
 * Decodes the reply to a query. Returns the number of answer records, DNS_TRUNCATED, or -EBADMSG:
 * malformed, or for another question. *rcode: RFC 1035 4.1.1.
 */
enum { DNS_TRUNCATED = -1000 };
int dns_reply_parse(const uint8_t *bytes, size_t size, const char *name, uint16_t type, int *rcode);

#endif
