/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writes that create accounts: a list of small steps, which a directory queue works off. Each
 * step is complete (one request adds an account with its password and rights), so an
 * interruption leaves nothing half done.
 */
#ifndef REPLAY_ACCOUNTS_ACCOUNT_STEPS_H
#define REPLAY_ACCOUNTS_ACCOUNT_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "replay/accounts/account_set.h"
#include "replay/accounts/memberships.h"

enum account_step_kind {
    ACCOUNT_STEP_CREATE,  /* adds an account */
    ACCOUNT_STEP_RESET,   /* sets its password */
    ACCOUNT_STEP_MEMBERS, /* adds members to a group */
};

struct account_step {
    uint8_t step; /* enum account_step_kind */
    uint8_t kind; /* enum account_kind */
    uint32_t number;
    uint64_t from, to; /* ACCOUNT_STEP_MEMBERS: the range of account_steps.members that is left */
};

struct account_steps {
    const struct dc *dc;
    struct account_set *set;
    struct berval password; /* the value of unicodePwd: quoted, UTF-16LE */
    /* The DACL for new users. NULL: read from the first user and extended. */
    uint8_t *user_dacl;
    size_t user_dacl_size;
    const uint32_t *members; /* user numbers, for ACCOUNT_STEP_MEMBERS */
    struct account_step *steps;
    size_t count;
};

/* The maximum number of members in one modify request. */
enum { ACCOUNT_STEP_MEMBERS_MAX = 1000 };

/* Prepares an empty list; dc and set must outlive it. */
void account_steps_init(struct account_steps *steps, const struct dc *dc, struct account_set *set);
int account_steps_set_password(struct account_steps *steps, const char *password);
int account_steps_add(struct account_steps *steps, const struct account_step *step);
/* Overwrites the password. */
void account_steps_clear(struct account_steps *steps);

/*
 * Takes all steps over several connections, with several requests in flight on each, and empties
 * the list. Prints progress as "what: n".
 * Stops at the first failure. 0, or a negative errno with a text that says what could not be done,
 * what the server reported and, if possible, what to do.
 */
int account_steps_run(struct account_steps *steps, const char *what, struct error *error);

/* What the user can do about an LDAP result code and the server's text, with a leading "; "; or "".
 */
const char *account_steps_hint(int code, const char *text);

#endif
