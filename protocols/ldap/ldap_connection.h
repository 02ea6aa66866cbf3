/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One LDAP connection: libldap's messages over our stream, with TLS below or a SASL security layer
 * between them. The LDAP packets and the start-up code (accounts, catalogue) use it. Send requests
 * with libldap's ldap_..._ext() functions on ldap_connection_handle(), and wait with the functions
 * here.
 */
#ifndef PROTOCOLS_LDAP_LDAP_CONNECTION_H
#define PROTOCOLS_LDAP_LDAP_CONNECTION_H

#include <ldap.h>

#include "packets/packet_words.h"
#include "protocols/conversation.h"
#include "protocols/packet.h"

struct ldap_connection;

/* Parts of causes that have a remedy: a failed LDAPS connection (the port follows), refused
 * StartTLS, binds that the server refuses in clear text and inside TLS, and wrong channel bindings.
 */
#define LDAP_LDAPS_CAUSE       "(LDAPS, port"
#define LDAP_STARTTLS_CAUSE    "(StartTLS)"
#define LDAP_CLEAR_BIND_CAUSE  "(without TLS)"
#define LDAP_SASL_IN_TLS_CAUSE "(SASL inside TLS)"
#define LDAP_BINDINGS_CAUSE    "wrong TLS channel bindings"

/* The protection of a connection after a SASL bind without TLS. */
enum ldap_protection { LDAP_PROTECTION_SEAL, LDAP_PROTECTION_SIGN };

/* Prepares libldap and libsasl for threads, without this machine's ldap.conf and without a lookup
 * of its name. Call it once from main, before threads start. 0, or a negative errno and one line in
 * error: -ENOMEM, -ENOSYS for a missing or broken library. */
int ldap_connection_global_init(struct error *error);

/* Connects to the conversation's DC, including StartTLS or TLS, without a bind. On OUTCOME_OK the
 * caller owns *out and closes it with ldap_connection_close(). */
struct outcome ldap_connection_open(struct ldap_connection **out, struct conversation *conversation,
                                    enum ldap_transport transport);

/* StartTLS (RFC 4511 4.14) on a connection in clear. */
struct outcome ldap_connection_start_tls(struct ldap_connection *connection);

enum ldap_transport ldap_connection_transport(const struct ldap_connection *connection);

/* Simple bind (RFC 4513 5.1) with a DN, or on a DC a UPN or DOMAIN\name. */
struct outcome ldap_connection_bind_simple(struct ldap_connection *connection, const char *name,
                                           const char *password);

/* SASL bind with all its legs. Without TLS the connection gets the server's strongest security
 * layer. GSS-SPNEGO uses Kerberos if `kerberos`, else NTLM; GSSAPI is always Kerberos. Requests
 * tickets if they are missing. */
struct outcome ldap_connection_bind_sasl(struct ldap_connection *connection,
                                         const struct account *account,
                                         enum ldap_mechanism mechanism, bool kerberos);

/*
 * Opens a connection and binds it as the dc's admin: on a DC by GSS-SPNEGO, sealed, with NTLM or
 * the Kerberos tickets of admin_ccache. With --server ldap it uses a simple bind in clear, or no
 * bind if there is no admin. On OUTCOME_OK the caller owns *out.
 */
struct outcome ldap_connection_open_admin(struct ldap_connection **out,
                                          struct conversation *conversation);

/* libldap's handle: referrals off, version 3, never waits and never reconnects by itself. */
LDAP *ldap_connection_handle(struct ldap_connection *connection);

/*
 * Waits for the reply to a message: with LDAP_MSG_ALL for all its parts, with LDAP_MSG_ONE for the
 * next one. On 0 the caller frees *result with ldap_msgfree(). Otherwise the stream's negative
 * errno, -EBADMSG if the bytes are not LDAP, or -ESHUTDOWN if the server announced that it
 * disconnects; ldap_connection_failure() explains it.
 */
int ldap_connection_wait(struct ldap_connection *connection, int message_id, int all,
                         LDAPMessage **result);

/* The outcome of a failure of ldap_connection_wait(): the cause of a Notice of Disconnection (RFC
 * 4511 4.4.1) is its code and text. */
struct outcome ldap_connection_failure(const struct ldap_connection *connection, int error);

/* Reads what has arrived on an idle connection without a wait. It is broken afterwards if the
 * server has ended it; late answers to abandoned requests are dropped. */
void ldap_connection_check_idle(struct ldap_connection *connection);

/* The outcome of a final result message; its cause is the name of the result code. */
struct outcome ldap_connection_outcome(struct ldap_connection *connection, LDAPMessage *result);

/* The outcome if a sending function of libldap returned this result instead of LDAP_SUCCESS: the
 * stream's failure, or libldap's objection to the request ("filter error"). */
struct outcome ldap_connection_send_outcome(const struct ldap_connection *connection, int result);

/* Finishes a request with one reply: result and id come from the libldap function that sent it. The
 * outcome of sending, or of the reply. */
struct outcome ldap_connection_finish(struct ldap_connection *connection, int result, int id);

/* RFC 4511's name of a result code ("invalidCredentials"), static; NULL: unknown. */
const char *ldap_result_name(int code);

/* The first failure of the connection as a negative errno, or 0. */
int ldap_connection_error(const struct ldap_connection *connection);

/* True if this connection is unusable and must be closed. */
bool ldap_connection_is_broken(const struct ldap_connection *connection);

/* True if the Kerberos ticket of the bind has expired. A DC then closes the connection. */
bool ldap_connection_is_expired(const struct ldap_connection *connection);

/* True after a successful bind. */
bool ldap_connection_is_bound(const struct ldap_connection *connection);

/* Sends an unbindRequest if that needs no wait, closes and frees. NULL is allowed. */
void ldap_connection_close(struct ldap_connection *connection);

#endif
