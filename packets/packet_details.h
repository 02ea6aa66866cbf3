/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Details of packets against the packet table: which fields a packet may have, whether a value fits
 * its rule, and the numbers and texts that a player reads.
 */
#ifndef PACKETS_PACKET_DETAILS_H
#define PACKETS_PACKET_DETAILS_H

#include "base/error.h"
#include "packets/packet_table.h"

/* A field as a model stores it: `attrs: [cn, member]` is {"attrs", 2, {"cn", "member"}}. */
struct packet_field {
    const char *key;
    size_t count;
    const char *const *values;
};

/* The rule for a field of a packet, or NULL. row may be NULL: it has none. */
const struct packet_rule *packet_rule_find(const struct packet_row *row, const char *key);

/* True when the field's value is a list. */
bool packet_rule_is_list(const struct packet_rule *rule);

/* The value as it is stored (an alias becomes the name that it stands for), or NULL when the rule
 * does not allow it. For lists, text is one item. */
const char *packet_rule_check(const struct packet_rule *rule, const char *text);

/* What a rule accepts, for "expected ..." messages. */
const char *packet_rule_expected(const struct packet_rule *rule, char *buffer, size_t size);

/* The fields that a packet may have, "scope, base, filter"; empty: none. */
const char *packet_rule_keys(const struct packet_row *row, char *buffer, size_t size);

/* A field as a player reads it. */
struct packet_value {
    bool given;       /* the form has the field; false: this is the default, if there is one */
    uint64_t number;  /* PACKET_NUMBER, PACKET_RRTYPE; PACKET_WORD: the word's value; PACKET_FLAG */
    const char *text; /* as it is stored; NULL: neither given nor default, or a list */
    size_t count;     /* of a list */
    const char *const *items;
};

/* A form of a packet. Texts are those that it was read from, or the table's. */
struct packet_details {
    const struct packet_row *row;
    uint64_t count;                               /* how often the model saw it */
    struct packet_value values[PACKET_RULES_MAX]; /* in the order of row->rules */
};

/* Reads the fields of a form, which was seen once. 0, or -EINVAL and a line in error that names the
 * field. */
int packet_details_read(struct packet_details *details, const struct packet_row *row,
                        const struct packet_field *fields, size_t count, struct error *error);

/* The value of a field that the packet's row has a rule for; aborts when it has none. */
const struct packet_value *packet_details_get(const struct packet_details *details,
                                              const char *key);

/* Accounts and keys that the form needs in addition to those of its packet (enum packet_need). */
unsigned packet_details_needs(const struct packet_row *row, const struct packet_field *fields,
                              size_t count);

/* The number of a DNS type's name (A, SRV, TYPE65; case does not matter), 0: it is none. */
uint16_t packet_dns_type(const char *text);

/* The i-th of the types that have a name, in alphabetical order; NULL: there are no more. */
const char *packet_dns_type_name(size_t i);

#endif
