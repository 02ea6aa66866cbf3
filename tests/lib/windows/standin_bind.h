/* SPDX-License-Identifier: Apache-2.0 */
/* SASL binds at the stand-in: NTLM in SPNEGO and Kerberos are verified here, with the passwords and
 * the keytab that the stand-in has. */
#ifndef TESTS_LIB_WINDOWS_STANDIN_BIND_H
#define TESTS_LIB_WINDOWS_STANDIN_BIND_H

#include <gssapi/gssapi_ext.h>

#include "tests/lib/windows/standin_ntlm.h"

enum standin_layer { LAYER_NONE, LAYER_NTLM, LAYER_GSS };

/* The security context of an LDAP connection. */
struct standin_context {
    struct ntlm_acceptor ntlm;
    struct ntlm_side from_client, from_server;
    bool seal;
    gss_ctx_id_t gss;
    bool gss_done;            /* the context is complete; RFC 4752's layer is negotiated next */
    bool complete;            /* the bind succeeded: another one begins anew */
    enum standin_layer layer; /* after the bind */
    char user[STANDIN_NAME];  /* a name for a simple bind, once the bind succeeded */
};

/* What the stand-in answers to one leg of a bind. */
struct standin_bind_answer {
    int code;                   /* LDAP_SUCCESS: the bind is complete */
    const char *diagnostic;     /* static */
    struct standin_bytes token; /* server credentials */
    bool layer;                 /* the security layer begins after this answer */
};

/* One leg; tls: the connection has TLS. The caller frees the answer's token. */
void standin_bind_leg(struct standin *standin, struct standin_context *context, bool tls,
                      const char *mechanism, const uint8_t *token, size_t size,
                      struct standin_bind_answer *answer);

/* Takes a whole frame's content apart. False: it does not verify. */
bool standin_layer_decode(struct standin_context *context, uint8_t *frame, size_t size,
                          struct standin_bytes *out);

/* Appends a frame with its length. */
void standin_layer_encode(struct standin_context *context, const uint8_t *data, size_t size,
                          struct standin_bytes *out);

void standin_context_clear(struct standin_context *context);

#endif
