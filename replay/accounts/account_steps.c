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
#include "replay/accounts/directory_queue.h"

static char permissive_oid[] = "1.2.840.113556.1.4.1413"; /* MS-ADTS 3.1.1.3.4.1.8 */
static LDAPControl permissive_control = {.ldctl_oid = permissive_oid, .ldctl_iscritical = 1};

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
static int steps_send(void *context, struct directory *directory, uint64_t job, int *message);
static int steps_finish(void *context, struct directory *directory, uint64_t job, int result);
static int steps_fail(const struct account_steps *steps, const struct directory_queue *queue,
                      struct error *error);
static int send_account(struct account_steps *steps, struct directory *directory,
                        const struct account_step *step, const char *dn, int *message);
static void steps_put_text(struct attributes *attributes, int operation, const char *type,
                           const char *text);
static void steps_put(struct attributes *attributes, int operation, const char *type,
                      const void *value, size_t size);
static int finish_account(struct account_steps *steps, struct directory *directory,
                          struct account_step *step, const char *dn, int result);
static int take_over(struct account_steps *steps, struct directory *directory,
                     const struct account_step *step, const char *dn);
static int ignore_entry(void *context, LDAP *handle, LDAPMessage *entry);
static int report_name_taken(struct account_steps *steps, struct directory *directory,
                             const struct account_step *step);
static int keep_holder(void *context, LDAP *handle, LDAPMessage *entry);
static void put_password(struct account_steps *steps, struct attributes *attributes);
static int extend_dacl(struct account_steps *steps, struct directory *directory, const char *dn);
static int keep_descriptor(void *context, LDAP *handle, LDAPMessage *entry);
static int send_password(struct account_steps *steps, struct directory *directory,
                         const struct account_step *step, const char *dn, int *message);
static int finish_password(struct account_steps *steps, struct directory *directory,
                           struct account_step *step, const char *dn, int result);
static int send_chunk(struct account_steps *steps, struct directory *directory,
                      const struct account_step *step, const char *dn, int *message);
static int make_chunk(struct account_steps *steps, const struct account_step *step,
                      struct member_list *list);
static void free_chunk(struct member_list *list);
static int finish_chunk(struct account_steps *steps, struct directory *directory,
                        struct account_step *step, const char *dn, int result);
static int add_missing_members(struct directory *directory, const char *dn,
                               struct member_list *list);
static int drop_present(void *context, LDAP *handle, LDAPMessage *entry);
static int compare_names(const void *left, const void *right);
static int send_members(struct directory *directory, const char *dn, char **names, int *message);
static bool members_exist(int result);
static int add_members(struct directory *directory, const char *dn, char **names, size_t count);

static const struct {
    const char *verb; /* "cannot ... NAME" */
    int (*send)(struct account_steps *steps, struct directory *directory,
                const struct account_step *step, const char *dn, int *message);
    /* Gets the request's result; returns what directory_queue's finish() returns. */
    int (*finish)(struct account_steps *steps, struct directory *directory,
                  struct account_step *step, const char *dn, int result);
} step_kinds[] = {[ACCOUNT_STEP_CREATE] = {"add", send_account, finish_account},
                  [ACCOUNT_STEP_RESET] = {"set the password of", send_password, finish_password},
                  [ACCOUNT_STEP_MEMBERS] = {"add members to", send_chunk, finish_chunk}};

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

int account_steps_run(struct account_steps *steps, const char *what, struct error *error)
{
    size_t count = steps->count;
    if (count == 0)
        return 0;
    struct progress progress;
    struct directory_queue queue = {.dc = steps->dc,
                                    .send = steps_send,
                                    .finish = steps_finish,
                                    .context = steps,
                                    .progress = &progress};
    progress_start(&progress, what, count);
    int result = directory_queue_run(&queue, take_first_user(steps));
    if (!result)
        result = directory_queue_run(&queue, count);
    if (result)
        result = steps_fail(steps, &queue, error);
    progress_end(&progress);
    steps->count = 0;
    return result;
}

/* Creates the first user alone: the others are added with the DACL that it gets. */
static size_t take_first_user(const struct account_steps *steps)
{
    bool alone = !steps->user_dacl && steps->steps[0].kind == ACCOUNT_USER &&
                 steps->steps[0].step != ACCOUNT_STEP_MEMBERS;
    return alone ? 1 : steps->count;
}

