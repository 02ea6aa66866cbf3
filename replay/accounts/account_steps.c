/* SPDX-License-Identifier: Apache-2.0 */
/* The writes that bring accounts about, over several LDAP connections at a time. */
#include "replay/accounts/account_steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/utf16.h"
#include "protocols/auth/security_descriptor.h"
#include "replay/engine/loop.h"

static char permissive_oid[] = "1.2.840.113556.1.4.1413"; /* MS-ADTS 3.1.1.3.4.1.8 */
static LDAPControl permissive_control = {.ldctl_oid = permissive_oid, .ldctl_iscritical = 1};

/* The steps on their way. */
struct run {
    struct account_steps *steps;
    struct progress progress;
    size_t next;
    int result; /* the first failure */
    struct error *error;
};

/* One request's attributes, one value each. */
struct attributes {
    LDAPMod mods[6], *list[7];
    struct berval values[6], *value_lists[6][2];
    size_t count;
};

/* Members that a group has, of those named in the (sorted) list: taken out of it. */
struct member_list {
    char **names;
    size_t count;
};

static size_t take_first_user(const struct account_steps *steps);
static void work(struct loop *loop, void *argument, uint64_t i);
static void take_step(struct run *run, struct directory *directory);
static void steps_fail(struct run *run, const struct account_step *step, int result,
                       const char *words);
static int take_create(struct account_steps *steps, struct directory *directory,
                       const struct account_step *step, const char *dn);
static int steps_add_account(struct account_steps *steps, struct directory *directory,
                             const struct account_step *step, const char *dn);
static void put_text(struct attributes *attributes, int operation, const char *type,
                     const char *text);
static void steps_put(struct attributes *attributes, int operation, const char *type,
                      const void *value, size_t size);
static int set_password(struct account_steps *steps, struct directory *directory, const char *dn);
static int extend_dacl(struct account_steps *steps, struct directory *directory, const char *dn);
static int keep_descriptor(void *context, LDAP *handle, LDAPMessage *entry);
static int take_reset(struct account_steps *steps, struct directory *directory,
                      const struct account_step *step, const char *dn);
static int take_members(struct account_steps *steps, struct directory *directory,
                        const struct account_step *step, const char *dn);
static int add_missing_members(struct directory *directory, const char *dn,
                               struct member_list *list);
static int drop_present(void *context, LDAP *handle, LDAPMessage *entry);
static int compare_names(const void *left, const void *right);
static int send_members(struct directory *directory, const char *dn, char **names);
static bool is_there(int result);
static int add_members(struct directory *directory, const char *dn, char **names, size_t count);

static const struct {
    const char *verb; /* "cannot ... NAME" */
    int (*take)(struct account_steps *steps, struct directory *directory,
                const struct account_step *step, const char *dn);
} step_kinds[] = {[STEP_CREATE] = {"add", take_create},
                  [STEP_RESET] = {"set the password of", take_reset},
                  [STEP_MEMBERS] = {"add members to", take_members}};

void account_steps_init(struct account_steps *steps, const struct dc *dc, struct account_set *set)
{
    *steps = (struct account_steps){.dc = dc, .set = set};
}

int account_steps_set_password(struct account_steps *steps, const char *password)
{
    char *quoted = NULL;
    int size = asprintf(&quoted, "\"%s\"", password);
    if (size < 0)
        return -ENOMEM;
    uint8_t *bytes;
    size_t bytes_size;
    int error = utf16le_from_utf8(quoted, &bytes, &bytes_size);
    explicit_bzero(quoted, (size_t)size);
    free(quoted);
    if (!error)
        steps->password = (struct berval){.bv_len = bytes_size, .bv_val = (char *)bytes};
    return error;
}

int account_steps_add(struct account_steps *steps, const struct account_step *step)
{
    if (steps->count == steps->room) {
        size_t room = steps->room ? 2 * steps->room : 256;
        struct account_step *grown = reallocarray(steps->steps, room, sizeof *grown);
        if (!grown)
            return -ENOMEM;
        steps->steps = grown;
        steps->room = room;
    }
    steps->steps[steps->count++] = *step;
    return 0;
}

void account_steps_clear(struct account_steps *steps)
{
    if (steps->password.bv_val)
        explicit_bzero(steps->password.bv_val, steps->password.bv_len);
    free(steps->password.bv_val);
    free(steps->user_dacl);
    free(steps->steps);
    *steps = (struct account_steps){0};
}

