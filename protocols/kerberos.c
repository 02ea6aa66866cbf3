/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kerberos exchanges: libkrb5 writes the requests and reads the replies, one step at a time; we
 * carry them (kerberos_kdc.c). What a conversation has got is one MEMORY ccache for each account it
 * has used, made at the account's first AS exchange and dropped at the conversation's end.
 */
#include "protocols/kerberos.h"

#include <errno.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "protocols/kerberos_private.h"
#include "protocols/packet_tables.h"

/* A ticket that ends sooner is not used any more. */
enum { MARGIN_SECONDS = 60, TICKET_SECONDS = 10 * 3600, RENEW_SECONDS = 7 * 24 * 3600 };

/* More replies than this no exchange takes. */
enum { STEPS_MAX = 8 };

enum { KDC_CODE_PREAUTH_FAILED = 24 };

/* What a conversation holds of one account. */
struct tickets {
    struct tickets *next;
    const struct account *account;
    krb5_ccache ccache;
    int64_t tgt_end; /* Unix time */
    gss_cred_id_t credentials;
    bool spnego; /* credentials are also those of GSS's own SPNEGO */
};

struct kerberos_state {
    struct tickets *tickets;
    unsigned next_service; /* of those that kerberos:12 asks for in turn */
};

static int64_t now(void)
{
    return (int64_t)time(NULL);
}

static int64_t end_of(const krb5_creds *ticket)
{
    return (int64_t)(uint32_t)ticket->times.endtime;
}

krb5_error_code kerberos_principal(krb5_context context, const char *realm, const char *name,
                                   krb5_principal *out)
{
    const char *backslash = strchr(name, '\\');
    if (backslash)
        name = backslash + 1;
    if (!strchr(name, '@'))
        return krb5_build_principal(context, out, (unsigned)strlen(realm), realm, name, NULL);
    /* MS-KILE 3.3.5.6.1: a UPN goes as an enterprise name, and the KDC tells the real one. */
    krb5_error_code code =
        krb5_build_principal(context, out, (unsigned)strlen(realm), realm, name, NULL);
    if (!code)
        (*out)->type = KRB5_NT_ENTERPRISE_PRINCIPAL;
    return code;
}

/* --- The tickets of a conversation --------------------------------------------------------------
 */

static struct tickets *find_tickets(struct conversation *conversation,
                                    const struct account *account)
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

