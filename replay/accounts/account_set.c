/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/account_set.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/auth/security_descriptor.h"

/* userAccountControl (MS-ADTS 2.2.16): NORMAL_ACCOUNT and WORKSTATION_TRUST_ACCOUNT. */
const struct account_form account_forms[ACCOUNT_KINDS] = {
    [ACCOUNT_USER] = {"STGU", "", "user", "512", "user"},
    [ACCOUNT_MACHINE] = {"STGM", "$", "computer", "4096", "machine"},
    [ACCOUNT_FILLER] = {"PC", "$", "computer", "4096", "filler machine"},
    [ACCOUNT_GROUP] = {"STGG", "", "group", NULL, "group"},
};

/* SEQUENCE { INTEGER 4 } */
static char dacl_only[] = {0x30, 0x03, 0x02, 0x01, SECURITY_DESCRIPTOR_DACL_ONLY};
static char dacl_oid[] = SECURITY_DESCRIPTOR_FLAGS_OID;
LDAPControl account_set_dacl_control = {
    .ldctl_oid = dacl_oid, .ldctl_value = {sizeof dacl_only, dacl_only}, .ldctl_iscritical = 1};

static int note_instance(void *context, LDAP *handle, LDAPMessage *entry);
static int note_entry(void *context, LDAP *handle, LDAPMessage *entry);
static void note_renamed(struct account_set *set, LDAP *handle, LDAPMessage *entry,
                         const char *name);
static int note_parent(void *context, LDAP *handle, LDAPMessage *entry);
static uint8_t flags_of(struct account_set *set, LDAP *handle, LDAPMessage *entry,
                        enum account_kind kind, uint32_t number);

int account_set_init(struct account_set *set, const char *base_dn, int instance)
{
    *set = (struct account_set){.instance = instance};
    if (asprintf(&set->parent_dn, "OU=traffic_replay,%s", base_dn) < 0) {
        set->parent_dn = NULL;
        return -ENOMEM;
    }
    if (asprintf(&set->instance_dn, "OU=instance-%d,%s", instance, set->parent_dn) < 0) {
        set->instance_dn = NULL;
        return -ENOMEM;
    }
    return 0;
}

int account_set_check_writable(const struct dc *dc, struct error *error)
{
    return dc->read_only ? error_set(error, -EACCES,
                                     "%s is a read-only domain controller; create and remove the "
                                     "accounts at a writable one",
                                     dc->given)
                         : 0;
}

void account_set_clear(struct account_set *set)
{
    free(set->parent_dn);
    free(set->instance_dn);
    free(set->description);
    free(set->descriptor);
    free(set->renamed);
    for (int kind = 0; kind < ACCOUNT_KINDS; kind++)
        free(set->there[kind].flags);
    *set = (struct account_set){0};
}

int account_set_read(struct account_set *set, struct directory *directory)
{
    static const char *const of_instance[] = {"description", "nTSecurityDescriptor", NULL};
    static const char *const of_accounts[] = {"sAMAccountName", "pwdLastSet", NULL};
    const struct directory_search instance = {.base = set->instance_dn,
                                              .scope = LDAP_SCOPE_BASE,
                                              .filter = "(objectClass=*)",
                                              .attributes = of_instance,
                                              .control = &account_set_dacl_control,
                                              .entry = note_instance,
                                              .context = set};
    const struct directory_search accounts = {.base = set->instance_dn,
                                              .scope = LDAP_SCOPE_ONELEVEL,
                                              .filter = "(|(objectClass=user)(objectClass=group))",
                                              .attributes = of_accounts,
                                              .paged = true,
                                              .entry = note_entry,
                                              .context = set};
    int result = directory_search(directory, &instance);
    if (result == LDAP_NO_SUCH_OBJECT)
        return 0;
    return result ? result : directory_search(directory, &accounts);
}

static int note_instance(void *context, LDAP *handle, LDAPMessage *entry)
{
    struct account_set *set = context;
    set->exists = true;
    set->description = directory_text(handle, entry, "description");
    struct berval **values = ldap_get_values_len(handle, entry, "nTSecurityDescriptor");
    if (values && values[0] && (set->descriptor = malloc(values[0]->bv_len + 1))) {
        memcpy(set->descriptor, values[0]->bv_val, values[0]->bv_len);
        set->descriptor_size = values[0]->bv_len;
    }
    ldap_value_free_len(values);
    return 0;
}

static int note_entry(void *context, LDAP *handle, LDAPMessage *entry)
{
    struct account_set *set = context;
    enum account_kind kind;
    uint32_t number;
    int error = 0;
    char *name = directory_text(handle, entry, "sAMAccountName");
    if (name && account_set_parse(set, name, &kind, &number)) {
        error = account_set_note(set, kind, number, flags_of(set, handle, entry, kind, number));
        note_renamed(set, handle, entry, name);
    }
    free(name);
    return error;
}

/* Keeps the first account whose CN is not its sAMAccountName: its DN would be wrong. */
static void note_renamed(struct account_set *set, LDAP *handle, LDAPMessage *entry,
                         const char *name)
{
    size_t length = strcspn(name, "$");
    char *dn = set->renamed ? NULL : ldap_get_dn(handle, entry);
    bool same = dn && strncasecmp(dn, "CN=", 3) == 0 && strncasecmp(dn + 3, name, length) == 0 &&
                dn[3 + length] == ',';
    if (dn && !same) {
        set->renamed = strdup(dn);
        snprintf(set->renamed_name, sizeof set->renamed_name, "%.*s", (int)length, name);
    }
    ldap_memfree(dn);
}

