/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The administrator's LDAP connection for start-up work. Each call sends one request and waits for
 * the reply. Works with the blocking waiter and on a fiber of a loop.
 *
 * With the blocking waiter, a request is repeated up to DIRECTORY_RETRIES times if the server
 * closes the connection or answers that it cannot serve the request at present. The pauses between
 * tries double from directory_first_pause on. On a fiber, directory_queue.h does the same.
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
    struct waiter *waiter;
    int64_t timeout;    /* ns a request may take; directory_prepare() sets 2 minutes */
    struct error error; /* of the last request that failed: what it returned, and a text such as
                         * "unwillingToPerform (the server's message)" */
};

enum { DIRECTORY_RETRIES = 5 };
/* The pause before the first retry, in ns. Only tests change it. */
extern int64_t directory_first_pause;
/* The pause before retry number `done` (from 0), in ns. */
int64_t directory_pause(unsigned done);

/* Whether a request that ended like this may succeed a little later: LDAP_BUSY, LDAP_UNAVAILABLE,
 * or a DC that waits for new RIDs. text is directory->error.text. */
bool directory_refusal_passes(int result, const char *text);
/* Whether the server or the network ended the connection (not a timeout). */
bool directory_is_lost(const struct directory *directory);

/* Prepares the administrator's conversation for code that opens its own connection. Waits end at
 * conversation.wire.deadline. Call directory_close() afterwards. */
void directory_prepare(struct directory *directory, const struct dc *dc, struct waiter *waiter);

/* Prepares the conversation, connects and binds as ldap_connection_open_admin() does. 0, or a
 * negative errno and directory->error. Call directory_close() in any case. */
int directory_open(struct directory *directory, const struct dc *dc, struct waiter *waiter);
/* The same with the blocking waiter and a text for the user. */
int directory_open_admin(struct directory *directory, const struct dc *dc, struct error *error);
/* Replaces a lost connection. Returns what directory_open() returns. Pending requests are lost. */
int directory_reopen(struct directory *directory);
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

enum directory_write_kind { DIRECTORY_ADD, DIRECTORY_MODIFY, DIRECTORY_DELETE };
struct directory_write {
    enum directory_write_kind kind;
    const char *dn;
    LDAPMod **mods; /* not for DIRECTORY_DELETE */
    LDAPControl **controls;
};
/* Sends a write without waiting for its reply, so that several can be in flight; never repeats it.
 * 0 and the *message's id, or a negative errno and directory->error. */
int directory_send(struct directory *directory, const struct directory_write *write, int *message);
/* Waits for the reply to any request in flight and sets *message to its id; 0 if there was none.
 * Returns what the requests return. */
int directory_receive(struct directory *directory, int *message);

struct directory_search {
    const char *base;
    int scope; /* LDAP_SCOPE_... */
    const char *filter;
    const char *const *attributes; /* NULL-terminated */
    LDAPControl *control;          /* NULL: none */
    bool paged;                    /* in pages of 1,000 entries; if a lost connection makes it
                                    * start again, entries are reported twice */
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