/* Enough to keep a DC's writer busy while replies travel; a DC writes one after the other anyway.
 */
enum { CONNECTIONS_MAX = 8 };

int account_steps_run(struct account_steps *steps, const char *what, struct error *error)
{
    size_t count = steps->count;
    if (count == 0)
        return 0;
    struct run run = {.steps = steps, .error = error};
    progress_start(&run.progress, what, count);
    int result = 0;
    steps->count = take_first_user(steps);
    while (!result && !run.result && run.next < count) {
        uint64_t left = steps->count - run.next;
        unsigned parallel = left < CONNECTIONS_MAX ? (unsigned)left : CONNECTIONS_MAX;
        result = loop_run_all(work, &run, parallel, parallel);
        steps->count = count;
    }
    if (result && !run.result)
        error_set(error, result, "cannot make accounts: %s", strerror(-result));
    progress_end(&run.progress);
    steps->count = 0;
    return run.result ? run.result : result;
}

/* The first user is made alone: the others are added with the DACL that it gets. */
static size_t take_first_user(const struct account_steps *steps)
{
    bool alone = !steps->user_dacl && steps->steps[0].kind == ACCOUNT_USER &&
                 steps->steps[0].step != STEP_MEMBERS;
    return alone ? 1 : steps->count;
}

/* A fiber: a connection of its own that takes steps while there are any. */
static void work(struct loop *loop, void *argument, uint64_t i)
{
    struct run *run = argument;
    struct directory directory;
    (void)i;
    if (run->result || run->next == run->steps->count)
        return;
    int result = directory_open(&directory, run->steps->dc, loop_waiter(loop));
    if (result && !run->result) {
        error_set(run->error, -EINVAL, "cannot log on for making accounts: %s", directory.error);
        run->result = result;
    }
    while (!run->result && run->next < run->steps->count)
        take_step(run, &directory);
    directory_close(&directory);
}

static void take_step(struct run *run, struct directory *directory)
{
    const struct account_step *step = &run->steps->steps[run->next++];
    char *dn = account_set_dn(run->steps->set, (enum account_kind)step->kind, step->number);
    int result = dn ? step_kinds[step->step].take(run->steps, directory, step, dn) : -ENOMEM;
    if (result)
        steps_fail(run, step, result, dn ? directory->error : "");
    else
        progress_step(&run->progress);
    free(dn);
}

static void steps_fail(struct run *run, const struct account_step *step, int result,
                       const char *words)
{
    if (run->result)
        return;
    char name[ACCOUNT_NAME_SIZE];
    account_set_name(run->steps->set, (enum account_kind)step->kind, step->number, name);
    error_set(run->error, result, "cannot %s %s: %s%s", step_kinds[step->step].verb, name,
              *words ? words : strerror(-result), account_steps_hint(result));
    run->result = result < 0 ? result : -EACCES;
}

const char *account_steps_hint(int code)
{
    static const struct {
        int code;
        const char *hint;
    } hints[] = {
        {LDAP_INSUFFICIENT_ACCESS, "; the administrator needs the right to do this"},
        {LDAP_CONSTRAINT_VIOLATION,
         "; if that is the domain's password policy, give a password that it takes with -F"},
    };
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (hints[i].code == code)
            return hints[i].hint;
    return "";
}

static int take_create(struct account_steps *steps, struct directory *directory,
                       const struct account_step *step, const char *dn)
{
    bool with_dacl = steps->user_dacl != NULL;
    int result = steps_add_account(steps, directory, step, dn);
    /* Somebody else made it meanwhile, with another password perhaps. */
    if (result == LDAP_ALREADY_EXISTS)
        result = step->kind == ACCOUNT_GROUP ? 0 : set_password(steps, directory, dn);
    if (!result && step->kind == ACCOUNT_USER && !with_dacl)
        result = extend_dacl(steps, directory, dn);
    return result ? result
                  : account_set_note(steps->set, (enum account_kind)step->kind, step->number, 0);
}

