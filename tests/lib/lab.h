/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests against the lab's DC, which TRAFFIC_REPLAY_DC, _USER and _PASSWORD name. Accounts are
 * created and deleted with libldap over LDAPS, independently of the code under test.
 */
#ifndef TESTS_LIB_LAB_H
#define TESTS_LIB_LAB_H

#include <ldap.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "protocols/conversation.h"
#include "protocols/dc.h"
#include "tests/lib/packets.h"

#define LAB_PASSWORD "Pa55-word.of.tests"

/* Skips the test when there is no DC. */
#define LAB_NEED(dc)                                                                               \
    do {                                                                                           \
        if (!(dc)) {                                                                               \
            print_message("# SKIP no lab: TRAFFIC_REPLAY_DC, _USER and _PASSWORD are not set\n");  \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

/* False: the environment names no DC, so the tests are skipped. */
bool lab_is_there(void);

/* True when TRAFFIC_REPLAY_NTLM=refused: the DC is configured to refuse NTLM. LAB_DIR is its
 * folder. */
bool lab_ntlm_is_refused(void);

/* The DC as discovery finds it; the caller frees it. */
struct dc *lab_dc(void);

/* A connection with all rights; the caller ends it with ldap_unbind_ext_s(). */
LDAP *lab_ldap(const struct dc *dc);

/* The caller frees the name. */
char *lab_account_dn(const struct dc *dc, const char *name);

/* Succeeds if there is no such account. */
void lab_delete_account(LDAP *ldap, const struct account *account);

/* Sets the password in account. */
void lab_set_password(LDAP *ldap, const struct account *account);

/* Creates a user, or a machine if the name ends in $, with LAB_PASSWORD. */
void lab_make_account(LDAP *ldap, const struct dc *dc, const char *name, struct account *account);

/* Derives what packets need of an account: the NT hash and the Kerberos key. */
void lab_derive_keys(const struct dc *dc, struct account *account);

/* The end of a test program: deletes the accounts from the DC and frees them and dc. */
void lab_end(struct dc *dc, struct account *const accounts[], size_t count);

/* Initializes a conversation that waits by blocking; the caller sets the DC's options. */
void lab_begin(struct conversation *conversation, uint64_t *random, struct dc *dc,
               const struct account *user, const struct account *machine);

#endif
