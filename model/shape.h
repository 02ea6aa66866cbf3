/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What remains of names and filters when their values are taken out: what a model may keep of a
 * capture. Nothing that these functions return holds a value of the network that was seen.
 */
#ifndef MODEL_SHAPE_H
#define MODEL_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

enum { SHAPE_SIZE = 4096 };

/* "CN=Users,DC=example,DC=com" as "CN,DC,DC". What is a pattern already stays as it is. False when
 * the text is neither a DN nor a pattern, or does not fit. */
bool shape_of_dn(const char *dn, char *shape, size_t size);

/* An LDAP filter (RFC 4515) without its values: "(&(cn=secret)(objectClass=user))" as
 * "(&(cn)(objectClass=user))". Presence tests stay, and so do objectClass and objectCategory with
 * the names of classes that every directory has. False when the text is no filter. */
bool shape_of_filter(const char *filter, char *shape, size_t size);

/* Of one comparison of a filter: "(attribute=value)" when that is kept, else "(attribute)". Text
 * that is no attribute name is refused. */
bool shape_of_comparison(const char *attribute, const char *value, char *shape, size_t size);

/* True for what may stand for an attribute: letters, digits, '-', ';', '.'; at most 128. */
bool shape_is_attribute(const char *text);

#endif
