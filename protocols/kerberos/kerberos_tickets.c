/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tickets of a conversation: a TGT for each account, from the first AS exchange to the end of
 * the conversation, and a MEMORY ccache for service tickets, because GSS reads one. A ticket takes
 * about 2 KiB; a ccache contains a second copy of the TGT.
 */
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <stdlib.h>

#include "protocols/kerberos/kerberos.h"
#include "protocols/kerberos/kerberos_private.h"

static struct tickets *tickets_find(const struct conversation *conversation,
                                    const struct account *account);
static struct kerberos_state *tickets_get_state(struct conversation *conversation);
static void tickets_reset(struct conversation *conversation);
static void drop_credentials(struct tickets *tickets);
static krb5_error_code need_ccache(krb5_context context, struct tickets *tickets);
static krb5_error_code replace_ticket(krb5_context context, struct tickets *tickets,
                                      krb5_creds *ticket);
static krb5_error_code renew_ccache(krb5_context context, struct tickets *tickets);

int64_t ticket_end(const krb5_creds *ticket)
{
    return (int64_t)(uint32_t)ticket->times.endtime;
}

struct tickets *tickets_get(struct conversation *conversation, const struct account *account)
{
    struct tickets *tickets = tickets_find(conversation, account);
    struct kerberos_state *state = tickets_get_state(conversation);
    if (tickets || !state)
        return tickets;
    tickets = calloc(1, sizeof *tickets);
    if (!tickets)
        return NULL;
    tickets->account = account;
    tickets->credentials = GSS_C_NO_CREDENTIAL;
    tickets->next = state->tickets;
    state->tickets = tickets;
    return tickets;
}

static struct tickets *tickets_find(const struct conversation *conversation,
                                    const struct account *account)
{
    struct tickets *tickets = conversation->krb5 ? conversation->krb5->tickets : NULL;
    while (tickets && tickets->account != account)
        tickets = tickets->next;
    return tickets;
}

static struct kerberos_state *tickets_get_state(struct conversation *conversation)
{
    if (!conversation->krb5) {
        conversation->krb5 = calloc(1, sizeof *conversation->krb5);
        if (conversation->krb5)
            conversation->krb5->base.reset = tickets_reset;
    }
    return conversation->krb5;
}

static void tickets_reset(struct conversation *conversation)
{
    krb5_context context = kerberos_context();
    struct kerberos_state *state = conversation->krb5;
    if (!context)
        return;
    while (state->tickets) {
        struct tickets *tickets = state->tickets;
        state->tickets = tickets->next;
        tickets_drop(context, tickets);
        free(tickets);
    }
    free(state);
    conversation->krb5 = NULL;
}

void tickets_drop(krb5_context context, struct tickets *tickets)
{
    drop_credentials(tickets);
    if (tickets->ccache)
        krb5_cc_destroy(context, tickets->ccache);
    tickets->ccache = NULL;
    tickets->replaced = 0;
    krb5_free_cred_contents(context, &tickets->tgt);
    tickets->tgt = (krb5_creds){0};
    tickets->tgt_end = 0;
}

static void drop_credentials(struct tickets *tickets)
{
    OM_uint32 minor;
    gss_release_cred(&minor, &tickets->credentials);
    tickets->spnego = false;
}

krb5_error_code tickets_ccache_new(krb5_context context, krb5_creds *ticket, krb5_ccache *out)
{
    krb5_ccache ccache;
    krb5_error_code code = krb5_cc_new_unique(context, "MEMORY", NULL, &ccache);
    if (code)
        return code;
    code = krb5_cc_initialize(context, ccache, ticket->client);
    if (!code)
        code = krb5_cc_store_cred(context, ccache, ticket);
    if (code)
        krb5_cc_destroy(context, ccache);
    else
        *out = ccache;
    return code;
}

krb5_error_code tickets_add(krb5_context context, struct tickets *tickets, krb5_creds *ticket)
{
    krb5_error_code code = need_ccache(context, tickets);
    return code ? code : replace_ticket(context, tickets, ticket);
}

/* Creates the account's ccache from the TGT if there is none yet. */
static krb5_error_code need_ccache(krb5_context context, struct tickets *tickets)
{
    if (tickets->ccache)
        return 0;
    if (!tickets->tgt_end)
        return KRB5_CC_NOTFOUND;
    return tickets_ccache_new(context, &tickets->tgt, &tickets->ccache);
}

