/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/directory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "protocols/stream.h"

static void start_request(struct directory *directory);
static int directory_failed(struct directory *directory, const struct outcome *outcome, int error);
static int directory_finish(struct directory *directory, int sent, int message);
static int wait_reply(struct directory *directory, int sent, int message, LDAPMessage **result);
static int parse_reply(struct directory *directory, LDAPMessage *result, LDAPControl ***controls);
static void keep_refusal(struct directory *directory, int code, const char *diagnostic);
static int search_page(struct directory *directory, const struct directory_search *search,
                       struct berval *cookie);
static int visit_entries(LDAP *handle, LDAPMessage *result, const struct directory_search *search);
static int directory_next_cookie(LDAP *handle, LDAPControl **controls, struct berval *cookie);

static const int64_t default_timeout = 120LL * 1000000000;

void directory_prepare(struct directory *directory, const struct dc *dc, struct waiter *waiter)
{
    *directory = (struct directory){.timeout = default_timeout};
    struct conversation *conversation = &directory->conversation;
    conversation->dc = dc;
    conversation->user = conversation->machine = &dc->admin;
    conversation->wire.waiter = waiter;
    conversation->random = random_draw;
    conversation->random_state = &directory->random;
    /* The plan does not depend on these random numbers, so the clock is a good enough seed. */
    random_seed(&directory->random, (uint64_t)clock_now(), RANDOM_ACCOUNTS, 0);
    conversation_init(conversation);
}

int directory_open(struct directory *directory, const struct dc *dc, struct waiter *waiter)
{
    directory_prepare(directory, dc, waiter);
    start_request(directory);
    struct outcome outcome =
        ldap_connection_open_admin(&directory->connection, &directory->conversation);
    return outcome.kind == OUTCOME_OK ? 0 : directory_failed(directory, &outcome, -EACCES);
}

static void start_request(struct directory *directory)
{
    directory->error = (struct error){0};
    directory->conversation.wire.deadline = clock_now() + directory->timeout;
}

static int directory_failed(struct directory *directory, const struct outcome *outcome, int error)
{
    return error_set(&directory->error, error, "%s",
                     outcome->cause[0] ? outcome->cause : stream_error_text(error));
}

void directory_close(struct directory *directory)
{
    ldap_connection_close(directory->connection);
    directory->connection = NULL;
    if (directory->conversation.dc)
        conversation_reset(&directory->conversation);
}

int directory_add(struct directory *directory, const char *dn, LDAPMod **mods,
                  LDAPControl **controls)
{
    int message = 0;
    start_request(directory);
    int sent = ldap_add_ext(ldap_connection_handle(directory->connection), dn, mods, controls, NULL,
                            &message);
    return directory_finish(directory, sent, message);
}

static int directory_finish(struct directory *directory, int sent, int message)
{
    LDAPMessage *result;
    int error = wait_reply(directory, sent, message, &result);
    if (!error)
        error = parse_reply(directory, result, NULL);
    ldap_msgfree(result);
    return error;
}

/* Waits for the reply to a request. sent: what libldap returned for it. *result is that of
 * ldap_connection_wait(); NULL on failure. */
static int wait_reply(struct directory *directory, int sent, int message, LDAPMessage **result)
{
    *result = NULL;
    if (sent != LDAP_SUCCESS) {
        struct outcome outcome = ldap_connection_send_outcome(directory->connection, sent);
        return directory_failed(directory, &outcome, -EIO);
    }
    int error = ldap_connection_wait(directory->connection, message, LDAP_MSG_ALL, result);
    if (!error)
        return 0;
    struct outcome outcome = ldap_connection_failure(directory->connection, error);
    return directory_failed(directory, &outcome, error);
}

static int parse_reply(struct directory *directory, LDAPMessage *result, LDAPControl ***controls)
{
    LDAP *handle = ldap_connection_handle(directory->connection);
    struct outcome none = {0};
    char *diagnostic = NULL;
    int code = 0;
    if (ldap_parse_result(handle, result, &code, NULL, &diagnostic, NULL, controls, 0) !=
        LDAP_SUCCESS)
        return directory_failed(directory, &none, -EBADMSG);
    if (code != LDAP_SUCCESS)
        keep_refusal(directory, code, diagnostic);
    ldap_memfree(diagnostic);
    return code;
}

