/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test accounts. One paged search tells what is there; the rest follows from it: organizational
 * units, passwords that have to be reset, accounts that are missing, memberships. The instance's
 * OU keeps in its description which password its accounts have (as an HMAC) and which memberships
 * are made, so that a run with existing accounts writes nothing.
 */
#include "replay/accounts/accounts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/message.h"
#include "protocols/auth/security_descriptor.h"
#include "replay/accounts/account_set.h"
#include "replay/accounts/account_steps.h"
#include "replay/accounts/credentials.h"
#include "replay/accounts/directory.h"
#include "replay/accounts/memberships.h"
#include "replay/accounts/password_store.h"

enum { USERS_PER_GROUP = 10, DESCRIPTION_SIZE = 256 };

/* What the description of the instance's OU says. */
struct state {
    char marker[PASSWORD_STORE_MARKER_SIZE]; /* "": no password is known to be everybody's */
    uint32_t users, groups;                  /* that have their memberships */
    uint64_t memberships;
};

struct work {
    const struct settings *settings;
    const struct accounts_wanted *wanted;
    struct dc *dc;
    struct directory admin;
    struct account_set set;
    struct account_steps steps;
    struct password_store store;
    const char *password;
    struct state state;
    char marker[PASSWORD_STORE_MARKER_SIZE]; /* of the password that accounts are to have */
    struct error *error;
};

static uint32_t groups_wanted(const struct settings *settings, uint32_t users);
static int read_existing(struct work *work);
static void parse_state(const char *description, struct state *state);
static int refused(struct work *work, int result, const char *what, const char *name);
static int ask_when_first(struct work *work);
static int ignore_entry(void *context, LDAP *handle, LDAPMessage *entry);
static int accounts_ask(struct work *work);
static void list_kinds(char *text, size_t size, uint64_t (*count)(const struct work *, int),
                       const struct work *work);
static uint64_t count_wanted(const struct work *work, int kind);
static uint32_t wanted_of(const struct accounts_wanted *wanted, enum account_kind kind);
static int choose_password(struct work *work);
static int make_units(struct work *work);
static void print_state(const struct state *state, char text[DESCRIPTION_SIZE]);
static int add_units(struct work *work, const char *description);
static int add_unit(struct work *work, const char *dn, const char *description);
static int give_rights(struct work *work);
static int reset_passwords(struct work *work);
static int add_step(struct work *work, int step, int kind, uint32_t number);
static int write_state(struct work *work);
static int make_missing(struct work *work);
static uint64_t missing(const struct work *work, enum account_kind kind, uint32_t wanted);
static int make_memberships(struct work *work);
static void tell_kept(const struct work *work);
static int add_member_steps(struct work *work, struct memberships *made);
static uint64_t keep_new(const struct work *work, struct memberships *made, uint32_t group);
static int accounts_start(struct work *work, const struct settings *settings, struct dc *dc,
                          struct error *error);
static int fill_dc(struct work *work, uint32_t clients);
static int accounts_fill_account(const struct work *work, enum account_kind kind, uint32_t number,
                                 struct account *account);
static void accounts_finish(struct work *work);
static int delete_tree(struct work *work);

static const double default_groups_per_user = 5;

int accounts_wanted(const struct settings *settings, uint32_t clients,
                    struct accounts_wanted *wanted, struct error *error)
{
    uint64_t users = settings->number_of_users;
    if (users > 0 && users < clients) {
        error_set(error, -EINVAL,
                  "-n: %" PRIu64 " users are too few for the %" PRIu32 " clients of this run; give "
                  "at least as many, or leave -n out",
                  users, clients);
        return -EINVAL;
    }
    *wanted = (struct accounts_wanted){.users = users ? (uint32_t)users : clients,
                                       .machines = clients,
                                       .max_members = (uint32_t)settings->max_members};
    if (settings->generate_users_only)
        wanted->fillers = wanted->users + wanted->users / 4;
    wanted->groups = groups_wanted(settings, wanted->users);
    const struct memberships_wish room = {
        .users = wanted->users, .groups = wanted->groups, .max_members = wanted->max_members};
    uint64_t most = memberships_most(&room);
    double each = settings->average_groups_per_user > 0 ? settings->average_groups_per_user
                                                        : default_groups_per_user;
    uint64_t by_mean = (uint64_t)llround(each * wanted->users);
    bool asked = settings->group_memberships_given || settings->average_groups_per_user > 0;
    wanted->memberships = settings->group_memberships_given ? settings->group_memberships : by_mean;
    if (asked && wanted->memberships > most) {
        error_set(error, -EINVAL,
                  "%s: %" PRIu64 " memberships are more than %" PRIu32 " users in %" PRIu32
                  " groups%s can have (%" PRIu64 ")",
                  settings->group_memberships_given ? "--group-memberships"
                                                    : "--average-groups-per-user",
                  wanted->memberships, wanted->users, wanted->groups,
                  wanted->max_members ? " of --max-members" : "", most);
        return -EINVAL;
    }
    if (wanted->memberships > most)
        wanted->memberships = most;
    return 0;
}

