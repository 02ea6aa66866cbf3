/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of kerberos.h share: a thread's libkrb5 context (kerberos_setup.c), the way to the
 * KDC and what went wrong on it (kerberos_kdc.c), a conversation's tickets (kerberos_tickets.c),
 * the two exchanges (kerberos_as.c, kerberos_tgs.c).
 */
#ifndef PROTOCOLS_KERBEROS_KERBEROS_PRIVATE_H
#define PROTOCOLS_KERBEROS_KERBEROS_PRIVATE_H

#include <gssapi/gssapi.h>
#include <krb5/krb5.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocols/conversation.h"
#include "protocols/packet.h"

/*
 * This thread's context, made at its first use (0.3 ms) and freed when the thread ends. A context
 * is not thread-safe, but several exchanges of one thread may be under way in it. NULL: no memory.
 */
krb5_context kerberos_context(void);

/* The tickets of -k, read at start-up: NULL when there are none, else ended by a NULL. */
krb5_creds *const *kerberos_admin_tickets(void);

/* The principal of an account's name: "name", "DOMAIN\name" (domain left out) or a UPN. To be
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

/* More replies than this no exchange takes. */
enum { KDC_STEPS_MAX = 8 };

/* A step's code says that a reply did not fit into a datagram: the same request is to go again,
 * over TCP. */
bool kdc_goes_over_to_tcp(struct kdc *kdc, krb5_error_code code);

/* The error code of RFC 4120 7.5.9 when the last reply is a KRB-ERROR, whose clock is noted, else
 * 0.
 */
int kdc_error_code(krb5_context context, struct kdc *kdc);

/* Why an exchange failed: the stream, the KDC by its error's name, or libkrb5. */
struct outcome kerberos_failure(krb5_context context, struct kdc *kdc, krb5_error_code code);

/* What a conversation holds of one account. */
struct tickets {
    struct tickets *next;
    const struct account *account;
    krb5_creds tgt;     /* while tgt_end is not 0 */
    int64_t tgt_end;    /* Unix time */
    krb5_ccache ccache; /* all of them, for GSS; made when there is more than a TGT or GSS asks */
    unsigned replaced;  /* tickets of ccache that others took the place of: it does not shrink */
    gss_cred_id_t credentials;
    bool spnego; /* credentials are also those of GSS's own SPNEGO */
};

struct kerberos_state {
    struct conversation_state base;
    struct tickets *tickets;
    unsigned next_service; /* of those that kerberos:12 asks for in turn */
};

int64_t ticket_end(const krb5_creds *ticket); /* Unix time */

/* What the conversation holds of an account, created if necessary. NULL: no memory. */
struct tickets *tickets_get(struct conversation *conversation, const struct account *account);
/* Back to having none. */
void tickets_drop(krb5_context context, struct tickets *tickets);

/* A new MEMORY ccache of the ticket's client that holds that ticket. */
krb5_error_code tickets_ccache_new(krb5_context context, krb5_creds *ticket, krb5_ccache *out);
/* Adds a service ticket, in the place of the one for the same service. */
krb5_error_code tickets_add(krb5_context context, struct tickets *tickets, krb5_creds *ticket);
/* Takes over the contents of a new TGT, also on failure. Service tickets that are there stay: they
 * are as good as before. */
krb5_error_code tickets_keep_tgt(krb5_context context, struct tickets *tickets, krb5_creds *tgt);

/* An AS exchange (with -B's wrong attempt before it), or the administrator's own TGT. */
struct outcome as_get_tgt(struct conversation *conversation, struct tickets *tickets);
/* A TGS exchange whatever there is already, an AS exchange before it when there is no valid TGT. */
struct outcome tgs_fetch(struct conversation *conversation, struct tickets *tickets,
                         const char *service);

#endif
