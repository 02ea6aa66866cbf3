/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A catalogue of the directory, read once before the run, so that searches have bases and filter
 * values that exist. It groups objects by the pattern of their DN: the types of its RDNs, such as
 * "CN,OU,DC,DC". Threads share it, because it never changes.
 */
#ifndef PROTOCOLS_LDAP_CATALOGUE_H
#define PROTOCOLS_LDAP_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "protocols/conversation.h"

struct catalogue;

enum { CATALOGUE_OBJECTS_MAX = 10000 };

/* The values known of an object. */
enum catalogue_value {
    CATALOGUE_DN,
    CATALOGUE_RDN, /* value of the first RDN, not escaped */
    CATALOGUE_SID, /* objectSid, binary */
    CATALOGUE_GUID,
    CATALOGUE_CATEGORY, /* objectCategory, a DN */
    CATALOGUE_SPN,      /* the first servicePrincipalName */
    CATALOGUE_HOST,     /* dNSHostName */
    CATALOGUE_VALUES
};

struct catalogue_bytes {
    void *data; /* followed by a NUL; NULL: no value */
    size_t size;
};

/*
 * Reads the directory with the dc's admin account (with --server ldap: a simple bind, or
 * anonymously without an account). The time up to the deadline of admin's wire is the limit for
 * each answer. A server that returns only a part of the directory is enough, see catalogue_limit().
 * On 0 the caller owns *out; otherwise a negative errno and one line in error.
 */
int catalogue_read(struct conversation *admin, struct catalogue **out, struct error *error);
/* NULL is allowed. */
void catalogue_free(struct catalogue *catalogue);

/* The result code ("sizeLimitExceeded") with which the server ended the reading early; static.
 * NULL: it did not. */
const char *catalogue_limit(const struct catalogue *catalogue);

size_t catalogue_count(const struct catalogue *catalogue);
uint64_t catalogue_highest_usn(const struct catalogue *catalogue);

/* This value of a random object that has one; NULL: no object has one. catalogue may be NULL. */
const struct catalogue_bytes *catalogue_draw(const struct catalogue *catalogue,
                                             struct conversation *conversation,
                                             enum catalogue_value value);

/* DNs of the group policy objects. catalogue may be NULL. */
const struct catalogue_bytes *const *catalogue_gpos(const struct catalogue *catalogue,
                                                    size_t *count);

/*
 * The key of a base pattern for catalogue_base(): capitals, without the trailing DCs, whose number
 * depends on the domain. The caller frees it; NULL: no memory.
 */
char *catalogue_pattern_key(const char *pattern);

/* The DN of a random object with the key's pattern. If there is none, the key is shortened from the
 * left; at last the domain's DN is used. NULL: that is unknown too. */
const char *catalogue_base(const struct catalogue *catalogue, struct conversation *conversation,
                           const char *key);

#endif
