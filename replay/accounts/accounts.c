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
#include "replay/accounts/password_check.h"
#include "replay/accounts/password_store.h"

enum { USERS_PER_GROUP = 10, DESCRIPTION_SIZE = 256 };

/* The contents of the description of the instance's OU. */
struct accounts_state {
    char marker[PASSWORD_STORE_MARKER_SIZE]; /* of the accounts' password; "": not known */
    uint32_t users, groups;                  /* the first ones, which have their memberships */
    uint64_t memberships;
};

/* Memberships in groups whose DN ends with group_base. */
struct member_count {
    const char *group_base;
    uint64_t count;
};

struct accounts_work {
    const struct settings *settings;
    const struct accounts_wanted *wanted;
    uint32_t clients;
    struct dc *dc;
    struct directory admin;
    struct account_set set;
    struct account_steps steps;
    struct password_store store;
    const char *password;
    struct accounts_state state;
    char marker[PASSWORD_STORE_MARKER_SIZE]; /* of the password the accounts need */
    bool added;                              /* this call has created the instance's OU */
    struct error *error;
};

static uint32_t groups_wanted(const struct settings *settings, uint32_t users);
static int read_existing(struct accounts_work *work);
static void parse_state(const char *description, struct accounts_state *state);
static int check_request(struct accounts_work *work, int result, const char *what,
                         const char *name);
static int check_writable(struct accounts_work *work);
static int ask_when_first(struct accounts_work *work);
static int search_parent(struct accounts_work *work);
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
static int check_passwords(struct accounts_work *work);
static int reset_kind(struct accounts_work *work, int kind, const char *name);
static int add_step(struct accounts_work *work, int step, int kind, uint32_t number);
static int write_state(struct accounts_work *work);
static int create_missing(struct accounts_work *work);
static int forget_memberships(struct accounts_work *work);
static uint64_t count_missing(const struct accounts_work *work, enum account_kind kind,
                              uint32_t wanted);
static int create_memberships(struct accounts_work *work);
static bool created_again(const struct accounts_work *work, enum account_kind kind, uint32_t first);
static void warn_of_kept(struct accounts_work *work);
static int count_memberships(void *context, LDAP *handle, LDAPMessage *entry);
static int add_member_steps(struct accounts_work *work, struct memberships *made);
static uint64_t keep_new_pairs(const struct accounts_work *work, struct memberships *made,
                               uint32_t group);
static bool is_created(const struct accounts_work *work, enum account_kind kind, uint32_t number);
static int accounts_start(struct accounts_work *work, const struct settings *settings,
                          struct dc *dc, struct error *error);
static int fill_dc(struct accounts_work *work, uint32_t clients);
static int accounts_fill_account(const struct accounts_work *work, enum account_kind kind,
                                 uint32_t number, struct account *account);
static void undo_units(struct accounts_work *work);
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
        read_existing, ask_when_first,  choose_password, check_writable, create_units,
        give_rights,   reset_passwords, check_passwords, create_missing, create_memberships};
    struct accounts_work work;
    int result = accounts_start(&work, settings, dc, error);
    work.wanted = wanted;
    work.clients = clients;
    for (size_t i = 0; !result && i < sizeof phases / sizeof phases[0]; i++)
        result = phases[i](&work);
    if (!result)
        result = fill_dc(&work, clients);
    else if (work.added)
        undo_units(&work);
    accounts_finish(&work);
    return result;
}

static int read_existing(struct accounts_work *work)
{
    int result = account_set_read(&work->set, &work->admin);
    parse_state(work->set.description, &work->state);
    if (!result && work->set.renamed)
        return error_set(work->error, -EACCES,
                         "%s has been renamed to %s; rename it back, or remove the accounts with "
                         "-c -I %d",
                         work->set.renamed_name, work->set.renamed, work->set.instance);
    return check_request(work, result, "read", work->set.instance_dn);
}

