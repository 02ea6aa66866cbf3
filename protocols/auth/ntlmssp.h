/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NTLMSSP client (MS-NLMP): NTLMv2, key exchange, MIC, extended session security; signing and
 * sealing. Never waits, keeps no global state; nothing from the wire is trusted.
 */
#ifndef PROTOCOLS_AUTH_NTLMSSP_H
#define PROTOCOLS_AUTH_NTLMSSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ntlmssp;

enum { NTLMSSP_SESSION_KEY_SIZE = 16, NTLMSSP_SIGNATURE_SIZE = 16 };

/* What is drawn at random or read from the clock, when a test wants to choose it. */
struct ntlmssp_chance {
    uint8_t client_challenge[8];
    uint8_t exported_session_key[16];
    uint64_t time; /* FILETIME: 100 ns since 1601 */
};

struct ntlmssp_identity {
    const char *user;        /* UTF-8 */
    const char *domain;      /* NetBIOS domain */
    const char *workstation; /* NetBIOS name of the client, or NULL */
    const uint8_t *nt_hash;  /* 16 bytes */
    /* Service principal ("cifs/dc1.samdom.example.com") for MsvAvTargetName; NULL: left out. */
    const char *target_name;
    const struct ntlmssp_chance *chance; /* NULL: random values, the time of day */
};

/* On success *out is the caller's, to be given to ntlmssp_free(). identity is copied. Neither sign
 * nor seal: authentication only; seal includes sign. -EILSEQ: a name is not UTF-8. */
int ntlmssp_new(struct ntlmssp **out, const struct ntlmssp_identity *identity, bool sign,
                bool seal);
void ntlmssp_free(struct ntlmssp *ntlmssp);

/* MD4 of the password in UTF-16LE (NTOWFv1). -EILSEQ: not UTF-8. */
int ntlmssp_nt_hash(const char *password, uint8_t hash[16]);

/* NTOWFv2 (MS-NLMP 3.3.2): depends on the account alone, so that it can be kept for a run. */
int ntlmssp_ntowf_v2(const uint8_t nt_hash[16], const char *user, const char *domain,
                     uint8_t key[16]);

/*
 * NTLMv2 response for pass-through logons (MS-NLMP 3.3.2, NTProofStr and the blob after it):
 * target_info are the AV pairs of the server that made the challenge, its end mark included.
 * *response is malloc'd, the caller's; session_base_key may be NULL.
 */
int ntlmssp_v2_response(const uint8_t ntowf_v2[16], const uint8_t server_challenge[8],
                        const uint8_t client_challenge[8], uint64_t time,
                        const uint8_t *target_info, size_t target_info_size, uint8_t **response,
                        size_t *size, uint8_t session_base_key[16]);

/* NEGOTIATE_MESSAGE; *message is malloc'd, the caller's. */
int ntlmssp_negotiate(struct ntlmssp *ntlmssp, uint8_t **message, size_t *size);

/* From the server's CHALLENGE_MESSAGE to an AUTHENTICATE_MESSAGE. -EBADMSG: malformed; -EOPNOTSUPP:
 * the server does not do NTLMv2 with extended session security and UTF-16, or refused the signing
 * or sealing that was asked for. */
int ntlmssp_authenticate(struct ntlmssp *ntlmssp, const uint8_t *challenge, size_t challenge_size,
                         uint8_t **message, size_t *size);

/* The exported session key, after ntlmssp_authenticate(). */
void ntlmssp_session_key(const struct ntlmssp *ntlmssp, uint8_t key[16]);
/* The AUTHENTICATE_MESSAGE carries a MIC: SPNEGO must send a mechListMIC with it. */
bool ntlmssp_has_mic(const struct ntlmssp *ntlmssp);

/* Signature over signed_data (MS-NLMP 3.4.4). Uses up a sequence number. */
void ntlmssp_sign(struct ntlmssp *ntlmssp, const uint8_t *data, size_t size, uint8_t signature[16]);
/* -EBADMSG when it does not verify. Uses up a receive sequence number. */
int ntlmssp_verify(struct ntlmssp *ntlmssp, const uint8_t *data, size_t size,
                   const uint8_t signature[16]);
/* Encrypts data in place and signs signed_data, of which data is a part or the whole (RPC signs the
 * whole PDU and seals its stub only). */
void ntlmssp_seal(struct ntlmssp *ntlmssp, uint8_t *data, size_t size, const uint8_t *signed_data,
                  size_t signed_size, uint8_t signature[16]);
/* Decrypts data in place, then verifies signed_data: -EBADMSG as ntlmssp_verify(). */
int ntlmssp_unseal(struct ntlmssp *ntlmssp, uint8_t *data, size_t size, const uint8_t *signed_data,
                   size_t signed_size, const uint8_t signature[16]);

/* After the mechListMIC the RC4 states start again; sequence numbers do not (MS-SPNG). */
void ntlmssp_reset_crypto(struct ntlmssp *ntlmssp);

#endif
