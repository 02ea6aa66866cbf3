/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue: objects of the directory by the pattern of their DN, and by their values. */
#include "protocols/ldap/catalogue.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "protocols/ldap/catalogue_private.h"
#include "protocols/ldap/ldap_connection.h"
#include "protocols/ldap/ldap_search.h"

struct object {
    struct catalogue_bytes values[CATALOGUE_VALUES];
    char *key; /* the pattern without the part of the domain */
};

/* Adjacent objects with the same key. */
struct group {
    const char *key;
    size_t first, count;
};

/* Values of one kind, or of one type of object. */
struct values {
    const struct catalogue_bytes **all;
    size_t count;
};

struct catalogue {
    char *base_dn;
    struct object *objects;
    size_t count;
    struct group *groups;
    size_t group_count;
    struct values having[CATALOGUE_VALUES];
    struct values gpos;
    uint64_t highest_usn;
    const char *limit; /* see catalogue_limit() */
};

/* The attributes that hold the values, in the order of enum catalogue_value. */
static char *attributes[] = {"objectSid",   "objectGUID", "objectCategory", "servicePrincipalName",
                             "dNSHostName", NULL};

struct reading {
    struct catalogue *catalogue;
    size_t limit; /* of objects in the catalogue */
    struct wire *wire;
    int64_t patience; /* ns for each answer */
    int error;
};

static struct outcome catalogue_read_all(struct ldap_connection *connection,
                                         struct reading *reading, const struct dc *dc);
static struct outcome read_root_dse(struct ldap_connection *connection, struct reading *reading);
static bool read_usn(void *context, LDAP *handle, LDAPMessage *entry);
static struct outcome read_below(struct ldap_connection *connection, struct reading *reading,
                                 const char *base);
static const char *limit_of(const struct outcome *outcome);
static bool read_entry(void *context, LDAP *handle, LDAPMessage *entry);
static void object_clear(struct object *object);
static int fill_object(struct object *object, const struct catalogue_bytes *values,
                       const char *base_dn);
static int copy_bytes(struct catalogue_bytes *to, const void *data, size_t size);
static char *dn_key(const char *dn, const char *end);
static const char *next_rdn(const char *rdn);
static const char *domain_part(const char *dn, const char *base_dn);
static int copy_rdn(struct catalogue_bytes *to, const char *dn);
static int compare_objects(const void *a, const void *b);
static int make_groups(struct catalogue *catalogue);
static int collect_values(const struct catalogue *catalogue, struct values *values,
                          bool (*wanted)(const struct object *, int), int value);
static bool has_value(const struct object *object, int value);
static bool is_gpo(const struct object *object, int value);
static int compare_key(const void *key, const void *group);

int catalogue_read(struct conversation *admin, struct catalogue **out, struct error *error)
{
    const struct dc *dc = admin->dc;
    struct reading reading = {.catalogue = dc->base_dn ? catalogue_new(dc->base_dn) : NULL,
                              .wire = &admin->wire,
                              .patience = admin->wire.deadline - clock_now()};
    struct ldap_connection *connection = NULL;
    if (!reading.catalogue)
        return error_set(error, dc->base_dn ? -ENOMEM : -EINVAL, "the directory cannot be read: %s",
                         dc->base_dn ? "out of memory" : "its base DN is unknown");
    struct outcome outcome = ldap_connection_open_admin(&connection, admin);
    if (outcome.kind == OUTCOME_OK)
        outcome = catalogue_read_all(connection, &reading, dc);
    if (outcome.kind == OUTCOME_OK && catalogue_finish(reading.catalogue) != 0)
        outcome = outcome_of_error(-ENOMEM);
    ldap_connection_close(connection);
    if (outcome.kind == OUTCOME_OK) {
        *out = reading.catalogue;
        return 0;
    }
    catalogue_free(reading.catalogue);
    bool ended = outcome.kind == OUTCOME_UNFINISHED;
    return error_set(error, ended ? -ECANCELED : -EIO, "reading the directory below %s failed: %s",
                     dc->base_dn, ended ? "interrupted" : outcome.cause);
}

/* From the configuration: enough of each pattern, and space for the domain's objects. */
enum { CONFIGURATION_OBJECTS_MAX = 3000 };