/* Those of account, made when there are none yet. NULL: no memory. */
static struct tickets *get_tickets(struct conversation *conversation, const struct account *account)
{
    struct tickets *tickets = find_tickets(conversation, account);
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

static void drop_tickets(krb5_context context, struct tickets *tickets)
{
    drop_credentials(tickets);
    if (tickets->ccache)
        krb5_cc_destroy(context, tickets->ccache);
    tickets->ccache = NULL;
    tickets->tgt_end = 0;
}

/* A ccache of that client with one ticket. */
static krb5_error_code make_ccache(krb5_context context, krb5_creds *ticket, krb5_ccache *out)
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

/* Stores a ticket in the place of the one for the same service. */
static krb5_error_code replace_ticket(krb5_context context, krb5_ccache ccache, krb5_creds *ticket)
{
    krb5_creds old = {.client = ticket->client, .server = ticket->server};
    krb5_cc_remove_cred(context, ccache, 0, &old); /* there may be none */
    return krb5_cc_store_cred(context, ccache, ticket);
}

/* A new TGT. Service tickets that are there stay: they are as good as before. */
static krb5_error_code keep_tgt(krb5_context context, struct tickets *tickets, krb5_creds *tgt)
{
    drop_credentials(tickets); /* they remember when the old one ends */
    krb5_error_code code = tickets->ccache ? replace_ticket(context, tickets->ccache, tgt)
                                           : make_ccache(context, tgt, &tickets->ccache);
    tickets->tgt_end = code ? 0 : end_of(tgt);
    return code;
}

void kerberos_forget_tickets(struct conversation *conversation, const struct account *account)
{
    krb5_context context = kerberos_context();
    struct tickets *tickets = find_tickets(conversation, account);
    if (tickets && context)
        drop_tickets(context, tickets);
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
        drop_tickets(context, tickets);
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
    struct tickets *tickets = find_tickets(conversation, account);
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
    struct tickets *tickets = find_tickets(conversation, account);
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

/* --- The AS exchange ----------------------------------------------------------------------------
 */

struct as_exchange {
    krb5_context context;
    struct kdc kdc;
    krb5_init_creds_context creds;
    krb5_get_init_creds_opt *options;
    krb5_principal client;
    krb5_keytab keytab;
    bool one_request; /* with the proof of the key in it */
};

/* Options of a Windows client: forwardable, renewable, canonicalize, with a PAC. */
static krb5_error_code as_options(struct as_exchange *as)
{
    static krb5_preauthtype timestamp[] = {KRB5_PADATA_ENC_TIMESTAMP};
    krb5_error_code code = krb5_get_init_creds_opt_alloc(as->context, &as->options);
    if (code)
        return code;
    krb5_get_init_creds_opt_set_tkt_life(as->options, TICKET_SECONDS);
    krb5_get_init_creds_opt_set_renew_life(as->options, RENEW_SECONDS);
    krb5_get_init_creds_opt_set_forwardable(as->options, 1);
    krb5_get_init_creds_opt_set_canonicalize(as->options, 1);
    if (as->one_request)
        krb5_get_init_creds_opt_set_preauth_list(as->options, timestamp, 1);
    return krb5_get_init_creds_opt_set_pac_request(as->context, as->options, 1);
}

/* The account's key in a keytab of this exchange alone: libkrb5 finds a MEMORY keytab by going
 * through all there are, so one an account for the whole run would cost more than this. */
static krb5_error_code as_keytab(struct as_exchange *as, const struct account *account, bool wrong)
{
    uint8_t bytes[ACCOUNT_AES256_KEY_SIZE];
    memcpy(bytes, account->aes256_key, sizeof bytes);
    if (wrong)
        bytes[0] ^= 0xff;
    krb5_keytab_entry entry = {.principal = as->client,
                               .key = {.magic = KV5M_KEYBLOCK,
                                       .enctype = ENCTYPE_AES256_CTS_HMAC_SHA1_96,
                                       .length = sizeof bytes,
                                       .contents = bytes}};
    char name[64];
    snprintf(name, sizeof name, "MEMORY:as-%p", (void *)as);
    krb5_error_code code = krb5_kt_resolve(as->context, name, &as->keytab);
    if (!code)
        code = krb5_kt_add_entry(as->context, as->keytab, &entry);
    explicit_bzero(bytes, sizeof bytes);
    return code;
}

static krb5_error_code as_begin(struct as_exchange *as, const struct account *account, bool wrong)
{
    const struct dc *dc = as->kdc.conversation->dc;
    as->one_request = account->has_aes256_key && dc->options.kdc_preauth_legs != 2;
    krb5_error_code code = kerberos_principal(as->context, dc->realm, account->name, &as->client);
    if (!code)
        code = as_options(as);
    if (!code)
        code =
            krb5_init_creds_init(as->context, as->client, NULL, NULL, 0, as->options, &as->creds);
    if (code)
        return code;
    if (!account->has_aes256_key)
        return krb5_init_creds_set_password(as->context, as->creds, account->password);
    code = as_keytab(as, account, wrong);
    return code ? code : krb5_init_creds_set_keytab(as->context, as->creds, as->keytab);
}

static void as_end(struct as_exchange *as)
{
    kdc_end(&as->kdc);
    if (as->creds)
        krb5_init_creds_free(as->context, as->creds);
    krb5_get_init_creds_opt_free(as->context, as->options);
    if (as->keytab)
        krb5_kt_close(as->context, as->keytab);
    krb5_free_principal(as->context, as->client);
}

/* A reply did not fit into a datagram: the same request is to go again, over TCP. */
static bool goes_over_to_tcp(struct kdc *kdc, krb5_error_code code)
{
    if (code != KRB5KRB_ERR_RESPONSE_TOO_BIG || kdc->transport != KDC_UDP)
        return false;
    kdc->transport = KDC_TCP;
    return true;
}

static krb5_error_code as_steps(struct as_exchange *as)
{
    for (int step = 0; step < STEPS_MAX; step++) {
        krb5_data request, realm;
        unsigned flags = 0;
        /* libkrb5 would try a key that was refused once more; with -B, too, one try is one try. */
        if (step > 0 && kdc_error_code(as->context, &as->kdc) == KDC_CODE_PREAUTH_FAILED)
            return KRB5KDC_ERR_PREAUTH_FAILED;
        krb5_error_code code =
            krb5_init_creds_step(as->context, as->creds, &as->kdc.reply, &request, &realm, &flags);
        bool again = goes_over_to_tcp(&as->kdc, code);
        bool more = again || (!code && flags & KRB5_INIT_CREDS_STEP_FLAG_CONTINUE);
        if (more)
            code = kdc_ask(&as->kdc, &request) ? KRB5_KDC_UNREACH : 0;
        krb5_free_data_contents(as->context, &request);
        krb5_free_data_contents(as->context, &realm);
        if (code || !more)
            return code;
    }
    return KRB5_GET_IN_TKT_LOOP;
}

/* *refused: it was the KDC that said no, or a reply that the key does not open. */
static struct outcome as_play(struct conversation *conversation, struct tickets *tickets,
                              bool wrong, bool *refused)
{
    struct as_exchange as = {
        .context = kerberos_context(),
        .kdc = {.conversation = conversation, .transport = conversation->dc->options.kdc}};
    krb5_creds tgt;
    if (!as.context)
        return outcome_of_error(-ENOMEM);
    krb5_error_code code = as_begin(&as, tickets->account, wrong);
    if (!code)
        code = as_steps(&as);
    if (!code)
        code = krb5_init_creds_get_creds(as.context, as.creds, &tgt);
    if (!code) {
        if (!wrong)
            code = keep_tgt(as.context, tickets, &tgt);
        krb5_free_cred_contents(as.context, &tgt);
    }
    *refused = code == KRB5KRB_AP_ERR_BAD_INTEGRITY ||
               (code && !as.kdc.error && kdc_error_code(as.context, &as.kdc));
    struct outcome outcome = code ? kerberos_failure(as.context, &as.kdc, code) : outcome_ok();
    as_end(&as);
    return outcome;
}

/* -k: what the user has got himself. */
static struct outcome take_admin_tickets(struct tickets *tickets)
{
    krb5_context context = kerberos_context();
    krb5_creds *const *ticket = kerberos_admin_tickets();
    if (!context)
        return outcome_of_error(-ENOMEM);
    if (!ticket)
        return outcome_failed("no Kerberos tickets of the administrator");
    drop_tickets(context, tickets);
    for (; *ticket; ticket++) {
        if (end_of(*ticket) <= now())
            continue;
        krb5_error_code code = tickets->ccache
                                   ? krb5_cc_store_cred(context, tickets->ccache, *ticket)
                                   : make_ccache(context, *ticket, &tickets->ccache);
        if (code)
            return outcome_of_error(-ENOMEM);
        const krb5_data *service = krb5_princ_component(context, (*ticket)->server, 0);
        if (service && service->length == 6 && memcmp(service->data, "krbtgt", 6) == 0 &&
            end_of(*ticket) > tickets->tgt_end)
            tickets->tgt_end = end_of(*ticket);
    }
    return tickets->ccache ? outcome_ok() : outcome_failed("the administrator's tickets expired");
}

/* -B is for the test accounts: the administrator shall not be locked out. */
static struct outcome try_wrong_key(struct conversation *conversation, struct tickets *tickets)
{
    const struct account *account = tickets->account;
    if (!account->has_aes256_key ||
        (account != conversation->user && account != conversation->machine) ||
        !conversation_wants_bad_password(conversation))
        return outcome_ok();
    bool refused = false;
    struct outcome outcome = as_play(conversation, tickets, true, &refused);
    if (outcome.kind == OUTCOME_OK)
        return outcome_failed("a wrong password was accepted");
    if (!refused)
        return outcome;
    conversation->expected_failures++;
    return outcome_ok();
}

static struct outcome get_tgt(struct conversation *conversation, struct tickets *tickets)
{
    const struct dc *dc = conversation->dc;
    const struct account *account = tickets->account;
    if (!dc->realm || !dc->dns_name)
        return outcome_failed("no Kerberos realm is known");
    if (account == &dc->admin && dc->admin_ccache)
        return take_admin_tickets(tickets);
    if (!account->name || (!account->has_aes256_key && !account->password))
        return outcome_failed("no credentials for the account");
    struct outcome outcome = try_wrong_key(conversation, tickets);
    bool refused;
    return outcome.kind == OUTCOME_OK ? as_play(conversation, tickets, false, &refused) : outcome;
}

struct outcome kerberos_as_exchange(struct conversation *conversation,
                                    const struct account *account)
{
    struct tickets *tickets = get_tickets(conversation, account);
    return tickets ? get_tgt(conversation, tickets) : outcome_of_error(-ENOMEM);
}

/* --- The TGS exchange ---------------------------------------------------------------------------
 */

struct tgs_exchange {
    krb5_context context;
    struct kdc kdc;
    krb5_tkt_creds_context creds;
    krb5_principal server;
    krb5_ccache ccache; /* holds the TGT alone, or the request would be answered from it */
    bool for_tgt;       /* asks for another TGT */
};

/* service/dc1.samdom.example.com@SAMDOM.EXAMPLE.COM; the global catalogue has the forest in its
 * name, too (MS-DRSR 2.2.4.2). */
static krb5_error_code service_principal(krb5_context context, const struct dc *dc,
                                         const char *service, krb5_principal *out)
{
    const char *forest = strcasecmp(service, "GC") == 0 ? dc->forest : NULL;
    krb5_error_code code = krb5_build_principal(context, out, (unsigned)strlen(dc->realm),
                                                dc->realm, service, dc->dns_name, forest, NULL);
    if (!code)
        (*out)->type = KRB5_NT_SRV_INST;
    return code;
}

static krb5_error_code tgt_principal(krb5_context context, const struct dc *dc, krb5_principal *out)
{
    return krb5_build_principal(context, out, (unsigned)strlen(dc->realm), dc->realm, KRB5_TGS_NAME,
                                dc->realm, NULL);
}

static krb5_error_code get_ticket(krb5_context context, struct tickets *tickets,
                                  krb5_principal server, krb5_creds *out)
{
    krb5_creds wanted = {.server = server};
    krb5_error_code code = krb5_cc_get_principal(context, tickets->ccache, &wanted.client);
    if (!code)
        code = krb5_cc_retrieve_cred(context, tickets->ccache, 0, &wanted, out);
    krb5_free_principal(context, wanted.client);
    return code;
}

static krb5_error_code get_kept_tgt(krb5_context context, struct tickets *tickets,
                                    const struct dc *dc, krb5_creds *out)
{
    krb5_principal server;
    krb5_error_code code = tgt_principal(context, dc, &server);
    if (code)
        return code;
    code = get_ticket(context, tickets, server, out);
    krb5_free_principal(context, server);
    return code;
}

static krb5_error_code tgs_begin(struct tgs_exchange *tgs, struct tickets *tickets,
                                 const char *service)
{
    const struct dc *dc = tgs->kdc.conversation->dc;
    krb5_creds tgt;
    krb5_error_code code = get_kept_tgt(tgs->context, tickets, dc, &tgt);
    if (code)
        return code;
    code = make_ccache(tgs->context, &tgt, &tgs->ccache);
    tgs->for_tgt = strcmp(service, KRB5_TGS_NAME) == 0;
    if (!code && tgs->for_tgt)
        code = tgt_principal(tgs->context, dc, &tgs->server);
    else if (!code)
        code = service_principal(tgs->context, dc, service, &tgs->server);
    krb5_creds wanted = {.client = tgt.client, .server = tgs->server};
    /* A TGT is there already: only one with another kind of session key has to be asked for. */
    if (tgs->for_tgt)
        wanted.keyblock.enctype = tgt.keyblock.enctype == ENCTYPE_AES128_CTS_HMAC_SHA1_96
                                      ? ENCTYPE_AES256_CTS_HMAC_SHA1_96
                                      : ENCTYPE_AES128_CTS_HMAC_SHA1_96;
    if (!code)
        code = krb5_tkt_creds_init(tgs->context, tgs->ccache, &wanted, 0, &tgs->creds);
    krb5_free_cred_contents(tgs->context, &tgt);
    return code;
}

static void tgs_end(struct tgs_exchange *tgs)
{
    kdc_end(&tgs->kdc);
    if (tgs->creds)
        krb5_tkt_creds_free(tgs->context, tgs->creds);
    if (tgs->ccache)
        krb5_cc_destroy(tgs->context, tgs->ccache);
    krb5_free_principal(tgs->context, tgs->server);
}

static krb5_error_code tgs_steps(struct tgs_exchange *tgs)
{
    for (int step = 0; step < STEPS_MAX; step++) {
        krb5_data request, realm;
        unsigned flags = 0;
        krb5_error_code code = krb5_tkt_creds_step(tgs->context, tgs->creds, &tgs->kdc.reply,
                                                   &request, &realm, &flags);
        bool again = goes_over_to_tcp(&tgs->kdc, code);
        bool more = again || (!code && flags & KRB5_TKT_CREDS_STEP_FLAG_CONTINUE);
        if (more)
            code = kdc_ask(&tgs->kdc, &request) ? KRB5_KDC_UNREACH : 0;
        krb5_free_data_contents(tgs->context, &request);
        krb5_free_data_contents(tgs->context, &realm);
        if (code || !more)
            return code;
    }
    return KRB5_GET_IN_TKT_LOOP;
}

/* Under the name that was asked for, whatever the KDC calls it. A second TGT, such as clients get
 * to pass it on, is not kept. */
static krb5_error_code keep_ticket(struct tgs_exchange *tgs, struct tickets *tickets)
{
    krb5_creds ticket;
    if (tgs->for_tgt)
        return 0;
    krb5_error_code code = krb5_tkt_creds_get_creds(tgs->context, tgs->creds, &ticket);
    if (code)
        return code;
    krb5_free_principal(tgs->context, ticket.server);
    ticket.server = NULL;
    code = krb5_copy_principal(tgs->context, tgs->server, &ticket.server);
    if (!code)
        code = replace_ticket(tgs->context, tickets->ccache, &ticket);
    krb5_free_cred_contents(tgs->context, &ticket);
    return code;
}

/* Errors about the TGT that was sent: a new one may do better. MS-KILE 3.3.5.7. */
static bool is_tgt_refused(int code)
{
    static const int codes[] = {20 /* TGT_REVOKED */, 31 /* BAD_INTEGRITY */, 32 /* TKT_EXPIRED */,
                                33 /* TKT_NYV */,     41 /* MODIFIED */,      44 /* BADKEYVER */};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static struct outcome tgs_play(struct conversation *conversation, struct tickets *tickets,
                               const char *service, bool *tgt_refused)
{
    struct tgs_exchange tgs = {
        .context = kerberos_context(),
        .kdc = {.conversation = conversation, .transport = conversation->dc->options.kdc}};
    if (!tgs.context)
        return outcome_of_error(-ENOMEM);
    krb5_error_code code = tgs_begin(&tgs, tickets, service);
    if (!code)
        code = tgs_steps(&tgs);
    if (!code)
        code = keep_ticket(&tgs, tickets);
    *tgt_refused = code && is_tgt_refused(kdc_error_code(tgs.context, &tgs.kdc));
    struct outcome outcome = code ? kerberos_failure(tgs.context, &tgs.kdc, code) : outcome_ok();
    tgs_end(&tgs);
    return outcome;
}

static struct outcome fetch_ticket(struct conversation *conversation, struct tickets *tickets,
                                   const char *service)
{
    bool had_tgt = tickets->tgt_end > now() + MARGIN_SECONDS;
    struct outcome outcome = had_tgt ? outcome_ok() : get_tgt(conversation, tickets);
    bool tgt_refused = false;
    if (outcome.kind == OUTCOME_OK)
        outcome = tgs_play(conversation, tickets, service, &tgt_refused);
    if (!tgt_refused || !had_tgt)
        return outcome;
    /* The DC's key has changed since: all tickets are void. */
    drop_tickets(kerberos_context(), tickets);
    outcome = get_tgt(conversation, tickets);
    if (outcome.kind == OUTCOME_OK)
        outcome = tgs_play(conversation, tickets, service, &tgt_refused);
    return outcome;
}

static bool has_ticket(struct conversation *conversation, struct tickets *tickets,
                       const char *service)
{
    krb5_context context = kerberos_context();
    krb5_principal server;
    krb5_creds ticket;
    if (!context || !tickets->ccache ||
        service_principal(context, conversation->dc, service, &server) != 0)
        return false;
    bool valid = false;
    if (get_ticket(context, tickets, server, &ticket) == 0) {
        valid = end_of(&ticket) > now() + MARGIN_SECONDS;
        krb5_free_cred_contents(context, &ticket);
    }
    krb5_free_principal(context, server);
    return valid;
}

struct outcome kerberos_ensure_ticket(struct conversation *conversation,
                                      const struct account *account, const char *service)
{
    const struct dc *dc = conversation->dc;
    struct tickets *tickets = get_tickets(conversation, account);
    if (!tickets)
        return outcome_of_error(-ENOMEM);
    if (!dc->realm || !dc->dns_name)
        return outcome_failed("no Kerberos realm is known");
    if (!tickets->ccache && account == &dc->admin && dc->admin_ccache) {
        struct outcome outcome = take_admin_tickets(tickets);
        if (outcome.kind != OUTCOME_OK)
            return outcome;
    }
    if (has_ticket(conversation, tickets, service))
        return outcome_ok();
    return fetch_ticket(conversation, tickets, service);
}

/* --- The packets --------------------------------------------------------------------------------
 */

/* Compiled details: of kerberos:10 who, of kerberos:12 for which service. */
struct details {
    bool machine;
    char service[64]; /* "": in turn */
};

static void *new_details(char *error, size_t error_size)
{
    struct details *details = calloc(1, sizeof *details);
    if (!details)
        snprintf(error, error_size, "out of memory");
    return details;
}

static void *compile_as(const struct packet_field *fields, size_t count, char *error,
                        size_t error_size)
{
    struct details *details = new_details(error, error_size);
    for (size_t i = 0; details && i < count; i++) {
        const char *value = fields[i].count == 1 ? fields[i].values[0] : "";
        bool machine = strcmp(value, "machine") == 0;
        if (strcmp(fields[i].key, "as") == 0 && (machine || strcmp(value, "user") == 0)) {
            details->machine = machine;
            continue;
        }
        snprintf(error, error_size, "kerberos:10 knows as: user and as: machine, not %s: %s",
                 fields[i].key, value);
        free(details);
        return NULL;
    }
    return details;
}

static bool is_service(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strspn(name, letters);
    return length > 0 && !name[length] && length < sizeof((struct details *)0)->service;
}

static void *compile_tgs(const struct packet_field *fields, size_t count, char *error,
                         size_t error_size)
{
    struct details *details = new_details(error, error_size);
    for (size_t i = 0; details && i < count; i++) {
        const char *value = fields[i].count == 1 ? fields[i].values[0] : "";
        if (strcmp(fields[i].key, "service") == 0 && is_service(value)) {
            snprintf(details->service, sizeof details->service, "%s", value);
            continue;
        }
        snprintf(error, error_size,
                 "kerberos:12 knows service: and the first part of a service principal, not %s: %s",
                 fields[i].key, value);
        free(details);
        return NULL;
    }
    return details;
}

static bool is_dc(const struct dc_options *options)
{
    return !options->generic_ldap;
}

static struct outcome play_hint(struct conversation *conversation, const void *details)
{
    (void)details;
    conversation->kerberos = true;
    return outcome_nothing();
}

static struct outcome play_as(struct conversation *conversation, const void *compiled)
{
    const struct details *details = compiled;
    conversation->kerberos = true;
    return kerberos_as_exchange(conversation, details && details->machine ? conversation->machine
                                                                          : conversation->user);
}

static struct outcome play_tgs(struct conversation *conversation, const void *compiled)
{
    static const char *const services[] = {"ldap", "cifs", "host"};
    const struct details *details = compiled;
    struct tickets *tickets = get_tickets(conversation, conversation->user);
    conversation->kerberos = true;
    if (!tickets)
        return outcome_of_error(-ENOMEM);
    const char *service = details && *details->service ? details->service : NULL;
    if (!service)
        service =
            services[conversation->krb5->next_service++ % (sizeof services / sizeof services[0])];
    return fetch_ticket(conversation, tickets, service);
}

const struct packet_type packet_tables_kerberos[] = {
    {.protocol = "kerberos",
     .opcode = "",
     .description = "unknown",
     .kind = PACKET_STATE,
     .available = is_dc,
     .play = play_hint},
    {.protocol = "kerberos",
     .opcode = "10",
     .description = "as-req",
     .kind = PACKET_OPERATION,
     .compile = compile_as,
     .release = free,
     .available = is_dc,
     .play = play_as},
    {.protocol = "kerberos",
     .opcode = "12",
     .description = "tgs-req",
     .kind = PACKET_OPERATION,
     .compile = compile_tgs,
     .release = free,
     .available = is_dc,
     .play = play_tgs},
    {.protocol = NULL},
};
