/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/account_removal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/message.h"
#include "replay/accounts/account_set.h"
#include "replay/accounts/account_steps.h"
#include "replay/accounts/directory_queue.h"
#include "replay/accounts/password_store.h"

/* An object below the instance's OU. */
struct removal_object {
    char *dn;
    uint32_t depth; /* number of its RDNs */
    bool group;
};

struct removal {
    struct dc *dc;
    struct directory admin;
    struct account_set set;
    struct removal_object *objects;
    size_t count;
    uint64_t counts[ACCOUNT_KINDS + 1];      /* by kind; the last one: other objects */
    char marker[PASSWORD_STORE_MARKER_SIZE]; /* of the accounts' password */
    struct error *error;
};

static int removal_start(struct removal *removal, const struct settings *settings);
static int remove_all(struct removal *removal);
static int removal_check(struct removal *removal, int result, const char *what);
static int removal_list(struct removal *removal);
static int keep_object(void *context, LDAP *handle, LDAPMessage *entry);
static uint32_t depth_of(const char *dn);
static int compare_objects(const void *left, const void *right);
static void removal_report(const struct removal *removal);
static int delete_singly(struct removal *removal);
static int removal_send(void *context, struct directory *directory, uint64_t job, int *message);
static int removal_finish(void *context, struct directory *directory, uint64_t job, int result);
static int delete_tree(struct removal *removal);
static bool is_critical(int result, const char *text);
static void removal_clear_list(struct removal *removal);

int account_removal_run(const struct settings *settings, struct dc *dc, bool *removed,
                        struct error *error)
{
    const struct password_store_id id = {dc->dns_domain, dc->domain_sid, settings->instance_id};
    struct removal removal = {.dc = dc, .error = error};
    int result = removal_start(&removal, settings);
    *removed = false;
    if (!result)
        result = removal_list(&removal);
    if (!result && removal.set.exists)
        result = account_set_check_writable(dc, error);
    if (!result && (*removed = removal.set.exists)) {
        password_store_migrate(&id, NULL, removal.marker);
        result = remove_all(&removal);
    }
    if (!result) {
        account_set_remove_parent(&removal.set, &removal.admin);
        result = password_store_remove(&id);
        if (result)
            error_set(error, result, "cannot remove the stored password: %s", strerror(-result));
    }
    directory_close(&removal.admin);
    removal_clear_list(&removal);
    account_set_clear(&removal.set);
    return result;
}

static int removal_start(struct removal *removal, const struct settings *settings)
{
    struct dc *dc = removal->dc;
    int result = account_set_init(&removal->set, dc->base_dn, settings->instance_id);
    free(dc->instance_dn);
    dc->instance_dn = result ? NULL : strdup(removal->set.instance_dn);
    if (!dc->instance_dn)
        return error_no_memory(removal->error);
    return directory_open_admin(&removal->admin, dc, removal->error);
}

static int remove_all(struct removal *removal)
{
    int result = 0;
    removal_report(removal);
    if (removal->count > ACCOUNT_REMOVAL_TREE_MAX)
        result = delete_singly(removal);
    return result ? result : delete_tree(removal);
}

static int removal_check(struct removal *removal, int result, const char *what)
{
    const struct error *refusal = &removal->admin.error;
    if (result == 0)
        return 0;
    return error_set(removal->error, result < 0 ? result : -EACCES, "cannot %s %s: %s%s", what,
                     removal->set.instance_dn, refusal->text[0] ? refusal->text : strerror(-result),
                     account_steps_hint(result, refusal->text));
}

/* Reads what is below the instance's OU: groups first, then children before their parents. */
static int removal_list(struct removal *removal)
{
    static const char *const attributes[] = {"sAMAccountName", "description", NULL};
    const struct directory_search search = {.base = removal->set.instance_dn,
                                            .scope = LDAP_SCOPE_SUBTREE,
                                            .filter = "(objectClass=*)",
                                            .attributes = attributes,
                                            .paged = true,
                                            .entry = keep_object,
                                            .context = removal};
    removal_clear_list(removal);
    int result = directory_search(&removal->admin, &search);
    removal->set.exists = result == 0;
    if (removal->count > 1)
        qsort(removal->objects, removal->count, sizeof *removal->objects, compare_objects);
    return result == LDAP_NO_SUCH_OBJECT ? 0 : removal_check(removal, result, "read");
}

