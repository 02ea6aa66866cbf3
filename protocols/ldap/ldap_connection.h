/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One LDAP connection: libldap's messages over our stream, with TLS below or a SASL security layer
 * between. Used by the LDAP packets and by start-up work (accounts, catalogue). Requests are made
 * with libldap's own ldap_..._ext() calls on ldap_connection_handle(); only the waiting is ours.
 */
#ifndef PROTOCOLS_LDAP_LDAP_CONNECTION_H
#define PROTOCOLS_LDAP_LDAP_CONNECTION_H

#include <ldap.h>

#include "packets/packet_words.h"
#include "protocols/conversation.h"
#include "protocols/packet.h"

struct ldap_connection;

/* What protects a SASL bind's connection that has no TLS. */
enum ldap_protection { LDAP_PROTECTION_SEAL, LDAP_PROTECTION_SIGN };

/* Prepares libldap and libsasl for threads, without this machine's ldap.conf and without a lookup
 * of its name. Call it once from main, before threads start. 0, or a negative errno and one line in
 * error: -ENOMEM, -ENOSYS for a missing or broken library. */
int ldap_connection_global_init(struct error *error);

/* Connects to the conversation's DC (StartTLS and TLS included), unbound. On OUTCOME_OK *out is the
 * caller's, to be given to ldap_connection_close(). */
struct outcome ldap_connection_open(struct ldap_connection **out, struct conversation *conversation,
                                    enum ldap_transport transport);

/* StartTLS (RFC 4511 4.14) on a connection in clear. */
struct outcome ldap_connection_start_tls(struct ldap_connection *connection);

enum ldap_transport ldap_connection_transport(const struct ldap_connection *connection);

/* How SASL binds to come are protected; LDAP_PROTECTION_SEAL when nothing is said. */
void ldap_connection_set_protection(struct ldap_connection *connection,
                                    enum ldap_protection protection);

/* RFC 4513 5.1: DN (or, on a DC, UPN or DOMAIN\name) and password. */
struct outcome ldap_connection_bind_simple(struct ldap_connection *connection, const char *name,
                                           const char *password);

/* SASL bind, all legs; on connections without TLS the server's strongest layer is taken (sealed by
 * default). Inside GSS-SPNEGO: Kerberos when `kerberos`, else NTLM; GSSAPI is always Kerberos.
 * Tickets are fetched when needed. */
struct outcome ldap_connection_bind_sasl(struct ldap_connection *connection,
                                         const struct account *account,
                                         enum ldap_mechanism mechanism, bool kerberos);

/*
 * A connection bound as the dc's admin: on a DC by GSS-SPNEGO, sealed, with NTLM or with the
 * Kerberos tickets of admin_ccache; on a server that is no DC by a simple bind in clear, or not at
 * all when there is no admin. On OUTCOME_OK *out is the caller's.
 */
struct outcome ldap_connection_open_admin(struct ldap_connection **out,
                                          struct conversation *conversation);

/* libldap's handle: referrals off, version 3, never waits and never reconnects by itself. */
LDAP *ldap_connection_handle(struct ldap_connection *connection);

/*
 * Waits for the reply to message id (all == LDAP_MSG_ALL: for its last part, LDAP_MSG_ONE: for the
 * next). On 0 *result is the caller's (ldap_msgfree). Otherwise the stream's negative errno, or
 * -EBADMSG when what came is not LDAP.
 */
int ldap_connection_wait(struct ldap_connection *connection, int message_id, int all,
                         LDAPMessage **result);

/* The outcome that a final result message means, by its result code's name. */
struct outcome ldap_connection_outcome(struct ldap_connection *connection, LDAPMessage *result);

/* The outcome when one of libldap's functions that send said result instead of LDAP_SUCCESS: the
 * stream's failure, or what libldap finds wrong with the request ("filter error"). */
struct outcome ldap_connection_send_outcome(const struct ldap_connection *connection, int result);

/* Waits for the one reply to what one of libldap's functions has sent: result and the message's id
 * are that function's. The outcome of either. */
struct outcome ldap_connection_finish(struct ldap_connection *connection, int result, int id);

/* RFC 4511's name of a result code ("invalidCredentials"), static; NULL: not known. */
const char *ldap_result_name(int code);

/* True when this connection cannot be used any more: close it. */
bool ldap_connection_is_broken(const struct ldap_connection *connection);

/* True when the Kerberos ticket that it was bound with has expired: a DC closes it then. */
bool ldap_connection_is_expired(const struct ldap_connection *connection);

bool ldap_connection_is_bound(const struct ldap_connection *connection);

/* Sends an unbindRequest if it can be sent at once, closes, frees. NULL is allowed. */
void ldap_connection_close(struct ldap_connection *connection);

#endif
