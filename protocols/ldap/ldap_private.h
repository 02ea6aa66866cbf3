/* SPDX-License-Identifier: Apache-2.0 */
/* What the LDAP packets keep in a conversation. */
#ifndef PROTOCOLS_LDAP_LDAP_PRIVATE_H
#define PROTOCOLS_LDAP_LDAP_PRIVATE_H

#include <stddef.h>

struct conversation;
struct ldap_connection;

struct ldap_state {
    struct ldap_connection **connections; /* newest last */
    size_t connection_count, connection_capacity;
    char **objects; /* DNs of what this conversation added, newest last */
    size_t object_count, object_capacity;
};

/* Closes the conversation's LDAP connections: its reset function. Never waits. */
void ldap_reset(struct conversation *conversation);

#endif