/* "code (diagnostic message)" on one line. */
static void keep_refusal(struct directory *directory, int code, const char *diagnostic)
{
    const char *name = ldap_result_name(code);
    char number[32];
    snprintf(number, sizeof number, "result code %d", code);
    bool more = diagnostic && *diagnostic;
    error_set(&directory->error, code, "%s%s%s%s", name ? name : number, more ? " (" : "",
              more ? diagnostic : "", more ? ")" : "");
    for (char *c = directory->error.text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
}

int directory_modify(struct directory *directory, const char *dn, LDAPMod **mods,
                     LDAPControl **controls)
{
    int message = 0;
    start_request(directory);
    int sent = ldap_modify_ext(ldap_connection_handle(directory->connection), dn, mods, controls,
                               NULL, &message);
    return directory_finish(directory, sent, message);
}

int directory_delete(struct directory *directory, const char *dn, LDAPControl **controls)
{
    int message = 0;
    start_request(directory);
    int sent = ldap_delete_ext(ldap_connection_handle(directory->connection), dn, controls, NULL,
                               &message);
    return directory_finish(directory, sent, message);
}

int directory_search(struct directory *directory, const struct directory_search *search)
{
    struct berval cookie = {0};
    int error;
    do
        error = search_page(directory, search, &cookie);
    while (!error && cookie.bv_len > 0);
    ber_memfree(cookie.bv_val);
    return error;
}

enum { PAGE_SIZE = 1000 };

static int search_page(struct directory *directory, const struct directory_search *search,
                       struct berval *cookie)
{
    LDAP *handle = ldap_connection_handle(directory->connection);
    LDAPControl *page = NULL, *controls[3] = {NULL}, **answered = NULL;
    size_t count = 0;
    if (search->control)
        controls[count++] = search->control;
    if (search->paged && ldap_create_page_control(handle, PAGE_SIZE, cookie->bv_val ? cookie : NULL,
                                                  1, &page) != LDAP_SUCCESS)
        return -ENOMEM;
    if (page)
        controls[count++] = page;
    int message = 0;
    LDAPMessage *result;
    start_request(directory);
    int sent = ldap_search_ext(handle, search->base, search->scope, search->filter,
                               (char **)(uintptr_t)search->attributes, 0, controls, NULL, NULL, 0,
                               &message);
    int error = wait_reply(directory, sent, message, &result);
    if (!error)
        error = parse_reply(directory, result, &answered);
    if (!error)
        error = visit_entries(handle, result, search);
    if (!error)
        error = directory_next_cookie(handle, answered, cookie);
    ldap_controls_free(answered);
    ldap_control_free(page);
    ldap_msgfree(result);
    return error;
}

static int visit_entries(LDAP *handle, LDAPMessage *result, const struct directory_search *search)
{
    for (LDAPMessage *entry = ldap_first_entry(handle, result); entry;
         entry = ldap_next_entry(handle, entry)) {
        int stop = search->entry(search->context, handle, entry);
        if (stop)
            return stop;
    }
    return 0;
}

/* *cookie is where the next page begins; empty after the last page. */
static int directory_next_cookie(LDAP *handle, LDAPControl **controls, struct berval *cookie)
{
    ber_memfree(cookie->bv_val);
    *cookie = (struct berval){0};
    LDAPControl *page = ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, controls, NULL);
    ber_int_t estimate;
    if (page && ldap_parse_pageresponse_control(handle, page, &estimate, cookie) != LDAP_SUCCESS)
        return -EBADMSG;
    return 0;
}

char *directory_text(LDAP *handle, LDAPMessage *entry, const char *attribute)
{
    struct berval **values = ldap_get_values_len(handle, entry, attribute);
    char *text = values && values[0] ? strndup(values[0]->bv_val, values[0]->bv_len) : NULL;
    ldap_value_free_len(values);
    return text;
}

const char *directory_logon_hint(const struct dc *dc)
{
    bool name_is_dn = !dc->admin.name || strchr(dc->admin.name, '=');
    return dc->options.generic_ldap && !name_is_dn
               ? "; --server ldap needs a DN as the user (-U, -A or TRAFFIC_REPLAY_USER)"
               : "";
}
