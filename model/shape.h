/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes of names and filters: the text without its values, which is what a model may keep of a
 * capture. No shape contains a value of the network that was captured.
 */
#ifndef MODEL_SHAPE_H
#define MODEL_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

enum { SHAPE_SIZE = 4096 };

/* The shape of a DN: "CN=Users,DC=example,DC=com" becomes "CN,DC,DC". A shape stays as it is. False
 * if the text is neither a DN nor a shape, or does not fit. */
bool shape_of_dn(const char *dn, char *shape, size_t size);

/* The shape of an LDAP filter (RFC 4515): "(&(cn=secret)(objectClass=user))" becomes
 * "(&(cn)(objectClass=user))". Presence tests stay, and so do objectClass and objectCategory with
 * the names of classes that every directory has. False if the text is not a filter, or does not
 * fit. */
bool shape_of_filter(const char *filter, char *shape, size_t size);

/* The shape of one comparison of a filter: "(attribute=value)" if the value may be kept, else
 * "(attribute)". False if attribute is not an attribute name, or the shape does not fit. */
bool shape_of_comparison(const char *attribute, const char *value, char *shape, size_t size);

/* True for an attribute name: letters, digits, '-', ';' and '.', at most 128 characters. */
bool shape_is_attribute(const char *text);

#endif
