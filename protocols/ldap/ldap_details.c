/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the details of LDAP packets. */
#include "protocols/ldap/ldap_details.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "protocols/ldap/catalogue.h"
#include "protocols/ldap/ldap_search.h"

/* Values for controls that require one (MS-ADTS 3.1.1.3.4.1). Models contain only OIDs. */
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

/* The readable searches of a model. */
struct ldap_searches {
    struct packet_shared shared; /* must be first */
    struct weighed {
        const struct ldap_search_details *search;
        uint64_t weight; /* how often the model saw it */
    } * all;
    size_t count;
    uint64_t weight; /* the sum */
};

/* A search without details looks up a test user. */
static const char *const look_up_filter[] = {"(&(sAMAccountName)(objectClass=user))"};
static const char *const look_up_scope[] = {"sub"};
static const char *const look_up_base[] = {"DC,DC"};
static const char *const look_up_attributes[] = {"objectSid", "userPrincipalName", "memberOf"};
static const struct packet_field look_up[] = {
    {"scope", 1, look_up_scope},
    {"base", 1, look_up_base},
    {"filter", 1, look_up_filter},
    {"attrs", 3, look_up_attributes},
};

static bool is_empty_form(const struct packet_details *details);
static struct ldap_searches *get_searches(struct packet_context *context);
static struct ldap_search_details *compile_look_up(const struct packet_details *details,
                                                   struct error *error);
static struct ldap_search_details *compile_form(const struct packet_details *details,
                                                struct error *error);
static int compile_base(struct ldap_search_details *search, const char *base);
static int compile_filter(struct ldap_search_details *search, const char *filter, const char *base,
                          struct error *error);
static int copy_attributes(struct ldap_search_details *search, const struct packet_value *attrs);
static int make_controls(struct ldap_search_details *search, const struct packet_value *controls);
static LDAPControl *make_control(const char *oid);
static void searches_free(struct packet_shared *shared);
static int add_readable(struct ldap_searches *searches, const struct ldap_search_details *search,
                        uint64_t weight);

void ldap_details_fill_bind(const struct packet_details *details, void *compiled)
{
    struct ldap_bind_details *bind = compiled;
    bind->simple = packet_details_get(details, "auth")->number == LDAP_AUTH_SIMPLE_BIND;
    bind->mechanism = (enum ldap_mechanism)packet_details_get(details, "mech")->number;
    bind->transport = (enum ldap_transport)packet_details_get(details, "tls")->number;
    bind->transport_given = bind->transport != LDAP_TRANSPORT_CLEAR;
}

void *ldap_details_compile_search(const struct packet_details *details,
                                  struct packet_context *context, struct error *error)
{
    bool sealed = packet_details_get(details, "sealed")->number;
    struct ldap_searches *searches = get_searches(context);
    struct ldap_search_details *search = NULL;
    if (!searches)
        error_no_memory(error);
    else if (sealed || is_empty_form(details))
        search = compile_look_up(details, error);
    else
        search = compile_form(details, error);
    if (search && sealed)
        search->sealed = searches;
    else if (search && !is_empty_form(details) &&
             add_readable(searches, search, details->count) < 0) {
        error_no_memory(error);
        ldap_details_release_search(search);
        search = NULL;
    }
    return search;
}

static bool is_empty_form(const struct packet_details *details)
{
    for (size_t i = 0; i < PACKET_RULES_MAX; i++)
        if (details->values[i].given)
            return false;
    return true;
}

static struct ldap_searches *get_searches(struct packet_context *context)
{
    struct ldap_searches *searches = (struct ldap_searches *)context->ldap;
    if (searches)
        return searches;
    searches = calloc(1, sizeof *searches);
    if (searches) {
        searches->shared.free = searches_free;
        context->ldap = &searches->shared;
    }
    return searches;
}

static void searches_free(struct packet_shared *shared)
{
    free(((struct ldap_searches *)shared)->all);
    free(shared);
}

