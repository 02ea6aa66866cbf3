/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/lib/windows/standin_ldap.h"

#define TREE_DELETE             LDAP_CONTROL_X_TREE_DELETE
#define NOTICE_OF_DISCONNECTION "1.3.6.1.4.1.1466.20036"

enum { OWN_SEARCH_ID = 0x7ffffff0 };
static const int64_t IDLE_AT_LEAST = 500000000; /* ns */

static bool contains(const struct standin_message *message, const char *text);
static bool rule_add_or_modify(struct standin_ldap *ldap, const struct standin_message *message);
static bool rule_delete(struct standin_ldap *ldap, const struct standin_message *message);
static void see_entry(void *context, const struct standin_message *message);
static void limit_reached(struct standin_ldap *ldap);
static enum windows_rule idle_rule(const struct standin_ldap *ldap);
static struct standin_ldap *longest_idle(const struct standin *standin);

bool standin_ldap_rule_request(struct standin_ldap *ldap, const struct standin_message *message)
{
    if (message->tag == LDAP_REQ_ADD || message->tag == LDAP_REQ_MODIFY)
        return rule_add_or_modify(ldap, message);
    if (message->tag == LDAP_REQ_DELETE && contains(message, TREE_DELETE))
        return rule_delete(ldap, message);
    if (message->tag == LDAP_REQ_SEARCH) {
        windows_rules_apply(&ldap->standin->rules, RULE_MAX_PAGE_SIZE, false);
        ldap->search = contains(message, LDAP_CONTROL_PAGEDRESULTS) ? 0 : message->id;
        ldap->entries = 0;
    }
    return false;
}

static bool contains(const struct standin_message *message, const char *text)
{
    return memmem(message->data, message->size, text, strlen(text)) != NULL;
}

/* 8208 is ERROR_DS_NO_RIDS_ALLOCATED, 0000052D ERROR_PASSWORD_RESTRICTION (MS-ERREF 2.2). */
static bool rule_add_or_modify(struct standin_ldap *ldap, const struct standin_message *message)
{
    struct windows_rules *rules = &ldap->standin->rules;
    bool add = message->tag == LDAP_REQ_ADD;
    bool principal = add && contains(message, "sAMAccountName");
    int code = LDAP_SUCCESS;
    const char *text = "";
    if (contains(message, "unicodePwd") && windows_rules_apply(rules, RULE_PASSWORD_POLICY, true)) {
        code = LDAP_UNWILLING_TO_PERFORM;
        text = "0000052D: SvcErr: DSID-031A12D2, problem 5003 (WILL_NOT_PERFORM), data 0\n";
    } else if (principal && windows_rules_apply_first(rules, RULE_RID_POOL)) {
        code = LDAP_UNWILLING_TO_PERFORM;
        text = "00002010: SvcErr: DSID-03141072, problem 5003 (WILL_NOT_PERFORM), data 0\n";
    } else if (windows_rules_apply_first(rules, RULE_BUSY)) {
        code = LDAP_BUSY;
        text = "000020AD: SvcErr: DSID-03140A2B, problem 5001 (BUSY), data 0\n";
    } else if (windows_rules_apply_first(rules, RULE_UNAVAILABLE)) {
        code = LDAP_UNAVAILABLE;
        text = "0000200F: SvcErr: DSID-03140A2C, problem 5002 (UNAVAILABLE), data 0\n";
    } else {
        return false;
    }
    standin_ldap_result(ldap, message->id, add ? LDAP_RES_ADD : LDAP_RES_MODIFY, code, text);
    return true;
}

/* A tree with computers is not deleted, critical or not: the strictest reading of MS-ADTS
 * 3.1.1.5.5.7.2. */
static bool rule_delete(struct standin_ldap *ldap, const struct standin_message *message)
{
    struct berval value = {.bv_val = (char *)(uintptr_t)message->data, .bv_len = message->size};
    struct berval dn;
    ber_int_t id;
    unsigned computers = 0;
    if (!ldap->standin->rules.on[RULE_CRITICAL_OBJECTS])
        return false;
    BerElement *ber = ber_init(&value);
    ber_scanf(ber, "{im", &id, &dn);
    BerElement *search = ber_alloc_t(LBER_USE_DER);
    ber_printf(search, "{it{oeeiib", OWN_SEARCH_ID, LDAP_REQ_SEARCH, dn.bv_val, dn.bv_len,
               LDAP_SCOPE_SUBTREE, LDAP_DEREF_NEVER, 1, 0, 0);
    ber_printf(search, "t{ss}{s}}}", LDAP_FILTER_EQUALITY, "objectClass", "computer", "1.1");
    ber_free(ber, 0);
    standin_ldap_ask(ldap, search, see_entry, &computers);
    if (!windows_rules_apply(&ldap->standin->rules, RULE_CRITICAL_OBJECTS, computers > 0))
        return false;
    standin_ldap_result(ldap, message->id, LDAP_RES_DELETE, LDAP_UNWILLING_TO_PERFORM,
                        "00002170: SvcErr: DSID-0315164A, problem 5003 (WILL_NOT_PERFORM), "
                        "data 0\n");
    return true;
}