static int steps_add_account(struct account_steps *steps, struct directory *directory,
                             const struct account_step *step, const char *dn)
{
    const struct account_form *form = &account_forms[step->kind];
    char name[ACCOUNT_NAME_SIZE];
    account_set_name(steps->set, (enum account_kind)step->kind, step->number, name);
    strncat(name, form->suffix, sizeof name - strlen(name) - 1);
    struct attributes attributes = {.count = 0};
    LDAPControl *controls[2] = {NULL};
    put_text(&attributes, LDAP_MOD_ADD, "objectClass", form->object_class);
    put_text(&attributes, LDAP_MOD_ADD, "sAMAccountName", name);
    if (step->kind == ACCOUNT_GROUP) {
        put_text(&attributes, LDAP_MOD_ADD, "groupType", "-2147483646"); /* global, security */
    } else {
        put_text(&attributes, LDAP_MOD_ADD, "userAccountControl", form->control);
        steps_put(&attributes, LDAP_MOD_ADD, "unicodePwd", steps->password.bv_val,
                  steps->password.bv_len);
    }
    if (step->kind == ACCOUNT_USER && steps->user_dacl) {
        steps_put(&attributes, LDAP_MOD_ADD, "nTSecurityDescriptor", steps->user_dacl,
                  steps->user_dacl_size);
        controls[0] = &account_set_dacl_control;
    }
    return directory_add(directory, dn, attributes.list, controls);
}

static void put_text(struct attributes *attributes, int operation, const char *type,
                     const char *text)
{
    steps_put(attributes, operation, type, text, strlen(text));
}

static void steps_put(struct attributes *attributes, int operation, const char *type,
                      const void *value, size_t size)
{
    size_t i = attributes->count++;
    attributes->values[i] = (struct berval){.bv_len = size, .bv_val = (char *)(uintptr_t)value};
    attributes->value_lists[i][0] = &attributes->values[i];
    attributes->value_lists[i][1] = NULL;
    attributes->mods[i] = (LDAPMod){.mod_op = operation | LDAP_MOD_BVALUES,
                                    .mod_type = (char *)(uintptr_t)type,
                                    .mod_bvalues = attributes->value_lists[i]};
    attributes->list[i] = &attributes->mods[i];
    attributes->list[i + 1] = NULL;
}

static int set_password(struct account_steps *steps, struct directory *directory, const char *dn)
{
    struct attributes attributes = {.count = 0};
    steps_put(&attributes, LDAP_MOD_REPLACE, "unicodePwd", steps->password.bv_val,
              steps->password.bv_len);
    return directory_modify(directory, dn, attributes.list, NULL);
}

/* A user may write its own service principal name. */
static const char user_sddl[] = "(A;;WP;;;PS)";

/* Extends a user's DACL, and keeps what it has become for the users to come: they are then added
 * with it in one request instead of three. */
static int extend_dacl(struct account_steps *steps, struct directory *directory, const char *dn)
{
    static const char *const attributes[] = {"nTSecurityDescriptor", NULL};
    struct berval *found = NULL;
    uint8_t *whole = NULL, *own = NULL;
    size_t whole_size = 0, own_size = 0;
    bool changed = false;
    const struct directory_search search = {.base = dn,
                                            .scope = LDAP_SCOPE_BASE,
                                            .filter = "(objectClass=*)",
                                            .attributes = attributes,
                                            .control = &account_set_dacl_control,
                                            .entry = keep_descriptor,
                                            .context = &found};
    int result = directory_search(directory, &search);
    if (result || !found)
        return result ? result : -ENODATA;
    const uint8_t *bytes = (const uint8_t *)found->bv_val;
    result =
        security_descriptor_add(bytes, found->bv_len, user_sddl, SECURITY_DESCRIPTOR_KEEP_INHERITED,
                                &whole, &whole_size, &changed);
    if (!result && changed) {
        struct attributes modified = {.count = 0};
        steps_put(&modified, LDAP_MOD_REPLACE, "nTSecurityDescriptor", whole, whole_size);
        result = directory_modify(directory, dn, modified.list,
                                  (LDAPControl *[]){&account_set_dacl_control, NULL});
    }
    if (!result)
        result =
            security_descriptor_add(bytes, found->bv_len, user_sddl,
                                    SECURITY_DESCRIPTOR_DROP_INHERITED, &own, &own_size, &changed);
    if (!result && !steps->user_dacl) {
        steps->user_dacl = own;
        steps->user_dacl_size = own_size;
        own = NULL;
    }
    free(own);
    free(whole);
    ber_bvfree(found);
    return result;
}

