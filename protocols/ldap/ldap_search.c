/* SPDX-License-Identifier: Apache-2.0 */
/* Runs searches: sends the request, visits the entries, requests the next page. */
#include "protocols/ldap/ldap_search.h"

#include <errno.h>

/* The state between two pages of a search. */
struct paging {
    struct berval cookie; /* libldap's memory; empty: first page, or no more pages */
    bool enough;          /* the caller needs no more entries */
};

/* SEQUENCE { size 1000, cookie "" }: most searches need no other. */
static char first_page[] = {0x30, 0x06, 0x02, 0x02, 0x03, (char)0xe8, 0x04, 0x00};

static int search_send_request(struct ldap_connection *connection, const struct ldap_search *search,
                               const struct paging *paging, int *id);
static int page_value(struct ldap_connection *connection, const struct paging *paging,
                      struct berval *value);
static struct outcome read_page(struct ldap_connection *connection, struct ldap_search *search,
                                struct paging *paging, int id);
static int search_next_cookie(struct ldap_connection *connection, LDAPMessage *message,
                              struct paging *paging);
static void search_take_entry(struct ldap_connection *connection, struct ldap_search *search,
                              struct paging *paging, LDAPMessage *message);

struct outcome ldap_search_run(struct ldap_connection *connection, struct ldap_search *search)
{
    struct paging paging = {.enough = false};
    struct outcome outcome;
    search->entries = 0;
    do {
        int id;
        int result = search_send_request(connection, search, &paging, &id);
        outcome = result == LDAP_SUCCESS ? read_page(connection, search, &paging, id)
                                         : ldap_connection_send_outcome(connection, result);
    } while (outcome.kind == OUTCOME_OK && paging.cookie.bv_len && !paging.enough);
    ldap_memfree(paging.cookie.bv_val);
    return outcome;
}

static int search_send_request(struct ldap_connection *connection, const struct ldap_search *search,
                               const struct paging *paging, int *id)
{
    LDAPControl *controls[LDAP_SEARCH_CONTROLS_MAX + 2] = {NULL};
    LDAPControl page = {.ldctl_oid = (char *)LDAP_CONTROL_PAGEDRESULTS};
    size_t count = 0;
    for (; search->controls && search->controls[count] && count < LDAP_SEARCH_CONTROLS_MAX; count++)
        controls[count] = search->controls[count];
    if (search->paged) {
        int result = page_value(connection, paging, &page.ldctl_value);
        if (result != LDAP_SUCCESS)
            return result;
        controls[count++] = &page;
    }
    int result = ldap_search_ext(ldap_connection_handle(connection), search->base, search->scope,
                                 search->filter, (char **)search->attributes, 0,
                                 count ? controls : NULL, NULL, NULL, LDAP_NO_LIMIT, id);
    if (search->paged && paging->cookie.bv_len)
        ldap_memfree(page.ldctl_value.bv_val);
    return result;
}

static int page_value(struct ldap_connection *connection, const struct paging *paging,
                      struct berval *value)
{
    if (paging->cookie.bv_len == 0) {
        *value = (struct berval){.bv_val = first_page, .bv_len = sizeof first_page};
        return LDAP_SUCCESS;
    }
    struct berval cookie = paging->cookie;
    return ldap_create_page_control_value(ldap_connection_handle(connection), LDAP_SEARCH_PAGE,
                                          &cookie, value);
}

/* Reads entries up to the result. */
static struct outcome read_page(struct ldap_connection *connection, struct ldap_search *search,
                                struct paging *paging, int id)
{
    for (;;) {
        LDAPMessage *message = NULL;
        int error = ldap_connection_wait(connection, id, LDAP_MSG_ONE, &message);
        if (error)
            return ldap_connection_failure(connection, error);
        if (ldap_msgtype(message) == LDAP_RES_SEARCH_RESULT) {
            struct outcome outcome = ldap_connection_outcome(connection, message);
            if (outcome.kind == OUTCOME_OK && search->paged)
                error = search_next_cookie(connection, message, paging);
            ldap_msgfree(message);
            return error ? outcome_of_error(error) : outcome;
        }
        search_take_entry(connection, search, paging, message);
        ldap_msgfree(message);
    }
}

/* Takes the cookie of the page response; empty if there is none. */
static int search_next_cookie(struct ldap_connection *connection, LDAPMessage *message,
                              struct paging *paging)
{
    LDAP *handle = ldap_connection_handle(connection);
    LDAPControl **controls = NULL;
    int code;
    ldap_memfree(paging->cookie.bv_val);
    paging->cookie = (struct berval){0};
    int parsed = ldap_parse_result(handle, message, &code, NULL, NULL, NULL, &controls, 0);
    if (parsed != LDAP_SUCCESS)
        return parsed == LDAP_NO_MEMORY ? -ENOMEM : -EBADMSG;
    int error = 0;
    LDAPControl *page = ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, controls, NULL);
    ber_int_t estimate;
    if (page)
        parsed = ldap_parse_pageresponse_control(handle, page, &estimate, &paging->cookie);
    if (parsed != LDAP_SUCCESS)
        error = parsed == LDAP_NO_MEMORY ? -ENOMEM : -EBADMSG;
    ldap_controls_free(controls);
    return error;
}

static void search_take_entry(struct ldap_connection *connection, struct ldap_search *search,
                              struct paging *paging, LDAPMessage *message)
{
    if (ldap_msgtype(message) != LDAP_RES_SEARCH_ENTRY)
        return; /* a reference to another naming context */
    search->entries++;
    if (search->entry && !paging->enough)
        paging->enough =
            !search->entry(search->context, ldap_connection_handle(connection), message);
}
