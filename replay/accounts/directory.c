/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/directory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "protocols/stream.h"

static int directory_connect(struct directory *directory);
static bool pause_before(unsigned *done);
static bool was(const struct directory *directory, int error);
static void start_request(struct directory *directory);
static int directory_failed(struct directory *directory, const struct outcome *outcome, int error);
static int no_connection(struct directory *directory);
static int send_failed(struct directory *directory, int sent);
static bool try_again(struct directory *directory, int result, unsigned *done);
static int run_write(struct directory *directory, const struct directory_write *write);
static int wait_reply(struct directory *directory, int sent, int message, LDAPMessage **result);
static int parse_reply(struct directory *directory, LDAPMessage *result, LDAPControl ***controls);
static void keep_refusal(struct directory *directory, int code, const char *diagnostic);
static int search_pages(struct directory *directory, const struct directory_search *search);
static int search_page(struct directory *directory, const struct directory_search *search,
                       struct berval *cookie);
static int visit_entries(LDAP *handle, LDAPMessage *result, const struct directory_search *search);
static int directory_next_cookie(LDAP *handle, LDAPControl **controls, struct berval *cookie);

static const int64_t default_timeout = 120LL * 1000000000, second = 1000000000;
int64_t directory_first_pause = 500000000;

void directory_prepare(struct directory *directory, const struct dc *dc, struct waiter *waiter)
{
    *directory = (struct directory){.waiter = waiter, .timeout = default_timeout};
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
    unsigned done = 0;
    int result;
    directory_prepare(directory, dc, waiter);
    do
        result = directory_connect(directory);
    while (result && waiter == wire_blocking_waiter() && directory_is_lost(directory) &&
           !was(directory, ECONNREFUSED) && pause_before(&done));
    return result;
}

int directory_open_admin(struct directory *directory, const struct dc *dc, struct error *error)
{
    const char *name = dc->admin.name             ? dc->admin.name
                       : dc->options.generic_ldap ? "anonymous"
                                                  : "the owner of the Kerberos tickets";
    int result = directory_open(directory, dc, wire_blocking_waiter());
    return result ? error_set(error, result, "cannot log on to %s as %s: %s%s", dc->given, name,
                              directory->error.text, directory_logon_hint(dc))
                  : 0;
}

static int directory_connect(struct directory *directory)
{
    start_request(directory);
    struct outcome outcome =
        ldap_connection_open_admin(&directory->connection, &directory->conversation);
    return outcome.kind == OUTCOME_OK ? 0 : directory_failed(directory, &outcome, -EACCES);
}

/* Sleeps before the next try. False: there were enough. */
static bool pause_before(unsigned *done)
{
    if (*done == DIRECTORY_RETRIES)
        return false;
    int64_t pause = directory_pause((*done)++);
    nanosleep(&(struct timespec){.tv_sec = pause / second, .tv_nsec = pause % second}, NULL);
    return true;
}

int64_t directory_pause(unsigned done)
{
    return directory_first_pause << done;
}

bool directory_refusal_passes(int result, const char *text)
{
    /* ERROR_DS_NO_RIDS_ALLOCATED (MS-ERREF 2.2) */
    return result == LDAP_BUSY || result == LDAP_UNAVAILABLE ||
           (result == LDAP_UNWILLING_TO_PERFORM && strstr(text, "00002010"));
}

bool directory_is_lost(const struct directory *directory)
{
    return was(directory, ECONNRESET) || was(directory, EPIPE) || was(directory, ENODATA) ||
           was(directory, ESHUTDOWN) || was(directory, ECONNREFUSED);
}

