/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kerberos over our own streams: AS and TGS exchanges stepped through libkrb5
 * (krb5_init_creds_step, krb5_tkt_creds_step), tickets in a MEMORY ccache of the conversation, keys
 * derived beforehand.
 */
#ifndef PROTOCOLS_KERBEROS_H
#define PROTOCOLS_KERBEROS_H

#include <gssapi/gssapi.h>

#include "protocols/conversation.h"
#include "protocols/packet.h"

/* Once, in main, before threads start: writes a private profile (no DNS, no canonicalization), sets
 * KRB5_CONFIG, touches libkrb5, GSS and libsasl. Negative errno and a line in error on failure. */
int kerberos_global_init(const struct dc *dc, char *error, size_t error_size);
void kerberos_global_end(void);

/* Derives account->aes256_key from its password (salts of users and machines, MS-KILE 3.1.1.2).
 * About 10 ms of CPU; may run in several threads at once. 0 or a negative errno. */
int kerberos_derive_key(struct account *account, const char *realm);

/* An AS exchange for account (the packet kerberos:10). The TGT goes into the conversation's ccache
 * for that account. */
struct outcome kerberos_as_exchange(struct conversation *conversation,
                                    const struct account *account);

/* Sees to it that the ccache of account holds a valid ticket for service ("ldap", "cifs", "host",
 * ... of the DC): fetches TGT and ticket when they are missing or about to expire. */
struct outcome kerberos_ensure_ticket(struct conversation *conversation,
                                      const struct account *account, const char *service);

/* GSS initiator credentials from that ccache; owned by the conversation. After
 * kerberos_ensure_ticket() a GSS context with them never goes to the network. */
gss_cred_id_t kerberos_gss_credentials(struct conversation *conversation,
                                       const struct account *account);

/* Drops tickets and credentials: the conversation's reset function. */
void kerberos_reset(struct conversation *conversation);

#endif