static uint32_t groups_wanted(const struct settings *settings, uint32_t users)
{
    if (settings->number_of_groups_given)
        return (uint32_t)settings->number_of_groups;
    if (users == 0)
        return 0;
    double groups =
        fmax((double)(users / USERS_PER_GROUP), ceil(settings->average_groups_per_user));
    return groups < 1 ? 1 : (uint32_t)groups;
}

int accounts_ensure(const struct settings *settings, const struct accounts_wanted *wanted,
                    uint32_t clients, struct dc *dc, struct error *error)
{
    static int (*const phases[])(struct work *) = {read_existing, ask_when_first,  choose_password,
                                                   make_units,    give_rights,     reset_passwords,
                                                   make_missing,  make_memberships};
    struct work work;
    int result = accounts_start(&work, settings, dc, error);
    work.wanted = wanted;
    for (size_t i = 0; !result && i < sizeof phases / sizeof phases[0]; i++)
        result = phases[i](&work);
    if (!result)
        result = fill_dc(&work, clients);
    accounts_finish(&work);
    return result;
}

static int read_existing(struct work *work)
{
    int result = account_set_read(&work->set, &work->admin);
    parse_state(work->set.description, &work->state);
    return refused(work, result, "read", work->set.instance_dn);
}

static void parse_state(const char *description, struct state *state)
{
    *state = (struct state){.marker = ""};
    char marker[PASSWORD_STORE_MARKER_SIZE];
    if (description && sscanf(description, "traffic-replay password=%64[0-9a-f]", marker) == 1)
        memcpy(state->marker, marker, sizeof marker);
    const char *done = description ? strstr(description, " users=") : NULL;
    if (!done || sscanf(done, " users=%" SCNu32 " groups=%" SCNu32 " memberships=%" SCNu64,
                        &state->users, &state->groups, &state->memberships) != 3)
        state->users = state->groups = 0;
}

/* What a request of the administrator's connection came to, as this module's result. */
static int refused(struct work *work, int result, const char *what, const char *name)
{
    if (result == 0)
        return 0;
    return error_set(work->error, result < 0 ? result : -EACCES, "cannot %s %s: %s%s", what, name,
                     work->admin.error[0] ? work->admin.error : strerror(-result),
                     account_steps_hint(result));
}

/* Before the first accounts in a domain: OU=traffic_replay is not there. */
static int ask_when_first(struct work *work)
{
    static const char *const nothing[] = {LDAP_NO_ATTRS, NULL};
    const struct directory_search parent = {.base = work->set.parent_dn,
                                            .scope = LDAP_SCOPE_BASE,
                                            .filter = "(objectClass=*)",
                                            .attributes = nothing,
                                            .entry = ignore_entry};
    if (work->set.exists || work->settings->yes)
        return 0;
    int result = directory_search(&work->admin, &parent);
    if (result == LDAP_NO_SUCH_OBJECT)
        return accounts_ask(work);
    return refused(work, result, "look for", work->set.parent_dn);
}

static int ignore_entry(void *context, LDAP *handle, LDAPMessage *entry)
{
    (void)context;
    (void)handle;
    (void)entry;
    return 0;
}

