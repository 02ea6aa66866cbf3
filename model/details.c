/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of details: one table, read by the loader of version 3 files, by the Samba v2 loader and
 * by whoever writes models. */
#include "model/details.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMBA_SCOPE, SAMBA_BASE, SAMBA_FILTER, SAMBA_ATTRS, SAMBA_EXTRA, SAMBA_AUTH, SAMBA_OID };
enum { SAMBA_FIELDS = 7, FIELDS_MAX = 8 };

struct conversion {
    struct arena *arena;
    const char *protocol, *opcode;
    struct model_field fields[FIELDS_MAX];
    size_t count;
    bool foreign, failed;
};

static bool applies(const struct details_rule *rule, const char *protocol, const char *opcode);
static bool is_word(const char *words, const char *word);
static bool is_pattern(const char *value);
static bool is_list_item(const char *value);
static bool details_is_oid(const char *value);
static bool is_word_text(const char *value);
static bool is_number(const char *value, uint64_t min, uint64_t max);
static bool is_rrtype(const char *value);
static void list_words(const char *words, char *buffer, size_t size);
static bool is_empty(const char *text);
static void details_convert(struct conversion *conversion, char *text);
static void convert_search(struct conversion *conversion, char *const parts[SAMBA_FIELDS]);
static void details_add_field(struct conversion *conversion, const char *key, const char *text);
static void add_values(struct conversion *conversion, const char *key, const char **values,
                       size_t count);
static void details_add_attributes(struct conversion *conversion, char *text);
static void convert_bind(struct conversion *conversion, char *const parts[SAMBA_FIELDS]);

static const struct details_rule rules[] = {
    {"ldap:0", "auth", DETAILS_CHOICE, "simple sasl", 0},
    {"ldap:0", "mech", DETAILS_CHOICE, "GSS-SPNEGO GSSAPI", 0},
    {"ldap:0", "tls", DETAILS_CHOICE, "none starttls ldaps", 0},
    {"ldap:3", "scope", DETAILS_CHOICE, "base one sub", 0},
    {"ldap:3", "base", DETAILS_PATTERN, NULL, 0},
    {"ldap:3", "filter", DETAILS_TEXT, NULL, 0},
    {"ldap:3", "attrs", DETAILS_LIST, NULL, 0},
    {"ldap:3", "controls", DETAILS_OIDS, NULL, 16},
    {"ldap:3", "sealed", DETAILS_FLAG, NULL, 0},
    {"kerberos:10", "as", DETAILS_CHOICE, "user machine", 0},
    {"kerberos:12", "service", DETAILS_WORD, NULL, 0},
    {"smb2:3", "share", DETAILS_CHOICE, "ipc sysvol netlogon other", 0},
    {"smb2:5", "file", DETAILS_CHOICE, "policy script dir pipe other", 0},
    {"smb2:5", "access", DETAILS_NUMBER, NULL, UINT32_MAX},
    {"smb2:5", "oplock", DETAILS_CHOICE, "none level2 exclusive batch lease", 0},
    {"smb2:5", "lease", DETAILS_CHOICE, "none r rh rw rwh", 0},
    {"smb2:8", "size", DETAILS_COUNT, NULL, UINT32_MAX},
    {"smb2:9", "size", DETAILS_COUNT, NULL, 16 << 20},
    {"smb2:14", "class", DETAILS_COUNT, NULL, UINT8_MAX},
    {"smb2:16", "class", DETAILS_COUNT, NULL, 0x4ff},
    {"samr:8 samr:36 samr:46 lsarpc:7 lsarpc:46", "level", DETAILS_NUMBER, NULL, UINT16_MAX},
    {"srvsvc:16 srvsvc:21", "level", DETAILS_NUMBER, NULL, UINT32_MAX},
    {"dns:0", "type", DETAILS_RRTYPE, NULL, 0},
    {"dns:0", "name", DETAILS_CHOICE, "realm dc ldap kerberos msdcs other", 0},
};

enum { RULES = sizeof rules / sizeof rules[0] };

static const struct {
    const char *protocol, *opcode;
    void (*convert)(struct conversion *conversion, char *const parts[SAMBA_FIELDS]);
} samba_packets[] = {
    {"ldap", "3", convert_search},
    {"ldap", "0", convert_bind},
    {"cldap", "3", NULL}, /* always asks for Netlogon */
};

