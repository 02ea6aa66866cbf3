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

#include "base/error.h"
#include "protocols/conversation.h"
#include "protocols/packet.h"

/* What answered in the probe, and the queries of --dns-query-file: dc->dns_names. Read-only while a
 * run lasts. */
struct dns_names;

void dns_names_free(struct dns_names *names);

/* Makes dc->dns_names when it is NULL. 0 or -ENOMEM. */
int dns_names_prepare(struct dc *dc);

/*
 * The probe: asks dc (dns_names_prepare() done) for the i-th of DNS_PROBES names and types that
 * packets may ask for, and notes whether there was an answer record, which it returns: only where
 * there was one is "no such name" a failure later. Waits 2 s for an answer.
 */
enum { DNS_PROBES = 60 };
bool dns_probe(struct dc *dc, struct wire *wire, unsigned i);

/*
 * Reads --dns-query-file into dc->dns_names: lines `opcode,name,type,expected` with {realm} in name
 * replaced by the domain's DNS name; empty ones and those that begin with # are left out. opcode is
 * a number that tells lines apart (the field's tool prints it), not sent. expected is yes (an
 * answer record must come) or no (none may come). 0, -EINVAL for a line that is none, another
 * negative errno when the file cannot be read; in error a line with file and line number.
 */
int dns_queries_read(struct dc *dc, const char *file, struct error *error);

/* An extra query of --dns-rate: one of the file's lines, or without a file what dns:0 would ask. */
extern const struct packet_type dns_extra_packet;

/*
 * Reads a reply to a query of that name and type. Returns the number of its answer records,
 * DNS_TRUNCATED, or -EBADMSG: malformed, or of another question. *rcode: RFC 1035 4.1.1.
 */
enum { DNS_TRUNCATED = -1000 };
int dns_reply_parse(const uint8_t *bytes, size_t size, const char *name, uint16_t type, int *rcode);

#endif
