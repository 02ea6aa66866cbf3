/* SPDX-License-Identifier: Apache-2.0 */
/* The TGS exchange (RFC 4120 3.3), stepped like the AS exchange. */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "protocols/kerberos/kerberos.h"
#include "protocols/kerberos/kerberos_private.h"

struct tgs_exchange {
    krb5_context context;
    struct kdc kdc;
    krb5_tkt_creds_context creds;
    krb5_principal server;
    krb5_ccache ccache; /* only the TGT: libkrb5 would return any other ticket without a request */
    bool for_tgt;       /* requests another TGT */
};

static bool is_valid(int64_t end);
static struct outcome tgs_play(struct conversation *conversation, struct tickets *tickets,
                               const char *service, bool *tgt_refused);
static krb5_error_code tgs_begin(struct tgs_exchange *tgs, struct tickets *tickets,
                                 const char *service);
static krb5_error_code tgt_principal(krb5_context context, const struct dc *dc,
                                     krb5_principal *out);
static krb5_error_code service_principal(krb5_context context, const struct dc *dc,
                                         const char *service, krb5_principal *out);
static krb5_error_code tgs_step(void *self, krb5_data *request, krb5_data *realm, bool *more);
static krb5_error_code tgs_refusal(int kdc_code);
static krb5_error_code tgs_keep_ticket(struct tgs_exchange *tgs, struct tickets *tickets);
static bool is_tgt_refused(int code);
static void tgs_end(struct tgs_exchange *tgs);
static bool has_ticket(struct conversation *conversation, struct tickets *tickets,
                       const char *service);
static krb5_error_code get_ticket(krb5_context context, struct tickets *tickets,
                                  krb5_principal server, krb5_creds *out);

struct outcome tgs_fetch(struct conversation *conversation, struct tickets *tickets,
                         const char *service)
{
    bool had_tgt = is_valid(tickets->tgt_end);
    struct outcome outcome = had_tgt ? outcome_ok() : as_get_tgt(conversation, tickets);
    bool tgt_refused = false;
    if (outcome.kind == OUTCOME_OK)
        outcome = tgs_play(conversation, tickets, service, &tgt_refused);
    if (!tgt_refused || !had_tgt)
        return outcome;
    /* The DC's key has changed, so all tickets are void. */
    tickets_drop(kerberos_context(), tickets);
    outcome = as_get_tgt(conversation, tickets);
    if (outcome.kind == OUTCOME_OK)
        outcome = tgs_play(conversation, tickets, service, &tgt_refused);
    return outcome;
}

/* A ticket that expires sooner is replaced. */
enum { MARGIN_SECONDS = 60 };

static bool is_valid(int64_t end)
{
    return end > (int64_t)time(NULL) + MARGIN_SECONDS;
}

static struct outcome tgs_play(struct conversation *conversation, struct tickets *tickets,
                               const char *service, bool *tgt_refused)
{
    struct tgs_exchange tgs = {
        .context = kerberos_context(),
        .kdc = {.conversation = conversation, .transport = conversation->dc->options.kdc}};
    if (!tgs.context)
        return kerberos_no_context();
    const struct kdc_exchange exchange = {.step = tgs_step, .refusal = tgs_refusal, .self = &tgs};
    krb5_error_code code = tgs_begin(&tgs, tickets, service);
    if (!code)
        code = kdc_run(tgs.context, &tgs.kdc, &exchange);
    if (!code)
        code = tgs_keep_ticket(&tgs, tickets);
    *tgt_refused = code && is_tgt_refused(kdc_error_code(tgs.context, &tgs.kdc));
    struct outcome outcome = code ? kerberos_failure(tgs.context, &tgs.kdc, code) : outcome_ok();
    tgs_end(&tgs);
    return outcome;
}

