/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's half of NTLM for tests, written from MS-NLMP: it shares only hashes and ciphers with
 * the client that is tested.
 */
#ifndef TESTS_LIB_SERVERS_NTLM_ACCEPTOR_H
#define TESTS_LIB_SERVERS_NTLM_ACCEPTOR_H

#include <nettle/arcfour.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ntlm_acceptor {
    uint8_t nt_hash[16];       /* of the user's password; set by the caller */
    const char *user, *domain; /* NULL: "User" of "Domain" */
    uint8_t negotiate[256], challenge[512];
    size_t negotiate_size, challenge_size;
};

/* Keeps the NEGOTIATE_MESSAGE of a token, with or without SPNEGO around it, and makes the
 * challenge. False: the token contains none. */
bool ntlm_acceptor_negotiate(struct ntlm_acceptor *acceptor, const uint8_t *token, size_t size);

/* Verifies the proof and the MIC of an AUTHENTICATE_MESSAGE; key receives the session key. */
bool ntlm_acceptor_authenticate(struct ntlm_acceptor *acceptor, const uint8_t *message, size_t size,
                                uint8_t key[16]);

/* One direction of a session: keys and state (MS-NLMP 3.4.5, 3.4.4.2). */
struct ntlm_side {
    uint8_t sign_key[16], seal_key[16];
    struct arcfour_ctx rc4;
    uint32_t sequence;
};

void ntlm_side_init(struct ntlm_side *side, const uint8_t key[16], bool from_server);

/* After the mechListMIC: RC4 starts again, the sequence number does not (MS-SPNG 3.3.5.1). */
void ntlm_side_restart(struct ntlm_side *side);

/* Signs data, which is in clear. With sealing, encrypt the data with side->rc4 before. */
void ntlm_side_sign(struct ntlm_side *side, const uint8_t *data, size_t size, uint8_t mac[16]);

/* The first signature of one side, over SPNEGO's list of mechanisms (MS-SPNG 3.3.5.1). */
void ntlm_acceptor_mic(const uint8_t key[16], bool from_server, uint8_t mic[16]);

/* HMAC-MD5 over two pieces. */
void ntlm_acceptor_hmac(const uint8_t *key, const void *a, size_t a_size, const void *b,
                        size_t b_size, uint8_t *out);

#endif
