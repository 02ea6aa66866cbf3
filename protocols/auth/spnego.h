/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPNEGO tokens (RFC 4178, MS-SPNG) of a client and a server around one mechanism. This module only
 * encodes and decodes; auth.h and the LDAP bind make the inner tokens and sign the mechListMIC. It
 * accepts only definite-length DER of bounded size and trusts nothing from the wire.
 *
 *     client                                     server
 *     NegTokenInit(mechTypes, mechToken)   ->
 *                                          <-    NegTokenResp(accept-incomplete, responseToken)
 *     NegTokenResp(responseToken, MIC)     ->
 *                                          <-    NegTokenResp(accept-completed, MIC)
 *
 * With NTLM the mechListMIC covers spnego_mech_list(). Once both MICs are exchanged, call
 * ntlmssp_reset_crypto().
 */
#ifndef PROTOCOLS_AUTH_SPNEGO_H
#define PROTOCOLS_AUTH_SPNEGO_H

#include <stddef.h>
#include <stdint.h>

enum spnego_mech {
    SPNEGO_NTLMSSP,     /* 1.3.6.1.4.1.311.2.2.10 */
    SPNEGO_KERBEROS,    /* 1.2.840.113554.1.2.2 */
    SPNEGO_MS_KERBEROS, /* 1.2.840.48018.1.2.2: Kerberos as old Windows servers call it */
    SPNEGO_NONE = -1    /* absent, or another mechanism */
};

/* negState of RFC 4178 4.2.2 */
enum spnego_state {
    SPNEGO_ACCEPT_COMPLETED = 0,
    SPNEGO_ACCEPT_INCOMPLETE = 1,
    SPNEGO_REJECT = 2,
    SPNEGO_REQUEST_MIC = 3,
    SPNEGO_STATE_ABSENT = -1
};

/* Points into the parsed token; data NULL: absent. */
struct spnego_slice {
    const uint8_t *data;
    size_t size;
};

struct spnego_response {
    enum spnego_state state;
    enum spnego_mech mech; /* supportedMech */
    struct spnego_slice token;
    struct spnego_slice mech_list_mic;
};

/* Makes the client's first token in its GSS-API frame, with mech as the only mechTypes. The caller
 * frees *out. */
int spnego_build_init(enum spnego_mech mech, const uint8_t *token, size_t token_size, uint8_t **out,
                      size_t *out_size);

/* The DER MechTypeList of such a token, which a mechListMIC covers. Static. */
struct spnego_slice spnego_mech_list(enum spnego_mech mech);

/* Makes a later token of the client. Absent parts: state SPNEGO_STATE_ABSENT, slices NULL. The
 * caller frees *out. */
int spnego_build_response(const struct spnego_response *response, uint8_t **out, size_t *out_size);

/* Parses a server's NegTokenResp. -EBADMSG: malformed. *response points into token. */
int spnego_parse_response(const uint8_t *token, size_t size, struct spnego_response *response);

#endif
