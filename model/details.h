/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields the details of each packet type may have, and what their values look like: the table
 * behind traffic-model(5). Also turns a Samba v2 model's tab-joined details into these fields. */
#ifndef MODEL_DETAILS_H
#define MODEL_DETAILS_H

#include "base/arena.h"
#include "model/model.h"

enum details_kind {
    DETAILS_CHOICE,  /* one of the words in values */
    DETAILS_TEXT,    /* any text */
    DETAILS_PATTERN, /* DN pattern: "CN,CN,DC,DC" or empty */
    DETAILS_WORD,    /* letters, digits, '.', '-', '_' */
    DETAILS_LIST,    /* list of attribute names */
    DETAILS_OIDS,    /* list of at most max OIDs */
    DETAILS_FLAG,    /* true or false */
    DETAILS_NUMBER,  /* whole number up to max, decimal or 0x... */
    DETAILS_COUNT,   /* the same, but not 0 */
    DETAILS_RRTYPE   /* DNS type: A, SRV, TYPE65 */
};

struct details_rule {
    const char *packets; /* "samr:8 samr:36": to which it applies */
    const char *key;
    enum details_kind kind;
    const char *values; /* DETAILS_CHOICE: "base one sub" */
    uint64_t max;       /* DETAILS_NUMBER, DETAILS_COUNT, DETAILS_OIDS */
};

/* The rule for a key of a packet's details, or NULL. */
const struct details_rule *details_rule(const char *protocol, const char *opcode, const char *key);

/* What keys a packet may have, "scope, base, filter" (empty: none). */
const char *details_keys(const char *protocol, const char *opcode, char *buffer, size_t size);

/* True when a rule's value is a list. */
bool details_is_list(const struct details_rule *rule);

/* The value as it is kept (OIDs of SASL wrappers become their names), or NULL when the rule does
 * not allow it. */
const char *details_value(const struct details_rule *rule, const char *value);

/* What a rule wants, for "expected ...". */
const char *details_expected(const struct details_rule *rule, char *buffer, size_t size);

/*
 * A Samba v2 model's details of one packet as fields in arena. Sets *foreign when something in it
 * was not understood (and left out). 0 or -ENOMEM.
 */
int details_from_samba(struct arena *arena, const char *protocol, const char *opcode,
                       const char *text, struct model_field **fields, size_t *count, bool *foreign);

#endif