/* The configuration comes first: it is small, and a large domain would leave no space for it. */
static struct outcome catalogue_read_all(struct ldap_connection *connection,
                                         struct reading *reading, const struct dc *dc)
{
    struct outcome outcome = outcome_ok();
    if (!dc->options.generic_ldap)
        outcome = read_root_dse(connection, reading);
    reading->limit = CONFIGURATION_OBJECTS_MAX;
    if (outcome.kind == OUTCOME_OK && dc->config_dn)
        outcome = read_below(connection, reading, dc->config_dn);
    reading->limit = CATALOGUE_OBJECTS_MAX;
    if (outcome.kind == OUTCOME_OK)
        outcome = read_below(connection, reading, dc->base_dn);
    return outcome;
}

static struct outcome read_root_dse(struct ldap_connection *connection, struct reading *reading)
{
    static char *wanted[] = {"highestCommittedUSN", NULL};
    struct ldap_search search = {.base = "",
                                 .scope = LDAP_SCOPE_BASE,
                                 .filter = "(objectClass=*)",
                                 .attributes = wanted,
                                 .entry = read_usn,
                                 .context = reading};
    return ldap_search_run(connection, &search);
}

static bool read_usn(void *context, LDAP *handle, LDAPMessage *entry)
{
    struct reading *reading = context;
    struct berval **found = ldap_get_values_len(handle, entry, "highestCommittedUSN");
    if (found && found[0])
        catalogue_set_highest_usn(reading->catalogue, strtoull(found[0]->bv_val, NULL, 10));
    ldap_value_free_len(found);
    return true;
}

static struct outcome read_below(struct ldap_connection *connection, struct reading *reading,
                                 const char *base)
{
    struct ldap_search search = {.base = base,
                                 .scope = LDAP_SCOPE_SUBTREE,
                                 .filter = "(objectClass=*)",
                                 .attributes = attributes,
                                 .paged = true,
                                 .entry = read_entry,
                                 .context = reading};
    struct outcome outcome = ldap_search_run(connection, &search);
    const char *limit = limit_of(&outcome);
    if (reading->error)
        return outcome_of_error(reading->error);
    if (!limit)
        return outcome;
    reading->catalogue->limit = limit;
    return outcome_ok();
}

/* The limit of the server's at which a search ended, or NULL. What came before is enough to draw
 * from. */
static const char *limit_of(const struct outcome *outcome)
{
    static const int codes[] = {LDAP_SIZELIMIT_EXCEEDED, LDAP_TIMELIMIT_EXCEEDED,
                                LDAP_ADMINLIMIT_EXCEEDED};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (outcome->kind == OUTCOME_FAILED &&
            strcmp(outcome->cause, ldap_result_name(codes[i])) == 0)
            return ldap_result_name(codes[i]);
    return NULL;
}

enum { FIRST_ATTRIBUTE = CATALOGUE_SID };

static bool read_entry(void *context, LDAP *handle, LDAPMessage *entry)
{
    struct reading *reading = context;
    struct catalogue_bytes values[CATALOGUE_VALUES] = {{NULL, 0}};
    struct berval **found[CATALOGUE_VALUES] = {NULL};
    char *dn = ldap_get_dn(handle, entry);
    reading->wire->deadline = clock_now() + reading->patience;
    if (dn)
        values[CATALOGUE_DN] = (struct catalogue_bytes){.data = dn, .size = strlen(dn)};
    for (int v = FIRST_ATTRIBUTE; v < CATALOGUE_VALUES; v++) {
        found[v] = ldap_get_values_len(handle, entry, attributes[v - FIRST_ATTRIBUTE]);
        if (found[v] && found[v][0] && found[v][0]->bv_len)
            values[v] =
                (struct catalogue_bytes){.data = found[v][0]->bv_val, .size = found[v][0]->bv_len};
    }
    int error = catalogue_add(reading->catalogue, values);
    /* Skip an entry without a usable DN. */
    reading->error = error == -EINVAL || error == -ENOSPC ? 0 : error;
    for (int v = FIRST_ATTRIBUTE; v < CATALOGUE_VALUES; v++)
        ldap_value_free_len(found[v]);
    ldap_memfree(dn);
    return !reading->error && reading->catalogue->count < reading->limit;
}

void catalogue_free(struct catalogue *catalogue)
{
    if (!catalogue)
        return;
    for (size_t i = 0; i < catalogue->count; i++)
        object_clear(&catalogue->objects[i]);
    free(catalogue->objects);
    free(catalogue->groups);
    for (int v = 0; v < CATALOGUE_VALUES; v++)
        free(catalogue->having[v].all);
    free(catalogue->gpos.all);
    free(catalogue->base_dn);
    free(catalogue);
}

