/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/account_steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/utf16.h"
#include "protocols/auth/security_descriptor.h"
#include "replay/engine/loop.h"

static char permissive_oid[] = "1.2.840.113556.1.4.1413"; /* MS-ADTS 3.1.1.3.4.1.8 */
static LDAPControl permissive_control = {.ldctl_oid = permissive_oid, .ldctl_iscritical = 1};

/* One account_steps_run(). */
struct steps_run {
    struct account_steps *steps;
    struct progress progress;
    size_t next;
    int result; /* the first failure */
    struct error *error;
};

/* The attributes of one request, with one value each. */
struct attributes {
    LDAPMod mods[6], *list[7];
    struct berval values[6], *value_lists[6][2];
    size_t count;
};

/* The members to add to a group. Sorted before those that the group already has are removed. */
struct member_list {
    char **names;
    size_t count;
};

static size_t take_first_user(const struct account_steps *steps);
static void run_connection(struct loop *loop, void *argument, uint64_t i);
static void steps_take(struct steps_run *run, struct directory *directory);
static void steps_fail(struct steps_run *run, const struct account_step *step, int result,
                       const char *text);
static int create_account(struct account_steps *steps, struct directory *directory,
                          const struct account_step *step, const char *dn);
static int steps_add_account(struct account_steps *steps, struct directory *directory,
                             const struct account_step *step, const char *dn);
static void steps_put_text(struct attributes *attributes, int operation, const char *type,
                           const char *text);
static void steps_put(struct attributes *attributes, int operation, const char *type,
                      const void *value, size_t size);
static int set_password(struct account_steps *steps, struct directory *directory, const char *dn);
static int extend_dacl(struct account_steps *steps, struct directory *directory, const char *dn);
static int keep_descriptor(void *context, LDAP *handle, LDAPMessage *entry);
static int reset_account(struct account_steps *steps, struct directory *directory,
                         const struct account_step *step, const char *dn);
static int add_group_members(struct account_steps *steps, struct directory *directory,
                             const struct account_step *step, const char *dn);
static int add_missing_members(struct directory *directory, const char *dn,
                               struct member_list *list);
static int drop_present(void *context, LDAP *handle, LDAPMessage *entry);
static int compare_names(const void *left, const void *right);
static int send_members(struct directory *directory, const char *dn, char **names);
static bool members_exist(int result);
static int add_members(struct directory *directory, const char *dn, char **names, size_t count);