static int steps_send(void *context, struct directory *directory, uint64_t job, int *message)
{
    struct account_steps *steps = context;
    const struct account_step *step = &steps->steps[job];
    char *dn = account_set_dn(steps->set, (enum account_kind)step->kind, step->number);
    int result = dn ? step_kinds[step->step].send(steps, directory, step, dn, message) : -ENOMEM;
    free(dn);
    return result;
}

static int steps_finish(void *context, struct directory *directory, uint64_t job, int result)
{
    struct account_steps *steps = context;
    struct account_step *step = &steps->steps[job];
    char *dn = account_set_dn(steps->set, (enum account_kind)step->kind, step->number);
    result = dn ? step_kinds[step->step].finish(steps, directory, step, dn, result) : -ENOMEM;
    free(dn);
    return result;
}

static int steps_fail(const struct account_steps *steps, const struct directory_queue *queue,
                      struct error *error)
{
    int code = queue->result < 0 ? queue->result : -EACCES;
    if (!queue->failed_job)
        return error_set(error, code, "cannot log on to create accounts: %s", queue->error.text);
    const struct account_step *step = &steps->steps[queue->job];
    char name[ACCOUNT_NAME_SIZE];
    account_set_name(steps->set, (enum account_kind)step->kind, step->number, name);
    return error_set(error, code, "cannot %s %s: %s%s", step_kinds[step->step].verb, name,
                     queue->error.text, account_steps_hint(queue->result, queue->error.text));
}

const char *account_steps_hint(int code, const char *text)
{
    /* ERROR_PASSWORD_RESTRICTION (MS-ERREF 2.2) */
    bool password = code == LDAP_UNWILLING_TO_PERFORM && strstr(text, "0000052D");
    if (password || code == LDAP_CONSTRAINT_VIOLATION)
        return "; if the domain's password policy is the reason, set an acceptable password with "
               "-F";
    return code == LDAP_INSUFFICIENT_ACCESS ? "; the administrator needs this right" : "";
}

static int send_account(struct account_steps *steps, struct directory *directory,
                        const struct account_step *step, const char *dn, int *message)
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
    return directory_send(directory,
                          &(struct directory_write){DIRECTORY_ADD, dn, attributes.list, controls},
                          message);
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

static int finish_account(struct account_steps *steps, struct directory *directory,
                          struct account_step *step, const char *dn, int result)
{
    enum account_kind kind = (enum account_kind)step->kind;
    if (result == LDAP_ALREADY_EXISTS)
        result = take_over(steps, directory, step, dn);
    if (!result && kind == ACCOUNT_USER && !steps->user_dacl)
        result = extend_dacl(steps, directory, dn);
    return result ? result : account_set_note(steps->set, kind, step->number, ACCOUNT_CREATED);
}

/* Another process has created the account in the meantime, possibly with another password; or
 * another object has its name. */
static int take_over(struct account_steps *steps, struct directory *directory,
                     const struct account_step *step, const char *dn)
{
    struct attributes attributes;
    int result;
    if (step->kind == ACCOUNT_GROUP) {
        result = directory_search(directory, &(struct directory_search){.base = dn,
                                                                        .scope = LDAP_SCOPE_BASE,
                                                                        .filter = "(objectClass=*)",
                                                                        .entry = ignore_entry});
    } else {
        put_password(steps, &attributes);
        result = directory_modify(directory, dn, attributes.list, NULL);
    }
    return result == LDAP_NO_SUCH_OBJECT ? report_name_taken(steps, directory, step) : result;
}

static int ignore_entry(void *context, LDAP *handle, LDAPMessage *entry)
{
    (void)context;
    (void)handle;
    (void)entry;
    return 0;
}

/* Sets directory->error to say which object has the account's sAMAccountName. */
static int report_name_taken(struct account_steps *steps, struct directory *directory,
                             const struct account_step *step)
{
    char name[ACCOUNT_NAME_SIZE], filter[ACCOUNT_NAME_SIZE + 20], *holder = NULL;
    account_set_name(steps->set, (enum account_kind)step->kind, step->number, name);
    snprintf(filter, sizeof filter, "(sAMAccountName=%s%s)", name,
             account_forms[step->kind].suffix);
    int result = directory_search(
        directory,
        &(struct directory_search){.base = steps->dc->base_dn,
                                   .scope = LDAP_SCOPE_SUBTREE,
                                   .filter = filter,
                                   .attributes = (const char *const[]){LDAP_NO_ATTRS, NULL},
                                   .entry = keep_holder,
                                   .context = &holder});
    if (!result)
        result = error_set(&directory->error, -EEXIST,
                           "the name is taken by %s; choose another instance with -I, or rename or "
                           "delete that object",
                           holder ? holder : "an object that the administrator cannot see");
    free(holder);
    return result;
}

