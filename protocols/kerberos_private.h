/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of kerberos.h share: a thread's libkrb5 context, the way to the KDC, causes. */
#ifndef PROTOCOLS_KERBEROS_PRIVATE_H
#define PROTOCOLS_KERBEROS_PRIVATE_H

#include <krb5/krb5.h>
#include <stdbool.h>

#include "protocols/conversation.h"
#include "protocols/packet.h"

/*
 * This thread's context, made at its first use (0.3 ms) and freed when the thread ends. A context
 * is not thread-safe, but several exchanges of one thread may be under way in it. NULL: no memory.
 */
krb5_context kerberos_context(void);

/* The tickets of -k, read at start-up: NULL when there are none, else ended by a NULL. */
krb5_creds *const *kerberos_admin_tickets(void);

/* The principal of an account's name: "name", "DOMAIN\\name" (domain left out) or a UPN. To be
 * freed with krb5_free_principal(). */
krb5_error_code kerberos_principal(krb5_context context, const char *realm, const char *name,
                                   krb5_principal *out);

/* One exchange's way to the KDC: which transport, and the last reply. Zeroed but for conversation
 * and transport; kdc_end() frees the reply. */
struct kdc {
    struct conversation *conversation;
    enum kdc_transport transport; /* becomes KDC_TCP when a reply does not fit into UDP */
    krb5_data reply;
    int error; /* of the stream, negative errno, when that is why the exchange failed */
    int64_t clock_difference; /* seconds that the KDC's clock is ahead, from its last KRB-ERROR */
};

/* Sends a request and waits for its reply. 0 or kdc->error. */
int kdc_ask(struct kdc *kdc, const krb5_data *request);
void kdc_end(struct kdc *kdc);

/* The error code of RFC 4120 7.5.9 when the last reply is a KRB-ERROR, whose clock is noted, else
 * 0.
 */
int kdc_error_code(krb5_context context, struct kdc *kdc);

/* Why an exchange failed: the stream, the KDC by its error's name, or libkrb5. */
struct outcome kerberos_failure(krb5_context context, struct kdc *kdc, krb5_error_code code);

#endif
