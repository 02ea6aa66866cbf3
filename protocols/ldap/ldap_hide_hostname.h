/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps libldap and libsasl from looking up the name of this host. */
#ifndef PROTOCOLS_LDAP_LDAP_HIDE_HOSTNAME_H
#define PROTOCOLS_LDAP_LDAP_HIDE_HOSTNAME_H

#include <stdbool.h>

/* While true, gethostname() returns an address to the calling thread. */
void ldap_hide_hostname(bool hide);

#endif
