/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NTLMSSP client (MS-NLMP): NTLMv2, key exchange, MIC, extended session security, signing and
 * sealing. Never waits, has no global state, and trusts nothing from the wire.
 */
#ifndef PROTOCOLS_AUTH_NTLMSSP_H
#define PROTOCOLS_AUTH_NTLMSSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ntlmssp;

enum { NTLMSSP_SESSION_KEY_SIZE = 16, NTLMSSP_SIGNATURE_SIZE = 16 };

/* Values that are otherwise random or read from the clock; for tests. */
struct ntlmssp_random {
    uint8_t client_challenge[8];
    uint8_t exported_session_key[16];
    uint64_t time; /* FILETIME: 100 ns since 1601 */
};

struct ntlmssp_identity {
    const char *user;        /* UTF-8 */
    const char *domain;      /* NetBIOS domain */
    const char *workstation; /* NetBIOS name of the client, or NULL */
    const uint8_t *nt_hash;  /* 16 bytes */
    /* Service principal ("cifs/dc1.samdom.example.com") for MsvAvTargetName; NULL: left out, and
     * MsvAvChannelBindings with it. */
    const char *target_name;
    const uint8_t *channel_bindings; /* 16 bytes for MsvAvChannelBindings; NULL: zeros, no TLS */
    const struct ntlmssp_random *random; /* NULL: random values, the time of day */
};

/* On success the caller owns *out and frees it with ntlmssp_free(). Copies identity. Neither sign
 * nor seal: authentication only; seal implies sign. -EILSEQ: a name is not UTF-8. */
int ntlmssp_new(struct ntlmssp **out, const struct ntlmssp_identity *identity, bool sign,
                bool seal);
void ntlmssp_free(struct ntlmssp *ntlmssp);

/* MD4 of the password in UTF-16LE (NTOWFv1). -EILSEQ: not UTF-8. */
int ntlmssp_nt_hash(const char *password, uint8_t hash[16]);

/* NTOWFv2 (MS-NLMP 3.3.2). It depends only on the account, so it can be kept for a run. */
int ntlmssp_ntowf_v2(const uint8_t nt_hash[16], const char *user, const char *domain,
                     uint8_t key[16]);

/*
 * NTLMv2 response for pass-through logons (MS-NLMP 3.3.2, NTProofStr and the blob after it).
 * target_info contains the AV pairs of the server that made the challenge, with their end mark. The
 * caller frees *response; session_base_key may be NULL.
 */
int ntlmssp_v2_response(const uint8_t ntowf_v2[16], const uint8_t server_challenge[8],
                        const uint8_t client_challenge[8], uint64_t time,
                        const uint8_t *target_info, size_t target_info_size, uint8_t **response,
                        size_t *size, uint8_t session_base_key[16]);

/* Makes the NEGOTIATE_MESSAGE; the caller frees *message. */
int ntlmssp_negotiate(struct ntlmssp *ntlmssp, uint8_t **message, size_t *size);

/* Answers the server's CHALLENGE_MESSAGE with an AUTHENTICATE_MESSAGE. -EBADMSG: malformed;
 * -EOPNOTSUPP: the server does not support NTLMv2 with extended session security and UTF-16, or
 * refused the requested signing or sealing. */
int ntlmssp_authenticate(struct ntlmssp *ntlmssp, const uint8_t *challenge, size_t challenge_size,
                         uint8_t **message, size_t *size);

/* The first flag that the server refused, after -EOPNOTSUPP: "NTLMSSP_NEGOTIATE_SIGN"; else NULL.
 */
const char *ntlmssp_refused(const struct ntlmssp *ntlmssp);

/* The exported session key, after ntlmssp_authenticate(). */
void ntlmssp_session_key(const struct ntlmssp *ntlmssp, uint8_t key[16]);
/* True if the AUTHENTICATE_MESSAGE contains a MIC: SPNEGO must then send a mechListMIC. */
bool ntlmssp_has_mic(const struct ntlmssp *ntlmssp);

/* Signs data (MS-NLMP 3.4.4). Uses one sequence number. */
void ntlmssp_sign(struct ntlmssp *ntlmssp, const uint8_t *data, size_t size, uint8_t signature[16]);
/* -EBADMSG if the signature does not verify. Uses one receive sequence number. */
int ntlmssp_verify(struct ntlmssp *ntlmssp, const uint8_t *data, size_t size,
                   const uint8_t signature[16]);
/* Encrypts data in place and signs signed_data, which contains data (RPC signs the whole PDU and
 * seals only its stub). */
void ntlmssp_seal(struct ntlmssp *ntlmssp, uint8_t *data, size_t size, const uint8_t *signed_data,
                  size_t signed_size, uint8_t signature[16]);
/* Decrypts data in place, then verifies signed_data like ntlmssp_verify(). */
int ntlmssp_unseal(struct ntlmssp *ntlmssp, uint8_t *data, size_t size, const uint8_t *signed_data,
                   size_t signed_size, const uint8_t signature[16]);

/* Restarts the RC4 states after the mechListMIC; sequence numbers continue (MS-SPNG). */
void ntlmssp_reset_crypto(struct ntlmssp *ntlmssp);

#endif