/* pwdLastSet is 0 or missing if the password was never set. */
static uint8_t flags_of(struct account_set *set, LDAP *handle, LDAPMessage *entry,
                        enum account_kind kind, uint32_t number)
{
    struct account_presence *there = &set->there[kind];
    if (kind == ACCOUNT_GROUP)
        return 0;
    char *text = directory_text(handle, entry, "pwdLastSet");
    uint64_t since = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    if (since > there->newest_since) {
        there->newest_since = since;
        there->newest = number;
    }
    return since ? 0 : ACCOUNT_LACKS_PASSWORD;
}

void account_set_parse_marker(const char *description, char marker[ACCOUNT_SET_MARKER_SIZE])
{
    if (!description || sscanf(description, "traffic-replay password=%64[0-9a-f]", marker) != 1 ||
        strlen(marker) != ACCOUNT_SET_MARKER_SIZE - 1)
        marker[0] = '\0';
}

void account_set_remove_parent(const struct account_set *set, struct directory *directory)
{
    static const char *const attributes[] = {"description", NULL};
    bool ours = false;
    const struct directory_search search = {.base = set->parent_dn,
                                            .scope = LDAP_SCOPE_BASE,
                                            .filter = "(objectClass=*)",
                                            .attributes = attributes,
                                            .entry = note_parent,
                                            .context = &ours};
    /* Without the tree-delete control, only an empty OU can be deleted. A refusal means that other
     * instances exist. */
    if (directory_search(directory, &search) == 0 && ours)
        (void)directory_delete(directory, set->parent_dn, NULL);
}

static int note_parent(void *context, LDAP *handle, LDAPMessage *entry)
{
    char *description = directory_text(handle, entry, "description");
    *(bool *)context = description && strcmp(description, ACCOUNT_SET_PARENT_DESCRIPTION) == 0;
    free(description);
    return 0;
}

bool account_set_has(const struct account_set *set, enum account_kind kind, uint32_t number)
{
    const struct account_presence *there = &set->there[kind];
    return number <= there->size && (there->flags[number - 1] & ACCOUNT_THERE);
}

int account_set_note(struct account_set *set, enum account_kind kind, uint32_t number,
                     uint8_t flags)
{
    struct account_presence *there = &set->there[kind];
    if (number > there->size) {
        uint32_t size = number < 64 ? 64 : number + number / 2;
        uint8_t *grown = realloc(there->flags, size);
        if (!grown)
            return -ENOMEM;
        memset(grown + there->size, 0, size - there->size);
        there->flags = grown;
        there->size = size;
    }
    if (!(there->flags[number - 1] & ACCOUNT_THERE))
        there->count++;
    there->flags[number - 1] = flags | ACCOUNT_THERE;
    return 0;
}

void account_set_name(const struct account_set *set, enum account_kind kind, uint32_t number,
                      char name[ACCOUNT_NAME_SIZE])
{
    snprintf(name, ACCOUNT_NAME_SIZE, "%s-%d-%u", account_forms[kind].prefix, set->instance,
             number);
}

char *account_set_dn(const struct account_set *set, enum account_kind kind, uint32_t number)
{
    char name[ACCOUNT_NAME_SIZE], *dn = NULL;
    account_set_name(set, kind, number, name);
    return asprintf(&dn, "CN=%s,%s", name, set->instance_dn) < 0 ? NULL : dn;
}

void account_set_list_kinds(const uint64_t counts[ACCOUNT_KINDS + 1], const char *other, char *text,
                            size_t size)
{
    size_t used = 0;
    int last = 0;
    text[0] = '\0';
    for (int kind = 0; kind <= ACCOUNT_KINDS; kind++)
        if (counts[kind] > 0)
            last = kind;
    for (int kind = 0; kind <= last && used < size; kind++) {
        const char *name = kind == ACCOUNT_KINDS ? other : account_forms[kind].one;
        const char *between = used == 0 ? "" : kind == last ? " and " : ", ";
        if (counts[kind] > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " %s%s", between,
                                     counts[kind], name, counts[kind] == 1 ? "" : "s");
    }
}

enum { NUMBER_MAX = 20000000 };

bool account_set_parse(const struct account_set *set, const char *name, enum account_kind *kind,
                       uint32_t *number)
{
    for (int k = 0; k < ACCOUNT_KINDS; k++) {
        char prefix[ACCOUNT_NAME_SIZE], *end;
        int length =
            snprintf(prefix, sizeof prefix, "%s-%d-", account_forms[k].prefix, set->instance);
        if (strncasecmp(name, prefix, (size_t)length) != 0 ||
            !isdigit((unsigned char)name[length]) || name[length] == '0')
            continue;
        errno = 0;
        unsigned long found = strtoul(name + length, &end, 10);
        if (errno || found > NUMBER_MAX || strcmp(end, account_forms[k].suffix) != 0)
            continue;
        *kind = (enum account_kind)k;
        *number = (uint32_t)found;
        return true;
    }
    return false;
}
