/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One paged search finds the existing accounts. Everything else follows from it: organizational
 * units to add, passwords to reset, missing accounts, memberships. The description of the
 * instance's OU records which password its accounts have (as an HMAC) and which memberships exist,
 * so a run with existing accounts writes nothing.
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

/* The contents of the description of the instance's OU. */
struct accounts_state {
    char marker[PASSWORD_STORE_MARKER_SIZE]; /* of the accounts' password; "": not known */
    uint32_t users, groups;                  /* the first ones, which have their memberships */
    uint64_t memberships;
};

struct accounts_work {
    const struct settings *settings;
    const struct accounts_wanted *wanted;
    struct dc *dc;
    struct directory admin;
    struct account_set set;
    struct account_steps steps;
    struct password_store store;
    const char *password;
    struct accounts_state state;
    char marker[PASSWORD_STORE_MARKER_SIZE]; /* of the password the accounts need */
    struct error *error;
};

static uint32_t groups_wanted(const struct settings *settings, uint32_t users);
static int read_existing(struct accounts_work *work);
static void parse_state(const char *description, struct accounts_state *state);
static int check_request(struct accounts_work *work, int result, const char *what,
                         const char *name);
static int ask_when_first(struct accounts_work *work);
static int ignore_entry(void *context, LDAP *handle, LDAPMessage *entry);
static int ask_user(struct accounts_work *work);
static uint32_t number_wanted(const struct accounts_wanted *wanted, enum account_kind kind);
static int choose_password(struct accounts_work *work);
static int create_units(struct accounts_work *work);
static void print_state(const struct accounts_state *state, char text[DESCRIPTION_SIZE]);
static int add_units(struct accounts_work *work, const char *description);
static int add_unit(struct accounts_work *work, const char *dn, const char *description);
static int give_rights(struct accounts_work *work);
static int reset_passwords(struct accounts_work *work);
static int add_step(struct accounts_work *work, int step, int kind, uint32_t number);
static int write_state(struct accounts_work *work);
static int create_missing(struct accounts_work *work);
static uint64_t count_missing(const struct accounts_work *work, enum account_kind kind,
                              uint32_t wanted);
static int create_memberships(struct accounts_work *work);
static void warn_of_kept(const struct accounts_work *work);
static int add_member_steps(struct accounts_work *work, struct memberships *made);
static uint64_t keep_new_pairs(const struct accounts_work *work, struct memberships *made,
                               uint32_t group);
static int accounts_start(struct accounts_work *work, const struct settings *settings,
                          struct dc *dc, struct error *error);
static int fill_dc(struct accounts_work *work, uint32_t clients);
static int accounts_fill_account(const struct accounts_work *work, enum account_kind kind,
                                 uint32_t number, struct account *account);
static void accounts_finish(struct accounts_work *work);

static const double default_groups_per_user = 5;

