/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of an LDAP connection share: ldap_connection.c and ldap_sasl.c. */
#ifndef PROTOCOLS_LDAP_LDAP_CONNECTION_PRIVATE_H
#define PROTOCOLS_LDAP_LDAP_CONNECTION_PRIVATE_H

#include "protocols/ldap/ldap_connection.h"
#include "protocols/ldap/ldap_layer.h"

struct stream;

struct ldap_connection {
    struct conversation *conversation;
    struct stream *stream;
    LDAP *handle;
    struct ldap_input input; /* owns the security layer, if there is one */
    int error;               /* the first failure, negative errno; the stream's or the input's */
    enum ldap_transport transport;
    enum ldap_protection protection;
    int64_t expires; /* CLOCK_MONOTONIC ns at which the ticket of the bind expires; 0: never */
    bool bound;
    bool refused; /* the last leg of a SASL bind was answered with invalidCredentials */
    bool closing; /* from now on nothing waits */
};

/* Beside libldap's handle (10 KB), a stream and, after SASL binds, the layer, this is what an idle
 * connection takes. */
_Static_assert(sizeof(struct ldap_connection) <= 192, "idle connections are to be small");

/* The DC's DNS name, or what the user called it: for TLS and service principals. */
const char *ldap_connection_server_name(const struct ldap_connection *connection);

/* One request and reply of a SASL bind. */
struct ldap_sasl_leg {
    const char *mechanism;
    const void *token; /* ours; NULL: no credentials */
    size_t token_size;
    int code;              /* LDAP_SUCCESS: the bind is done, LDAP_SASL_BIND_IN_PROGRESS: go on */
    struct berval *answer; /* the server's token, or NULL; the leg's, to be freed by ber_bvfree() */
};

/* Sends the leg's token, waits for the answer. Not OK when it failed or was refused. */
struct outcome ldap_sasl_leg_play(struct ldap_connection *connection, struct ldap_sasl_leg *leg);

/* Binds with Kerberos by libsasl, through mechanism "GSSAPI" or "GSS-SPNEGO". The account's ticket
 * is at hand. */
struct outcome ldap_gssapi_bind(struct ldap_connection *connection, const struct account *account,
                                const char *mechanism);

#endif
