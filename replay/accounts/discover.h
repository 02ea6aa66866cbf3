/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills struct dc from the name of a DC: finds its address, asks for its domain and names with an
 * LDAP ping, and reads its root DSE. This is start-up work: it blocks for up to about 6 s, plus the
 * time that the system's resolver takes.
 */
#ifndef REPLAY_ACCOUNTS_DISCOVER_H
#define REPLAY_ACCOUNTS_DISCOVER_H

#include <stddef.h>

#include "base/error.h"
#include "protocols/dc.h"

/* The host of NAME=ADDRESS, of a name or of an address, without the brackets of "[::1]". 0, or
 * -EINVAL: it is empty or too long. */
enum { DISCOVER_HOST_SIZE = 1025 };
int discover_host(const char *given, char host[DISCOVER_HOST_SIZE]);

/*
 * given is a name that the system resolves, an address, or NAME=ADDRESS. Tries its addresses in
 * turn until one answers; fills dc->given, address and address_text.
 *
 * Then asks the server at dc->ports, and fills realm to schema_dn; with dc->options.generic_ldap
 * only base_dn and dns_name (over LDAP or LDAPS, which needs dc->tls). realm and workgroup override
 * what the server says; each may be NULL. domain_sid needs a bind: see discover_domain_sid().
 *
 * 0; -EINVAL: usage error (given is malformed or does not resolve); another negative errno: the
 * server does not answer as needed. The text says what to do.
 */
int discover_dc(struct dc *dc, const char *given, const char *realm, const char *workgroup,
                struct error *error);

/* Reads domain_sid from the domain's object as dc->admin. If there is an admin_ccache, call
 * kerberos_global_init() first. 0 or a negative errno. */
int discover_domain_sid(struct dc *dc, struct error *error);

/* Sends the DNS queries that packets may send (dns_probe()) to the DC, in parallel. *answered: the
 * number of answers; 0 usually means that the DC is not a DNS server. 0 or a negative errno. */
int discover_dns(struct dc *dc, unsigned *answered);

#endif
