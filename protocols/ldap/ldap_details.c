/* SPDX-License-Identifier: Apache-2.0 */
/* From the fields that a model stores of LDAP packets to what is played. */
#include "protocols/ldap/ldap_details.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "protocols/ldap/catalogue.h"
#include "protocols/ldap/ldap_search.h"

/* A field that may occur in details, and what its values do. Returns false with a line in error. */
struct field_rule {
    const char *key;
    bool single; /* exactly one value */
    bool (*take)(void *details, const struct packet_field *field, struct error *error);
};

struct search_parse {
    struct ldap_search_details *search;
    const char *base; /* as given */
};

/* Values of controls that mean nothing without one (MS-ADTS 3.1.1.3.4.1); a capture holds OIDs
 * only.
 */
static const struct {
    const char *oid;
    const char *value;
    size_t size;
} control_values[] = {
    {"1.2.840.113556.1.4.801", "\x30\x03\x02\x01\x07", 5},  /* SD flags: owner, group, DACL */
    {"1.2.840.113556.1.4.1340", "\x30\x03\x02\x01\x01", 5}, /* search options: domain scope */
    {"1.2.840.113556.1.4.529", "\x30\x03\x02\x01\x01", 5},  /* extended DN: as text */
    {"1.2.840.113556.1.4.473", "\x30\x06\x30\x04\x04\x02\x63\x6e", 8}, /* sort: by cn */
};

/* The readable searches of the model: written while details are compiled and released, before and
 * after the run, in one thread. */
static struct {
    const struct ldap_search_details **all;
    size_t count, capacity;
    uint64_t weight; /* of all together */
} readable;

/* What a search without details does: looks a test user up. */
static const char *const look_up_filter[] = {"(&(sAMAccountName)(objectClass=user))"};
static const char *const look_up_scope[] = {"sub"};
static const char *const look_up_base[] = {"DC,DC"};
static const char *const look_up_attributes[] = {"objectSid", "userPrincipalName", "memberOf"};

static bool take_auth(void *details, const struct packet_field *field, struct error *error);
static bool ldap_details_wrong(struct error *error, const struct packet_field *field,
                               const char *expected);
static bool take_mech(void *details, const struct packet_field *field, struct error *error);
static bool ldap_details_is_oid(const char *text);
static bool take_tls(void *details, const struct packet_field *field, struct error *error);
static bool ldap_details_no_memory(struct error *error);
static bool take_fields(void *details, const struct field_rule *rules, size_t rule_count,
                        const struct packet_field *fields, size_t count, struct error *error);
static struct ldap_search_details *ldap_details_compile(const struct packet_field *fields,
                                                        size_t count, struct error *error);
static bool take_scope(void *details, const struct packet_field *field, struct error *error);
static bool take_base(void *details, const struct packet_field *field, struct error *error);
static bool take_filter(void *details, const struct packet_field *field, struct error *error);
static bool take_attributes(void *details, const struct packet_field *field, struct error *error);
static bool take_controls(void *details, const struct packet_field *field, struct error *error);
static LDAPControl *make_control(const char *oid);
static bool ldap_details_take_sealed(void *details, const struct packet_field *field,
                                     struct error *error);
static bool ldap_details_complete(struct search_parse *parse, struct error *error);
static bool add_readable(const struct ldap_search_details *search);
static void remove_readable(const struct ldap_search_details *search);

void *ldap_bind_compile(const struct packet_field *fields, size_t count, struct error *error)
{
    static const struct field_rule rules[] = {
        {"auth", true, take_auth}, {"mech", true, take_mech}, {"tls", true, take_tls}};
    struct ldap_bind_details *bind = calloc(1, sizeof *bind);
    if (!bind) {
        ldap_details_no_memory(error);
        return NULL;
    }
    bind->mechanism = LDAP_MECHANISM_GSS_SPNEGO;
    if (take_fields(bind, rules, sizeof rules / sizeof rules[0], fields, count, error))
        return bind;
    ldap_bind_release(bind);
    return NULL;
}

