/* SPDX-License-Identifier: Apache-2.0 */
/* What the LDAP packets keep in a conversation. */
#ifndef PROTOCOLS_LDAP_STATE_H
#define PROTOCOLS_LDAP_STATE_H

struct conversation;

/* Closes the conversation's LDAP connections: its reset function. Never waits. */
void ldap_reset(struct conversation *conversation);

#endif
