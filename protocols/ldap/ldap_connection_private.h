/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of an LDAP connection. */
#ifndef PROTOCOLS_LDAP_LDAP_CONNECTION_PRIVATE_H
#define PROTOCOLS_LDAP_LDAP_CONNECTION_PRIVATE_H

#include "protocols/ldap/ldap_connection.h"
#include "protocols/ldap/ldap_layer.h"

struct stream;

struct ldap_connection {
    struct conversation *conversation;
    struct stream *stream;
    LDAP *handle;
    struct ldap_input input; /* with the security layer, if there is one */
    struct ldap_framing framing;
    int error; /* the first failure, negative errno; the stream's or the input's */
    enum ldap_transport transport;
    enum ldap_protection protection; /* of later SASL binds */
    int64_t expires; /* CLOCK_MONOTONIC ns at which the bind's ticket expires; 0: never */
    bool bound;
    bool refused;      /* the last leg of a SASL bind got invalidCredentials */
    bool closing;      /* nothing waits any more */
    int notice;        /* the result code of a Notice of Disconnection; 0: none */
    char *notice_text; /* its text, or NULL */
};

/* An idle connection consists of this, libldap's handle (10 KB), a stream and, after SASL binds, a
 * security layer. */
_Static_assert(sizeof(struct ldap_connection) <= 256, "an LDAP connection costs at most 256 bytes");

/* The DC's DNS name, or the name that the user gave, for TLS and service principals. */
const char *ldap_connection_server_name(const struct ldap_connection *connection);

/* The text of the Notice of Disconnection (RFC 4511 4.4.1) that bytes end with, printable.
 * Allocated; NULL: there is none. */
char *ldap_notice_text(const uint8_t *bytes, size_t size);

/* One request and reply of a SASL bind. */
struct ldap_sasl_leg {
    const char *mechanism;
    const void *token; /* sent; NULL: no credentials */
    size_t token_size;
    int code;              /* LDAP_SUCCESS: the bind is done, or LDAP_SASL_BIND_IN_PROGRESS */
    struct berval *answer; /* the server's token, or NULL; free it with ber_bvfree() */
};

/* Sends the leg's token and waits for the answer. Not OK if it failed or was refused. */
struct outcome ldap_sasl_leg_play(struct ldap_connection *connection, struct ldap_sasl_leg *leg);

/* Binds with Kerberos by libsasl, with mechanism "GSSAPI" or "GSS-SPNEGO". Requests a ticket if
 * there is none. */
struct outcome ldap_gssapi_bind(struct ldap_connection *connection, const struct account *account,
                                const char *mechanism);

#endif