static krb5_error_code tgs_begin(struct tgs_exchange *tgs, struct tickets *tickets,
                                 const char *service)
{
    const struct dc *dc = tgs->kdc.conversation->dc;
    krb5_creds *tgt = &tickets->tgt;
    krb5_error_code code =
        tickets->tgt_end ? tickets_ccache_new(tgs->context, tgt, &tgs->ccache) : KRB5_CC_NOTFOUND;
    tgs->for_tgt = strcmp(service, KRB5_TGS_NAME) == 0;
    if (!code && tgs->for_tgt)
        code = tgt_principal(tgs->context, dc, &tgs->server);
    else if (!code)
        code = service_principal(tgs->context, dc, service, &tgs->server);
    krb5_creds wanted = {.client = tgt->client, .server = tgs->server};
    /* libkrb5 already has a TGT and requests one only for another type of session key. */
    if (tgs->for_tgt)
        wanted.keyblock.enctype = tgt->keyblock.enctype == ENCTYPE_AES128_CTS_HMAC_SHA1_96
                                      ? ENCTYPE_AES256_CTS_HMAC_SHA1_96
                                      : ENCTYPE_AES128_CTS_HMAC_SHA1_96;
    return code ? code : krb5_tkt_creds_init(tgs->context, tgs->ccache, &wanted, 0, &tgs->creds);
}

static krb5_error_code tgt_principal(krb5_context context, const struct dc *dc, krb5_principal *out)
{
    return krb5_build_principal(context, out, (unsigned)strlen(dc->realm), dc->realm, KRB5_TGS_NAME,
                                dc->realm, NULL);
}

/* service/dc1.samdom.example.com@SAMDOM.EXAMPLE.COM; the name of the global catalogue also contains
 * the forest (MS-DRSR 2.2.4.2). */
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

static krb5_error_code tgs_step(void *self, krb5_data *request, krb5_data *realm, bool *more)
{
    struct tgs_exchange *tgs = self;
    unsigned flags = 0;
    krb5_error_code code =
        krb5_tkt_creds_step(tgs->context, tgs->creds, &tgs->kdc.reply, request, realm, &flags);
    *more = flags & KRB5_TKT_CREDS_STEP_FLAG_CONTINUE;
    return code;
}

/* After any other error libkrb5 would ask again without the canonicalize option. A domain with one
 * KDC has no better answer. */
static krb5_error_code tgs_refusal(int kdc_code)
{
    enum { RESPONSE_TOO_BIG = 52 };
    if (kdc_code == 0 || kdc_code == RESPONSE_TOO_BIG)
        return 0;
    return KRB5KRB_ERR_GENERIC; /* kerberos_failure() takes the cause from the reply */
}

/* Stores the ticket under the requested name, whatever the KDC calls it. A second TGT, which
 * clients get in order to forward it, is dropped. */
static krb5_error_code tgs_keep_ticket(struct tgs_exchange *tgs, struct tickets *tickets)
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
        code = tickets_add(tgs->context, tickets, &ticket);
    krb5_free_cred_contents(tgs->context, &ticket);
    return code;
}

/* True for errors about the TGT in the request, which a new TGT may avoid: MS-KILE 3.3.5.7. */
static bool is_tgt_refused(int code)
{
    static const int codes[] = {20 /* TGT_REVOKED */, 31 /* BAD_INTEGRITY */, 32 /* TKT_EXPIRED */,
                                33 /* TKT_NYV */,     41 /* MODIFIED */,      44 /* BADKEYVER */};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i] == code)
            return true;
    return false;
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

struct outcome kerberos_ensure_ticket(struct conversation *conversation,
                                      const struct account *account, const char *service)
{
    const struct dc *dc = conversation->dc;
    struct tickets *tickets = tickets_get(conversation, account);
    if (!tickets)
        return outcome_of_error(-ENOMEM);
    if (!dc->realm || !dc->dns_name)
        return outcome_failed("no Kerberos realm is known");
    if (!tickets->tgt_end && account == &dc->admin && dc->admin_ccache) {
        struct outcome outcome = as_get_tgt(conversation, tickets);
        if (outcome.kind != OUTCOME_OK)
            return outcome;
    }
    if (has_ticket(conversation, tickets, service))
        return outcome_ok();
    return tgs_fetch(conversation, tickets, service);
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
        valid = is_valid(ticket_end(&ticket));
        krb5_free_cred_contents(context, &ticket);
    }
    krb5_free_principal(context, server);
    return valid;
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
