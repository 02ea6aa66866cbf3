/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The AS exchange (RFC 4120 3.1, MS-KILE 3.2.5): libkrb5 writes the requests and reads the replies,
 * one step at a time; kerberos_kdc.c sends and receives them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "protocols/kerberos/kerberos.h"
#include "protocols/kerberos/kerberos_private.h"

struct as_exchange {
    krb5_context context;
    struct kdc kdc;
    krb5_init_creds_context creds;
    krb5_get_init_creds_opt *options;
    krb5_principal client;
    krb5_keytab keytab;
    bool one_request; /* the first request already proves the key */
};

static struct outcome take_admin_tickets(struct tickets *tickets);
static krb5_error_code copy_admin_tickets(krb5_context context, struct tickets *tickets, bool tgts);
static bool is_tgt(const krb5_creds *ticket);
static struct outcome try_wrong_key(struct conversation *conversation, struct tickets *tickets);
static struct outcome as_play(struct conversation *conversation, struct tickets *tickets,
                              bool wrong, bool *refused);
static krb5_error_code as_begin(struct as_exchange *as, const struct account *account, bool wrong);
static krb5_error_code as_options(struct as_exchange *as);
static krb5_error_code as_keytab(struct as_exchange *as, const struct account *account, bool wrong);
static krb5_error_code as_step(void *self, krb5_data *request, krb5_data *realm, bool *more);
static krb5_error_code as_refusal(int kdc_code);
static void as_end(struct as_exchange *as);

krb5_error_code kerberos_principal(krb5_context context, const char *realm, const char *name,
                                   krb5_principal *out)
{
    const char *backslash = strchr(name, '\\');
    if (backslash)
        name = backslash + 1;
    if (!strchr(name, '@'))
        return krb5_build_principal(context, out, (unsigned)strlen(realm), realm, name, NULL);
    /* MS-KILE 3.3.5.6.1: a UPN is sent as an enterprise name; the KDC returns the real name. */
    krb5_error_code code =
        krb5_build_principal(context, out, (unsigned)strlen(realm), realm, name, NULL);
    if (!code)
        (*out)->type = KRB5_NT_ENTERPRISE_PRINCIPAL;
    return code;
}

struct outcome as_get_tgt(struct conversation *conversation, struct tickets *tickets)
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

/* -k: uses the tickets that the user got with kinit. */
static struct outcome take_admin_tickets(struct tickets *tickets)
{
    krb5_context context = kerberos_context();
    if (!context)
        return kerberos_no_context();
    if (!kerberos_admin_tickets())
        return outcome_failed("no Kerberos tickets of the administrator");
    tickets_drop(context, tickets);
    krb5_error_code code = copy_admin_tickets(context, tickets, true);
    if (!code && !tickets->tgt_end)
        return outcome_failed("the administrator's TGT has expired");
    if (!code)
        code = copy_admin_tickets(context, tickets, false);
    return code ? kerberos_library_failure(code) : outcome_ok();
}

/* Copies those of the tickets that are still valid: only TGTs, or only the others. */
static krb5_error_code copy_admin_tickets(krb5_context context, struct tickets *tickets, bool tgts)
{
    krb5_error_code code = 0;
    for (krb5_creds *const *ticket = kerberos_admin_tickets(); !code && *ticket; ticket++) {
        krb5_creds *copy;
        if (is_tgt(*ticket) != tgts || ticket_end(*ticket) <= (int64_t)time(NULL))
            continue;
        code = krb5_copy_creds(context, *ticket, &copy);
        if (code)
            break;
        if (tgts) {
            code = tickets_keep_tgt(context, tickets, copy);
            free(copy); /* tickets now owns the contents */
        } else {
            code = tickets_add(context, tickets, copy);
            krb5_free_creds(context, copy);
        }
    }
    return code;
}

static bool is_tgt(const krb5_creds *ticket)
{
    const krb5_data *service = krb5_princ_component(NULL, ticket->server, 0);
    return service && service->length == KRB5_TGS_NAME_SIZE &&
           memcmp(service->data, KRB5_TGS_NAME, KRB5_TGS_NAME_SIZE) == 0;
}

/* -B applies to test accounts only, so that the administrator is never locked out. */
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

/* *refused: the KDC refused the request, or the key does not decrypt the reply. */
static struct outcome as_play(struct conversation *conversation, struct tickets *tickets,
                              bool wrong, bool *refused)
{
    struct as_exchange as = {
        .context = kerberos_context(),
        .kdc = {.conversation = conversation, .transport = conversation->dc->options.kdc}};
    krb5_creds tgt;
    if (!as.context)
        return kerberos_no_context();
    const struct kdc_exchange exchange = {.step = as_step, .refusal = as_refusal, .self = &as};
    krb5_error_code code = as_begin(&as, tickets->account, wrong);
    if (!code)
        code = kdc_run(as.context, &as.kdc, &exchange);
    if (!code && !wrong) {
        code = krb5_init_creds_get_creds(as.context, as.creds, &tgt);
        if (!code)
            code = tickets_keep_tgt(as.context, tickets, &tgt);
    }
    *refused = code == KRB5KRB_AP_ERR_BAD_INTEGRITY ||
               (code && !as.kdc.error && kdc_error_code(as.context, &as.kdc));
    struct outcome outcome = code ? kerberos_failure(as.context, &as.kdc, code) : outcome_ok();
    as_end(&as);
    return outcome;
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

enum { TICKET_SECONDS = 10 * 3600, RENEW_SECONDS = 7 * 24 * 3600 };

/* The options of a Windows client: forwardable, renewable, canonicalize, with a PAC. */
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

/* Puts the account's key into a keytab for this exchange only. libkrb5 searches all MEMORY keytabs
 * one by one, so one per account for the whole run would cost more. */
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

enum { KDC_CODE_PREAUTH_FAILED = 24 };

static krb5_error_code as_step(void *self, krb5_data *request, krb5_data *realm, bool *more)
{
    struct as_exchange *as = self;
    unsigned flags = 0;
    krb5_error_code code =
        krb5_init_creds_step(as->context, as->creds, &as->kdc.reply, request, realm, &flags);
    *more = flags & KRB5_INIT_CREDS_STEP_FLAG_CONTINUE;
    return code;
}

/* libkrb5 would try a refused key again. One attempt must stay one attempt, -B's above all. */
static krb5_error_code as_refusal(int kdc_code)
{
    return kdc_code == KDC_CODE_PREAUTH_FAILED ? KRB5KDC_ERR_PREAUTH_FAILED : 0;
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

struct outcome kerberos_as_exchange(struct conversation *conversation,
                                    const struct account *account)
{
    struct tickets *tickets = tickets_get(conversation, account);
    return tickets ? as_get_tgt(conversation, tickets) : outcome_of_error(-ENOMEM);
}