int accounts_wanted(const struct settings *settings, uint32_t clients,
                    struct accounts_wanted *wanted, struct error *error)
{
    uint64_t users = settings->number_of_users;
    if (users > 0 && users < clients) {
        return error_set(error, -EINVAL,
                         "-n: %" PRIu64 " users are too few for the %" PRIu32
                         " clients of this run; give at least as many, or omit -n",
                         users, clients);
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
        return error_set(error, -EINVAL,
                         "%s: %" PRIu64 " memberships are more than %" PRIu32 " users in %" PRIu32
                         " groups%s can have (%" PRIu64 ")",
                         settings->group_memberships_given ? "--group-memberships"
                                                           : "--average-groups-per-user",
                         wanted->memberships, wanted->users, wanted->groups,
                         wanted->max_members ? " of --max-members" : "", most);
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
    static int (*const phases[])(struct accounts_work *) = {
        read_existing, ask_when_first,  choose_password, create_units,
        give_rights,   reset_passwords, create_missing,  create_memberships};
    struct accounts_work work;
    int result = accounts_start(&work, settings, dc, error);
    work.wanted = wanted;
    for (size_t i = 0; !result && i < sizeof phases / sizeof phases[0]; i++)
        result = phases[i](&work);
    if (!result)
        result = fill_dc(&work, clients);
    accounts_finish(&work);
    return result;
}

static int read_existing(struct accounts_work *work)
{
    int result = account_set_read(&work->set, &work->admin);
    parse_state(work->set.description, &work->state);
    return check_request(work, result, "read", work->set.instance_dn);
}

static void parse_state(const char *description, struct accounts_state *state)
{
    *state = (struct accounts_state){.marker = ""};
    char marker[PASSWORD_STORE_MARKER_SIZE];
    if (description && sscanf(description, "traffic-replay password=%64[0-9a-f]", marker) == 1)
        memcpy(state->marker, marker, sizeof marker);
    const char *done = description ? strstr(description, " users=") : NULL;
    if (!done || sscanf(done, " users=%" SCNu32 " groups=%" SCNu32 " memberships=%" SCNu64,
                        &state->users, &state->groups, &state->memberships) != 3)
        state->users = state->groups = 0;
}

/* Converts the result of a request on the administrator's connection to an errno and a text. */
static int check_request(struct accounts_work *work, int result, const char *what, const char *name)
{
    if (result == 0)
        return 0;
    return error_set(work->error, result < 0 ? result : -EACCES, "cannot %s %s: %s%s", what, name,
                     work->admin.error.text[0] ? work->admin.error.text : strerror(-result),
                     account_steps_hint(result, work->admin.error.text));
}

/* Asks before the first accounts in a domain are created: OU=traffic_replay does not exist yet. */
static int ask_when_first(struct accounts_work *work)
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
        return ask_user(work);
    return check_request(work, result, "search for", work->set.parent_dn);
}

static int ignore_entry(void *context, LDAP *handle, LDAPMessage *entry)
{
    (void)context;
    (void)handle;
    (void)entry;
    return 0;
}

static int ask_user(struct accounts_work *work)
{
    char kinds[200], *question = NULL, *answer = NULL;
    uint64_t counts[ACCOUNT_KINDS + 1] = {0};
    for (int kind = 0; kind < ACCOUNT_KINDS; kind++)
        counts[kind] = number_wanted(work->wanted, (enum account_kind)kind);
    account_set_list_kinds(counts, "", kinds, sizeof kinds);
    if (asprintf(&question, "traffic-replay will create %s in %s, in %s. Continue? [y/N] ", kinds,
                 work->dc->dns_domain, work->set.parent_dn) < 0)
        return error_no_memory(work->error);
    int result = credentials_prompt(question, false, &answer);
    bool yes = !result && (answer[0] == 'y' || answer[0] == 'Y');
    free(question);
    free(answer);
    if (result == -ENOTTY)
        return error_set(
            work->error, -EINVAL,
            "%s would be created in %s, which has no test accounts yet; allow this with --yes",
            kinds, work->dc->dns_domain);
    return yes ? 0 : error_set(work->error, -ECANCELED, "no accounts were created");
}

static uint32_t number_wanted(const struct accounts_wanted *wanted, enum account_kind kind)
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

/* With -F, the store only keeps the marker's key; without that, each run resets the passwords. */
static int choose_password(struct accounts_work *work)
{
    const char *fixed = work->settings->fixed_password;
    struct error reason;
    int result = password_store_open(work->dc->dns_domain, work->settings->instance_id,
                                     &work->store, &reason);
    if (result && !fixed)
        return error_set(work->error, result == -ENOMEM ? result : -EINVAL, "%s", reason.text);
    if (result) {
        message_print("%s; each run resets all passwords", reason.text);
        password_store_clear(&work->store);
        result = password_store_make(&work->store);
        if (result)
            return error_set(work->error, result, "cannot get random numbers: %s",
                             strerror(-result));
    }
    work->password = fixed ? fixed : work->store.password;
    password_store_marker(&work->store, work->password, work->marker);
    result = account_steps_set_password(&work->steps, work->password);
    return result == -EILSEQ ? error_set(work->error, -EINVAL, "-F: the password is not UTF-8")
                             : check_request(work, result, "use", "the password");
}