static krb5_error_code replace_ticket(krb5_context context, struct tickets *tickets,
                                      krb5_creds *ticket)
{
    enum { REPLACED_MAX = 64 };
    krb5_creds old = {.client = ticket->client, .server = ticket->server};
    if (krb5_cc_remove_cred(context, tickets->ccache, 0, &old) == 0)
        tickets->replaced++;
    krb5_error_code code = krb5_cc_store_cred(context, tickets->ccache, ticket);
    if (!code && tickets->replaced > REPLACED_MAX && tickets->tgt_end)
        code = renew_ccache(context, tickets);
    return code;
}

/* A MEMORY ccache leaks a little with each removed ticket, so it is copied now and then. */
static krb5_error_code renew_ccache(krb5_context context, struct tickets *tickets)
{
    krb5_ccache ccache;
    krb5_error_code code = krb5_cc_new_unique(context, "MEMORY", NULL, &ccache);
    if (code)
        return code;
    code = krb5_cc_initialize(context, ccache, tickets->tgt.client);
    if (!code)
        code = krb5_cc_copy_creds(context, tickets->ccache, ccache);
    if (code) {
        krb5_cc_destroy(context, ccache);
        return code;
    }
    drop_credentials(tickets);
    krb5_cc_destroy(context, tickets->ccache);
    tickets->ccache = ccache;
    tickets->replaced = 0;
    return 0;
}

krb5_error_code tickets_keep_tgt(krb5_context context, struct tickets *tickets, krb5_creds *tgt)
{
    drop_credentials(tickets); /* they contain the old TGT's end */
    krb5_free_cred_contents(context, &tickets->tgt);
    tickets->tgt = *tgt;
    tickets->tgt_end = ticket_end(tgt);
    return tickets->ccache ? replace_ticket(context, tickets, &tickets->tgt) : 0;
}

void kerberos_forget_tickets(struct conversation *conversation, const struct account *account)
{
    krb5_context context = kerberos_context();
    struct tickets *tickets = tickets_find(conversation, account);
    if (tickets && context)
        tickets_drop(context, tickets);
}

gss_cred_id_t kerberos_gss_credentials(struct conversation *conversation,
                                       const struct account *account)
{
    struct tickets *tickets = tickets_find(conversation, account);
    krb5_context context = kerberos_context();
    OM_uint32 minor;
    if (!tickets || !context || need_ccache(context, tickets) != 0)
        return GSS_C_NO_CREDENTIAL;
    if (tickets->credentials == GSS_C_NO_CREDENTIAL &&
        gss_krb5_import_cred(&minor, tickets->ccache, NULL, NULL, &tickets->credentials) !=
            GSS_S_COMPLETE)
        return GSS_C_NO_CREDENTIAL;
    return tickets->credentials;
}

/* 1.3.6.1.5.5.2 */
static const gss_OID_desc spnego_mechanism = {.length = 6,
                                              .elements = (void *)"\x2b\x06\x01\x05\x05\x02"};

gss_cred_id_t kerberos_spnego_credentials(struct conversation *conversation,
                                          const struct account *account)
{
    gss_cred_id_t credentials = kerberos_gss_credentials(conversation, account);
    struct tickets *tickets = tickets_find(conversation, account);
    if (credentials == GSS_C_NO_CREDENTIAL || tickets->spnego)
        return credentials;
    OM_uint32 minor;
    char *name = NULL;
    if (krb5_cc_get_full_name(kerberos_context(), tickets->ccache, &name) != 0)
        return GSS_C_NO_CREDENTIAL;
    gss_key_value_element_desc ccache = {.key = "ccache", .value = name};
    gss_key_value_set_desc store = {.count = 1, .elements = &ccache};
    OM_uint32 major =
        gss_add_cred_from(&minor, credentials, GSS_C_NO_NAME, (gss_OID)&spnego_mechanism,
                          GSS_C_INITIATE, 0, 0, &store, NULL, NULL, NULL, NULL);
    krb5_free_string(kerberos_context(), name);
    tickets->spnego = major == GSS_S_COMPLETE;
    return tickets->spnego ? credentials : GSS_C_NO_CREDENTIAL;
}