const struct details_rule *details_rule(const char *protocol, const char *opcode, const char *key)
{
    for (size_t i = 0; i < RULES; i++)
        if (strcmp(rules[i].key, key) == 0 && applies(&rules[i], protocol, opcode))
            return &rules[i];
    return NULL;
}

static bool applies(const struct details_rule *rule, const char *protocol, const char *opcode)
{
    char packet[160];
    int length = snprintf(packet, sizeof packet, "%s:%s", protocol, opcode);
    return length > 0 && (size_t)length < sizeof packet && is_word(rule->packets, packet);
}

/* True when word is one of the space separated words. */
static bool is_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; length > 0 && (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

const char *details_keys(const char *protocol, const char *opcode, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < RULES && used < size; i++)
        if (applies(&rules[i], protocol, opcode))
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "",
                                     rules[i].key);
    return buffer;
}

bool details_is_list(const struct details_rule *rule)
{
    return rule->kind == DETAILS_LIST || rule->kind == DETAILS_OIDS;
}

/* SASL wrappers by the OID that a capture shows (RFC 4178, MS-SPNG, MS-NLMP, RFC 4121). An OID that
 * only lives inside SPNEGO names SPNEGO. */
static const struct {
    const char *oid, *mech;
} wrappers[] = {
    {"1.3.6.1.5.5.2", "GSS-SPNEGO"},
    {"1.2.840.48018.1.2.2", "GSS-SPNEGO"},
    {"1.3.6.1.4.1.311.2.2.10", "GSS-SPNEGO"},
    {"1.2.840.113554.1.2.2", "GSSAPI"},
};

const char *details_value(const struct details_rule *rule, const char *value)
{
    bool good = true;
    switch (rule->kind) {
    case DETAILS_CHOICE:
        for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++)
            if (strcmp(rule->key, "mech") == 0 && strcmp(value, wrappers[i].oid) == 0)
                return wrappers[i].mech;
        good = is_word(rule->values, value);
        break;
    case DETAILS_PATTERN:
        good = is_pattern(value);
        break;
    case DETAILS_LIST:
        good = is_list_item(value);
        break;
    case DETAILS_FLAG:
        good = is_word("true false", value);
        break;
    case DETAILS_OIDS:
        good = details_is_oid(value);
        break;
    case DETAILS_WORD:
        good = is_word_text(value);
        break;
    case DETAILS_NUMBER:
    case DETAILS_COUNT:
        good = is_number(value, rule->kind == DETAILS_COUNT, rule->max);
        break;
    case DETAILS_RRTYPE:
        good = is_rrtype(value);
        break;
    case DETAILS_TEXT:
        break;
    }
    return good ? value : NULL;
}

static bool is_pattern(const char *value)
{
    if (*value == '\0')
        return true;
    for (;;) {
        size_t length = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789.-");
        if (length == 0)
            return false;
        value += length;
        if (*value == '\0')
            return true;
        if (*value++ != ',')
            return false;
    }
}

/* Names of attributes (with options), "*", "+", "1.1": no blanks, no commas. */
static bool is_list_item(const char *value)
{
    if (*value == '\0')
        return false;
    for (; *value; value++)
        if (!isgraph((unsigned char)*value) || *value == ',')
            return false;
    return true;
}

static bool details_is_oid(const char *value)
{
    return *value && value[strspn(value, "0123456789.")] == '\0';
}

static bool is_word_text(const char *value)
{
    size_t length = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-");
    return length > 0 && length < 64 && value[length] == '\0';
}

static bool is_number(const char *value, uint64_t min, uint64_t max)
{
    bool hexadecimal = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
    const char *digits = hexadecimal ? value + 2 : value;
    size_t length = strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789");
    if (length == 0 || length > 16 || digits[length] != '\0')
        return false;
    uint64_t number = strtoull(digits, NULL, hexadecimal ? 16 : 10);
    return number >= min && number <= max;
}

static bool is_rrtype(const char *value)
{
    static const char names[] = "A AAAA ANY CNAME MX NS PTR SOA SRV TXT";
    if (strncmp(value, "TYPE", 4) == 0) /* RFC 3597 5 */
        return value[4 + strspn(value + 4, "0123456789")] == '\0' &&
               is_number(value + 4, 1, UINT16_MAX);
    return is_word(names, value);
}