static void see_entry(void *context, const struct standin_message *message)
{
    *(unsigned *)context += message->tag == LDAP_RES_SEARCH_ENTRY;
}

bool standin_ldap_rule_reply(struct standin_ldap *ldap, const struct standin_message *message)
{
    const struct windows_rules *rules = &ldap->standin->rules;
    if (message->id == ldap->stopped)
        return true;
    if (!rules->on[RULE_MAX_PAGE_SIZE] || message->id != ldap->search ||
        message->tag != LDAP_RES_SEARCH_ENTRY ||
        ldap->entries++ < rules->number[RULE_MAX_PAGE_SIZE])
        return false;
    limit_reached(ldap);
    return true;
}

static void limit_reached(struct standin_ldap *ldap)
{
    windows_rules_apply(&ldap->standin->rules, RULE_MAX_PAGE_SIZE, true);
    standin_ldap_result(ldap, ldap->search, LDAP_RES_SEARCH_RESULT, LDAP_SIZELIMIT_EXCEEDED,
                        "00002023: SvcErr: DSID-031A1254, problem 5003 (WILL_NOT_PERFORM), data "
                        "0\n");
    ldap->stopped = ldap->search;
}

/* Only the time between a reply and the next request counts, as at a DC. */
int standin_ldap_idle_time(const struct standin_ldap *ldap)
{
    enum windows_rule rule = idle_rule(ldap);
    return rule == WINDOWS_RULES || ldap->outstanding
               ? -1
               : (int)(ldap->standin->rules.number[rule] * 1000);
}

static enum windows_rule idle_rule(const struct standin_ldap *ldap)
{
    const struct windows_rules *rules = &ldap->standin->rules;
    if (!ldap->context.complete)
        return WINDOWS_RULES;
    return rules->on[RULE_IDLE_CLOSE]    ? RULE_IDLE_CLOSE
           : rules->on[RULE_IDLE_NOTICE] ? RULE_IDLE_NOTICE
                                         : WINDOWS_RULES;
}

void standin_ldap_idle_end(struct standin_ldap *ldap)
{
    struct berval *bytes = NULL;
    windows_rules_apply(&ldap->standin->rules, idle_rule(ldap), true);
    ldap->over = true;
    if (idle_rule(ldap) != RULE_IDLE_NOTICE)
        return;
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_printf(ber, "{it{essts}}", 0, LDAP_RES_EXTENDED, LDAP_UNAVAILABLE, "",
               "00002024: the connection was idle", LDAP_TAG_EXOP_RES_OID, NOTICE_OF_DISCONNECTION);
    ber_flatten(ber, &bytes);
    standin_ldap_send(ldap, (uint8_t *)bytes->bv_val, bytes->bv_len);
    ber_bvfree(bytes);
    ber_free(ber, 1);
}

void standin_ldap_enter(struct standin_ldap *ldap)
{
    struct standin *standin = ldap->standin;
    pthread_mutex_lock(&standin->lock);
    if (standin->session_count == STANDIN_LDAP_SESSIONS)
        abort();
    standin->sessions[standin->session_count++] = ldap;
    struct standin_ldap *oldest = longest_idle(standin);
    if (windows_rules_apply(&standin->rules, RULE_MAX_CONNECTIONS,
                            oldest && standin->session_count >
                                          standin->rules.number[RULE_MAX_CONNECTIONS]))
        shutdown(oldest->client.fd, SHUT_RDWR);
    pthread_mutex_unlock(&standin->lock);
}

static struct standin_ldap *longest_idle(const struct standin *standin)
{
    struct standin_ldap *oldest = NULL;
    for (size_t i = 0; i < standin->session_count; i++) {
        struct standin_ldap *session = standin->sessions[i];
        if (session->context.complete && !session->outstanding &&
            clock_now() - session->last_used > IDLE_AT_LEAST &&
            (!oldest || session->last_used < oldest->last_used))
            oldest = session;
    }
    return oldest;
}

void standin_ldap_leave(struct standin_ldap *ldap)
{
    struct standin *standin = ldap->standin;
    size_t at = 0;
    pthread_mutex_lock(&standin->lock);
    while (standin->sessions[at] != ldap)
        at++;
    standin->sessions[at] = standin->sessions[--standin->session_count];
    pthread_mutex_unlock(&standin->lock);
}