static bool take_auth(void *details, const struct packet_field *field, struct error *error)
{
    struct ldap_bind_details *bind = details;
    bind->simple = strcmp(field->values[0], "simple") == 0;
    return bind->simple || strcmp(field->values[0], "sasl") == 0 ||
           ldap_details_wrong(error, field, "simple or sasl");
}

static bool ldap_details_wrong(struct error *error, const struct packet_field *field,
                               const char *expected)
{
    error_set(error, -EINVAL, "%s: \"%.80s\" is not %s", field->key,
              field->count ? field->values[0] : "", expected);
    return false;
}

/* Models name the mechanism, or the OID of what was inside SPNEGO. */
static bool take_mech(void *details, const struct packet_field *field, struct error *error)
{
    struct ldap_bind_details *bind = details;
    const char *mech = field->values[0];
    bind->mechanism =
        strcmp(mech, "GSSAPI") == 0 ? LDAP_MECHANISM_GSSAPI : LDAP_MECHANISM_GSS_SPNEGO;
    return strcmp(mech, "GSSAPI") == 0 || strcmp(mech, "GSS-SPNEGO") == 0 ||
           ldap_details_is_oid(mech) ||
           ldap_details_wrong(error, field, "GSSAPI, GSS-SPNEGO or an OID");
}

static bool ldap_details_is_oid(const char *text)
{
    return *text && strspn(text, "0123456789.") == strlen(text);
}

static bool take_tls(void *details, const struct packet_field *field, struct error *error)
{
    static const struct {
        const char *name;
        enum ldap_transport transport;
    } names[] = {{"none", LDAP_TRANSPORT_CLEAR},
                 {"starttls", LDAP_TRANSPORT_STARTTLS},
                 {"ldaps", LDAP_TRANSPORT_LDAPS}};
    struct ldap_bind_details *bind = details;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, field->values[0]) == 0) {
            bind->transport = names[i].transport;
            bind->transport_given = bind->transport != LDAP_TRANSPORT_CLEAR;
            return true;
        }
    return ldap_details_wrong(error, field, "none, starttls or ldaps");
}

static bool ldap_details_no_memory(struct error *error)
{
    error_no_memory(error);
    return false;
}

static bool take_fields(void *details, const struct field_rule *rules, size_t rule_count,
                        const struct packet_field *fields, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        size_t r = 0;
        while (r < rule_count && strcmp(rules[r].key, fields[i].key) != 0)
            r++;
        if (r == rule_count) {
            error_set(error, -EINVAL, "\"%.80s\" is no field of this packet", fields[i].key);
            return false;
        }
        if (rules[r].single && fields[i].count != 1) {
            error_set(error, -EINVAL, "%s: expected one value, found %zu", fields[i].key,
                      fields[i].count);
            return false;
        }
        if (!rules[r].take(details, &fields[i], error))
            return false;
    }
    return true;
}

void ldap_bind_release(void *compiled)
{
    free(compiled);
}

static const struct packet_field look_up[] = {
    {"scope", 1, look_up_scope},
    {"base", 1, look_up_base},
    {"filter", 1, look_up_filter},
    {"attrs", 3, look_up_attributes},
};

void *ldap_search_compile(const struct packet_field *fields, size_t count, struct error *error)
{
    struct ldap_search_details *search = ldap_details_compile(fields, count, error);
    /* Sealed ones keep a look-up for when the model holds no readable search. */
    if (search && (search->sealed || count == 0)) {
        bool sealed = search->sealed;
        ldap_search_release(search);
        search = ldap_details_compile(look_up, sizeof look_up / sizeof look_up[0], error);
        if (search)
            search->sealed = sealed;
    }
    if (search && !search->sealed && count && !add_readable(search)) {
        ldap_details_no_memory(error);
        ldap_search_release(search);
        return NULL;
    }
    return search;
}