static int keep_object(void *context, LDAP *handle, LDAPMessage *entry)
{
    struct removal *removal = context;
    char *dn = ldap_get_dn(handle, entry), *name = directory_text(handle, entry, "sAMAccountName");
    struct removal_object *grown = NULL;
    bool self = dn && depth_of(dn) == depth_of(removal->set.instance_dn);
    if (dn && !self)
        grown = array_grow(removal->objects, removal->count, sizeof *grown);
    if (grown) {
        enum account_kind kind;
        uint32_t number;
        bool ours = name && account_set_parse(&removal->set, name, &kind, &number);
        removal->objects = grown;
        grown[removal->count++] = (struct removal_object){
            .dn = strdup(dn), .depth = depth_of(dn), .group = ours && kind == ACCOUNT_GROUP};
        removal->counts[ours ? kind : ACCOUNT_KINDS]++;
    }
    if (self) {
        char *description = directory_text(handle, entry, "description");
        account_set_parse_marker(description, removal->marker);
        free(description);
    }
    bool failed = !self && (!grown || !grown[removal->count - 1].dn);
    ldap_memfree(dn);
    free(name);
    return failed ? -ENOMEM : 0;
}

static uint32_t depth_of(const char *dn)
{
    uint32_t depth = 1;
    for (const char *c = dn; *c; c++)
        if (*c == '\\' && c[1])
            c++;
        else if (*c == ',')
            depth++;
    return depth;
}

/* Groups come first: deleting a member makes the DC write its groups again, as large as they are.
 */
static int compare_objects(const void *left, const void *right)
{
    const struct removal_object *a = left, *b = right;
    if (a->group != b->group)
        return b->group - a->group;
    return (a->depth < b->depth) - (a->depth > b->depth);
}

static void removal_report(const struct removal *removal)
{
    char kinds[200];
    account_set_list_kinds(removal->counts, "other object", kinds, sizeof kinds);
    if (removal->count > 0)
        message_print("removing %s from %s%s", kinds, removal->set.instance_dn,
                      removal->count > ACCOUNT_REMOVAL_TREE_MAX ? "" : " with one request");
}

/* Deletes the listed objects over several connections. */
static int delete_singly(struct removal *removal)
{
    struct progress progress;
    struct directory_queue queue = {.dc = removal->dc,
                                    .send = removal_send,
                                    .finish = removal_finish,
                                    .context = removal,
                                    .progress = &progress};
    progress_start(&progress, "Objects removed", removal->count);
    int result = directory_queue_run(&queue, removal->count);
    progress_end(&progress);
    if (!result)
        return 0;
    return error_set(removal->error, result < 0 ? result : -EACCES,
                     "cannot remove %s: %s%s; -c again removes the rest",
                     queue.failed_job ? removal->objects[queue.job].dn : removal->set.instance_dn,
                     queue.error.text, account_steps_hint(result, queue.error.text));
}

static int removal_send(void *context, struct directory *directory, uint64_t job, int *message)
{
    const struct removal *removal = context;
    const struct directory_write write = {.kind = DIRECTORY_DELETE, .dn = removal->objects[job].dn};
    return directory_send(directory, &write, message);
}

/* What has gained children meanwhile is left to the tree delete. */
static int removal_finish(void *context, struct directory *directory, uint64_t job, int result)
{
    (void)context;
    (void)directory;
    (void)job;
    return result == LDAP_NO_SUCH_OBJECT || result == LDAP_NOT_ALLOWED_ON_NONLEAF ? 0 : result;
}

static const int64_t tree_delete_timeout = 3600LL * 1000000000;

/* Windows stops a tree delete at a limit, and the request has to be repeated. It may also stop at
 * critical objects, which it deletes one by one. */
static int delete_tree(struct removal *removal)
{
    enum { CRITICAL_ROUNDS = 3 };
    char oid[] = "1.2.840.113556.1.4.805"; /* MS-ADTS 3.1.1.3.4.1.15 */
    LDAPControl tree = {.ldctl_oid = oid, .ldctl_iscritical = 1};
    LDAPControl *controls[] = {&tree, NULL};
    for (int round = 0;;) {
        removal->admin.timeout = tree_delete_timeout;
        int result = directory_delete(&removal->admin, removal->set.instance_dn, controls);
        if (result == LDAP_ADMINLIMIT_EXCEEDED)
            continue;
        if (!is_critical(result, removal->admin.error.text) || round++ == CRITICAL_ROUNDS)
            return removal_check(removal, result == LDAP_NO_SUCH_OBJECT ? 0 : result, "remove");
        result = removal_list(removal);
        if (!result && removal->count > 0)
            result = delete_singly(removal);
        if (result)
            return result;
    }
}

/* ERROR_DS_CANT_TREE_DELETE_CRITICAL_OBJ (MS-ERREF 2.2) */
static bool is_critical(int result, const char *text)
{
    return result == LDAP_UNWILLING_TO_PERFORM && strstr(text, "00002170");
}

static void removal_clear_list(struct removal *removal)
{
    for (size_t i = 0; i < removal->count; i++)
        free(removal->objects[i].dn);
    free(removal->objects);
    removal->objects = NULL;
    removal->count = 0;
    memset(removal->counts, 0, sizeof removal->counts);
}
