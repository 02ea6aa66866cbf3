/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of the netlogon secure channel with AES (MS-NRPC 3.1.4, 3.3.4): session key,
 * credential chain, and protection of RPC PDUs. rpc_channel.c makes the calls that set it up.
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
    /* what Windows members send: AES, strong keys, authenticated RPC, ... */
    NETLOGON_NEGOTIATE_FLAGS = 0x612fffff
};

/* What client and server share after ServerAuthenticate3: one per machine account. */
struct netlogon_channel {
    bool challenged;    /* ServerReqChallenge was answered */
    bool authenticated; /* session key and chain are valid */
    uint8_t client_challenge[8], server_challenge[8];
    uint8_t session_key[NETLOGON_SESSION_KEY_SIZE];
    uint8_t client_credential[8]; /* the chain's stored credential */
    char *computer, *domain;      /* NetBIOS names for the bind; not owned */
};

/* Computes the session key from the machine's NT hash and both challenges (MS-NRPC 3.1.4.3.1), and
 * both credentials: the client's in channel, the server's expected one in server_credential. */
void netlogon_channel_compute(struct netlogon_channel *channel, const uint8_t nt_hash[16],
                              uint8_t server_credential[8]);

/* The next authenticator of a call (3.1.4.5); now is Unix time in seconds. */
void netlogon_channel_authenticator(struct netlogon_channel *channel, uint32_t now,
                                    struct netlogon_authenticator *out);

/* Checks a return authenticator and advances the chain. 0, or -EBADMSG: it is not the expected one.
 */
int netlogon_channel_check(struct netlogon_channel *channel,
                           const struct netlogon_authenticator *returned);

/* NL_TRUST_PASSWORD encrypted with the session key (3.5.4.4.5): password is UTF-8; random
 * bytes fill the buffer. 0 or a negative errno. */
int netlogon_channel_encrypt_password(const struct netlogon_channel *channel, const char *password,
                                      struct netlogon_ServerPasswordSet2_request *request);

/* The password to which rpc_netlogon:30 changes a machine's for a moment: the same with another
 * last character, so that a run that was killed in between can be undone. The caller frees *other
 * with secret_free(). 0, -EINVAL (empty) or -ENOMEM. */
int netlogon_other_password(const char *password, char **other);

/* NL_AUTH_MESSAGE of a bind (2.2.1.3.1). *token is malloc'd. 0 or a negative errno. */
int netlogon_bind_token(const struct netlogon_channel *channel, uint8_t **token, size_t *size);
/* Checks the server's answer, a bare negotiate response. 0 or -EBADMSG. */
int netlogon_bind_answer_check(const uint8_t *token, size_t size);

/* State of one association: one counter for both directions, starting at 0 (3.3.4.2). */
struct netlogon_security {
    uint8_t session_key[NETLOGON_SESSION_KEY_SIZE];
    uint64_t sequence;
};

/* Computes NL_AUTH_SHA2_SIGNATURE over data (3.3.4.2.1). seal: also encrypts data in place. */
int netlogon_protect(struct netlogon_security *security, bool seal, uint8_t *data, size_t size,
                     uint8_t token[NETLOGON_SIGNATURE_SIZE]);
/* The reverse (3.3.4.2.2). 0, or -EBADMSG: it does not verify or does not use AES. */
int netlogon_unprotect(struct netlogon_security *security, bool seal, uint8_t *data, size_t size,
                       const uint8_t *token, size_t token_size);

#endif
