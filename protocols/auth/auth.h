/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Security contexts for SMB2 session setup and RPC binds: Kerberos (MIT GSSAPI) or NTLM
 * (ntlmssp.h), each in SPNEGO or raw; session keys, signing and sealing of RPC PDUs.
 *
 * auth_open() may request a ticket over the conversation's streams. Nothing else waits: the caller
 * sends and receives the tokens.
 *
 *     auth_open
 *     auth_step(NULL)          makes the first token
 *     while AUTH_MORE          send it, receive the server's token, give that to auth_step()
 *     AUTH_DONE                send the last token, if there is one
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
    bool wrong_password;   /* NTLM, for -B: the server must refuse it */
};

/* On OUTCOME_OK the caller owns *out and frees it with auth_free(). Otherwise *out is NULL and the
 * outcome is the reason, such as a missing ticket. The conversation's credentials must outlive the
 * first auth_step(). */
struct outcome auth_open(struct conversation *conversation, const struct auth_request *request,
                         struct auth **out);
void auth_free(struct auth *auth);

/*
 * Reads the server's token (NULL, 0 at first) and makes the next one in *out, which the caller
 * frees; NULL: nothing to send. Returns enum auth_progress, or a negative errno: -EBADMSG a
 * malformed token or a signature that does not verify, -EACCES refused, -EOPNOTSUPP the server
 * lacks something required. auth_error() explains it.
 *
 * A server that is done (SMB2: status 0) may send a last token, which must be given to auth_step()
 * as well. AUTH_MORE after that means that the server stopped too early.
 */
int auth_step(struct auth *auth, const uint8_t *token, size_t size, uint8_t **out,
              size_t *out_size);

/* A countable cause for the last failure of auth_step(), such as "GSS: clock skew too great". */
const char *auth_error(const struct auth *auth);

/* The session key, after AUTH_DONE: 16 bytes with NTLM, 16 or 32 with Kerberos (MS-SMB2 3.2.5.3:
 * Session.FullSessionKey). *size is the room in key, then the key's size. 0 or a negative errno. */
enum { AUTH_SESSION_KEY_MAX = 64 };
int auth_session_key(const struct auth *auth, uint8_t *key, size_t *size);

/*
 * An RPC PDU in its buffer. data[0..size) is the header, the stub with its padding, and the trailer
 * of 8 bytes: everything but the token (MS-RPCE 2.2.2.11). frag_length and auth_length are already
 * set. body is stub and padding, which sealing encrypts in place.
 */
struct auth_pdu {
    uint8_t *data;
    size_t size;
    size_t body, body_size; /* offset and size */
    bool header_signing;    /* PFC_SUPPORT_HEADER_SIGN was negotiated */
};

/* The size of the token that auth_protect() makes for a body of body_size bytes. */
int auth_token_size(struct auth *auth, size_t body_size, size_t *size);

/* Protects the PDU according to the request's level: signs it, signs and seals it, or does nothing.
 * token_size must come from auth_token_size(). Each call uses one sequence number, so the order
 * matters. */
int auth_protect(struct auth *auth, const struct auth_pdu *pdu, uint8_t *token, size_t token_size);

/* Decrypts a PDU of the server in place and verifies it. -EBADMSG: it does not verify. */
int auth_unprotect(struct auth *auth, const struct auth_pdu *pdu, const uint8_t *token,
                   size_t token_size);

#endif
