/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The administrator's LDAP connection for start-up work. Each call sends one request and waits for
 * the reply. Works with the blocking waiter and on a fiber of a loop.
 */
#ifndef REPLAY_ACCOUNTS_DIRECTORY_H
#define REPLAY_ACCOUNTS_DIRECTORY_H

#include <ldap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"
#include "protocols/conversation.h"
#include "protocols/ldap/ldap_connection.h"

struct directory {
    struct conversation conversation;
    struct ldap_connection *connection;
    struct random_stream random;
    int64_t timeout;    /* ns a request may take; directory_prepare() sets 2 minutes */
    struct error error; /* of the last request that failed: what it returned, and a text such as
                         * "unwillingToPerform (the server's message)" */
};

/* Prepares the administrator's conversation for code that opens its own connection. Waits end at
 * conversation.wire.deadline. Call directory_close() afterwards. */
void directory_prepare(struct directory *directory, const struct dc *dc, struct waiter *waiter);

/* Prepares the conversation, connects and binds as ldap_connection_open_admin() does. 0, or a
 * negative errno and directory->error. Call directory_close() in any case. */
int directory_open(struct directory *directory, const struct dc *dc, struct waiter *waiter);
void directory_close(struct directory *directory);

/*
 * The requests return LDAP_SUCCESS, the server's result code (> 0), or a negative errno. On failure
 * they set directory->error. mods and controls may be NULL where LDAP allows it.
 */
int directory_add(struct directory *directory, const char *dn, LDAPMod **mods,
                  LDAPControl **controls);
int directory_modify(struct directory *directory, const char *dn, LDAPMod **mods,
                     LDAPControl **controls);
int directory_delete(struct directory *directory, const char *dn, LDAPControl **controls);

struct directory_search {
    const char *base;
    int scope; /* LDAP_SCOPE_... */
    const char *filter;
    const char *const *attributes; /* NULL-terminated */
    LDAPControl *control;          /* NULL: none */
    bool paged;                    /* in pages of 1,000 entries */
    /* Called for each entry. A value other than 0 ends the search and becomes its result. */
    int (*entry)(void *context, LDAP *handle, LDAPMessage *entry);
    void *context;
};
int directory_search(struct directory *directory, const struct directory_search *search);

/* The first value of an attribute as malloc'd text, or NULL. */
char *directory_text(LDAP *handle, LDAPMessage *entry, const char *attribute);

/* What to say after a failed logon of the administrator: "", or that --server ldap needs a DN. */
const char *directory_logon_hint(const struct dc *dc);

#endif
