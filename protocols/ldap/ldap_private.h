/* SPDX-License-Identifier: Apache-2.0 */
/* The state that the LDAP packets keep in a conversation. */
#ifndef PROTOCOLS_LDAP_LDAP_PRIVATE_H
#define PROTOCOLS_LDAP_LDAP_PRIVATE_H

#include <stddef.h>

#include "protocols/conversation.h"

struct ldap_connection;

struct ldap_state {
    struct conversation_state base;
    struct ldap_connection **connections; /* newest last */
    size_t connection_count;
    char **objects; /* DNs of the objects that this conversation added, newest last */
    size_t object_count;
};

#endif
