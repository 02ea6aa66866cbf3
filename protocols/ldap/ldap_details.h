/* SPDX-License-Identifier: Apache-2.0 */
/* Details of LDAP packets, compiled once before the clock starts: what ldap_packets.c plays. */
#ifndef PROTOCOLS_LDAP_LDAP_DETAILS_H
#define PROTOCOLS_LDAP_LDAP_DETAILS_H

#include "base/error.h"
#include "protocols/ldap/ldap_connection.h"
#include "protocols/ldap/ldap_filter.h"
#include "protocols/packet.h"

/* ldap:0 */
struct ldap_bind_details {
    bool simple;
    enum ldap_mechanism mechanism; /* of SASL */
    bool transport_given;          /* details say starttls or ldaps */
    enum ldap_transport transport;
};

/* ldap:3 */
struct ldap_search_details {
    bool sealed; /* a capture saw only that there was a search */
    int scope;   /* LDAP_SCOPE_... */
    char *base;  /* a DN, "" for the root DSE; NULL: an object that fits base_key */
    char *base_key;
    struct ldap_filter *filter;
    uint64_t weight;   /* how often the model saw it */
    char **attributes; /* NULL-terminated; NULL: all */
    LDAPControl **controls;
};

/* Compile and release functions of struct packet_type. */
void *ldap_bind_compile(const struct packet_field *fields, size_t count, struct error *error);
void ldap_bind_release(void *compiled);
void *ldap_search_compile(const struct packet_field *fields, size_t count, struct error *error);
void ldap_search_weigh(void *compiled, uint64_t count);
void ldap_search_release(void *compiled);

/* One of the readable searches that are compiled at present, as likely as the model saw it often;
 * NULL: there is none. For searches of which only the sealed bytes were seen. */
const struct ldap_search_details *ldap_search_draw(struct conversation *conversation);

#endif
