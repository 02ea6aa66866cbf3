/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/servers/directory_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

/* A security descriptor with an empty DACL (MS-DTYP 2.4.6). */
static char descriptor[] = {1, 0, 4,  (char)0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                            0, 0, 20, 0,          0, 0, 2, 0, 8, 0, 0, 0, 0, 0};

/* One request. */
struct asked {
    int id, request;
    BerElement *ber; /* after the tag of the request was opened */
    char dn[160];
    bool controls;
};

static void directory_serve(struct ldap_server *ldap, unsigned connection, int id, int request,
                            const uint8_t *bytes, size_t size, struct ldap_answer *answer);
static bool read_dn(struct asked *asked);
static int serve_write(struct directory_server *server, struct asked *asked);
static int serve_add(struct directory_server *server, struct asked *asked);
static void read_add_attributes(struct directory_server_entry *entry, BerElement *ber);
static int serve_modify(struct directory_server *server, struct asked *asked);
static void change_entry(struct directory_server_entry *entry, int operation, const char *type,
                         struct berval *values);
static void take_value(struct directory_server_entry *entry, const char *type,
                       const struct berval *value);
static int serve_delete(struct directory_server *server, const struct asked *asked);
static bool is_below(const char *dn, const char *base);
static int serve_search(struct directory_server *server, struct asked *asked,
                        struct ldap_answer *answer);
static bool is_in_scope(const char *dn, const char *base, int scope);
static void put_entry(struct ldap_answer *answer, int id,
                      const struct directory_server_entry *entry);

void directory_server_start(struct directory_server *server)
{
    server->count = 0;
    memset(server->requests, 0, sizeof server->requests);
    pthread_mutex_init(&server->lock, NULL);
    directory_server_put(server, DIRECTORY_SERVER_BASE, "");
    server->ldap = (struct ldap_server){.serve = directory_serve,
                                        .together = server->ldap.together,
                                        .context = server,
                                        .cut_after = SIZE_MAX};
    ldap_server_start(&server->ldap);
}

void directory_server_stop(struct directory_server *server)
{
    ldap_server_stop(&server->ldap);
    pthread_mutex_destroy(&server->lock);
}

struct dc *directory_server_dc(struct directory_server *server)
{
    struct dc *dc = ldap_server_dc(&server->ldap);
    dc->options.generic_ldap = true;
    dc->base_dn = strdup(DIRECTORY_SERVER_BASE);
    dc->dns_domain = strdup("test.example");
    return dc;
}

unsigned directory_server_requests(const struct directory_server *server, int request)
{
    return server->requests[request % 128];
}

struct directory_server_entry *directory_server_find(struct directory_server *server,
                                                     const char *dn)
{
    for (size_t i = 0; i < server->count; i++)
        if (strcasecmp(server->entries[i].dn, dn) == 0)
            return &server->entries[i];
    return NULL;
}

struct directory_server_entry *directory_server_put(struct directory_server *server, const char *dn,
                                                    const char *name)
{
    assert_true(server->count < sizeof server->entries / sizeof server->entries[0]);
    struct directory_server_entry *entry = &server->entries[server->count++];
    *entry = (struct directory_server_entry){.members = 0};
    snprintf(entry->dn, sizeof entry->dn, "%s", dn);
    snprintf(entry->name, sizeof entry->name, "%s", name);
    return entry;
}

void directory_server_drop(struct directory_server *server, const char *dn)
{
    struct directory_server_entry *entry = directory_server_find(server, dn);
    if (entry)
        *entry = server->entries[--server->count];
}

static void directory_serve(struct ldap_server *ldap, unsigned connection, int id, int request,
                            const uint8_t *bytes, size_t size, struct ldap_answer *answer)
{
    struct directory_server *server = ldap->context;
    struct asked asked = {.id = id, .request = request};
    struct berval value = {.bv_val = (char *)(uintptr_t)bytes, .bv_len = size};
    const char *text = "";
    (void)connection;
    asked.ber = ber_init(&value);
    asked.controls = memmem(bytes, size, "1.2.840.113556.1.4.805", 22) != NULL;
    pthread_mutex_lock(&server->lock);
    server->requests[request % 128]++;
    int code = read_dn(&asked) ? 0 : LDAP_PROTOCOL_ERROR;
    if (!code && server->refuse)
        code = server->refuse(server, request, asked.dn, asked.controls, &text);
    if (!code)
        code = request == LDAP_REQ_SEARCH ? serve_search(server, &asked, answer)
                                          : serve_write(server, &asked);
    pthread_mutex_unlock(&server->lock);
    ber_free(asked.ber, 1);
    ber_tag_t reply = request == LDAP_REQ_DELETE   ? LDAP_RES_DELETE
                      : request == LDAP_REQ_SEARCH ? LDAP_RES_SEARCH_RESULT
                                                   : (ber_tag_t)request + 1;
    ldap_answer_put_result(answer, id, reply, code, text);
}

