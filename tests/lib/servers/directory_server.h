/* SPDX-License-Identifier: Apache-2.0 */
/* A directory in memory behind a small LDAP server: as much of a DC as the creation and the removal
 * of test accounts need. The test decides which requests are refused. */
#ifndef TESTS_LIB_SERVERS_DIRECTORY_SERVER_H
#define TESTS_LIB_SERVERS_DIRECTORY_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "tests/lib/servers/ldap_server.h"

enum { DIRECTORY_SERVER_BASE_DEPTH = 2 };
#define DIRECTORY_SERVER_BASE "DC=test,DC=example"

struct directory_server_entry {
    char dn[160];
    char name[48];         /* sAMAccountName, or "" */
    char description[256]; /* or "" */
    char control[16];      /* userAccountControl, or "" */
    bool no_password;
    size_t members;         /* values added to it */
    size_t largest_request; /* the most members in one request */
};

struct directory_server {
    struct ldap_server ldap;
    pthread_mutex_t lock; /* for the members below while the server runs */
    struct directory_server_entry entries[4000];
    size_t count;
    unsigned requests[128]; /* by the tag of the request, modulo 128 */
    /* Returns a result code other than 0 to refuse a request, with *text as the diagnostic message.
     * May be NULL. controls: the request has any. */
    int (*refuse)(struct directory_server *server, int request, const char *dn, bool controls,
                  const char **text);
    void *context;
};

/* Starts it with nothing but the base. */
void directory_server_start(struct directory_server *server);
void directory_server_stop(struct directory_server *server);

/* A DC that is this server, played as --server ldap without a logon; free it with dc_free(). */
struct dc *directory_server_dc(struct directory_server *server);

struct directory_server_entry *directory_server_find(struct directory_server *server,
                                                     const char *dn);
struct directory_server_entry *directory_server_put(struct directory_server *server, const char *dn,
                                                    const char *name);
void directory_server_drop(struct directory_server *server, const char *dn);

/* The number of requests of a kind (LDAP_REQ_...) so far. */
unsigned directory_server_requests(const struct directory_server *server, int request);

#endif
