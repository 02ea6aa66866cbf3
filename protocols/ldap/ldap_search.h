/* SPDX-License-Identifier: Apache-2.0 */
/* Searches with all their pages (RFC 2696), entry by entry. */
#ifndef PROTOCOLS_LDAP_LDAP_SEARCH_H
#define PROTOCOLS_LDAP_LDAP_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "protocols/ldap/ldap_connection.h"

enum { LDAP_SEARCH_PAGE = 1000 };

struct ldap_search {
    const char *base;
    int scope;
    const char *filter;
    char *const *attributes;      /* NULL-terminated; NULL: all */
    LDAPControl *const *controls; /* NULL-terminated, LDAP_SEARCH_CONTROLS_MAX at most; or NULL */
    bool paged;
    /* Called for each entry, which libldap owns. False: no further page is requested. NULL: entries
     * are dropped. */
    bool (*entry)(void *context, LDAP *handle, LDAPMessage *entry);
    void *context;
    uint64_t entries; /* out: number of entries */
};

/* Runs the search to its last page and sets search->entries. */
struct outcome ldap_search_run(struct ldap_connection *connection, struct ldap_search *search);

#endif
