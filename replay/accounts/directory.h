/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The administrator's LDAP connection for start-up work: straight requests, each waited for, with
 * the server's refusal in words. May be used with the blocking waiter or in a fiber of a loop.
 */
#ifndef REPLAY_ACCOUNTS_DIRECTORY_H
#define REPLAY_ACCOUNTS_DIRECTORY_H

#include <ldap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/conversation.h"
#include "protocols/ldap/ldap_connection.h"

enum { DIRECTORY_ERROR_SIZE = 640 };

struct directory {
    struct conversation conversation;
    struct ldap_connection *connection;
    uint64_t random_state;
    int64_t timeout;                  /* ns a request may take; directory_open() sets 2 minutes */
    char error[DIRECTORY_ERROR_SIZE]; /* of the last request that failed: "code (the server's
                                         words)" */
};

/* Readies the conversation of an administrator for work that opens its connection by itself. The
 * waits end at conversation.wire.deadline. directory_close() is due afterwards. */
void directory_prepare(struct directory *directory, const struct dc *dc, struct waiter *waiter);

/* Readies it, connects and binds as ldap_connection_open_admin() does. Returns 0 or a negative
 * errno, with error filled. directory_close() is due in any case. */
int directory_open(struct directory *directory, const struct dc *dc, struct waiter *waiter);
void directory_close(struct directory *directory);

/*
 * The requests return LDAP_SUCCESS, the server's result code (> 0), or a negative errno. mods and
 * controls may be NULL where LDAP allows it.
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
    bool paged;                    /* by 1,000, all pages */
    /* Called for each entry; anything but 0 ends the search with that as its result. */
    int (*entry)(void *context, LDAP *handle, LDAPMessage *entry);
    void *context;
};
int directory_search(struct directory *directory, const struct directory_search *search);

/* The first value of an attribute as malloc'd text, or NULL. */
char *directory_text(LDAP *handle, LDAPMessage *entry, const char *attribute);

#endif
