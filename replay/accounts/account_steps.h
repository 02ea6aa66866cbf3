/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writes that bring accounts about, as a list of small steps that several LDAP connections take
 * in turn. Each step is whole in itself (an account is added with its password and rights in one
 * request), so that an interruption leaves nothing half done.
 */
#ifndef REPLAY_ACCOUNTS_ACCOUNT_STEPS_H
#define REPLAY_ACCOUNTS_ACCOUNT_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "replay/accounts/account_set.h"
#include "replay/accounts/memberships.h"

enum account_step_kind {
    STEP_CREATE,  /* adds an account */
    STEP_RESET,   /* sets its password */
    STEP_MEMBERS, /* adds members to a group */
};

struct account_step {
    uint8_t step; /* enum account_step_kind */
    uint8_t kind; /* enum account_kind */
    uint32_t number;
    uint64_t from, to; /* STEP_MEMBERS: places in members */
};

struct account_steps {
    const struct dc *dc;
    struct account_set *set;
    struct berval password; /* as unicodePwd wants it: quoted, UTF-16LE */
    /* The DACL that new users get, or NULL: the first one's is read and extended. */
    uint8_t *user_dacl;
    size_t user_dacl_size;
    const uint32_t *members; /* user numbers, for STEP_MEMBERS */
    struct account_step *steps;
    size_t count, room;
};

/* The members of a modify, at most. */
enum { ACCOUNT_STEP_MEMBERS_MAX = 1000 };

void account_steps_init(struct account_steps *steps, const struct dc *dc, struct account_set *set);
int account_steps_set_password(struct account_steps *steps, const char *password);
int account_steps_add(struct account_steps *steps, const struct account_step *step);
/* Overwrites the password. */
void account_steps_clear(struct account_steps *steps);

/*
 * Takes all steps over several connections, showing progress as "what: n", and empties the list.
 * Ends at the first refusal. 0 or a negative errno with a line in error: what could not be done,
 * the server's words, a hint.
 */
int account_steps_run(struct account_steps *steps, const char *what, struct error *error);

/* A hint for the user on a server's refusal, with a leading "; ", or "". */
const char *account_steps_hint(int code);

#endif
