/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the DC's DNS before the clock starts: which names answered in the probe, and the
 * queries of --dns-query-file. Read-only during a run; dc->dns_names owns it.
 */
#ifndef PROTOCOLS_NAMES_DNS_NAMES_H
#define PROTOCOLS_NAMES_DNS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "packets/packet_words.h"

/* The probe asks for each of DNS_NAMES names with each of DNS_TYPES types. */
enum { DNS_TYPES = 10, DNS_PROBES = DNS_NAMES * DNS_TYPES };

enum { DNS_NAME_SIZE = 256 };

extern const uint16_t dns_types[DNS_TYPES];

/* A line of --dns-query-file. */
struct dns_query {
    char name[DNS_NAME_SIZE];
    uint16_t type;
    bool expected; /* true: the reply must contain an answer record; false: it must not */
};

struct dns_names {
    bool answered[DNS_PROBES]; /* by name * DNS_TYPES + type */
    struct dns_query *queries;
    size_t query_count;
};

/* NULL is allowed. */
void dns_names_free(struct dns_names *names);

/* Creates *names if it is NULL. 0 or -ENOMEM. */
int dns_names_prepare(struct dns_names **names);

/*
 * Reads --dns-query-file into *names, creating it if it is NULL. Its lines are
 * `opcode,name,type,expected`; {realm} in a name is replaced by dns_domain (NULL: unknown). Empty
 * lines and lines that begin with # are skipped. opcode is a number that existing files use to
 * number their lines; it is not sent. expected is yes or no. 0, -EINVAL for a malformed line, or
 * another negative errno if the file cannot be read; error then names file and line.
 */
int dns_queries_read(struct dns_names **names, const char *file, const char *dns_domain,
                     struct error *error);

#endif