static int keep_descriptor(void *context, LDAP *handle, LDAPMessage *entry)
{
    struct berval **values = ldap_get_values_len(handle, entry, "nTSecurityDescriptor"),
                  **out = context;
    *out = values && values[0] ? ber_bvdup(values[0]) : NULL;
    ldap_value_free_len(values);
    return 0;
}

/* An account without a password is disabled or needs none: its control is set anew as well. */
static int take_reset(struct account_steps *steps, struct directory *directory,
                      const struct account_step *step, const char *dn)
{
    int result = set_password(steps, directory, dn);
    if (result)
        return result;
    if (steps->set->there[step->kind].flags[step->number - 1] & ACCOUNT_LACKS_PASSWORD) {
        struct attributes attributes = {.count = 0};
        put_text(&attributes, LDAP_MOD_REPLACE, "userAccountControl",
                 account_forms[step->kind].control);
        result = directory_modify(directory, dn, attributes.list, NULL);
    }
    if (!result && step->kind == ACCOUNT_USER && !steps->user_dacl)
        result = extend_dacl(steps, directory, dn);
    return result;
}

static int take_members(struct account_steps *steps, struct directory *directory,
                        const struct account_step *step, const char *dn)
{
    char *names[ACCOUNT_STEP_MEMBERS_MAX + 1] = {NULL};
    struct member_list list = {.names = names, .count = (size_t)(step->to - step->from)};
    int result = 0;
    for (uint64_t i = step->from; i < step->to && !result; i++) {
        names[i - step->from] = account_set_dn(steps->set, ACCOUNT_USER, steps->members[i]);
        if (!names[i - step->from])
            result = -ENOMEM;
    }
    if (!result)
        result = add_missing_members(directory, dn, &list);
    for (char **name = names; *name; name++)
        free(*name);
    return result;
}

/* At once as a rule; when some are there, those that are not. */
static int add_missing_members(struct directory *directory, const char *dn,
                               struct member_list *list)
{
    static const char *const attributes[] = {"member", NULL};
    const struct directory_search search = {.base = dn,
                                            .scope = LDAP_SCOPE_BASE,
                                            .filter = "(objectClass=*)",
                                            .attributes = attributes,
                                            .entry = drop_present,
                                            .context = list};
    int result = send_members(directory, dn, list->names);
    if (!is_there(result))
        return result;
    qsort(list->names, list->count, sizeof *list->names, compare_names);
    result = directory_search(directory, &search);
    return result ? result : add_members(directory, dn, list->names, list->count);
}

static int drop_present(void *context, LDAP *handle, LDAPMessage *entry)
{
    struct member_list *list = context;
    struct berval **values = ldap_get_values_len(handle, entry, "member");
    for (int i = 0; values && values[i] && list->count > 0; i++) {
        const char *dn = values[i]->bv_val; /* libldap ends it with a NUL */
        char **found = bsearch(&dn, list->names, list->count, sizeof *list->names, compare_names);
        if (!found)
            continue;
        free(*found);
        memmove(found, found + 1, (size_t)(list->names + list->count - found) * sizeof *found);
        list->count--;
    }
    ldap_value_free_len(values);
    return 0;
}

static int compare_names(const void *left, const void *right)
{
    return strcasecmp(*(char *const *)left, *(char *const *)right);
}

static int send_members(struct directory *directory, const char *dn, char **names)
{
    LDAPMod add = {.mod_op = LDAP_MOD_ADD, .mod_type = (char[]){"member"}, .mod_values = names};
    LDAPMod *mods[] = {&add, NULL};
    LDAPControl *controls[] = {&permissive_control, NULL};
    return directory_modify(directory, dn, mods, controls);
}

static bool is_there(int result)
{
    return result == LDAP_ALREADY_EXISTS || result == LDAP_TYPE_OR_VALUE_EXISTS;
}

/*
 * Adds count members, names ending in NULL. Samba takes the permissive control, and refuses the
 * whole request all the same when one of them is a member already (an interrupted call made it, or
 * another at the same time): then by halves, down to those that are there.
 */
static int add_members(struct directory *directory, const char *dn, char **names, size_t count)
{
    if (count == 0)
        return 0;
    int result = send_members(directory, dn, names);
    if (!is_there(result))
        return result;
    if (count == 1)
        return 0;
    size_t half = count / 2;
    char *next = names[half];
    names[half] = NULL;
    result = add_members(directory, dn, names, half);
    names[half] = next;
    return result ? result : add_members(directory, dn, names + half, count - half);
}