const char *details_expected(const struct details_rule *rule, char *buffer, size_t size)
{
    static const char *const texts[] = {
        [DETAILS_TEXT] = "text",
        [DETAILS_PATTERN] = "a DN pattern like CN,CN,DC,DC",
        [DETAILS_LIST] = "a list of names without blanks and commas",
        [DETAILS_WORD] = "a word of letters, digits, '.', '-' and '_'",
        [DETAILS_OIDS] = "a list of at most 16 OIDs",
        [DETAILS_FLAG] = "true or false",
        [DETAILS_RRTYPE] = "a DNS type like A, SRV or TYPE65",
    };
    if (rule->kind == DETAILS_CHOICE)
        list_words(rule->values, buffer, size);
    else if (rule->kind == DETAILS_NUMBER || rule->kind == DETAILS_COUNT)
        snprintf(buffer, size, "a whole number from %d to %llu", rule->kind == DETAILS_COUNT,
                 (unsigned long long)rule->max);
    else
        snprintf(buffer, size, "%s", texts[rule->kind]);
    return buffer;
}

/* "base one sub" as "one of base, one, sub" */
static void list_words(const char *words, char *buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "one of ");
    for (; *words && used + 3 < size; words++) {
        if (*words == ' ')
            buffer[used++] = ',';
        buffer[used++] = *words;
    }
    buffer[used] = '\0';
}

int details_from_samba(struct arena *arena, const char *protocol, const char *opcode,
                       const char *text, struct model_field **fields, size_t *count, bool *foreign)
{
    struct conversion conversion = {.arena = arena, .protocol = protocol, .opcode = opcode};
    if (!is_empty(text)) {
        char *copy = arena_string(arena, text, strlen(text));
        if (!copy)
            return -ENOMEM;
        details_convert(&conversion, copy);
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

static void details_convert(struct conversion *conversion, char *text)
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
    for (size_t i = 0; i < sizeof samba_packets / sizeof samba_packets[0]; i++) {
        if (strcmp(samba_packets[i].protocol, conversion->protocol) == 0 &&
            strcmp(samba_packets[i].opcode, conversion->opcode) == 0) {
            if (samba_packets[i].convert)
                samba_packets[i].convert(conversion, parts);
            return;
        }
    }
    conversion->foreign = true;
}

static void convert_search(struct conversion *conversion, char *const parts[SAMBA_FIELDS])
{
    static const char *const scopes[] = {"base", "one", "sub"};
    const char *scope = parts[SAMBA_SCOPE];
    bool known = scope[0] >= '0' && scope[0] <= '2' && scope[1] == '\0';
    if (known)
        details_add_field(conversion, "scope", scopes[scope[0] - '0']);
    else if (scope[0])
        conversion->foreign = true;
    /* With a scope an empty base is a fact, the root DSE; without one nothing was seen. */
    if (known || parts[SAMBA_BASE][0])
        details_add_field(conversion, "base", parts[SAMBA_BASE]);
    if (parts[SAMBA_FILTER][0])
        details_add_field(conversion, "filter", parts[SAMBA_FILTER]);
    if (parts[SAMBA_ATTRS][0])
        details_add_attributes(conversion, parts[SAMBA_ATTRS]);
}

/* One field of one value; empty text is none. A value that the rule does not know is foreign. */
static void details_add_field(struct conversion *conversion, const char *key, const char *text)
{
    const struct details_rule *rule = details_rule(conversion->protocol, conversion->opcode, key);
    const char *value = rule ? details_value(rule, text) : NULL;
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

static void add_values(struct conversion *conversion, const char *key, const char **values,
                       size_t count)
{
    if (!values)
        conversion->failed = true;
    else
        conversion->fields[conversion->count++] = (struct model_field){key, count, values};
}

static void details_add_attributes(struct conversion *conversion, char *text)
{
    size_t count = 1, i = 0;
    for (const char *c = text; *c; c++)
        count += *c == ',';
    const char **values = arena_array(conversion->arena, count, sizeof *values);
    for (char *rest = text, *item; values && (item = strsep(&rest, ","));) {
        if (!is_list_item(item))
            conversion->foreign = true;
        else if (!(values[i++] = arena_string(conversion->arena, item, strlen(item))))
            conversion->failed = true;
    }
    if (i > 0 || !values)
        add_values(conversion, "attrs", values, i);
}

static void convert_bind(struct conversion *conversion, char *const parts[SAMBA_FIELDS])
{
    if (parts[SAMBA_AUTH][0])
        details_add_field(conversion, "auth", parts[SAMBA_AUTH]);
    if (parts[SAMBA_OID][0])
        details_add_field(conversion, "mech", parts[SAMBA_OID]);
}