static int keep_holder(void *context, LDAP *handle, LDAPMessage *entry)
{
    char **holder = context, *dn = *holder ? NULL : ldap_get_dn(handle, entry);
    if (dn)
        *holder = strdup(dn);
    ldap_memfree(dn);
    return 0;
}

static void put_password(struct account_steps *steps, struct attributes *attributes)
{
    attributes->count = 0;
    steps_put(attributes, LDAP_MOD_REPLACE, "unicodePwd", steps->password.bv_val,
              steps->password.bv_len);
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

static int send_password(struct account_steps *steps, struct directory *directory,
                         const struct account_step *step, const char *dn, int *message)
{
    struct attributes attributes;
    (void)step;
    put_password(steps, &attributes);
    return directory_send(
        directory, &(struct directory_write){DIRECTORY_MODIFY, dn, attributes.list, NULL}, message);
}

/* An account without a password may be disabled or need none, so its userAccountControl is set,
 * too. */
static int finish_password(struct account_steps *steps, struct directory *directory,
                           struct account_step *step, const char *dn, int result)
{
    if (!result && steps->set->there[step->kind].flags[step->number - 1] & ACCOUNT_LACKS_PASSWORD) {
        struct attributes attributes = {.count = 0};
        steps_put_text(&attributes, LDAP_MOD_REPLACE, "userAccountControl",
                       account_forms[step->kind].control);
        result = directory_modify(directory, dn, attributes.list, NULL);
    }
    if (!result && step->kind == ACCOUNT_USER && !steps->user_dacl)
        result = extend_dacl(steps, directory, dn);
    return result;
}

/* Sends the next chunk of a group's members. There is never more than one in flight: chunks of one
 * group that a DC writes at the same time are in conflict. */
static int send_chunk(struct account_steps *steps, struct directory *directory,
                      const struct account_step *step, const char *dn, int *message)
{
    struct member_list list;
    int result = make_chunk(steps, step, &list);
    if (!result)
        result = send_members(directory, dn, list.names, message);
    free_chunk(&list);
    return result;
}

static int make_chunk(struct account_steps *steps, const struct account_step *step,
                      struct member_list *list)
{
    uint64_t left = step->to - step->from;
    *list = (struct member_list){
        .count = left < ACCOUNT_STEP_MEMBERS_MAX ? (size_t)left : ACCOUNT_STEP_MEMBERS_MAX};
    list->names = calloc(list->count + 1, sizeof *list->names);
    for (size_t i = 0; list->names && i < list->count; i++) {
        list->names[i] = account_set_dn(steps->set, ACCOUNT_USER, steps->members[step->from + i]);
        if (!list->names[i])
            return -ENOMEM;
    }
    return list->names ? 0 : -ENOMEM;
}

static void free_chunk(struct member_list *list)
{
    for (char **name = list->names; name && *name; name++)
        free(*name);
    free(list->names);
}

static int finish_chunk(struct account_steps *steps, struct directory *directory,
                        struct account_step *step, const char *dn, int result)
{
    struct member_list list;
    if (members_exist(result)) {
        result = make_chunk(steps, step, &list);
        if (!result)
            result = add_missing_members(directory, dn, &list);
        free_chunk(&list);
    }
    if (result)
        return result;
    step->from += step->to - step->from < ACCOUNT_STEP_MEMBERS_MAX ? step->to - step->from
                                                                   : ACCOUNT_STEP_MEMBERS_MAX;
    return step->from < step->to ? DIRECTORY_QUEUE_MORE : 0;
}

/* Adds those members that the group does not have yet. */
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
    qsort(list->names, list->count, sizeof *list->names, compare_names);
    int result = directory_search(directory, &search);
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

/* Sends the request; waits for the reply if message is NULL. */
static int send_members(struct directory *directory, const char *dn, char **names, int *message)
{
    LDAPMod add = {.mod_op = LDAP_MOD_ADD, .mod_type = (char[]){"member"}, .mod_values = names};
    LDAPMod *mods[] = {&add, NULL};
    LDAPControl *controls[] = {&permissive_control, NULL};
    const struct directory_write write = {DIRECTORY_MODIFY, dn, mods, controls};
    return message ? directory_send(directory, &write, message)
                   : directory_modify(directory, dn, mods, controls);
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
    int result = send_members(directory, dn, names, NULL);
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