static struct ldap_search_details *ldap_details_compile(const struct packet_field *fields,
                                                        size_t count, struct error *error)
{
    static const struct field_rule rules[] = {
        {"scope", true, take_scope},        {"base", true, take_base},
        {"filter", true, take_filter},      {"attrs", false, take_attributes},
        {"controls", false, take_controls}, {"sealed", true, ldap_details_take_sealed}};
    struct search_parse parse = {.search = calloc(1, sizeof *parse.search)};
    if (!parse.search) {
        ldap_details_no_memory(error);
        return NULL;
    }
    parse.search->scope = LDAP_SCOPE_SUBTREE;
    parse.search->weight = 1;
    if (take_fields(&parse, rules, sizeof rules / sizeof rules[0], fields, count, error) &&
        ldap_details_complete(&parse, error))
        return parse.search;
    ldap_search_release(parse.search);
    return NULL;
}

static bool take_scope(void *details, const struct packet_field *field, struct error *error)
{
    static const struct {
        const char *name;
        int scope;
    } names[] = {{"base", LDAP_SCOPE_BASE},    {"0", LDAP_SCOPE_BASE},
                 {"one", LDAP_SCOPE_ONELEVEL}, {"1", LDAP_SCOPE_ONELEVEL},
                 {"sub", LDAP_SCOPE_SUBTREE},  {"2", LDAP_SCOPE_SUBTREE}};
    struct search_parse *parse = details;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, field->values[0]) == 0) {
            parse->search->scope = names[i].scope;
            return true;
        }
    return ldap_details_wrong(error, field, "base, one or sub");
}