static int accounts_ask(struct work *work)
{
    char kinds[160], *question = NULL, *answer = NULL;
    list_kinds(kinds, sizeof kinds, count_wanted, work);
    if (asprintf(&question, "traffic-replay will make %s in %s, under %s. Go on? [y/N] ", kinds,
                 work->dc->dns_domain, work->set.parent_dn) < 0)
        return error_set(work->error, -ENOMEM, "out of memory");
    int result = credentials_prompt(question, false, &answer);
    bool yes = !result && (answer[0] == 'y' || answer[0] == 'Y');
    free(question);
    free(answer);
    if (result == -ENOTTY)
        return error_set(work->error, -EINVAL,
                         "%s would be made in %s, which has none of ours yet; allow it with --yes",
                         kinds, work->dc->dns_domain);
    return yes ? 0 : error_set(work->error, -ECANCELED, "no accounts were made");
}

/* "49 users, 49 machines and 4 groups" of count(kind). */
static void list_kinds(char *text, size_t size, uint64_t (*count)(const struct work *, int),
                       const struct work *work)
{
    size_t used = 0;
    int last = -1;
    text[0] = '\0';
    for (int kind = 0; kind < ACCOUNT_KINDS; kind++)
        if (count(work, kind) > 0)
            last = kind;
    for (int kind = 0; kind < ACCOUNT_KINDS && used < size; kind++) {
        uint64_t n = count(work, kind);
        const struct account_form *form = &account_forms[kind];
        if (n > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " %s",
                                     used == 0      ? ""
                                     : kind == last ? " and "
                                                    : ", ",
                                     n, n == 1 ? form->one : form->other);
    }
}

static uint64_t count_wanted(const struct work *work, int kind)
{
    return wanted_of(work->wanted, (enum account_kind)kind);
}

static uint32_t wanted_of(const struct accounts_wanted *wanted, enum account_kind kind)
{
    switch (kind) {
    case ACCOUNT_USER:
        return wanted->users;
    case ACCOUNT_MACHINE:
        return wanted->machines;
    case ACCOUNT_FILLER:
        return wanted->fillers;
    default:
        return wanted->groups;
    }
}

/* With -F the store only keeps the marker's key: without one, the passwords are reset each time. */
static int choose_password(struct work *work)
{
    const char *fixed = work->settings->fixed_password;
    struct error reason;
    int result = password_store_open(work->dc->dns_domain, work->settings->instance_id,
                                     &work->store, &reason);
    if (result && !fixed)
        return error_set(work->error, result == -ENOMEM ? result : -EINVAL, "%s", reason.text);
    if (result) {
        message_print("%s; all passwords are reset in each run", reason.text);
        password_store_clear(&work->store);
        result = password_store_make(&work->store);
        if (result)
            return error_set(work->error, result, "no random numbers: %s", strerror(-result));
    }
    work->password = fixed ? fixed : work->store.password;
    password_store_marker(&work->store, work->password, work->marker);
    result = account_steps_set_password(&work->steps, work->password);
    return result == -EILSEQ ? error_set(work->error, -EINVAL, "-F: the password is not UTF-8")
                             : refused(work, result, "use", "the password");
}

/* A fresh instance begins with the marker: whatever is in it later was made with this password. */
static int make_units(struct work *work)
{
    char text[DESCRIPTION_SIZE];
    if (work->set.exists)
        return 0;
    memcpy(work->state.marker, work->marker, sizeof work->state.marker);
    print_state(&work->state, text);
    int result = add_units(work, text);
    if (!result)
        result = refused(work, account_set_read(&work->set, &work->admin), "read",
                         work->set.instance_dn);
    if (!result)
        parse_state(work->set.description, &work->state);
    return result;
}

static void print_state(const struct state *state, char text[DESCRIPTION_SIZE])
{
    size_t used =
        (size_t)snprintf(text, DESCRIPTION_SIZE, "traffic-replay password=%s", state->marker);
    if (state->users || state->groups)
        snprintf(text + used, DESCRIPTION_SIZE - used,
                 " users=%" PRIu32 " groups=%" PRIu32 " memberships=%" PRIu64, state->users,
                 state->groups, state->memberships);
}