static void parse_state(const char *description, struct accounts_state *state)
{
    *state = (struct accounts_state){.marker = ""};
    account_set_parse_marker(description, state->marker);
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

/* A read-only DC answers reads, so it can serve runs with accounts that are complete. */
static int check_writable(struct accounts_work *work)
{
    bool complete = work->set.exists && strcmp(work->state.marker, work->marker) == 0;
    for (int kind = 0; kind < ACCOUNT_KINDS; kind++)
        complete &= count_missing(work, (enum account_kind)kind,
                                  number_wanted(work->wanted, (enum account_kind)kind)) == 0;
    return complete ? 0 : account_set_check_writable(work->dc, work->error);
}

/* Asks before the first accounts in a domain are created: OU=traffic_replay does not exist yet. */
static int ask_when_first(struct accounts_work *work)
{
    if (work->set.exists || work->settings->yes)
        return 0;
    int result = search_parent(work);
    if (result == LDAP_NO_SUCH_OBJECT)
        return ask_user(work);
    return check_request(work, result, "search for", work->set.parent_dn);
}

/* LDAP_SUCCESS: OU=traffic_replay exists; LDAP_NO_SUCH_OBJECT; or what went wrong. */
static int search_parent(struct accounts_work *work)
{
    static const char *const nothing[] = {LDAP_NO_ATTRS, NULL};
    const struct directory_search parent = {.base = work->set.parent_dn,
                                            .scope = LDAP_SCOPE_BASE,
                                            .filter = "(objectClass=*)",
                                            .attributes = nothing,
                                            .entry = ignore_entry};
    return directory_search(&work->admin, &parent);
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
    const struct password_store_id id = {work->dc->dns_domain, work->dc->domain_sid,
                                         work->settings->instance_id};
    password_store_migrate(&id, fixed, work->state.marker);
    int result = password_store_open(&id, &work->store, &reason);
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
    work->added = !result;
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
 * was removed. An administrator of the upper one may not be able to add it. */
static int add_units(struct accounts_work *work, const char *description)
{
    enum { TRIES = 3 };
    int result = LDAP_NO_SUCH_OBJECT;
    for (int i = 0; i < TRIES && result == LDAP_NO_SUCH_OBJECT; i++) {
        result = search_parent(work);
        if (result)
            result = add_unit(work, work->set.parent_dn, ACCOUNT_SET_PARENT_DESCRIPTION);
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

/* Somebody else may have changed passwords. The account of each kind whose password was set last is
 * the one to ask; if its password is wrong, all of its kind are reset. */
static int check_passwords(struct accounts_work *work)
{
    int result = 0;
    for (int kind = ACCOUNT_USER; !result && kind <= ACCOUNT_MACHINE; kind++) {
        const struct account_presence *there = &work->set.there[kind];
        struct account newest = {.name = NULL};
        if (work->clients == 0 || there->newest == 0 || work->dc->options.generic_ldap)
            continue;
        result = accounts_fill_account(work, (enum account_kind)kind, there->newest, &newest);
        if (result)
            error_no_memory(work->error);
        else if (!password_check(work->dc, &newest))
            result = reset_kind(work, kind, newest.name);
        account_clear(&newest);
    }
    return result;
}

static int reset_kind(struct accounts_work *work, int kind, const char *name)
{
    const struct account_presence *there = &work->set.there[kind];
    int result = 0;
    message_print(
        "the server refuses the password of %s, so somebody has changed it; resetting the "
        "passwords of all %ss of %s",
        name, account_forms[kind].one, work->set.instance_dn);
    for (uint32_t n = 1; !result && n <= there->size; n++)
        if (there->flags[n - 1] & ACCOUNT_THERE)
            result = add_step(work, ACCOUNT_STEP_RESET, kind, n);
    return result ? result : account_steps_run(&work->steps, "Passwords reset", work->error);
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
    int result = forget_memberships(work);
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

/* Users and groups that are created again have no memberships. If this call is interrupted before
 * it adds them, the next one must not believe that they exist. */
static int forget_memberships(struct accounts_work *work)
{
    struct accounts_state kept = work->state;
    uint32_t users = work->wanted->users, groups = work->wanted->groups;
    uint64_t missing =
        count_missing(work, ACCOUNT_USER, users < kept.users ? users : kept.users) +
        count_missing(work, ACCOUNT_GROUP, groups < kept.groups ? groups : kept.groups);
    if (missing == 0)
        return 0;
    work->state.users = work->state.groups = 0;
    int result = write_state(work);
    work->state = kept;
    return result;
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
    bool grown = wanted->users > state->users || wanted->groups > state->groups;
    bool again = created_again(work, ACCOUNT_USER, state->users) ||
                 created_again(work, ACCOUNT_GROUP, state->groups);
    if (!grown && !again) {
        warn_of_kept(work);
        return 0;
    }
    /* The same numbers give the memberships that accounts created again have lost. */
    struct memberships_wish wish = {
        .instance = (uint64_t)work->settings->instance_id,
        .users = wanted->users > state->users ? wanted->users : state->users,
        .groups = wanted->groups > state->groups ? wanted->groups : state->groups,
        .memberships = grown ? wanted->memberships : state->memberships,
        .max_members = wanted->max_members};
    if (wish.memberships > memberships_most(&wish))
        wish.max_members = 0;
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

/* Whether this call has created an account of this kind with one of the first numbers. */
static bool created_again(const struct accounts_work *work, enum account_kind kind, uint32_t first)
{
    for (uint32_t n = 1; n <= first && n <= work->set.there[kind].size; n++)
        if (is_created(work, kind, n))
            return true;
    return false;
}

/* Warns about options for memberships that differ from the existing ones. */
static void warn_of_kept(struct accounts_work *work)
{
    const struct settings *settings = work->settings;
    static const char *const attributes[] = {"memberOf", NULL};
    struct member_count count = {.group_base = work->set.instance_dn};
    const struct directory_search search = {.base = work->set.instance_dn,
                                            .scope = LDAP_SCOPE_ONELEVEL,
                                            .filter = "(objectClass=user)",
                                            .attributes = attributes,
                                            .paged = true,
                                            .entry = count_memberships,
                                            .context = &count};
    bool given = settings->group_memberships_given || settings->average_groups_per_user > 0 ||
                 settings->max_members;
    if (given && work->state.memberships != work->wanted->memberships &&
        directory_search(&work->admin, &search) == 0)
        message_print("instance %d keeps its %" PRIu64 " memberships; to change them, remove the "
                      "accounts first (-c)",
                      settings->instance_id, count.count);
}

/* Counts a user's memberships in groups of the instance. */
static int count_memberships(void *context, LDAP *handle, LDAPMessage *entry)
{
    struct member_count *count = context;
    struct berval **values = ldap_get_values_len(handle, entry, "memberOf");
    size_t tail = strlen(count->group_base);
    for (int i = 0; values && values[i]; i++)
        count->count +=
            values[i]->bv_len > tail &&
            strncasecmp(values[i]->bv_val + values[i]->bv_len - tail, count->group_base, tail) == 0;
    ldap_value_free_len(values);
    return 0;
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

/* Drops pairs of an old user and an old group from the list; only the others are created. What was
 * created again is new. */
static uint64_t keep_new_pairs(const struct accounts_work *work, struct memberships *made,
                               uint32_t group)
{
    uint64_t first = made->first[group - 1], kept = first;
    bool group_is_old = group <= work->state.groups && !is_created(work, ACCOUNT_GROUP, group);
    if (!account_set_has(&work->set, ACCOUNT_GROUP, group))
        return first;
    for (uint64_t i = first; i < made->first[group]; i++) {
        uint32_t user = made->members[i];
        bool old =
            group_is_old && user <= work->state.users && !is_created(work, ACCOUNT_USER, user);
        if (!old && account_set_has(&work->set, ACCOUNT_USER, user))
            made->members[kept++] = user;
    }
    return kept;
}

static bool is_created(const struct accounts_work *work, enum account_kind kind, uint32_t number)
{
    const struct account_presence *there = &work->set.there[kind];
    return number <= there->size && (there->flags[number - 1] & ACCOUNT_CREATED);
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

/* After a failure: removes the OUs that this call has added, unless there are accounts in them. */
static void undo_units(struct accounts_work *work)
{
    if (!work->admin.connection)
        return;
    if (directory_delete(&work->admin, work->set.instance_dn, NULL) == 0)
        account_set_remove_parent(&work->set, &work->admin);
    else
        message_print("what was created remains in %s; remove it with -c -I %d",
                      work->set.instance_dn, work->set.instance);
}

static void accounts_finish(struct accounts_work *work)
{
    directory_close(&work->admin);
    account_steps_clear(&work->steps);
    account_set_clear(&work->set);
    password_store_clear(&work->store);
}