/* A new instance gets the marker at once, because all its accounts will get this password. */
static int create_units(struct accounts_work *work)
{
    char text[DESCRIPTION_SIZE];
    if (work->set.exists)
        return 0;
    memcpy(work->state.marker, work->marker, sizeof work->state.marker);
    print_state(&work->state, text);
    int result = add_units(work, text);
    if (!result)
        result = check_request(work, account_set_read(&work->set, &work->admin), "read",
                               work->set.instance_dn);
    if (!result)
        parse_state(work->set.description, &work->state);
    return result;
}

static void print_state(const struct accounts_state *state, char text[DESCRIPTION_SIZE])
{
    size_t used =
        (size_t)snprintf(text, DESCRIPTION_SIZE, "traffic-replay password=%s", state->marker);
    if (state->users || state->groups)
        snprintf(text + used, DESCRIPTION_SIZE - used,
                 " users=%" PRIu32 " groups=%" PRIu32 " memberships=%" PRIu64, state->users,
                 state->groups, state->memberships);
}

/* Adds both units. Tries again if the upper one disappeared in between, because another instance
 * was removed. */
static int add_units(struct accounts_work *work, const char *description)
{
    enum { TRIES = 3 };
    int result = LDAP_NO_SUCH_OBJECT;
    for (int i = 0; i < TRIES && result == LDAP_NO_SUCH_OBJECT; i++) {
        result = add_unit(work, work->set.parent_dn, NULL);
        if (result)
            return check_request(work, result, "add", work->set.parent_dn);
        result = add_unit(work, work->set.instance_dn, description);
    }
    return check_request(work, result, "add", work->set.instance_dn);
}

/* Returns what directory_add() returns, but 0 if the unit exists already. */
static int add_unit(struct accounts_work *work, const char *dn, const char *description)
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

/* Lets a test user add, rename and delete its own objects in the instance's OU. */
static const char instance_sddl[] = "(A;;CCDC;;;AU)(A;CIIO;RPWPSDLCRC;;;CO)";

/* Adds the entries to the DACL of the instance's OU if they are missing. */
static int give_rights(struct accounts_work *work)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool changed = false;
    struct account_set *set = &work->set;
    if (!set->descriptor)
        return error_set(work->error, -EACCES, "cannot read the rights on %s%s", set->instance_dn,
                         account_steps_hint(LDAP_INSUFFICIENT_ACCESS, ""));
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
    return check_request(work, result, "change the rights on", set->instance_dn);
}

