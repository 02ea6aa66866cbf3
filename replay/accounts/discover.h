/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what the user calls the DC to a filled struct dc: finds its address, asks it by LDAP ping
 * which domain it is of and what it is called, and reads its root DSE. Start-up work: blocks, but
 * for no longer than about 6 s (and what the system's resolver takes, if it is asked).
 */
#ifndef REPLAY_ACCOUNTS_DISCOVER_H
#define REPLAY_ACCOUNTS_DISCOVER_H

#include <stddef.h>

#include "base/error.h"
#include "protocols/dc.h"

/*
 * Finds the address of given (a name that the system resolves, an address, or NAME=ADDRESS) and
 * puts it with the texts into dc: address, given, address_text. Of several addresses the first is
 * taken; discover_dc() tries them in turn.
 *
 * Then asks it, at dc->ports, and fills realm to schema_dn; with dc->options.generic_ldap only
 * base_dn and dns_name (over LDAP or LDAPS; dc->tls is to be set). realm and workgroup (each may be
 * NULL) override what it says. domain_sid needs a bind: see discover_domain_sid().
 *
 * 0; -EINVAL: the user's mistake (given cannot be understood or does not resolve); another negative
 * errno: the server. In both cases one line in error that says what is wrong and what to do.
 */
int discover_dc(struct dc *dc, const char *given, const char *realm, const char *workgroup,
                struct error *error);

/* Reads domain_sid from the domain's object, bound as dc->admin (after kerberos_global_init() when
 * there is an admin_ccache). 0, or a negative errno and a line in error. */
int discover_domain_sid(struct dc *dc, struct error *error);

/* Asks the DC's DNS for all that packets may ask (dns_probe()), many queries at a time. *answered:
 * how many had an answer; 0 usually means that the DC is no DNS server. 0 or a negative errno. */
int discover_dns(struct dc *dc, unsigned *answered);

#endif
