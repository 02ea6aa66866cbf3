/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kerberos requests to a KDC. An AS request that is answered by "preauthentication required" and
 * the request that follows count as one, and so do a request that was too large for a datagram and
 * its repetition over TCP.
 */
#include <string.h>
#include <strings.h>

#include "model/learn/learn_frames_private.h"

/* RFC 4120 7.5.7, 7.5.9 */
enum { AS_REQ = 10, AS_REP = 11, TGS_REQ = 12, TGS_REP = 13, KRB_ERROR = 30 };
enum { PREAUTH_REQUIRED = 25, RESPONSE_TOO_BIG = 52, AGAIN_SECONDS = 60, NAME_SIZE = 256 };

static int learn_kerberos_take_request(struct learn_frames *frames, uint64_t type);
static uint64_t subject_of(const struct learn_frames *frames, uint64_t type);
static void note_realms(struct learn_frames *frames);
static bool comes_again(struct learn_frames *frames, uint64_t subject);
static bool learn_kerberos_is_repeated(struct learn_frames *frames, uint64_t type);
static void learn_kerberos_add_account(struct learn_frames *frames, struct learn_form *form);
static void add_service(struct learn_frames *frames, struct learn_form *form);
static void learn_kerberos_take_reply(struct learn_frames *frames, uint64_t type);

int learn_kerberos_frame(struct learn_frames *frames)
{
    int result = 0;
    uint64_t type;
    for (size_t i = 0;
         result == 0 && learn_line_number(frames->line, LEARN_LINE_KERBEROS_TYPE, i, &type); i++) {
        if (type == AS_REQ || type == TGS_REQ)
            result = learn_kerberos_take_request(frames, type);
        else if (type == AS_REP || type == TGS_REP || type == KRB_ERROR)
            learn_kerberos_take_reply(frames, type);
    }
    return result;
}

static int learn_kerberos_take_request(struct learn_frames *frames, uint64_t type)
{
    struct learn_form form;
    uint64_t subject = subject_of(frames, type);
    struct learn_link *exchange = learn_links_get(frames->links, LEARN_LINK_EXCHANGE,
                                                  frames->connection, 0, frames->time, true);
    exchange->value = subject;
    note_realms(frames);
    /* A request can be both: repeated for the KDC, and then again over TCP. */
    bool again = comes_again(frames, subject), repeated = learn_kerberos_is_repeated(frames, type);
    if (again || repeated) {
        learn_frames_count(frames, again ? LEARN_PREAUTH : LEARN_RETRIED);
        return 0;
    }
    learn_form_init(&form, "kerberos", type == AS_REQ ? "10" : "12");
    if (type == AS_REQ)
        learn_kerberos_add_account(frames, &form);
    else
        add_service(frames, &form);
    return learn_frames_request(frames, form.text, false);
}

/* A hash of the principal, the service and the KDC of a request. */
static uint64_t subject_of(const struct learn_frames *frames, uint64_t type)
{
    const char *client = frames->line->values[LEARN_LINE_KERBEROS_CNAME];
    const char *service = frames->line->values[LEARN_LINE_KERBEROS_SNAME];
    uint64_t hash = intern_hash(0, &type, sizeof type);
    hash = intern_hash(hash, client, strlen(client) + 1);
    hash = intern_hash(hash, &frames->to, sizeof frames->to);
    return intern_hash(hash, service, strlen(service));
}

static void note_realms(struct learn_frames *frames)
{
    char realm[NAME_SIZE];
    if (learn_line_value(frames->line, LEARN_LINE_KERBEROS_REALM, 0, realm, sizeof realm))
        learn_capture_realm(frames->capture, realm);
}

static bool comes_again(struct learn_frames *frames, uint64_t subject)
{
    struct learn_link *link = learn_links_get(frames->links, LEARN_LINK_PRINCIPAL, frames->from,
                                              subject, frames->time, false);
    if (!link || !link->busy)
        return false;
    link->busy = false;
    return frames->time - (int64_t)link->value < AGAIN_SECONDS * LEARN_SECOND;
}

static bool learn_kerberos_is_repeated(struct learn_frames *frames, uint64_t type)
{
    uint64_t parts[3] = {LEARN_LINE_KERBEROS_NONCE, type, 0};
    return learn_line_number(frames->line, LEARN_LINE_KERBEROS_NONCE, 0, &parts[2]) &&
           learn_frames_asked_again(frames, intern_hash(0, parts, sizeof parts));
}

/* Accounts of machines end in $ and are also called host/ (MS-KILE 3.3.5.1). */
static void learn_kerberos_add_account(struct learn_frames *frames, struct learn_form *form)
{
    char name[NAME_SIZE];
    if (!learn_line_value(frames->line, LEARN_LINE_KERBEROS_CNAME, 0, name, sizeof name))
        return;
    size_t length = strlen(name);
    bool machine = (length > 0 && name[length - 1] == '$') || strcasecmp(name, "host") == 0;
    learn_form_add(form, "as", machine ? "machine" : "user");
}

/* Adds the class of the service if it has the same meaning everywhere; any other name may be the
 * name of an account. The request contains a ticket for krbtgt, so krbtgt must occur twice to
 * count. */
static void add_service(struct learn_frames *frames, struct learn_form *form)
{
    static const char *const services[] = {"ldap",
                                           "cifs",
                                           "host",
                                           "http",
                                           "dns",
                                           "gc",
                                           "rpc",
                                           "rpcss",
                                           "nfs",
                                           "wsman",
                                           "termsrv",
                                           "mssqlsvc",
                                           "restrictedkrbhost",
                                           "e3514235-4b06-11d1-ab04-00c04fc2dcd2",
                                           "kadmin"};
    char name[NAME_SIZE];
    const char *at = frames->line->values[LEARN_LINE_KERBEROS_SNAME];
    unsigned tickets = 0;
    while (learn_line_next(&at, name, sizeof name)) {
        for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
            if (strcasecmp(services[i], name) == 0) {
                learn_form_add(form, "service", services[i]);
                return;
            }
        tickets += strcasecmp(name, "krbtgt") == 0;
    }
    if (tickets > 1)
        learn_form_add(form, "service", "krbtgt");
}

static void learn_kerberos_take_reply(struct learn_frames *frames, uint64_t type)
{
    uint64_t code = 0;
    learn_frames_answer(frames);
    struct learn_link *exchange = learn_links_get(frames->links, LEARN_LINK_EXCHANGE,
                                                  frames->connection, 0, frames->time, false);
    if (!exchange || type != KRB_ERROR ||
        !learn_line_number(frames->line, LEARN_LINE_KERBEROS_ERROR, 0, &code) ||
        (code != PREAUTH_REQUIRED && code != RESPONSE_TOO_BIG))
        return;
    uint64_t subject = exchange->value;
    struct learn_link *link = learn_links_get(frames->links, LEARN_LINK_PRINCIPAL, frames->to,
                                              subject, frames->time, true);
    link->busy = true;
    link->value = (uint64_t)frames->time;
}