/* Resets all passwords if the marker is different, otherwise only sets missing ones. */
static int reset_passwords(struct accounts_work *work)
{
    bool all = strcmp(work->state.marker, work->marker) != 0;
    int result = 0;
    for (int kind = ACCOUNT_USER; kind <= ACCOUNT_FILLER; kind++) {
        const struct account_presence *there = &work->set.there[kind];
        for (uint32_t n = 1; !result && n <= there->size; n++)
            if ((there->flags[n - 1] & ACCOUNT_THERE) &&
                (all || (there->flags[n - 1] & ACCOUNT_LACKS_PASSWORD)))
                result = add_step(work, ACCOUNT_STEP_RESET, kind, n);
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

static int add_step(struct accounts_work *work, int step, int kind, uint32_t number)
{
    const struct account_step one = {
        .step = (uint8_t)step, .kind = (uint8_t)kind, .number = number};
    int result = account_steps_add(&work->steps, &one);
    return result ? error_no_memory(work->error) : 0;
}

static int write_state(struct accounts_work *work)
{
    char text[DESCRIPTION_SIZE];
    print_state(&work->state, text);
    LDAPMod replace = {.mod_op = LDAP_MOD_REPLACE,
                       .mod_type = (char[]){"description"},
                       .mod_values = (char *[]){text, NULL}};
    int result =
        directory_modify(&work->admin, work->set.instance_dn, (LDAPMod *[]){&replace, NULL}, NULL);
    return check_request(work, result, "write the description of", work->set.instance_dn);
}

static int create_missing(struct accounts_work *work)
{
    int result = 0;
    for (int kind = 0; kind < ACCOUNT_KINDS; kind++) {
        uint32_t wanted = number_wanted(work->wanted, (enum account_kind)kind);
        if (count_missing(work, (enum account_kind)kind, wanted) == 0)
            continue;
        for (uint32_t n = 1; !result && n <= wanted; n++)
            if (!account_set_has(&work->set, (enum account_kind)kind, n))
                result = add_step(work, ACCOUNT_STEP_CREATE, kind, n);
    }
    return result ? result : account_steps_run(&work->steps, "Accounts created", work->error);
}

static uint64_t count_missing(const struct accounts_work *work, enum account_kind kind,
                              uint32_t wanted)
{
    uint64_t count = 0;
    for (uint32_t n = 1; n <= wanted; n++)
        count += !account_set_has(&work->set, kind, n);
    return count;
}

static int create_memberships(struct accounts_work *work)
{
    const struct accounts_wanted *wanted = work->wanted;
    struct accounts_state *state = &work->state;
    if (wanted->users <= state->users && wanted->groups <= state->groups) {
        warn_of_kept(work);
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

/* Warns about options for memberships that differ from the existing ones. */
static void warn_of_kept(const struct accounts_work *work)
{
    const struct settings *settings = work->settings;
    if ((settings->group_memberships_given || settings->average_groups_per_user > 0 ||
         settings->max_members) &&
        work->state.memberships != work->wanted->memberships)
        message_print("instance %d keeps its %" PRIu64 " memberships; to change them, remove the "
                      "accounts first (-c)",
                      settings->instance_id, work->state.memberships);
}

static int add_member_steps(struct accounts_work *work, struct memberships *made)
{
    int result = 0;
    for (uint32_t group = 1; !result && group <= made->groups; group++) {
        uint64_t end = keep_new_pairs(work, made, group);
        const struct account_step step = {.step = ACCOUNT_STEP_MEMBERS,
                                          .kind = ACCOUNT_GROUP,
                                          .number = group,
                                          .from = made->first[group - 1],
                                          .to = end};
        if (step.from < step.to && account_steps_add(&work->steps, &step) != 0)
            result = error_no_memory(work->error);
    }
    return result;
}

/* Drops pairs of an old user and an old group from the list; only the others are created. */
static uint64_t keep_new_pairs(const struct accounts_work *work, struct memberships *made,
                               uint32_t group)
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

static int accounts_start(struct accounts_work *work, const struct settings *settings,
                          struct dc *dc, struct error *error)
{
    *work = (struct accounts_work){.settings = settings, .dc = dc, .error = error};
    account_steps_init(&work->steps, dc, &work->set);
    int result = account_set_init(&work->set, dc->base_dn, settings->instance_id);
    free(dc->instance_dn);
    dc->instance_dn = result ? NULL : strdup(work->set.instance_dn);
    if (!dc->instance_dn)
        return error_no_memory(work->error);
    return directory_open_admin(&work->admin, dc, error);
}

static int fill_dc(struct accounts_work *work, uint32_t clients)
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
    return result ? error_no_memory(work->error) : 0;
}

static int accounts_fill_account(const struct accounts_work *work, enum account_kind kind,
                                 uint32_t number, struct account *account)
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

static void accounts_finish(struct accounts_work *work)
{
    directory_close(&work->admin);
    account_steps_clear(&work->steps);
    account_set_clear(&work->set);
    password_store_clear(&work->store);
}
