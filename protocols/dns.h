/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS queries to the DC (RFC 1035): the packet dns:0, the probe before the run that tells which
 * names it knows, and the extra queries of --dns-rate.
 */
#ifndef PROTOCOLS_DNS_H
#define PROTOCOLS_DNS_H

#include <stddef.h>
#include <stdint.h>

#include "protocols/conversation.h"
#include "protocols/packet.h"

/* What answered in the probe, and the queries of --dns-query-file: dc->dns_names. Read-only while a
 * run lasts. */
struct dns_names;

void dns_names_free(struct dns_names *names);

/*
 * Asks dc for each of the names that packets draw from and each usual type, and notes in
 * dc->dns_names (made when it is NULL) what answered: only there is "no such name" a failure later.
 * A server that does not answer at all is given up after the first query, 2 s. *answered: how many
 * had an answer record; 0 usually means that the DC is no DNS server. 0 or -ENOMEM.
 */
int dns_probe(struct dc *dc, struct wire *wire, unsigned *answered);

/*
 * Reads --dns-query-file into dc->dns_names: lines `opcode,name,type,expected` with {realm} in name
 * replaced by the domain's DNS name; empty ones and those that begin with # are left out. opcode is
 * a number that tells lines apart (the field's tool prints it), not sent. expected is yes (an
 * answer record must come) or no (none may come). 0, -EINVAL for a line that is none, another
 * negative errno when the file cannot be read; in error a line with file and line number.
 */
int dns_queries_read(struct dc *dc, const char *file, char *error, size_t error_size);

/* An extra query of --dns-rate: one of the file's lines, or without a file what dns:0 would ask. */
extern const struct packet_type dns_extra_packet;

/*
 * Reads a reply to a query of that name and type. Returns the number of its answer records,
 * DNS_TRUNCATED, or -EBADMSG: malformed, or of another question. *rcode: RFC 1035 4.1.1.
 */
enum { DNS_TRUNCATED = -1000 };
int dns_reply_parse(const uint8_t *bytes, size_t size, const char *name, uint16_t type, int *rcode);

#endif
