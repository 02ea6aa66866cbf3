/* SPDX-License-Identifier: Apache-2.0 */
/* NetBIOS name queries (RFC 1002 4.2.12) for the domain's <1c> name: the packet nbns:0. */
#ifndef PROTOCOLS_NAMES_NBNS_H
#define PROTOCOLS_NAMES_NBNS_H

#include <stddef.h>
#include <stdint.h>

/* Header, encoded name of 34 bytes, type, class. */
enum { NBNS_QUERY_SIZE = 12 + 34 + 4 };

/* Writes the query for domain<1c>: the name in upper case, padded, in first level encoding (RFC
 * 1001 14.1). -EINVAL: the name is longer than 15 characters. */
int nbns_query(uint16_t id, const char *domain, uint8_t query[NBNS_QUERY_SIZE]);

/* Decodes a reply. 0: positive, with at least one address, -ENOENT: negative, -EBADMSG: malformed.
 */
int nbns_reply_parse(const uint8_t *bytes, size_t size);

#endif
