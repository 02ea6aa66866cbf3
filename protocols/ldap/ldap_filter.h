/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search filters without values, because captures do not contain these. They are parsed once into
 * pieces and filled in for each search.
 */
#ifndef PROTOCOLS_LDAP_LDAP_FILTER_H
#define PROTOCOLS_LDAP_LDAP_FILTER_H

#include <stddef.h>

#include "base/error.h"
#include "protocols/conversation.h"

struct ldap_filter;

enum { LDAP_FILTER_NESTING_MAX = 64, LDAP_FILTER_SIZE_MAX = 64 << 10 };

/*
 * Parses a filter (RFC 4515) in which an item may lack its value, such as
 * "(&(sAMAccountName)(objectClass=user))". NULL on failure; one line in error then names the
 * position and what was expected there.
 */
struct ldap_filter *ldap_filter_parse(const char *text, struct error *error);

/* Guesses the filter of a captured subtree search from its base pattern and the requested
 * attributes (NULL-terminated, or NULL). NULL: no memory. */
struct ldap_filter *ldap_filter_guess(const char *base_pattern, char *const *attributes);

/* NULL is allowed. */
void ldap_filter_free(struct ldap_filter *filter);

/* The filter with values drawn at random from the conversation's DC. Allocated; NULL: no memory. */
char *ldap_filter_fill(const struct ldap_filter *filter, struct conversation *conversation);

#endif
