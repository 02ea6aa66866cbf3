/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a conversation has got from the KDC: one MEMORY ccache for each account it has used, made at
 * the account's first AS exchange and dropped at the conversation's end. About 2.3 KiB with a TGT,
 * 2 KiB more for each service ticket.
 */
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <stdlib.h>

#include "protocols/kerberos.h"
#include "protocols/kerberos_private.h"

int64_t ticket_end(const krb5_creds *ticket)
{
    return (int64_t)(uint32_t)ticket->times.endtime;
}

struct tickets *tickets_find(struct conversation *conversation, const struct account *account)
{
    struct tickets *tickets = conversation->krb5 ? conversation->krb5->tickets : NULL;
    while (tickets && tickets->account != account)
        tickets = tickets->next;
    return tickets;
}

static struct kerberos_state *get_state(struct conversation *conversation)
{
    if (!conversation->krb5)
        conversation->krb5 = calloc(1, sizeof *conversation->krb5);
    return conversation->krb5;
}

struct tickets *tickets_get(struct conversation *conversation, const struct account *account)
{
    struct tickets *tickets = tickets_find(conversation, account);
    struct kerberos_state *state = get_state(conversation);
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

static void drop_credentials(struct tickets *tickets)
{
    OM_uint32 minor;
    gss_release_cred(&minor, &tickets->credentials);
    tickets->spnego = false;
}

void tickets_drop(krb5_context context, struct tickets *tickets)
{
    drop_credentials(tickets);
    if (tickets->ccache)
        krb5_cc_destroy(context, tickets->ccache);
    tickets->ccache = NULL;
    tickets->tgt_end = 0;
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

krb5_error_code tickets_replace(krb5_context context, krb5_ccache ccache, krb5_creds *ticket)
{
    krb5_creds old = {.client = ticket->client, .server = ticket->server};
    krb5_cc_remove_cred(context, ccache, 0, &old); /* there may be none */
    return krb5_cc_store_cred(context, ccache, ticket);
}

krb5_error_code tickets_keep_tgt(krb5_context context, struct tickets *tickets, krb5_creds *tgt)
{
    drop_credentials(tickets); /* they remember when the old one ends */
    krb5_error_code code = tickets->ccache ? tickets_replace(context, tickets->ccache, tgt)
                                           : tickets_ccache_new(context, tgt, &tickets->ccache);
    tickets->tgt_end = code ? 0 : ticket_end(tgt);
    return code;
}

void kerberos_forget_tickets(struct conversation *conversation, const struct account *account)
{
    krb5_context context = kerberos_context();
    struct tickets *tickets = tickets_find(conversation, account);
    if (tickets && context)
        tickets_drop(context, tickets);
}

void kerberos_reset(struct conversation *conversation)
{
    krb5_context context = kerberos_context();
    struct kerberos_state *state = conversation->krb5;
    if (!state || !context)
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

/* 1.3.6.1.5.5.2 */
static const gss_OID_desc spnego_mechanism = {.length = 6,
                                              .elements = (void *)"\x2b\x06\x01\x05\x05\x02"};

gss_cred_id_t kerberos_gss_credentials(struct conversation *conversation,
                                       const struct account *account)
{
    struct tickets *tickets = tickets_find(conversation, account);
    OM_uint32 minor;
    if (!tickets || !tickets->ccache)
        return GSS_C_NO_CREDENTIAL;
    if (tickets->credentials == GSS_C_NO_CREDENTIAL &&
        gss_krb5_import_cred(&minor, tickets->ccache, NULL, NULL, &tickets->credentials) !=
            GSS_S_COMPLETE)
        return GSS_C_NO_CREDENTIAL;
    return tickets->credentials;
}

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
