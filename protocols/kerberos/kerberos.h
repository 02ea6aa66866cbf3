/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kerberos over our own streams: AS and TGS exchanges stepped through libkrb5
 * (krb5_init_creds_step, krb5_tkt_creds_step), tickets in a MEMORY ccache of the conversation, keys
 * derived beforehand.
 */
#ifndef PROTOCOLS_KERBEROS_KERBEROS_H
#define PROTOCOLS_KERBEROS_KERBEROS_H

#include <gssapi/gssapi.h>

#include "base/error.h"
#include "protocols/conversation.h"
#include "protocols/packet.h"

/* Once, in main, before threads start and after discovery: makes a private profile (no DNS, no
 * canonicalization), sets KRB5_CONFIG, touches libkrb5, GSS and libsasl, reads the tickets of
 * dc->admin_ccache if it is set. Negative errno and a line in error on failure. */
int kerberos_global_init(const struct dc *dc, struct error *error);
void kerberos_global_end(void);

/* The name of the user's own ticket cache ($KRB5CCNAME or the system's default), for -k; to be
 * asked for before kerberos_global_init(), after which the user's own profile is out of sight.
 * Allocated; NULL: no memory. */
char *kerberos_default_ccache(void);

/* Derives account->aes256_key from its password (salts of users and machines, MS-KILE 3.1.1.2).
 * About 1 ms of CPU, 3 where the processor has no SHA instructions; may run in several threads at
 * once. 0 or a negative errno. */
int kerberos_derive_key(struct account *account, const char *realm);

/* The same with the salt that the KDC tells (PA-ETYPE-INFO2), for accounts that we have not made:
 * a renamed account, or a Windows domain's first Administrator, has another one. Sends one AS-REQ;
 * set conversation->wire.deadline first. */
struct outcome kerberos_learn_key(struct conversation *conversation, struct account *account);

/* An AS exchange for account (the packet kerberos:10), after a wrong-password attempt when -B wants
 * one. The TGT goes into the conversation's ccache for that account. Without a derived key the
 * password is used, in two requests and 11 ms of CPU. For the administrator of -k no request is
 * sent: his own TGT is taken. */
struct outcome kerberos_as_exchange(struct conversation *conversation,
                                    const struct account *account);

/* Sees to it that the ccache of account holds a valid ticket for service ("ldap", "cifs", "host",
 * ... of the DC): fetches TGT and ticket when they are missing or about to expire. */
struct outcome kerberos_ensure_ticket(struct conversation *conversation,
                                      const struct account *account, const char *service);

/* The server refused that ticket (its key has changed, say): the next kerberos_ensure_ticket()
 * starts from an AS exchange. */
void kerberos_forget_tickets(struct conversation *conversation, const struct account *account);

/* GSS initiator credentials from that ccache, GSS_C_NO_CREDENTIAL when it has no tickets. Owned by
 * the conversation, and valid until the account's next AS exchange. After kerberos_ensure_ticket()
 * a GSS context with them never goes to the network. */
gss_cred_id_t kerberos_gss_credentials(struct conversation *conversation,
                                       const struct account *account);

/* The same, good for GSS's own SPNEGO mechanism too, which takes no other mechanism's. */
gss_cred_id_t kerberos_spnego_credentials(struct conversation *conversation,
                                          const struct account *account);

#endif