/* Both units; once more when the upper one went away between them, with another instance. */
static int add_units(struct work *work, const char *description)
{
    enum { TRIES = 3 };
    int result = LDAP_NO_SUCH_OBJECT;
    for (int i = 0; i < TRIES && result == LDAP_NO_SUCH_OBJECT; i++) {
        result = add_unit(work, work->set.parent_dn, NULL);
        if (result)
            return refused(work, result, "add", work->set.parent_dn);
        result = add_unit(work, work->set.instance_dn, description);
    }
    return refused(work, result, "add", work->set.instance_dn);
}

/* A result as directory_add() gives it; that it is there already is success. */
static int add_unit(struct work *work, const char *dn, const char *description)
{
    LDAPMod class = {.mod_op = LDAP_MOD_ADD,
                     .mod_type = (char[]){"objectClass"},
                     .mod_values = (char *[]){(char[]){"organizationalUnit"}, NULL}};
    LDAPMod text = {.mod_op = LDAP_MOD_ADD,
                    .mod_type = (char[]){"description"},
                    .mod_values = (char *[]){(char *)(uintptr_t)description, NULL}};
    int result = directory_add(&work->admin, dn,
                               (LDAPMod *[]){&class, description ? &text : NULL, NULL}, NULL);
    return result == LDAP_ALREADY_EXISTS ? 0 : result;
}

/* A test user may add, rename and delete its own objects in the instance's OU. */
static const char instance_sddl[] = "(A;;CCDC;;;AU)(A;CIIO;RPWPSDLCRC;;;CO)";

/* Adds the instance's entries to its DACL when they are not there. */
static int give_rights(struct work *work)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool changed = false;
    struct account_set *set = &work->set;
    if (!set->descriptor)
        return error_set(work->error, -EACCES, "cannot read the rights on %s%s", set->instance_dn,
                         account_steps_hint(LDAP_INSUFFICIENT_ACCESS));
    int result =
        security_descriptor_add(set->descriptor, set->descriptor_size, instance_sddl,
                                SECURITY_DESCRIPTOR_KEEP_INHERITED, &bytes, &size, &changed);
    if (result)
        return error_set(work->error, result, "the rights on %s are malformed: %s",
                         set->instance_dn, strerror(-result));
    if (changed) {
        struct berval value = {.bv_len = size, .bv_val = (char *)bytes};
        LDAPMod replace = {.mod_op = LDAP_MOD_REPLACE | LDAP_MOD_BVALUES,
                           .mod_type = (char[]){"nTSecurityDescriptor"},
                           .mod_bvalues = (struct berval *[]){&value, NULL}};
        result = directory_modify(&work->admin, set->instance_dn, (LDAPMod *[]){&replace, NULL},
                                  (LDAPControl *[]){&account_set_dacl_control, NULL});
    }
    free(bytes);
    return refused(work, result, "change the rights on", set->instance_dn);
}

/* Everybody's password when the marker is another one, else of those that lack one. */
static int reset_passwords(struct work *work)
{
    bool all = strcmp(work->state.marker, work->marker) != 0;
    int result = 0;
    for (int kind = ACCOUNT_USER; kind <= ACCOUNT_FILLER; kind++) {
        const struct account_presence *there = &work->set.there[kind];
        for (uint32_t n = 1; !result && n <= there->size; n++)
            if ((there->flags[n - 1] & ACCOUNT_THERE) &&
                (all || (there->flags[n - 1] & ACCOUNT_LACKS_PASSWORD)))
                result = add_step(work, STEP_RESET, kind, n);
    }
    if (!result && all && work->steps.count > 0)
        message_print("%s has accounts with another password; resetting it", work->set.instance_dn);
    if (!result)
        result = account_steps_run(&work->steps, "Passwords reset", work->error);
    if (!result && all) {
        memcpy(work->state.marker, work->marker, sizeof work->state.marker);
        result = write_state(work);
    }
    return result;
}

static int add_step(struct work *work, int step, int kind, uint32_t number)
{
    const struct account_step one = {
        .step = (uint8_t)step, .kind = (uint8_t)kind, .number = number};
    int result = account_steps_add(&work->steps, &one);
    return result ? error_set(work->error, result, "out of memory") : 0;
}

