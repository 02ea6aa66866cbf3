/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The netlogon secure channel's keys (MS-NRPC 3.1.4, 3.3.4) with AES: session key, credential
 * chain, and the security of RPC PDUs bound with it. Bytes only: the calls that set it up are in
 * rpc_netlogon_play.c.
 */
#ifndef PROTOCOLS_RPC_NETLOGON_CHANNEL_H
#define PROTOCOLS_RPC_NETLOGON_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/rpc/rpc_netlogon.h"

enum {
    NETLOGON_SESSION_KEY_SIZE = 16,
    NETLOGON_SIGNATURE_SIZE = 56,
    NETLOGON_NEGOTIATE_AES = 0x01000000,
    /* Strong key, authenticated RPC, AES and what goes with them: what Windows members send */
    NETLOGON_NEGOTIATE_FLAGS = 0x612fffff
};

/* What client and server share once ServerAuthenticate3 succeeded. One owner a machine account. */
struct netlogon_channel {
    bool challenged;    /* ServerReqChallenge was answered */
    bool authenticated; /* the key and the chain are good */
    uint8_t client_challenge[8], server_challenge[8];
    uint8_t session_key[NETLOGON_SESSION_KEY_SIZE];
    uint8_t client_credential[8]; /* the stored credential that the chain goes on from */
    char *computer, *domain;      /* NetBIOS names for the bind; not owned */
};

/* Session key from the machine's NT hash and both challenges (MS-NRPC 3.1.4.3.1), and both
 * credentials: ours into channel, the expected server's into server_credential. */
void netlogon_channel_compute(struct netlogon_channel *channel, const uint8_t nt_hash[16],
                              uint8_t server_credential[8]);

/* The next authenticator of a call (3.1.4.5); now is Unix time in seconds. */
void netlogon_channel_authenticator(struct netlogon_channel *channel, uint32_t now,
                                    struct netlogon_authenticator *out);

/* Whether a return authenticator is the one that the chain asks for; moves the chain on. -EBADMSG
 * when it is not. */
int netlogon_channel_check(struct netlogon_channel *channel,
                           const struct netlogon_authenticator *returned);

/* NL_TRUST_PASSWORD encrypted with the session key (3.5.4.4.5): password in UTF-8, random fills. */
int netlogon_channel_encrypt_password(const struct netlogon_channel *channel, const char *password,
                                      struct netlogon_ServerPasswordSet2_request *request);

/* NL_AUTH_MESSAGE of a bind (2.2.1.3.1). *token is malloc'd. 0 or a negative errno. */
int netlogon_bind_token(const struct netlogon_channel *channel, uint8_t **token, size_t *size);
/* The server's answer: a negotiate response without more. 0 or -EBADMSG. */
int netlogon_bind_answer_check(const uint8_t *token, size_t size);

/* One association's state: one counter for both directions, from 0 (3.3.4.2). */
struct netlogon_security {
    uint8_t session_key[NETLOGON_SESSION_KEY_SIZE];
    uint64_t sequence;
};

/* NL_AUTH_SHA2_SIGNATURE over data (3.3.4.2.1); with seal, data is encrypted in place. */
int netlogon_protect(struct netlogon_security *security, bool seal, uint8_t *data, size_t size,
                     uint8_t token[NETLOGON_SIGNATURE_SIZE]);
/* The reverse (3.3.4.2.2). -EBADMSG when it does not verify or is not AES. */
int netlogon_unprotect(struct netlogon_security *security, bool seal, uint8_t *data, size_t size,
                       const uint8_t *token, size_t token_size);

#endif
