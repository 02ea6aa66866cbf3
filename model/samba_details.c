/* SPDX-License-Identifier: Apache-2.0 */
#include "model/samba_details.h"

#include <errno.h>
#include <string.h>

enum { SAMBA_SCOPE, SAMBA_BASE, SAMBA_FILTER, SAMBA_ATTRS, SAMBA_EXTRA, SAMBA_AUTH, SAMBA_OID };
enum { SAMBA_FIELDS = 7, FIELDS_MAX = 8 };

struct samba_conversion {
    struct arena *arena;
    const struct packet_row *row;
    struct packet_field fields[FIELDS_MAX];
    size_t count;
    bool foreign; /* a part is unknown */
    bool failed;  /* out of memory */
};

static bool is_empty(const char *text);
static void convert_parts(struct samba_conversion *conversion, char *text);
static void convert_search(struct samba_conversion *conversion, char *const parts[SAMBA_FIELDS]);
static void details_add_field(struct samba_conversion *conversion, const char *key,
                              const char *text);
static void add_values(struct samba_conversion *conversion, const char *key, const char **values,
                       size_t count);
static void details_add_attributes(struct samba_conversion *conversion, char *text);
static void convert_bind(struct samba_conversion *conversion, char *const parts[SAMBA_FIELDS]);

int samba_details_read(struct arena *arena, const struct packet_row *row, const char *text,
                       struct packet_field **fields, size_t *count, bool *foreign)
{
    struct samba_conversion conversion = {.arena = arena, .row = row};
    if (!is_empty(text)) {
        char *copy = arena_string(arena, text, strlen(text));
        if (!copy)
            return -ENOMEM;
        convert_parts(&conversion, copy);
    }
    *fields = arena_array(arena, conversion.count, sizeof **fields);
    if (!*fields || conversion.failed)
        return -ENOMEM;
    memcpy(*fields, conversion.fields, conversion.count * sizeof **fields);
    *count = conversion.count;
    *foreign = conversion.foreign;
    return 0;
}

static bool is_empty(const char *text)
{
    return strcmp(text, "-") == 0 || text[strspn(text, "\t")] == '\0';
}

static void convert_parts(struct samba_conversion *conversion, char *text)
{
    static char nothing[] = "";
    char *parts[SAMBA_FIELDS] = {nothing, nothing, nothing, nothing, nothing, nothing, nothing};
    char *rest = text;
    for (size_t i = 0; rest; i++) {
        char *part = strsep(&rest, "\t");
        if (i < SAMBA_FIELDS)
            parts[i] = strcmp(part, "-") == 0 ? nothing : part;
        else if (part[0])
            conversion->foreign = true;
    }
    enum packet_columns columns = conversion->row ? conversion->row->columns : PACKET_COLUMNS_NONE;
    if (columns == PACKET_COLUMNS_BIND)
        convert_bind(conversion, parts);
    else if (columns == PACKET_COLUMNS_SEARCH)
        convert_search(conversion, parts);
    else if (columns != PACKET_COLUMNS_NETLOGON)
        conversion->foreign = true;
}

static void convert_search(struct samba_conversion *conversion, char *const parts[SAMBA_FIELDS])
{
    static const char *const scopes[] = {"base", "one", "sub"};
    const char *scope = parts[SAMBA_SCOPE];
    bool known = scope[0] >= '0' && scope[0] <= '2' && scope[1] == '\0';
    if (known)
        details_add_field(conversion, "scope", scopes[scope[0] - '0']);
    else if (scope[0])
        conversion->foreign = true;
    /* With a scope, an empty base is the root DSE. Without one, the search was not seen. */
    if (known || parts[SAMBA_BASE][0])
        details_add_field(conversion, "base", parts[SAMBA_BASE]);
    if (parts[SAMBA_FILTER][0])
        details_add_field(conversion, "filter", parts[SAMBA_FILTER]);
    if (parts[SAMBA_ATTRS][0])
        details_add_attributes(conversion, parts[SAMBA_ATTRS]);
}

/* Adds a field with one value, unless the value is wrong. */
static void details_add_field(struct samba_conversion *conversion, const char *key,
                              const char *text)
{
    const struct packet_rule *rule = packet_rule_find(conversion->row, key);
    const char *value = rule ? packet_rule_check(rule, text) : NULL;
    if (!value) {
        conversion->foreign = true;
        return;
    }
    const char **values = arena_array(conversion->arena, 1, sizeof *values);
    if (values)
        values[0] = arena_string(conversion->arena, value, strlen(value));
    if (values && !values[0])
        values = NULL;
    add_values(conversion, key, values, 1);
}

static void add_values(struct samba_conversion *conversion, const char *key, const char **values,
                       size_t count)
{
    if (!values)
        conversion->failed = true;
    else
        conversion->fields[conversion->count++] = (struct packet_field){key, count, values};
}

static void details_add_attributes(struct samba_conversion *conversion, char *text)
{
    size_t count = 1, i = 0;
    for (const char *c = text; *c; c++)
        count += *c == ',';
    const struct packet_rule *rule = packet_rule_find(conversion->row, "attrs");
    const char **values = arena_array(conversion->arena, count, sizeof *values);
    for (char *rest = text, *item; values && (item = strsep(&rest, ","));) {
        if (!packet_rule_check(rule, item))
            conversion->foreign = true;
        else if (!(values[i++] = arena_string(conversion->arena, item, strlen(item))))
            conversion->failed = true;
    }
    if (i > 0 || !values)
        add_values(conversion, "attrs", values, i);
}

static void convert_bind(struct samba_conversion *conversion, char *const parts[SAMBA_FIELDS])
{
    if (parts[SAMBA_AUTH][0])
        details_add_field(conversion, "auth", parts[SAMBA_AUTH]);
    if (parts[SAMBA_OID][0])
        details_add_field(conversion, "mech", parts[SAMBA_OID]);
}