static int write_state(struct work *work)
{
    char text[DESCRIPTION_SIZE];
    print_state(&work->state, text);
    LDAPMod replace = {.mod_op = LDAP_MOD_REPLACE,
                       .mod_type = (char[]){"description"},
                       .mod_values = (char *[]){text, NULL}};
    int result =
        directory_modify(&work->admin, work->set.instance_dn, (LDAPMod *[]){&replace, NULL}, NULL);
    return refused(work, result, "write the description of", work->set.instance_dn);
}

static int make_missing(struct work *work)
{
    int result = 0;
    for (int kind = 0; kind < ACCOUNT_KINDS; kind++) {
        uint32_t wanted = wanted_of(work->wanted, (enum account_kind)kind);
        if (missing(work, (enum account_kind)kind, wanted) == 0)
            continue;
        for (uint32_t n = 1; !result && n <= wanted; n++)
            if (!account_set_has(&work->set, (enum account_kind)kind, n))
                result = add_step(work, STEP_CREATE, kind, n);
    }
    return result ? result : account_steps_run(&work->steps, "Accounts made", work->error);
}

static uint64_t missing(const struct work *work, enum account_kind kind, uint32_t wanted)
{
    uint64_t count = 0;
    for (uint32_t n = 1; n <= wanted; n++)
        count += !account_set_has(&work->set, kind, n);
    return count;
}

static int make_memberships(struct work *work)
{
    const struct accounts_wanted *wanted = work->wanted;
    struct state *state = &work->state;
    if (wanted->users <= state->users && wanted->groups <= state->groups) {
        tell_kept(work);
        return 0;
    }
    struct memberships_wish wish = {
        .instance = (uint64_t)work->settings->instance_id,
        .users = wanted->users > state->users ? wanted->users : state->users,
        .groups = wanted->groups > state->groups ? wanted->groups : state->groups,
        .memberships = wanted->memberships,
        .max_members = wanted->max_members};
    struct memberships made;
    int result = memberships_make(&wish, &made);
    if (result)
        return error_set(work->error, result, "cannot distribute %" PRIu64 " memberships: %s",
                         wish.memberships, strerror(-result));
    work->steps.members = made.members;
    result = add_member_steps(work, &made);
    if (!result)
        result = account_steps_run(&work->steps, "Changes of group members", work->error);
    work->steps.members = NULL;
    memberships_clear(&made);
    if (result)
        return result;
    state->users = wish.users;
    state->groups = wish.groups;
    state->memberships = wish.memberships;
    return write_state(work);
}

/* Options that ask for other memberships than those made are told that they come too late. */
static void tell_kept(const struct work *work)
{
    const struct settings *settings = work->settings;
    if ((settings->group_memberships_given || settings->average_groups_per_user > 0 ||
         settings->max_members) &&
        work->state.memberships != work->wanted->memberships)
        message_print("instance %d keeps the %" PRIu64 " memberships that it has; "
                      "clean it up (-c) first to have others",
                      settings->instance_id, work->state.memberships);
}

static int add_member_steps(struct work *work, struct memberships *made)
{
    int result = 0;
    for (uint32_t group = 1; !result && group <= made->groups; group++) {
        uint64_t end = keep_new(work, made, group);
        for (uint64_t from = made->first[group - 1]; !result && from < end;
             from += ACCOUNT_STEP_MEMBERS_MAX) {
            uint64_t to = from + ACCOUNT_STEP_MEMBERS_MAX;
            const struct account_step step = {.step = STEP_MEMBERS,
                                              .kind = ACCOUNT_GROUP,
                                              .number = group,
                                              .from = from,
                                              .to = to < end ? to : end};
            if (account_steps_add(&work->steps, &step) != 0)
                result = error_set(work->error, -ENOMEM, "out of memory");
        }
    }
    return result;
}

/* Pairs of an old user and an old group are as they are; the others are to be made. */
static uint64_t keep_new(const struct work *work, struct memberships *made, uint32_t group)
{
    uint64_t first = made->first[group - 1], kept = first;
    for (uint64_t i = first; i < made->first[group]; i++) {
        uint32_t user = made->members[i];
        bool old = user <= work->state.users && group <= work->state.groups;
        if (!old && account_set_has(&work->set, ACCOUNT_USER, user))
            made->members[kept++] = user;
    }
    return kept;
}

