/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Security contexts for SMB2 session set-up and RPC binds: Kerberos (MIT GSSAPI) or NTLM
 * (ntlmssp.h), each in SPNEGO or raw; session key, signing and sealing of RPC PDUs.
 *
 * auth_open() may fetch a ticket over the conversation's streams. Nothing after it waits: the
 * caller carries the tokens.
 *
 *     auth_open                      ->  the first token out of auth_step(NULL)
 *     AUTH_MORE: send, receive, step ->  ... the server's token into auth_step()
 *     AUTH_DONE                      ->  send what came out, if anything; nothing more to step
 */
#ifndef PROTOCOLS_AUTH_AUTH_H
#define PROTOCOLS_AUTH_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/conversation.h"
#include "protocols/packet.h"

struct auth;

/* MS-RPCE 2.2.1.1.8; SMB2 uses AUTH_LEVEL_INTEGRITY. */
enum auth_level { AUTH_LEVEL_CONNECT = 2, AUTH_LEVEL_INTEGRITY = 5, AUTH_LEVEL_PRIVACY = 6 };

enum auth_progress { AUTH_DONE = 0, AUTH_MORE = 1 };

struct auth_request {
    const struct account *account;
    const char *service;   /* of the DC: "cifs", "host", "ldap" */
    enum auth_level level; /* what auth_protect() will do */
    bool kerberos;         /* else NTLM */
    bool raw;              /* the mechanism's own tokens, without SPNEGO */
    bool dce_style;        /* RPC over TCP: Kerberos with a third leg (MS-RPCE 3.3.1.5.2) */
    bool wrong_password;   /* NTLM, for -B: the server is to refuse it */
};

/* On OUTCOME_OK *out is the caller's, to be given to auth_free(). Otherwise the outcome says why no
 * context can be had (no ticket, ...) and *out is NULL. The conversation's credentials must outlive
 * the first auth_step(). */
struct outcome auth_open(struct conversation *conversation, const struct auth_request *request,
                         struct auth **out);
void auth_free(struct auth *auth);

/*
 * Takes the server's token (NULL, 0 at first) and makes the next one in *out (malloc'd, the
 * caller's; NULL: nothing is to be sent). Returns enum auth_progress, or a negative errno:
 * -EBADMSG malformed or a signature that does not verify, -EACCES refused, -EOPNOTSUPP the server
 * does not do what is needed. auth_error() tells more.
 *
 * A server may be done (SMB2: status 0) with a token that still has to be fed; AUTH_MORE after that
 * is a server that stopped half way.
 */
int auth_step(struct auth *auth, const uint8_t *token, size_t size, uint8_t **out,
              size_t *out_size);

/* A countable cause for the last failure of auth_step(): "GSS: clock skew too great", ... */
const char *auth_error(const struct auth *auth);

/* After AUTH_DONE: the session key, 16 bytes with NTLM, 16 or 32 with Kerberos (MS-SMB2 3.2.5.3:
 * Session.FullSessionKey). *size: room in key, then its size. 0 or a negative errno. */
enum { AUTH_SESSION_KEY_MAX = 64 };
int auth_session_key(const struct auth *auth, uint8_t *key, size_t *size);

/*
 * An RPC PDU as it stands in its buffer: data[0..size) is header, stub with its padding and the
 * trailer of 8 bytes, everything but the token (MS-RPCE 2.2.2.11); frag_length and auth_length are
 * already set. body is stub and padding: what sealing encrypts in place.
 */
struct auth_pdu {
    uint8_t *data;
    size_t size;
    size_t body, body_size; /* offset and size */
    bool header_signing;    /* PFC_SUPPORT_HEADER_SIGN was agreed on */
};

/* Size of the token that auth_protect() makes for a body of that size. */
int auth_token_size(struct auth *auth, size_t body_size, size_t *size);

/* By the request's level: nothing, signs, or signs and seals. token_size must be what
 * auth_token_size() said. Order matters: each call uses up a sequence number. */
int auth_protect(struct auth *auth, const struct auth_pdu *pdu, uint8_t *token, size_t token_size);

/* The reverse, for what the server sent: decrypts in place and verifies. -EBADMSG: it does not. */
int auth_unprotect(struct auth *auth, const struct auth_pdu *pdu, const uint8_t *token,
                   size_t token_size);

#endif