/* Whether the last failure was this error of the connection. A failed logon has only a text. */
static bool was(const struct directory *directory, int error)
{
    return directory->error.code == -error ||
           (!directory->connection && strstr(directory->error.text, stream_error_text(-error)));
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

int directory_reopen(struct directory *directory)
{
    ldap_connection_close(directory->connection);
    directory->connection = NULL;
    conversation_reset(&directory->conversation);
    return directory_connect(directory);
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
    return run_write(directory, &(struct directory_write){DIRECTORY_ADD, dn, mods, controls});
}

static int run_write(struct directory *directory, const struct directory_write *write)
{
    int result, message;
    unsigned done = 0;
    do {
        LDAPMessage *reply = NULL;
        result = directory_send(directory, write, &message);
        if (!result)
            result = wait_reply(directory, LDAP_SUCCESS, message, &reply);
        if (!result)
            result = parse_reply(directory, reply, NULL);
        ldap_msgfree(reply);
    } while (try_again(directory, result, &done));
    return result;
}

int directory_send(struct directory *directory, const struct directory_write *write, int *message)
{
    int sent;
    start_request(directory);
    if (!directory->connection)
        return no_connection(directory);
    LDAP *handle = ldap_connection_handle(directory->connection);
    switch (write->kind) {
    case DIRECTORY_ADD:
        sent = ldap_add_ext(handle, write->dn, write->mods, write->controls, NULL, message);
        break;
    case DIRECTORY_MODIFY:
        sent = ldap_modify_ext(handle, write->dn, write->mods, write->controls, NULL, message);
        break;
    default:
        sent = ldap_delete_ext(handle, write->dn, write->controls, NULL, message);
        break;
    }
    return sent == LDAP_SUCCESS ? 0 : send_failed(directory, sent);
}

/* After a lost connection that could not be replaced. */
static int no_connection(struct directory *directory)
{
    return directory_failed(directory, &(struct outcome){0}, -EPIPE);
}

static int send_failed(struct directory *directory, int sent)
{
    struct outcome outcome = ldap_connection_send_outcome(directory->connection, sent);
    int error = ldap_connection_error(directory->connection);
    return directory_failed(directory, &outcome, error ? error : -EIO);
}

/* Whether to repeat a request after this result. Pauses, and replaces a lost connection. */
static bool try_again(struct directory *directory, int result, unsigned *done)
{
    if (result == 0 || directory->waiter != wire_blocking_waiter())
        return false;
    if (directory_refusal_passes(result, directory->error.text))
        return pause_before(done);
    bool lost = result < 0 && directory_is_lost(directory);
    while (lost && pause_before(done)) {
        if (directory_reopen(directory) == 0)
            return true;
        lost = directory_is_lost(directory);
    }
    return false;
}

int directory_receive(struct directory *directory, int *message)
{
    LDAPMessage *reply;
    start_request(directory);
    int result = wait_reply(directory, LDAP_SUCCESS, LDAP_RES_ANY, &reply);
    *message = result ? 0 : ldap_msgid(reply);
    if (!result)
        result = parse_reply(directory, reply, NULL);
    ldap_msgfree(reply);
    return result;
}

/* Waits for the reply to a request. sent: what libldap returned for it. *result is that of
 * ldap_connection_wait(); NULL on failure. */
static int wait_reply(struct directory *directory, int sent, int message, LDAPMessage **result)
{
    *result = NULL;
    if (sent != LDAP_SUCCESS)
        return send_failed(directory, sent);
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
    return run_write(directory, &(struct directory_write){DIRECTORY_MODIFY, dn, mods, controls});
}

int directory_delete(struct directory *directory, const char *dn, LDAPControl **controls)
{
    return run_write(directory, &(struct directory_write){DIRECTORY_DELETE, dn, NULL, controls});
}

int directory_search(struct directory *directory, const struct directory_search *search)
{
    unsigned done = 0;
    int result;
    do
        result = search_pages(directory, search);
    while (try_again(directory, result, &done));
    return result;
}

static int search_pages(struct directory *directory, const struct directory_search *search)
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
    start_request(directory);
    if (!directory->connection)
        return no_connection(directory);
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
