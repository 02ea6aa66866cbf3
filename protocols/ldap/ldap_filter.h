/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search filters whose values a capture does not hold: parsed once into a list of pieces, filled in
 * for each play.
 */
#ifndef PROTOCOLS_LDAP_LDAP_FILTER_H
#define PROTOCOLS_LDAP_LDAP_FILTER_H

#include <stddef.h>

#include "base/error.h"
#include "protocols/conversation.h"

struct ldap_filter;

enum { LDAP_FILTER_NESTING_MAX = 64, LDAP_FILTER_SIZE_MAX = 64 << 10 };

/* Text that grows. Zeroed before first use; data is NUL-terminated once something was added. */
struct ldap_text {
    char *data;
    size_t size, capacity;
    int error; /* -ENOMEM after which adding does nothing */
};

void ldap_text_add(struct ldap_text *text, const char *bytes, size_t size);
void ldap_text_add_string(struct ldap_text *text, const char *string);
/* A value as RFC 4515 3 wants it: what is special, or no ASCII letter, digit or mark, as \XX. */
void ldap_text_add_value(struct ldap_text *text, const void *value, size_t size);
/* Empties it, keeps its memory. */
void ldap_text_clear(struct ldap_text *text);
void ldap_text_free(struct ldap_text *text);

/*
 * RFC 4515, where an item may lack its value: "(&(sAMAccountName)(objectClass=user))". On failure
 * NULL and a line in error that says at which character what was expected.
 */
struct ldap_filter *ldap_filter_parse(const char *text, struct error *error);

/* What a captured subtree search without a filter was for, told by its base pattern and the
 * attributes that it asks (NULL-terminated, or NULL). NULL: no memory. */
struct ldap_filter *ldap_filter_guess(const char *base_pattern, char *const *attributes);

void ldap_filter_free(struct ldap_filter *filter);

/* Appends the filter with values drawn by the conversation's chance from its dc. */
void ldap_filter_fill(const struct ldap_filter *filter, struct conversation *conversation,
                      struct ldap_text *out);

#endif
