/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kerberos over our own streams. libkrb5 encodes and decodes the AS and TGS exchanges step by step
 * (krb5_init_creds_step, krb5_tkt_creds_step). Tickets are kept in a MEMORY ccache of the
 * conversation; keys are derived before the run.
 */
#ifndef PROTOCOLS_KERBEROS_KERBEROS_H
#define PROTOCOLS_KERBEROS_KERBEROS_H

#include <gssapi/gssapi.h>

#include "base/error.h"
#include "protocols/conversation.h"
#include "protocols/packet.h"

/* Call it once from main, after discovery and before threads start. Creates a private profile (no
 * DNS, no canonicalization), sets KRB5_CONFIG, initializes libkrb5, GSS and libsasl, and reads the
 * tickets of dc->admin_ccache if that is set. 0, or a negative errno and one line in error. */
int kerberos_global_init(const struct dc *dc, struct error *error);
void kerberos_global_end(void);

/* The name of the user's own ticket cache ($KRB5CCNAME or the system's default), for -k. Call it
 * before kerberos_global_init(), which hides the user's profile. Allocated; NULL: one line in
 * error.
 */
char *kerberos_default_ccache(struct error *error);

/* Derives account->aes256_key from the password, with the salt of MS-KILE 3.1.1.2. Takes about 1 ms
 * of processor time, or 3 ms without SHA instructions. Several threads may call it at once. 0 or a
 * negative errno. */
int kerberos_derive_key(struct account *account, const char *realm);

/* The same with the salt that the KDC reports (PA-ETYPE-INFO2), for accounts that this program did
 * not create: a renamed account and the first Administrator of a Windows domain have another salt.
 * An account for which the KDC has no AES256 key gets no_aes256_key. Sends one AS-REQ; set
 * conversation->wire.deadline first. */
struct outcome kerberos_learn_key(struct conversation *conversation, struct account *account);

/* An AS exchange (the packet kerberos:10), after an attempt with a wrong password if -B wants one.
 * Stores the TGT in the conversation. Without a derived key it uses the password, with two requests
 * and 11 ms of processor time. With -k, the administrator's exchange sends nothing and uses the
 * user's TGT. */
struct outcome kerberos_as_exchange(struct conversation *conversation,
                                    const struct account *account);

/* Makes sure that the conversation has a valid ticket of account for a service of the DC ("ldap",
 * "cifs", "host", ...). Requests TGT and ticket if they are missing or about to expire. */
struct outcome kerberos_ensure_ticket(struct conversation *conversation,
                                      const struct account *account, const char *service);

/* Drops all tickets of account, for instance after a server with a new key refused one. The next
 * kerberos_ensure_ticket() starts with an AS exchange. */
void kerberos_forget_tickets(struct conversation *conversation, const struct account *account);

/* GSS initiator credentials with the account's tickets; GSS_C_NO_CREDENTIAL: there are none. Owned
 * by the conversation, and valid until the account's next AS exchange. After
 * kerberos_ensure_ticket(), a GSS context with them never uses the network. */
gss_cred_id_t kerberos_gss_credentials(struct conversation *conversation,
                                       const struct account *account);

/* The same, for GSS's SPNEGO mechanism as well, which accepts only separate credentials. */
gss_cred_id_t kerberos_spnego_credentials(struct conversation *conversation,
                                          const struct account *account);

#endif
