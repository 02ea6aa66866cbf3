/* SPDX-License-Identifier: Apache-2.0 */
/* One LDAP connection through the stand-in, for its own files. */
#ifndef TESTS_LIB_WINDOWS_STANDIN_LDAP_H
#define TESTS_LIB_WINDOWS_STANDIN_LDAP_H

#include <lber.h>
#include <ldap.h>

#include "tests/lib/windows/standin_bind.h"

struct standin_ldap {
    struct standin *standin;
    struct standin_link client, server;
    struct standin_context context;
    struct standin_bytes requests; /* of the client, without its layer */
    bool over;
    atomic_uint outstanding; /* requests that no answer ended yet */
    atomic_llong last_used;  /* ns */
    ber_int_t search;        /* id of the last unpaged search; 0: none */
    unsigned entries;        /* that it returned */
    ber_int_t stopped;       /* id of a search that reached the limit; the rest of it is dropped */
};

/* A message with its id and the tag of its operation. */
struct standin_message {
    const uint8_t *data;
    size_t size;
    ber_int_t id;
    ber_tag_t tag;
};

/* Sends the client a result of a request with this id. */
void standin_ldap_result(struct standin_ldap *ldap, ber_int_t id, ber_tag_t type, int code,
                         const char *diagnostic);

/* Sends a message to the client, with the connection's layer. */
void standin_ldap_send(struct standin_ldap *ldap, const uint8_t *data, size_t size);

/* Sends a request to the DC and waits for its whole answer; calls see() for each message of it. */
void standin_ldap_ask(struct standin_ldap *ldap, BerElement *request,
                      void (*see)(void *context, const struct standin_message *message),
                      void *context);

/* The rules for requests and replies. True: answered, or not to be handed on. */
bool standin_ldap_rule_request(struct standin_ldap *ldap, const struct standin_message *message);
bool standin_ldap_rule_reply(struct standin_ldap *ldap, const struct standin_message *message);

/* How long the connection may be idle, in ms; -1: for ever. Ends it when that is over. */
int standin_ldap_idle_time(const struct standin_ldap *ldap);
void standin_ldap_idle_end(struct standin_ldap *ldap);

/* MaxConnections: a connection more ends the one that is idle for longest. */
void standin_ldap_enter(struct standin_ldap *ldap);
void standin_ldap_leave(struct standin_ldap *ldap);

#endif
