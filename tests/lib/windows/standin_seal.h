/* SPDX-License-Identifier: Apache-2.0 */
/* Decrypts what a client seals in an RPC association, with NTLM or the netlogon secure channel;
 * the stand-in knows the passwords. Kerberos stays sealed. */
#ifndef TESTS_LIB_WINDOWS_STANDIN_SEAL_H
#define TESTS_LIB_WINDOWS_STANDIN_SEAL_H

#include "tests/lib/windows/standin_ntlm.h"

/* What a bind agreed on. */
struct standin_seal {
    uint8_t type, level; /* of the trailer; 0: none */
    struct ntlm_acceptor ntlm;
    struct ntlm_side from_client;
    bool ntlm_keyed;
    char computer[64]; /* of the secure channel */
};

/* A token of the client's bind, alter_context or AUTH3, and of the DC's answer to it. */
void standin_seal_client_token(struct standin *standin, struct standin_seal *seal,
                               const uint8_t *token, size_t size);
void standin_seal_server_token(struct standin_seal *seal, const uint8_t *token, size_t size);

/* Decrypts the stub and the padding of a request in place; token is the signature after them.
 * False: they stay sealed. */
bool standin_seal_open(struct standin *standin, struct standin_seal *seal, uint8_t *data,
                       size_t size, const uint8_t *token, size_t token_size);

/* The machine of this computer name, created when it is new; call with standin->lock. */
struct standin_machine *standin_machine_find(struct standin *standin, const char *computer);

/* AES-128 in CFB8, decrypting in place (MS-NRPC 3.1.4.4.1). */
void standin_cfb8_decrypt(const uint8_t key[16], uint8_t iv[16], uint8_t *data, size_t size);

#endif