static const struct {
    const char *verb; /* "cannot ... NAME" */
    int (*take)(struct account_steps *steps, struct directory *directory,
                const struct account_step *step, const char *dn);
} step_kinds[] = {[ACCOUNT_STEP_CREATE] = {"add", create_account},
                  [ACCOUNT_STEP_RESET] = {"set the password of", reset_account},
                  [ACCOUNT_STEP_MEMBERS] = {"add members to", add_group_members}};

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
    struct account_step *grown = array_grow(steps->steps, steps->count, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    steps->steps = grown;
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

/* Enough to keep the DC busy while replies are in transit; it writes one object after the other. */
enum { CONNECTIONS_MAX = 8 };

int account_steps_run(struct account_steps *steps, const char *what, struct error *error)
{
    size_t count = steps->count;
    if (count == 0)
        return 0;
    struct steps_run run = {.steps = steps, .error = error};
    progress_start(&run.progress, what, count);
    int result = 0;
    steps->count = take_first_user(steps);
    while (!result && !run.result && run.next < count) {
        uint64_t left = steps->count - run.next;
        unsigned parallel = left < CONNECTIONS_MAX ? (unsigned)left : CONNECTIONS_MAX;
        result = loop_run_all(run_connection, &run, parallel, parallel);
        steps->count = count;
    }
    if (result && !run.result)
        error_set(error, result, "cannot create accounts: %s", strerror(-result));
    progress_end(&run.progress);
    steps->count = 0;
    return run.result ? run.result : result;
}

/* Creates the first user alone: the others are added with the DACL that it gets. */
static size_t take_first_user(const struct account_steps *steps)
{
    bool alone = !steps->user_dacl && steps->steps[0].kind == ACCOUNT_USER &&
                 steps->steps[0].step != ACCOUNT_STEP_MEMBERS;
    return alone ? 1 : steps->count;
}

/* Runs on a fiber: opens a connection and takes steps until none are left. */
static void run_connection(struct loop *loop, void *argument, uint64_t i)
{
    struct steps_run *run = argument;
    struct directory directory;
    (void)i;
    if (run->result || run->next == run->steps->count)
        return;
    int result = directory_open(&directory, run->steps->dc, loop_waiter(loop));
    if (result && !run->result) {
        run->result = error_set(run->error, result, "cannot log on to create accounts: %s",
                                directory.error.text);
    }
    while (!run->result && run->next < run->steps->count)
        steps_take(run, &directory);
    directory_close(&directory);
}

static void steps_take(struct steps_run *run, struct directory *directory)
{
    const struct account_step *step = &run->steps->steps[run->next++];
    char *dn = account_set_dn(run->steps->set, (enum account_kind)step->kind, step->number);
    int result = dn ? step_kinds[step->step].take(run->steps, directory, step, dn) : -ENOMEM;
    if (result)
        steps_fail(run, step, result, dn ? directory->error.text : "");
    else
        progress_step(&run->progress);
    free(dn);
}

static void steps_fail(struct steps_run *run, const struct account_step *step, int result,
                       const char *text)
{
    if (run->result)
        return;
    char name[ACCOUNT_NAME_SIZE];
    account_set_name(run->steps->set, (enum account_kind)step->kind, step->number, name);
    run->result = error_set(run->error, result < 0 ? result : -EACCES, "cannot %s %s: %s%s",
                            step_kinds[step->step].verb, name, *text ? text : strerror(-result),
                            account_steps_hint(result));
}

const char *account_steps_hint(int code)
{
    static const struct {
        int code;
        const char *hint;
    } hints[] = {
        {LDAP_INSUFFICIENT_ACCESS, "; the administrator needs this right"},
        {LDAP_CONSTRAINT_VIOLATION,
         "; if the domain's password policy is the reason, set an acceptable password with -F"},
    };
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (hints[i].code == code)
            return hints[i].hint;
    return "";
}

static int create_account(struct account_steps *steps, struct directory *directory,
                          const struct account_step *step, const char *dn)
{
    bool with_dacl = steps->user_dacl != NULL;
    int result = steps_add_account(steps, directory, step, dn);
    /* Another process has created it in the meantime, possibly with another password. */
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
    steps_put_text(&attributes, LDAP_MOD_ADD, "objectClass", form->object_class);
    steps_put_text(&attributes, LDAP_MOD_ADD, "sAMAccountName", name);
    if (step->kind == ACCOUNT_GROUP) {
        steps_put_text(&attributes, LDAP_MOD_ADD, "groupType",
                       "-2147483646"); /* global, security */
    } else {
        steps_put_text(&attributes, LDAP_MOD_ADD, "userAccountControl", form->control);
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

static void steps_put_text(struct attributes *attributes, int operation, const char *type,
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

/* Lets a user write its own service principal name. */
static const char user_sddl[] = "(A;;WP;;;PS)";

/* Extends a user's DACL and keeps the result for later users: they are added with it in one request
 * instead of three. */
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

/* An account without a password may be disabled or need none, so its userAccountControl is set,
 * too. */
static int reset_account(struct account_steps *steps, struct directory *directory,
                         const struct account_step *step, const char *dn)
{
    int result = set_password(steps, directory, dn);
    if (result)
        return result;
    if (steps->set->there[step->kind].flags[step->number - 1] & ACCOUNT_LACKS_PASSWORD) {
        struct attributes attributes = {.count = 0};
        steps_put_text(&attributes, LDAP_MOD_REPLACE, "userAccountControl",
                       account_forms[step->kind].control);
        result = directory_modify(directory, dn, attributes.list, NULL);
    }
    if (!result && step->kind == ACCOUNT_USER && !steps->user_dacl)
        result = extend_dacl(steps, directory, dn);
    return result;
}

static int add_group_members(struct account_steps *steps, struct directory *directory,
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

/* Adds all members at once; if the group has some of them already, only the others. */
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
    if (!members_exist(result))
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
        const char *dn = values[i]->bv_val; /* libldap terminates it with a NUL */
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

static bool members_exist(int result)
{
    return result == LDAP_ALREADY_EXISTS || result == LDAP_TYPE_OR_VALUE_EXISTS;
}

/*
 * Adds count members; names ends with NULL. Samba accepts the permissive control, but still refuses
 * the whole request when one of them is a member already (because of an interrupted or concurrent
 * call). Then the list is halved until only existing members are refused.
 */
static int add_members(struct directory *directory, const char *dn, char **names, size_t count)
{
    if (count == 0)
        return 0;
    int result = send_members(directory, dn, names);
    if (!members_exist(result))
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
