/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A catalogue of the directory: read once at start, so that searches can be given bases and filter
 * values that exist. Objects are grouped by the pattern of their DN: the types of its RDNs, as in
 * "CN,OU,DC,DC". Immutable once read; shared by threads.
 */
#ifndef PROTOCOLS_LDAP_CATALOGUE_H
#define PROTOCOLS_LDAP_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "protocols/conversation.h"

struct catalogue;

enum { CATALOGUE_OBJECTS_MAX = 10000 };

/* What is known of an object. */
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
    void *data; /* followed by a NUL; NULL: the object has none */
    size_t size;
};

/*
 * Reads it with the dc's admin account (a server that is no DC: a simple bind, anonymous without an
 * account). Waits through admin's wire, whose deadline bounds the whole. 0 and *out is the
 * caller's, or a negative errno and a line in error.
 */
int catalogue_read(struct conversation *admin, struct catalogue **out, struct error *error);
/* NULL is allowed. */
void catalogue_free(struct catalogue *catalogue);

/* By hand: an empty one for a domain, objects added to it, made ready for drawing. */
struct catalogue *catalogue_new(const char *base_dn);
/* Copies values[CATALOGUE_VALUES]; the DN must be there, the RDN value is taken from it. -EINVAL:
 * no DN, -ENOSPC: CATALOGUE_OBJECTS_MAX is reached, -ENOMEM. */
int catalogue_add(struct catalogue *catalogue, const struct catalogue_bytes *values);
void catalogue_set_highest_usn(struct catalogue *catalogue, uint64_t usn);
int catalogue_finish(struct catalogue *catalogue);

size_t catalogue_count(const struct catalogue *catalogue);
uint64_t catalogue_highest_usn(const struct catalogue *catalogue);

/* This value of an object that has one, or NULL: none has. catalogue may be NULL. */
const struct catalogue_bytes *catalogue_draw(const struct catalogue *catalogue,
                                             struct conversation *conversation,
                                             enum catalogue_value value);

/* DNs of the group policy objects. catalogue may be NULL. */
const struct catalogue_bytes *const *catalogue_gpos(const struct catalogue *catalogue,
                                                    size_t *count);

/*
 * A base pattern in the form that catalogue_base() wants: in capitals and without its trailing DCs,
 * whose number is the domain's, whatever it was where the pattern comes from. malloc'd; NULL: no
 * memory.
 */
char *catalogue_pattern_key(const char *pattern);

/* The DN of an object that fits: of the key's pattern, else of one shortened from the left, until
 * an object fits; when none does, the domain's DN. NULL: not even that is known. */
const char *catalogue_base(const struct catalogue *catalogue, struct conversation *conversation,
                           const char *key);

#endif