static bool read_dn(struct asked *asked)
{
    struct berval dn = {0};
    const char *format = asked->request == LDAP_REQ_DELETE ? "{im" : "{it{m";
    ber_int_t id;
    ber_tag_t tag;
    ber_tag_t result = asked->request == LDAP_REQ_DELETE
                           ? ber_scanf(asked->ber, format, &id, &dn)
                           : ber_scanf(asked->ber, format, &id, &tag, &dn);
    if (asked->request == LDAP_REQ_BIND)
        return true;
    snprintf(asked->dn, sizeof asked->dn, "%.*s", (int)dn.bv_len, dn.bv_val ? dn.bv_val : "");
    return result != LBER_ERROR;
}

static int serve_write(struct directory_server *server, struct asked *asked)
{
    switch (asked->request) {
    case LDAP_REQ_BIND:
        return LDAP_SUCCESS;
    case LDAP_REQ_ADD:
        return serve_add(server, asked);
    case LDAP_REQ_MODIFY:
        return serve_modify(server, asked);
    case LDAP_REQ_DELETE:
        return serve_delete(server, asked);
    default:
        return LDAP_UNWILLING_TO_PERFORM;
    }
}

static int serve_add(struct directory_server *server, struct asked *asked)
{
    const char *parent = strchr(asked->dn, ',');
    struct directory_server_entry added = {.members = 0};
    snprintf(added.dn, sizeof added.dn, "%s", asked->dn);
    read_add_attributes(&added, asked->ber);
    if (directory_server_find(server, asked->dn))
        return LDAP_ALREADY_EXISTS;
    for (size_t i = 0; added.name[0] && i < server->count; i++)
        if (strcasecmp(server->entries[i].name, added.name) == 0)
            return LDAP_ALREADY_EXISTS;
    if (!parent || !directory_server_find(server, parent + 1))
        return LDAP_NO_SUCH_OBJECT;
    *directory_server_put(server, asked->dn, added.name) = added;
    return LDAP_SUCCESS;
}

static void read_add_attributes(struct directory_server_entry *entry, BerElement *ber)
{
    ber_len_t length;
    char *last;
    for (ber_tag_t tag = ber_first_element(ber, &length, &last); tag != LBER_DEFAULT;
         tag = ber_next_element(ber, &length, last)) {
        struct berval type;
        struct berval *values = NULL;
        char name[64];
        if (ber_scanf(ber, "{m[W]}", &type, &values) == LBER_ERROR)
            return;
        snprintf(name, sizeof name, "%.*s", (int)type.bv_len, type.bv_val);
        if (values)
            take_value(entry, name, values);
        ber_bvarray_free(values);
    }
}

static void take_value(struct directory_server_entry *entry, const char *type,
                       const struct berval *value)
{
    const struct {
        const char *type;
        char *to;
        size_t size;
    } kept[] = {{"sAMAccountName", entry->name, sizeof entry->name},
                {"description", entry->description, sizeof entry->description},
                {"userAccountControl", entry->control, sizeof entry->control}};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (strcasecmp(type, kept[i].type) == 0)
            snprintf(kept[i].to, kept[i].size, "%.*s", (int)value->bv_len, value->bv_val);
    if (strcasecmp(type, "unicodePwd") == 0)
        entry->no_password = false;
}