static struct ldap_search_details *compile_look_up(const struct packet_details *details,
                                                   struct error *error)
{
    struct packet_details usual;
    if (packet_details_read(&usual, details->row, look_up, sizeof look_up / sizeof look_up[0],
                            error) < 0)
        return NULL;
    return compile_form(&usual, error);
}

static struct ldap_search_details *compile_form(const struct packet_details *details,
                                                struct error *error)
{
    const char *base = packet_details_get(details, "base")->text;
    const char *filter = packet_details_get(details, "filter")->text;
    struct ldap_search_details *search = calloc(1, sizeof *search);
    int result = search ? 0 : -ENOMEM;
    if (!result) {
        search->scope = (int)packet_details_get(details, "scope")->number;
        result = compile_base(search, base);
    }
    if (!result)
        result = copy_attributes(search, packet_details_get(details, "attrs"));
    if (!result)
        result = make_controls(search, packet_details_get(details, "controls"));
    if (!result)
        result = compile_filter(search, filter ? filter : "", base, error);
    if (!result)
        return search;
    if (result == -ENOMEM)
        error_no_memory(error);
    ldap_details_release_search(search);
    return NULL;
}

static int compile_base(struct ldap_search_details *search, const char *base)
{
    bool root_dse = search->scope == LDAP_SCOPE_BASE && *base == '\0';
    if (root_dse)
        search->base = strdup("");
    else
        search->base_key = catalogue_pattern_key(base);
    return search->base || search->base_key ? 0 : -ENOMEM;
}

/* filter is "" if the form has none. */
static int compile_filter(struct ldap_search_details *search, const char *filter, const char *base,
                          struct error *error)
{
    struct error reason = {0};
    if (!*filter && search->scope == LDAP_SCOPE_SUBTREE)
        search->filter = ldap_filter_guess(base, search->attributes);
    else
        search->filter = ldap_filter_parse(*filter ? filter : "(objectClass=*)", &reason);
    if (search->filter)
        return 0;
    return reason.text[0] ? error_set(error, -EINVAL, "%s", reason.text) : -ENOMEM;
}

static int copy_attributes(struct ldap_search_details *search, const struct packet_value *attrs)
{
    if (attrs->count == 0)
        return 0;
    search->attributes = calloc(attrs->count + 1, sizeof(char *));
    for (size_t i = 0; search->attributes && i < attrs->count; i++)
        if (!(search->attributes[i] = strdup(attrs->items[i])))
            return -ENOMEM;
    return search->attributes ? 0 : -ENOMEM;
}

static int make_controls(struct ldap_search_details *search, const struct packet_value *controls)
{
    if (controls->count == 0)
        return 0;
    search->controls = calloc(controls->count + 1, sizeof *search->controls);
    size_t made = 0;
    for (size_t i = 0; search->controls && i < controls->count; i++) {
        /* ldap_search.c requests pages itself. */
        if (strcmp(controls->items[i], LDAP_CONTROL_PAGEDRESULTS) == 0)
            continue;
        if (!(search->controls[made++] = make_control(controls->items[i])))
            return -ENOMEM;
    }
    return search->controls ? 0 : -ENOMEM;
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

static int add_readable(struct ldap_searches *searches, const struct ldap_search_details *search,
                        uint64_t weight)
{
    struct weighed *larger = array_grow(searches->all, searches->count, sizeof *larger);
    if (!larger)
        return -ENOMEM;
    searches->all = larger;
    searches->all[searches->count++] = (struct weighed){search, weight};
    searches->weight += weight;
    return 0;
}

void ldap_details_release_search(void *compiled)
{
    struct ldap_search_details *search = compiled;
    if (!search)
        return;
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

const struct ldap_search_details *ldap_details_draw_search(struct conversation *conversation,
                                                           const struct ldap_search_details *search)
{
    const struct ldap_searches *searches = search->sealed;
    if (!searches || searches->weight == 0)
        return search;
    uint64_t at = conversation_random(conversation, searches->weight);
    size_t i = 0;
    while (at >= searches->all[i].weight)
        at -= searches->all[i++].weight;
    return searches->all[i].search;
}
