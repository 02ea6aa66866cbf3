/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the details of LDAP packets, once before the clock starts, for ldap_packets.c. */
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
    bool transport_given;          /* the details contain starttls or ldaps */
    enum ldap_transport transport;
};

/* ldap:3 */
struct ldap_search_details {
    /* For a search that was encrypted in the capture: searches to draw from. Else NULL. */
    const struct ldap_searches *sealed;
    int scope;  /* LDAP_SCOPE_... */
    char *base; /* "" for the root DSE; NULL: a DN that matches base_key */
    char *base_key;
    struct ldap_filter *filter;
    char **attributes; /* NULL-terminated; NULL: all */
    LDAPControl **controls;
};

/* For packet_player.fill, compile and release. */
void ldap_details_fill_bind(const struct packet_details *details, void *compiled);
void *ldap_details_compile_search(const struct packet_details *details,
                                  struct packet_context *context, struct error *error);
void ldap_details_release_search(void *compiled);

/* The search itself. For a sealed one, a random readable search of the model, weighted by how often
 * the model saw it; without readable searches, one that looks up a test user. */
const struct ldap_search_details *
ldap_details_draw_search(struct conversation *conversation,
                         const struct ldap_search_details *search);

#endif
