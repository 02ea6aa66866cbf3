/* SPDX-License-Identifier: Apache-2.0 */
/* A small LDAP server on 127.0.0.1, in separate threads: the test decides what it answers, and how
 * it sends the answer. */
#ifndef TESTS_LIB_SERVERS_LDAP_SERVER_H
#define TESTS_LIB_SERVERS_LDAP_SERVER_H

#include <gnutls/gnutls.h>
#include <lber.h>
#include <ldap.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/dc.h"

enum { LDAP_ANSWER_MAX = 1 << 20 };

struct ldap_answer {
    uint8_t bytes[LDAP_ANSWER_MAX];
    size_t size;
};

/* How the server treats its connections. */
struct ldap_server {
    /* Appends the answer to one request. */
    void (*reply)(struct ldap_server *server, int id, int request, struct ldap_answer *answer);
    /* Called before reply(), with the number of the connection (from 1) and the whole request; by
     * one thread at a time while the client waits for its answers. May be NULL. */
    void (*note)(struct ldap_server *server, unsigned connection, int request, const uint8_t *bytes,
                 size_t size);
    /* Instead of reply(), if not NULL: gets the whole request, too. Called by several threads. */
    void (*serve)(struct ldap_server *server, unsigned connection, int id, int request,
                  const uint8_t *bytes, size_t size, struct ldap_answer *answer);
    void *context;
    /* Each answer waits until this many requests have arrived on the connection, or no more arrive
     * for a tenth of a second. 0: no wait. */
    size_t together;
    _Atomic size_t most_together;         /* the largest number of requests without an answer */
    size_t chunk;                         /* bytes per write; 0: all at once */
    size_t cut_after;                     /* then nothing more is sent; SIZE_MAX: never */
    bool reset;                           /* ends with a reset instead of a close */
    bool silent;                          /* stays connected without a further word */
    bool hang_up;                         /* ends the connection after the answer */
    bool flood;                           /* sends the answer again and again */
    gnutls_certificate_credentials_t tls; /* serves LDAPS; NULL: in clear */
    int listener;
    uint16_t port;
    pthread_t thread;
};

/* Appends a message; frees ber. */
void ldap_answer_put(struct ldap_answer *answer, BerElement *ber);

void ldap_answer_put_result(struct ldap_answer *answer, int id, ber_tag_t type, int code,
                            const char *diagnostic);

/* Appends a Notice of Disconnection (RFC 4511 4.4.1). */
void ldap_answer_put_notice(struct ldap_answer *answer, int code, const char *text);

void ldap_answer_put_entry(struct ldap_answer *answer, int id, const char *dn, const char *value);

/* Starts the server on a free port. */
void ldap_server_start(struct ldap_server *server);

void ldap_server_stop(struct ldap_server *server);

/* A DC whose LDAP and LDAPS ports are the server; the caller frees it with dc_free(). */
struct dc *ldap_server_dc(const struct ldap_server *server);

#endif