static int accounts_start(struct work *work, const struct settings *settings, struct dc *dc,
                          struct error *error)
{
    *work = (struct work){.settings = settings, .dc = dc, .error = error};
    account_steps_init(&work->steps, dc, &work->set);
    int result = account_set_init(&work->set, dc->base_dn, settings->instance_id);
    free(dc->instance_dn);
    dc->instance_dn = result ? NULL : strdup(work->set.instance_dn);
    if (!dc->instance_dn)
        return error_set(work->error, -ENOMEM, "out of memory");
    result = directory_open(&work->admin, dc, wire_blocking_waiter());
    if (result)
        return error_set(work->error, result, "cannot log on to %s as %s: %s", dc->given,
                         dc->admin.name ? dc->admin.name : "the owner of the tickets",
                         work->admin.error);
    return 0;
}

static int fill_dc(struct work *work, uint32_t clients)
{
    struct dc *dc = work->dc;
    dc->users = calloc((size_t)clients + 1, sizeof *dc->users);
    dc->machines = calloc((size_t)clients + 1, sizeof *dc->machines);
    int result = dc->users && dc->machines ? 0 : -ENOMEM;
    dc->account_count = result ? 0 : clients;
    for (uint32_t i = 0; !result && i < clients; i++) {
        result = accounts_fill_account(work, ACCOUNT_USER, i + 1, &dc->users[i]);
        if (!result)
            result = accounts_fill_account(work, ACCOUNT_MACHINE, i + 1, &dc->machines[i]);
    }
    return result ? error_set(work->error, result, "out of memory") : 0;
}

static int accounts_fill_account(const struct work *work, enum account_kind kind, uint32_t number,
                                 struct account *account)
{
    char name[ACCOUNT_NAME_SIZE];
    account_set_name(&work->set, kind, number, name);
    account->machine = kind == ACCOUNT_MACHINE;
    account->dn = account_set_dn(&work->set, kind, number);
    account->password = strdup(work->password);
    if (asprintf(&account->name, "%s%s", name, account_forms[kind].suffix) < 0)
        account->name = NULL;
    return account->name && account->dn && account->password ? 0 : -ENOMEM;
}

static void accounts_finish(struct work *work)
{
    directory_close(&work->admin);
    account_steps_clear(&work->steps);
    account_set_clear(&work->set);
    password_store_clear(&work->store);
}

int accounts_clean_up(const struct settings *settings, struct dc *dc, bool *removed,
                      struct error *error)
{
    struct work work;
    int result = accounts_start(&work, settings, dc, error);
    if (result)
        goto cleanup;
    result = delete_tree(&work);
    *removed = result == 0;
    result =
        refused(&work, result == LDAP_NO_SUCH_OBJECT ? 0 : result, "remove", work.set.instance_dn);
    if (result)
        goto cleanup;
    /* The last instance's end: without the tree-delete control only an empty OU goes. A refusal
     * means that others are still there, or that nothing ever was. */
    (void)directory_delete(&work.admin, work.set.parent_dn, NULL);
    result = password_store_remove(dc->dns_domain, settings->instance_id);
    if (result)
        error_set(work.error, result, "cannot remove the kept password: %s", strerror(-result));
cleanup:
    accounts_finish(&work);
    return result;
}

static const int64_t tree_delete_timeout = 3600LL * 1000000000;

/* Windows stops a tree delete at a limit of its own and wants to be asked again. */
static int delete_tree(struct work *work)
{
    char oid[] = "1.2.840.113556.1.4.805"; /* MS-ADTS 3.1.1.3.4.1.15 */
    LDAPControl tree = {.ldctl_oid = oid, .ldctl_iscritical = 1};
    LDAPControl *controls[] = {&tree, NULL};
    int result;
    work->admin.timeout = tree_delete_timeout;
    do
        result = directory_delete(&work->admin, work->set.instance_dn, controls);
    while (result == LDAP_ADMINLIMIT_EXCEEDED);
    return result;
}
