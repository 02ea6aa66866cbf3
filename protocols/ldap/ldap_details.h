/* SPDX-License-Identifier: Apache-2.0 */
/* Details of LDAP packets, compiled once before the clock starts: what ldap_packets.c plays. */
#ifndef PROTOCOLS_LDAP_LDAP_DETAILS_H
#define PROTOCOLS_LDAP_LDAP_DETAILS_H

#include "base/error.h"
#include "protocols/ldap/ldap_connection.h"
#include "protocols/ldap/ldap_filter.h"
#include "protocols/packet.h"

struct ldap_searches;

/* ldap:0 */
struct ldap_bind_details {
    bool simple;
    enum ldap_mechanism mechanism; /* of SASL */
    bool transport_given;          /* details say starttls or ldaps */
    enum ldap_transport transport;
};

/* ldap:3 */
struct ldap_search_details {
    /* A capture saw only that there was a search: one is drawn from these. NULL: it is readable. */
    const struct ldap_searches *sealed;
    int scope;  /* LDAP_SCOPE_... */
    char *base; /* a DN, "" for the root DSE; NULL: an object that fits base_key */
    char *base_key;
    struct ldap_filter *filter;
    char **attributes; /* NULL-terminated; NULL: all */
    LDAPControl **controls;
};

/* For packet_player.fill, compile and release. */
void ldap_bind_fill(const struct packet_details *details, void *compiled);
void *ldap_search_compile(const struct packet_details *details, struct packet_context *context,
                          struct error *error);
void ldap_search_release(void *compiled);

/* The search itself, or for a sealed one a readable search of the model, chosen as often as the
 * model saw it. A sealed search of a model without readable ones looks up a test user. */
const struct ldap_search_details *ldap_search_draw(struct conversation *conversation,
                                                   const struct ldap_search_details *search);

#endif