static void object_clear(struct object *object)
{
    for (int v = 0; v < CATALOGUE_VALUES; v++)
        free(object->values[v].data);
    free(object->key);
}

struct catalogue *catalogue_new(const char *base_dn)
{
    struct catalogue *catalogue = calloc(1, sizeof *catalogue);
    if (!catalogue)
        return NULL;
    catalogue->base_dn = strdup(base_dn);
    if (catalogue->base_dn)
        return catalogue;
    free(catalogue);
    return NULL;
}

int catalogue_add(struct catalogue *catalogue, const struct catalogue_bytes *values)
{
    if (!values[CATALOGUE_DN].data || values[CATALOGUE_DN].size == 0)
        return -EINVAL;
    if (catalogue->count == CATALOGUE_OBJECTS_MAX)
        return -ENOSPC;
    struct object *larger = array_grow(catalogue->objects, catalogue->count, sizeof *larger);
    if (!larger)
        return -ENOMEM;
    catalogue->objects = larger;
    struct object *object = &catalogue->objects[catalogue->count];
    *object = (struct object){.key = NULL};
    int error = fill_object(object, values, catalogue->base_dn);
    if (error)
        object_clear(object);
    else
        catalogue->count++;
    return error;
}

static int fill_object(struct object *object, const struct catalogue_bytes *values,
                       const char *base_dn)
{
    int error = 0;
    for (int v = 0; !error && v < CATALOGUE_VALUES; v++)
        if (values[v].data && v != CATALOGUE_RDN)
            error = copy_bytes(&object->values[v], values[v].data, values[v].size);
    if (error)
        return error;
    const char *dn = object->values[CATALOGUE_DN].data;
    object->key = dn_key(dn, domain_part(dn, base_dn));
    return object->key ? copy_rdn(&object->values[CATALOGUE_RDN], dn) : -ENOMEM;
}

static int copy_bytes(struct catalogue_bytes *to, const void *data, size_t size)
{
    char *copy = malloc(size + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, data, size);
    copy[size] = '\0';
    *to = (struct catalogue_bytes){.data = copy, .size = size};
    return 0;
}

/* The types of the RDNs before end, such as "CN,OU". Allocated. */
static char *dn_key(const char *dn, const char *end)
{
    char *key = malloc((size_t)(end - dn) + 1);
    if (!key)
        return NULL;
    char *to = key;
    for (const char *rdn = dn; rdn < end; rdn = next_rdn(rdn)) {
        if (to > key)
            *to++ = ',';
        for (const char *at = rdn; at < end && *at != '=' && *at != ','; at++)
            if (*at != ' ')
                *to++ = (char)toupper((unsigned char)*at);
    }
    *to = '\0';
    return key;
}

/* Skips one RDN and its comma. A backslash escapes the next character (RFC 4514). */
static const char *next_rdn(const char *rdn)
{
    while (*rdn && *rdn != ',') {
        if (*rdn == '\\' && rdn[1])
            rdn++;
        rdn++;
    }
    return *rdn ? rdn + 1 : rdn;
}

/* The start of the domain's part of a DN; elsewhere in the forest, of its trailing DCs. */
static const char *domain_part(const char *dn, const char *base_dn)
{
    const char *dcs = NULL;
    for (const char *rdn = dn; *rdn; rdn = next_rdn(rdn)) {
        if (strcasecmp(rdn, base_dn) == 0)
            return rdn;
        bool is_dc = strncasecmp(rdn, "DC=", 3) == 0;
        if (!is_dc)
            dcs = NULL;
        else if (!dcs)
            dcs = rdn;
    }
    return dcs ? dcs : dn + strlen(dn);
}

/* Copies the value of the DN's first RDN. */
static int copy_rdn(struct catalogue_bytes *to, const char *dn)
{
    LDAPRDN rdn = NULL;
    char *next = NULL;
    if (ldap_str2rdn(dn, &rdn, &next, LDAP_DN_FORMAT_LDAPV3) != LDAP_SUCCESS || !rdn || !rdn[0]) {
        ldap_rdnfree(rdn);
        return -EINVAL;
    }
    int error = copy_bytes(to, rdn[0]->la_value.bv_val, rdn[0]->la_value.bv_len);
    ldap_rdnfree(rdn);
    return error;
}

void catalogue_set_highest_usn(struct catalogue *catalogue, uint64_t usn)
{
    catalogue->highest_usn = usn;
}

