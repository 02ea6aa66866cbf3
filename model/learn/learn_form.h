/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A form is a packet with its details as one line: "ldap:3", then key=value pairs, each after
 * LEARN_FIELD. The values of a list are separated by commas. Forms contain no value of the network,
 * except for the number of a DNS name ("name=@7"), which learn_capture_finish() replaces by the
 * kind of the name.
 */
#ifndef MODEL_LEARN_LEARN_FORM_H
#define MODEL_LEARN_LEARN_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packets/packet_details.h"

enum { LEARN_FIELD = 0x1f, LEARN_FORM_SIZE = 8192, LEARN_FORM_FIELDS = 12 };

struct learn_form {
    char text[LEARN_FORM_SIZE];
    size_t length;
    const struct packet_row *row; /* of the packet; NULL: it has no details */
    bool full;                    /* a field did not fit: the fields after it are left out too */
};

/* Starts a form with "protocol:opcode". */
void learn_form_init(struct learn_form *form, const char *protocol, const char *opcode);

/* Adds a field. False if the packet table does not allow the value, which is left out then. */
bool learn_form_add(struct learn_form *form, const char *key, const char *value);
bool learn_form_add_number(struct learn_form *form, const char *key, uint64_t value);

/* Adds the field "name" with the number of a DNS name. */
void learn_form_add_name(struct learn_form *form, uint32_t number);

/* The length of "protocol:opcode" at the start of a form. */
size_t learn_form_type(const char *form);

struct learn_form_parts {
    const char *protocol, *opcode;
    struct {
        const char *key;
        char *value; /* the values of a list are still separated by commas */
    } fields[LEARN_FORM_FIELDS];
    size_t count;
};

/* Splits a form's text in place. */
void learn_form_split(char *text, struct learn_form_parts *parts);

#endif