static int serve_modify(struct directory_server *server, struct asked *asked)
{
    struct directory_server_entry *entry = directory_server_find(server, asked->dn);
    ber_len_t length;
    char *last;
    if (!entry)
        return LDAP_NO_SUCH_OBJECT;
    for (ber_tag_t tag = ber_first_element(asked->ber, &length, &last); tag != LBER_DEFAULT;
         tag = ber_next_element(asked->ber, &length, last)) {
        ber_int_t operation;
        struct berval type, *values = NULL;
        char name[64];
        if (ber_scanf(asked->ber, "{e{m[W]}}", &operation, &type, &values) == LBER_ERROR)
            return LDAP_PROTOCOL_ERROR;
        snprintf(name, sizeof name, "%.*s", (int)type.bv_len, type.bv_val);
        change_entry(entry, operation, name, values);
        ber_bvarray_free(values);
    }
    return LDAP_SUCCESS;
}

static void change_entry(struct directory_server_entry *entry, int operation, const char *type,
                         struct berval *values)
{
    size_t count = 0;
    while (values && values[count].bv_val)
        count++;
    if (strcasecmp(type, "member") == 0 && operation == LDAP_MOD_ADD) {
        entry->members += count;
        if (count > entry->largest_request)
            entry->largest_request = count;
    } else if (count > 0) {
        take_value(entry, type, values);
    }
}

static int serve_delete(struct directory_server *server, const struct asked *asked)
{
    if (!directory_server_find(server, asked->dn))
        return LDAP_NO_SUCH_OBJECT;
    for (size_t i = server->count; i-- > 0;)
        if (is_below(server->entries[i].dn, asked->dn)) {
            if (!asked->controls)
                return LDAP_NOT_ALLOWED_ON_NONLEAF;
            server->entries[i] = server->entries[--server->count];
        }
    directory_server_drop(server, asked->dn);
    return LDAP_SUCCESS;
}

static bool is_below(const char *dn, const char *base)
{
    size_t length = strlen(dn), tail = strlen(base);
    return length > tail && dn[length - tail - 1] == ',' &&
           strcasecmp(dn + length - tail, base) == 0;
}

static int serve_search(struct directory_server *server, struct asked *asked,
                        struct ldap_answer *answer)
{
    ber_int_t scope, deref, size, time, types;
    struct berval type = {0}, value = {0};
    ber_len_t length;
    if (!directory_server_find(server, asked->dn))
        return LDAP_NO_SUCH_OBJECT;
    ber_scanf(asked->ber, "eeiib", &scope, &deref, &size, &time, &types);
    ber_tag_t filter = ber_peek_tag(asked->ber, &length);
    if (filter == LDAP_FILTER_EQUALITY)
        ber_scanf(asked->ber, "{mm}", &type, &value);
    for (size_t i = 0; i < server->count; i++) {
        const struct directory_server_entry *entry = &server->entries[i];
        bool named = filter != LDAP_FILTER_EQUALITY ||
                     (strlen(entry->name) == value.bv_len &&
                      strncasecmp(entry->name, value.bv_val, value.bv_len) == 0);
        if (named && (filter != LDAP_FILTER_OR || entry->name[0]) &&
            is_in_scope(entry->dn, asked->dn, scope))
            put_entry(answer, asked->id, entry);
    }
    return LDAP_SUCCESS;
}

static bool is_in_scope(const char *dn, const char *base, int scope)
{
    if (scope == LDAP_SCOPE_BASE)
        return strcasecmp(dn, base) == 0;
    if (scope == LDAP_SCOPE_SUBTREE)
        return strcasecmp(dn, base) == 0 || is_below(dn, base);
    const char *parent = strchr(dn, ',');
    return parent && strcasecmp(parent + 1, base) == 0;
}

static void put_entry(struct ldap_answer *answer, int id,
                      const struct directory_server_entry *entry)
{
    struct berval security = {.bv_val = descriptor, .bv_len = sizeof descriptor};
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_printf(ber, "{it{s{", id, LDAP_RES_SEARCH_ENTRY, entry->dn);
    ber_printf(ber, "{s[O]}", "nTSecurityDescriptor", &security);
    ber_printf(ber, "{s[s]}", "pwdLastSet", entry->no_password ? "0" : "133000000000000000");
    if (entry->name[0])
        ber_printf(ber, "{s[s]}", "sAMAccountName", entry->name);
    if (entry->description[0])
        ber_printf(ber, "{s[s]}", "description", entry->description);
    ber_printf(ber, "}}}");
    ldap_answer_put(answer, ber);
}