/* A pattern ("CN,DC,DC"), or a DN for who writes a model by hand; "" is the root DSE. */
static bool take_base(void *details, const struct packet_field *field, struct error *error)
{
    struct search_parse *parse = details;
    if (parse->base)
        return ldap_details_wrong(error, field, "the only base");
    parse->base = field->values[0];
    bool is_pattern = !strchr(parse->base, '=');
    static const char pattern_chars[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-, ";
    if (is_pattern && strspn(parse->base, pattern_chars) != strlen(parse->base))
        return ldap_details_wrong(error, field, "a pattern such as CN,DC,DC, or a DN");
    if (is_pattern)
        return true;
    parse->search->base = strdup(parse->base);
    return parse->search->base || ldap_details_no_memory(error);
}

static bool take_filter(void *details, const struct packet_field *field, struct error *error)
{
    struct search_parse *parse = details;
    if (*field->values[0] == '\0' || parse->search->filter)
        return true;
    parse->search->filter = ldap_filter_parse(field->values[0], error);
    return parse->search->filter != NULL;
}

static bool take_attributes(void *details, const struct packet_field *field, struct error *error)
{
    struct search_parse *parse = details;
    if (field->count == 0 || parse->search->attributes)
        return true;
    parse->search->attributes = calloc(field->count + 1, sizeof(char *));
    bool ok = parse->search->attributes != NULL;
    for (size_t i = 0; ok && i < field->count; i++)
        ok = (parse->search->attributes[i] = strdup(field->values[i])) != NULL;
    return ok || ldap_details_no_memory(error);
}

static bool take_controls(void *details, const struct packet_field *field, struct error *error)
{
    struct ldap_search_details *search = ((struct search_parse *)details)->search;
    if (field->count == 0 || search->controls)
        return true;
    if (field->count > LDAP_SEARCH_CONTROLS_MAX)
        return ldap_details_wrong(error, field, "the first of at most 16 controls");
    search->controls = calloc(field->count + 1, sizeof *search->controls);
    size_t made = 0;
    for (size_t i = 0; search->controls && i < field->count; i++) {
        if (!ldap_details_is_oid(field->values[i])) {
            struct packet_field one = {.key = field->key, .count = 1, .values = &field->values[i]};
            return ldap_details_wrong(error, &one, "an OID");
        }
        /* Pages are asked for anyway. */
        if (strcmp(field->values[i], LDAP_CONTROL_PAGEDRESULTS) == 0)
            continue;
        if (!(search->controls[made++] = make_control(field->values[i])))
            return ldap_details_no_memory(error);
    }
    return search->controls || ldap_details_no_memory(error);
}

static LDAPControl *make_control(const char *oid)
{
    LDAPControl *control = calloc(1, sizeof *control);
    if (!control)
        return NULL;
    control->ldctl_oid = strdup(oid);
    for (size_t i = 0; i < sizeof control_values / sizeof control_values[0]; i++)
        if (strcmp(control_values[i].oid, oid) == 0)
            control->ldctl_value = (struct berval){.bv_val = (char *)control_values[i].value,
                                                   .bv_len = control_values[i].size};
    if (control->ldctl_oid)
        return control;
    free(control);
    return NULL;
}

static bool ldap_details_take_sealed(void *details, const struct packet_field *field,
                                     struct error *error)
{
    struct search_parse *parse = details;
    parse->search->sealed = strcmp(field->values[0], "true") == 0;
    return parse->search->sealed || strcmp(field->values[0], "false") == 0 ||
           ldap_details_wrong(error, field, "true or false");
}

/* What details do not say. */
static bool ldap_details_complete(struct search_parse *parse, struct error *error)
{
    struct ldap_search_details *search = parse->search;
    const char *pattern = parse->base ? parse->base : "";
    bool root_dse = search->scope == LDAP_SCOPE_BASE && *pattern == '\0';
    if (root_dse)
        search->base = strdup("");
    if (!search->base)
        search->base_key = catalogue_pattern_key(pattern);
    if (!search->filter && search->scope == LDAP_SCOPE_SUBTREE)
        search->filter = ldap_filter_guess(pattern, search->attributes);
    else if (!search->filter)
        search->filter = ldap_filter_parse("(objectClass=*)", error);
    return ((search->base || search->base_key) && search->filter) || ldap_details_no_memory(error);
}

static bool add_readable(const struct ldap_search_details *search)
{
    if (readable.count == readable.capacity) {
        size_t capacity = 2 * readable.capacity + 16;
        const struct ldap_search_details **larger =
            reallocarray(readable.all, capacity, sizeof *larger);
        if (!larger)
            return false;
        readable.all = larger;
        readable.capacity = capacity;
    }
    readable.all[readable.count++] = search;
    readable.weight += search->weight;
    return true;
}

void ldap_search_weigh(void *compiled, uint64_t count)
{
    struct ldap_search_details *search = compiled;
    for (size_t i = 0; i < readable.count; i++)
        if (readable.all[i] == search)
            readable.weight += count - search->weight;
    search->weight = count;
}

void ldap_search_release(void *compiled)
{
    struct ldap_search_details *search = compiled;
    if (!search)
        return;
    remove_readable(search);
    free(search->base);
    free(search->base_key);
    ldap_filter_free(search->filter);
    for (size_t i = 0; search->attributes && search->attributes[i]; i++)
        free(search->attributes[i]);
    free(search->attributes);
    for (size_t i = 0; search->controls && search->controls[i]; i++) {
        free(search->controls[i]->ldctl_oid);
        free(search->controls[i]);
    }
    free(search->controls);
    free(search);
}

static void remove_readable(const struct ldap_search_details *search)
{
    for (size_t i = 0; i < readable.count; i++)
        if (readable.all[i] == search) {
            memmove(&readable.all[i], &readable.all[i + 1],
                    (readable.count - i - 1) * sizeof *readable.all);
            readable.count--;
            readable.weight -= search->weight;
            break;
        }
    if (readable.count == 0) {
        free(readable.all);
        readable.all = NULL;
        readable.capacity = 0;
    }
}

const struct ldap_search_details *ldap_search_draw(struct conversation *conversation)
{
    if (readable.weight == 0)
        return NULL;
    uint64_t at = conversation_random(conversation, readable.weight);
    size_t i = 0;
    while (at >= readable.all[i]->weight)
        at -= readable.all[i++]->weight;
    return readable.all[i];
}
