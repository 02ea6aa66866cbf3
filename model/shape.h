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

/*
 * Each of these writes a shape to shape, of size bytes. They return 0, -EINVAL for a text of
 * another kind, or -ENOSPC if the shape does not fit.
 */

/* The shape of a DN: "CN=Users,DC=example,DC=com" becomes "CN,DC,DC". A shape stays as it is. */
int shape_of_dn(const char *dn, char *shape, size_t size);

/* The shape of an LDAP filter (RFC 4515): "(&(cn=secret)(objectClass=user))" becomes
 * "(&(cn)(objectClass=user))". Presence tests stay, and so do objectClass and objectCategory with
 * the names of classes that every directory has. */
int shape_of_filter(const char *filter, char *shape, size_t size);

/* The shape of one comparison of a filter: "(attribute=value)" if the value may be kept, else
 * "(attribute)". attribute must be the name of an attribute. */
int shape_of_comparison(const char *attribute, const char *value, char *shape, size_t size);

/* True for an attribute name: letters, digits, '-', ';' and '.', at most 128 characters. */
bool shape_is_attribute(const char *text);

#endif
