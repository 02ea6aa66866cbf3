/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files that implement kerberos.h: a thread's libkrb5 context (kerberos_setup.c),
 * exchanges with the KDC and their failures (kerberos_kdc.c), a conversation's tickets
 * (kerberos_tickets.c), the AS and TGS exchanges (kerberos_as.c, kerberos_tgs.c).
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
 * This thread's context, created at its first use (0.3 ms) and freed when the thread ends. A
 * context is not thread-safe, but several exchanges of one thread can use it in turn. NULL: libkrb5
 * failed; see kerberos_no_context().
 */
krb5_context kerberos_context(void);

/* The outcome of an operation that got no context. */
struct outcome kerberos_no_context(void);

/* The tickets of -k, read at start-up and ended by a NULL; NULL: none. */
krb5_creds *const *kerberos_admin_tickets(void);

/* The principal of an account's name: "name", "DOMAIN\name" (the domain is dropped) or a UPN. Free
 * it with krb5_free_principal(). */
krb5_error_code kerberos_principal(krb5_context context, const char *realm, const char *name,
                                   krb5_principal *out);

/* One exchange with the KDC. The caller sets conversation and transport and zeroes the rest;
 * kdc_end() frees the reply. */
struct kdc {
    struct conversation *conversation;
    enum kdc_transport transport; /* becomes KDC_TCP if a reply does not fit into a datagram */
    krb5_data reply;              /* the last one */
    int error;                /* the stream's, negative errno, if that is why the exchange failed */
    int64_t clock_difference; /* seconds that the KDC's clock is ahead, from its last KRB-ERROR */
};

/* Sends a request and waits for its reply. 0 or kdc->error. */
int kdc_ask(struct kdc *kdc, const krb5_data *request);
void kdc_end(struct kdc *kdc);

/* How libkrb5 steps through an exchange. */
struct kdc_exchange {
    /* Reads the last reply and writes the next request. *more: send the request. */
    krb5_error_code (*step)(void *self, krb5_data *request, krb5_data *realm, bool *more);
    /* The failure with which a KRB-ERROR of this code ends the exchange; 0: libkrb5 handles it. */
    krb5_error_code (*refusal)(int kdc_code);
    void *self; /* argument of step */
};

/* Runs an exchange to its end. 0, or the code for kerberos_failure(). */
krb5_error_code kdc_run(krb5_context context, struct kdc *kdc, const struct kdc_exchange *exchange);

/* If the last reply is a KRB-ERROR, returns its code (RFC 4120 7.5.9) and notes its clock; else 0.
 */
int kdc_error_code(krb5_context context, struct kdc *kdc);

/* Why an exchange failed: the stream's cause, the name of the KDC's error, or libkrb5's text. */
struct outcome kerberos_failure(krb5_context context, struct kdc *kdc, krb5_error_code code);

/* The outcome of a libkrb5 call that sends nothing; code is not 0. */
struct outcome kerberos_library_failure(krb5_error_code code);

/* What a conversation holds of one account. */
struct tickets {
    struct tickets *next;
    const struct account *account;
    krb5_creds tgt;     /* valid while tgt_end is not 0 */
    int64_t tgt_end;    /* Unix time */
    krb5_ccache ccache; /* all tickets; created for the first service ticket or for GSS */
    unsigned replaced;  /* tickets in ccache that were replaced; a ccache never shrinks */
    gss_cred_id_t credentials;
    bool spnego; /* the credentials also work with GSS's SPNEGO */
};

struct kerberos_state {
    struct conversation_state base;
    struct tickets *tickets;
    unsigned next_service; /* kerberos:12 asks for services in turn */
};

int64_t ticket_end(const krb5_creds *ticket); /* Unix time */

/* What the conversation holds of an account, created if necessary. NULL: no memory. */
struct tickets *tickets_get(struct conversation *conversation, const struct account *account);
/* Frees all tickets of the account. */
void tickets_drop(krb5_context context, struct tickets *tickets);

/* A new MEMORY ccache that contains one ticket. */
krb5_error_code tickets_ccache_new(krb5_context context, krb5_creds *ticket, krb5_ccache *out);
/* Adds a service ticket, replacing one for the same service. */
krb5_error_code tickets_add(krb5_context context, struct tickets *tickets, krb5_creds *ticket);
/* Takes over the contents of a new TGT, even on failure. Existing service tickets stay valid. */
krb5_error_code tickets_keep_tgt(krb5_context context, struct tickets *tickets, krb5_creds *tgt);

/* An AS exchange (with -B's wrong attempt before it), or the administrator's own TGT. */
struct outcome as_get_tgt(struct conversation *conversation, struct tickets *tickets);
/* A TGS exchange, even if there is a ticket already; preceded by an AS exchange if there is no
 * valid TGT. */
struct outcome tgs_fetch(struct conversation *conversation, struct tickets *tickets,
                         const char *service);

#endif