int catalogue_finish(struct catalogue *catalogue)
{
    if (catalogue->count)
        qsort(catalogue->objects, catalogue->count, sizeof *catalogue->objects, compare_objects);
    int error = make_groups(catalogue);
    for (int v = 0; !error && v < CATALOGUE_VALUES; v++)
        error = collect_values(catalogue, &catalogue->having[v], has_value, v);
    return error ? error : collect_values(catalogue, &catalogue->gpos, is_gpo, CATALOGUE_DN);
}

/* Sorts by key, then by DN, so that draws do not depend on the server's order. */
static int compare_objects(const void *a, const void *b)
{
    const struct object *left = a, *right = b;
    int order = strcmp(left->key, right->key);
    return order ? order
                 : strcasecmp(left->values[CATALOGUE_DN].data, right->values[CATALOGUE_DN].data);
}

static int make_groups(struct catalogue *catalogue)
{
    struct group *group = NULL;
    catalogue->groups = calloc(catalogue->count + 1, sizeof *catalogue->groups);
    if (!catalogue->groups)
        return -ENOMEM;
    for (size_t i = 0; i < catalogue->count; i++) {
        const char *key = catalogue->objects[i].key;
        if (!group || strcmp(group->key, key) != 0) {
            group = &catalogue->groups[catalogue->group_count++];
            *group = (struct group){.key = key, .first = i};
        }
        group->count++;
    }
    return 0;
}

static int collect_values(const struct catalogue *catalogue, struct values *values,
                          bool (*wanted)(const struct object *, int), int value)
{
    values->all = calloc(catalogue->count + 1, sizeof *values->all);
    if (!values->all)
        return -ENOMEM;
    for (size_t i = 0; i < catalogue->count; i++)
        if (wanted(&catalogue->objects[i], value))
            values->all[values->count++] = &catalogue->objects[i].values[value];
    return 0;
}

static bool has_value(const struct object *object, int value)
{
    return object->values[value].data != NULL;
}

/* Group policy objects are right below CN=Policies,CN=System of the domain (MS-GPOL 2.2.2). */
static bool is_gpo(const struct object *object, int value)
{
    (void)value;
    const char *parent = next_rdn(object->values[CATALOGUE_DN].data);
    return strcmp(object->key, "CN,CN,CN") == 0 &&
           strncasecmp(parent, "CN=Policies,CN=System,", 22) == 0;
}

size_t catalogue_count(const struct catalogue *catalogue)
{
    return catalogue ? catalogue->count : 0;
}

const char *catalogue_limit(const struct catalogue *catalogue)
{
    return catalogue ? catalogue->limit : NULL;
}

uint64_t catalogue_highest_usn(const struct catalogue *catalogue)
{
    return catalogue ? catalogue->highest_usn : 0;
}

const struct catalogue_bytes *catalogue_draw(const struct catalogue *catalogue,
                                             struct conversation *conversation,
                                             enum catalogue_value value)
{
    if (!catalogue || catalogue->having[value].count == 0)
        return NULL;
    const struct values *values = &catalogue->having[value];
    return values->all[conversation_random(conversation, values->count)];
}

const struct catalogue_bytes *const *catalogue_gpos(const struct catalogue *catalogue,
                                                    size_t *count)
{
    *count = catalogue ? catalogue->gpos.count : 0;
    return catalogue ? catalogue->gpos.all : NULL;
}

char *catalogue_pattern_key(const char *pattern)
{
    char *key = malloc(strlen(pattern) + 1);
    if (!key)
        return NULL;
    size_t size = 0;
    for (const char *at = pattern; *at; at++)
        if (!isspace((unsigned char)*at))
            key[size++] = (char)toupper((unsigned char)*at);
    while (size >= 2 && memcmp(key + size - 2, "DC", 2) == 0 && (size == 2 || key[size - 3] == ','))
        size -= size == 2 ? 2 : 3;
    key[size] = '\0';
    return key;
}

const char *catalogue_base(const struct catalogue *catalogue, struct conversation *conversation,
                           const char *key)
{
    while (catalogue && *key) {
        const struct group *group = bsearch(key, catalogue->groups, catalogue->group_count,
                                            sizeof *catalogue->groups, compare_key);
        if (group) {
            size_t i = group->first + conversation_random(conversation, group->count);
            return catalogue->objects[i].values[CATALOGUE_DN].data;
        }
        key = next_rdn(key);
    }
    return catalogue ? catalogue->base_dn : conversation->dc->base_dn;
}

static int compare_key(const void *key, const void *group)
{
    return strcmp(key, ((const struct group *)group)->key);
}
