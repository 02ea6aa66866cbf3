/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and guesses filters, and fills in their values. */
#include "protocols/ldap/ldap_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "protocols/ldap/catalogue.h"

/* What fills in a piece of a filter. */
enum piece_kind {
    PIECE_TEXT,    /* unchanged text */
    PIECE_PRESENT, /* (attribute=*) */
    PIECE_ACCOUNT, /* (attribute=name of a test user or machine) */
    PIECE_USER,    /* a test user by name; by RDN with --server ldap */
    PIECE_UID,     /* (attribute=name of a test user) with --server ldap */
    PIECE_ADDRESS, /* (attribute=the client's own user@domain) */
    PIECE_RDN,     /* (attribute=value of a catalogue object's RDN) */
    PIECE_DN,
    PIECE_SID,
    PIECE_GUID,
    PIECE_CATEGORY,
    PIECE_SPN,
    PIECE_HOST,
    PIECE_USN,    /* (attribute>=highestCommittedUSN) */
    PIECE_DOMAIN, /* (attribute=DN of the domain) */
    PIECE_GPOS,   /* (|(distinguishedName=a GPO)...) */
    PIECE_LINKED  /* (|(distinguishedName=an object with group policies)...) */
};

static const struct {
    const char *attribute;
    enum piece_kind kind;
} attribute_kinds[] = {
    {"sAMAccountName", PIECE_ACCOUNT},
    {"userPrincipalName", PIECE_ADDRESS},
    {"mail", PIECE_ADDRESS},
    {"uid", PIECE_UID},
    {"cn", PIECE_RDN},
    {"name", PIECE_RDN},
    {"displayName", PIECE_RDN},
    {"member", PIECE_DN},
    {"memberOf", PIECE_DN},
    {"distinguishedName", PIECE_DN},
    {"manager", PIECE_DN},
    {"objectSid", PIECE_SID},
    {"objectGUID", PIECE_GUID},
    {"objectCategory", PIECE_CATEGORY},
    {"servicePrincipalName", PIECE_SPN},
    {"dNSHostName", PIECE_HOST},
    {"uSNChanged", PIECE_USN},
    {"nCName", PIECE_DOMAIN},
};

struct piece {
    enum piece_kind kind;
    char *text; /* PIECE_TEXT: the text; else the attribute, or NULL */
};

struct ldap_filter {
    struct piece *pieces;
    size_t count;
};

/* The filter that is being filled in. data is NUL-terminated once something was appended. */
struct filter_text {
    char *data;
    size_t size, capacity;
    int error; /* -ENOMEM: appending does nothing */
};

struct parser {
    struct ldap_filter *filter;
    const char *start, *at;
    const char *text; /* start of the text that is not yet a piece */
    struct error *error;
};

/* Guesses by a requested attribute. The first matching row counts. */
static const struct {
    const char *attribute;
    enum piece_kind kind;
    const char *text;
} guesses[] = {
    {"gPCFileSysPath", PIECE_GPOS, NULL},
    {"gpLink", PIECE_LINKED, NULL},
    {"pKIExtendedKeyUsage", PIECE_TEXT, "(objectCategory=pKICertificateTemplate)"},
    {"uSNChanged", PIECE_USN, "uSNChanged"},
};

static int parse_whole(struct parser *parser);
static int parse_parentheses(struct parser *parser, int depth);
static int fail_expected(const struct parser *parser, const char *what);
static int parse_component(struct parser *parser, int depth);
static int filter_parse_item(struct parser *parser);
static bool is_attribute_char(char c);
static void skip_rule(struct parser *parser);
static int parse_value(struct parser *parser);
static int add_bare_item(struct parser *parser, const char *attribute, size_t size);
static int end_text_piece(struct parser *parser, const char *end);
static struct piece *add_piece(struct ldap_filter *filter, enum piece_kind kind, const char *text,
                               size_t size);
static enum piece_kind find_kind(const char *attribute, size_t size);
static bool is_domain_pattern(const char *pattern);
static bool has_attribute(char *const *attributes, const char *wanted);
static bool fill_present(const struct piece *piece, struct conversation *conversation,
                         struct filter_text *out);
static bool fill_text(const struct piece *piece, struct conversation *conversation,
                      struct filter_text *out);
static bool fill_account(const struct piece *piece, struct conversation *conversation,
                         struct filter_text *out);
static void add_string_item(struct filter_text *out, const char *attribute, const char *value);
static void add_item(struct filter_text *out, const char *attribute, const char *operator,
                     const void * value, size_t size);
static bool fill_user(const struct piece *piece, struct conversation *conversation,
                      struct filter_text *out);
static const struct account *draw_user(struct conversation *conversation);
static bool add_rdn_item(struct filter_text *out, const char *dn);
static bool fill_uid(const struct piece *piece, struct conversation *conversation,
                     struct filter_text *out);
static bool fill_address(const struct piece *piece, struct conversation *conversation,
                         struct filter_text *out);
static bool fill_value(const struct piece *piece, struct conversation *conversation,
                       struct filter_text *out);
static bool fill_usn(const struct piece *piece, struct conversation *conversation,
                     struct filter_text *out);
static bool fill_domain(const struct piece *piece, struct conversation *conversation,
                        struct filter_text *out);
static bool fill_gpos(const struct piece *piece, struct conversation *conversation,
                      struct filter_text *out);
static bool fill_linked(const struct piece *piece, struct conversation *conversation,
                        struct filter_text *out);
static void append_bytes(struct filter_text *text, const char *bytes, size_t size);
static void append_string(struct filter_text *text, const char *string);
static void append_value(struct filter_text *text, const void *value, size_t size);
static bool is_plain(unsigned char byte);

/* False: there is no value; the filter then asks for presence. */
static bool (*const fillers[])(const struct piece *, struct conversation *,
                               struct filter_text *) = {
    [PIECE_TEXT] = fill_text,  [PIECE_PRESENT] = fill_present, [PIECE_ACCOUNT] = fill_account,
    [PIECE_USER] = fill_user,  [PIECE_UID] = fill_uid,         [PIECE_ADDRESS] = fill_address,
    [PIECE_RDN] = fill_value,  [PIECE_DN] = fill_value,        [PIECE_SID] = fill_value,
    [PIECE_GUID] = fill_value, [PIECE_CATEGORY] = fill_value,  [PIECE_SPN] = fill_value,
    [PIECE_HOST] = fill_value, [PIECE_USN] = fill_usn,         [PIECE_DOMAIN] = fill_domain,
    [PIECE_GPOS] = fill_gpos,  [PIECE_LINKED] = fill_linked,
};

struct ldap_filter *ldap_filter_parse(const char *text, struct error *error)
{
    struct ldap_filter *filter = calloc(1, sizeof *filter);
    struct parser parser = {
        .filter = filter, .start = text, .at = text, .text = text, .error = error};
    int result = filter ? parse_whole(&parser) : -ENOMEM;
    if (result == 0)
        return filter;
    if (result == -ENOMEM)
        error_no_memory(error);
    ldap_filter_free(filter);
    return NULL;
}

static int parse_whole(struct parser *parser)
{
    if (strlen(parser->start) > LDAP_FILTER_SIZE_MAX) {
        return error_set(parser->error, -EINVAL, "a filter of more than 64 KiB");
    }
    int error = parse_parentheses(parser, 1);
    if (!error && *parser->at)
        return fail_expected(parser, "the end");
    return error ? error : end_text_piece(parser, parser->at);
}

/* Parses a "(...)" at parser->at. */
static int parse_parentheses(struct parser *parser, int depth)
{
    if (*parser->at != '(')
        return fail_expected(parser, "'('");
    if (depth > LDAP_FILTER_NESTING_MAX)
        return fail_expected(parser, "at most 64 nested filters");
    parser->at++;
    int error = parse_component(parser, depth);
    if (error)
        return error;
    if (*parser->at != ')')
        return fail_expected(parser, "')'");
    parser->at++;
    return 0;
}

static int fail_expected(const struct parser *parser, const char *what)
{
    char found[16] = "the end";
    if (*parser->at)
        snprintf(found, sizeof found, "'%c'", *parser->at);
    error_set(parser->error, -EINVAL, "filter \"%.200s\": character %td: expected %s, found %s",
              parser->start, parser->at - parser->start + 1, what, found);
    return -EINVAL;
}

static int parse_component(struct parser *parser, int depth)
{
    if (*parser->at == '!') {
        parser->at++;
        return parse_parentheses(parser, depth + 1);
    }
    if (*parser->at != '&' && *parser->at != '|')
        return filter_parse_item(parser);
    parser->at++;
    int error = 0;
    while (!error && *parser->at == '(')
        error = parse_parentheses(parser, depth + 1);
    return error;
}

static int filter_parse_item(struct parser *parser)
{
    const char *attribute = parser->at;
    while (is_attribute_char(*parser->at))
        parser->at++;
    size_t size = (size_t)(parser->at - attribute);
    bool extensible = *parser->at == ':';
    if (size == 0 && !extensible)
        return fail_expected(parser, "an attribute, '&', '|' or '!'");
    if (extensible)
        skip_rule(parser);
    else if (*parser->at && strchr("<>~", *parser->at))
        parser->at++;
    if (*parser->at == '=') {
        parser->at++;
        return parse_value(parser);
    }
    if (parser->at != attribute && strchr("<>~", parser->at[-1]))
        return fail_expected(parser, "'='");
    if (*parser->at != ')')
        return fail_expected(parser, "'=' or ')'");
    if (size == 0)
        return fail_expected(parser, "'=' and a value");
    return add_bare_item(parser, attribute, size);
}

static bool is_attribute_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-;._", c));
}

/* Skips the ":dn:rule:" of an extensible match. */
static void skip_rule(struct parser *parser)
{
    while (*parser->at == ':' && parser->at[1] != '=') {
        parser->at++;
        while (is_attribute_char(*parser->at))
            parser->at++;
    }
    if (*parser->at == ':')
        parser->at++;
}

/* RFC 4515 3: no bare parentheses; two hexadecimal digits after a backslash. */
static int parse_value(struct parser *parser)
{
    while (*parser->at && *parser->at != ')') {
        if (*parser->at == '(')
            return fail_expected(parser, "\\28 for a parenthesis in a value");
        if (*parser->at == '\\' && strspn(parser->at + 1, "0123456789abcdefABCDEF") < 2) {
            parser->at++;
            return fail_expected(parser, "two hexadecimal digits");
        }
        parser->at++;
    }
    return *parser->at ? 0 : fail_expected(parser, "')'");
}

/* Replaces "(attribute)" by a piece. An extensible match without a value becomes a presence test,
 * as does any attribute without known values. */
static int add_bare_item(struct parser *parser, const char *attribute, size_t size)
{
    int error = end_text_piece(parser, attribute - 1);
    if (error)
        return error;
    if (!add_piece(parser->filter, find_kind(attribute, size), attribute, size))
        return -ENOMEM;
    parser->text = parser->at + 1;
    return 0;
}

/* Turns the text from parser->text to end into a piece. */
static int end_text_piece(struct parser *parser, const char *end)
{
    if (end == parser->text)
        return 0;
    size_t size = (size_t)(end - parser->text);
    return add_piece(parser->filter, PIECE_TEXT, parser->text, size) ? 0 : -ENOMEM;
}

static struct piece *add_piece(struct ldap_filter *filter, enum piece_kind kind, const char *text,
                               size_t size)
{
    struct piece *larger = array_grow(filter->pieces, filter->count, sizeof *larger);
    if (!larger)
        return NULL;
    filter->pieces = larger;
    char *copy = NULL;
    if (text && !(copy = strndup(text, size)))
        return NULL;
    filter->pieces[filter->count] = (struct piece){.kind = kind, .text = copy};
    return &filter->pieces[filter->count++];
}

static enum piece_kind find_kind(const char *attribute, size_t size)
{
    for (size_t i = 0; i < sizeof attribute_kinds / sizeof attribute_kinds[0]; i++)
        if (strlen(attribute_kinds[i].attribute) == size &&
            strncasecmp(attribute_kinds[i].attribute, attribute, size) == 0)
            return attribute_kinds[i].kind;
    return PIECE_PRESENT;
}

struct ldap_filter *ldap_filter_guess(const char *base_pattern, char *const *attributes)
{
    struct ldap_filter *filter = calloc(1, sizeof *filter);
    if (!filter)
        return NULL;
    enum piece_kind kind = PIECE_TEXT;
    const char *text = "(objectClass=*)";
    if (is_domain_pattern(base_pattern)) {
        kind = PIECE_USER;
        text = "sAMAccountName";
    }
    for (size_t i = sizeof guesses / sizeof guesses[0]; i-- > 0;)
        if (has_attribute(attributes, guesses[i].attribute)) {
            kind = guesses[i].kind;
            text = guesses[i].text;
        }
    if (add_piece(filter, kind, text, text ? strlen(text) : 0))
        return filter;
    ldap_filter_free(filter);
    return NULL;
}

/* "DC,DC": the domain itself. */
static bool is_domain_pattern(const char *pattern)
{
    if (!pattern || !*pattern)
        return false;
    while (strncasecmp(pattern, "DC", 2) == 0) {
        if (pattern[2] == '\0')
            return true;
        if (pattern[2] != ',')
            return false;
        pattern += 3;
    }
    return false;
}

static bool has_attribute(char *const *attributes, const char *wanted)
{
    for (; attributes && *attributes; attributes++)
        if (strcasecmp(*attributes, wanted) == 0)
            return true;
    return false;
}

void ldap_filter_free(struct ldap_filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->count; i++)
        free(filter->pieces[i].text);
    free(filter->pieces);
    free(filter);
}

char *ldap_filter_fill(const struct ldap_filter *filter, struct conversation *conversation)
{
    struct filter_text text = {0};
    for (size_t i = 0; i < filter->count; i++) {
        const struct piece *piece = &filter->pieces[i];
        if (!fillers[piece->kind](piece, conversation, &text))
            fill_present(piece, conversation, &text);
    }
    if (!text.error)
        return text.data;
    free(text.data);
    return NULL;
}

static bool fill_present(const struct piece *piece, struct conversation *conversation,
                         struct filter_text *out)
{
    (void)conversation;
    append_bytes(out, "(", 1);
    append_string(out, piece->text);
    append_bytes(out, "=*)", 3);
    return true;
}

static bool fill_text(const struct piece *piece, struct conversation *conversation,
                      struct filter_text *out)
{
    (void)conversation;
    append_string(out, piece->text);
    return true;
}

static bool fill_account(const struct piece *piece, struct conversation *conversation,
                         struct filter_text *out)
{
    const struct dc *dc = conversation->dc;
    if (dc->account_count == 0)
        return false;
    size_t sorts = dc->machines ? 2 : 1;
    size_t i = conversation_random(conversation, sorts * dc->account_count);
    const struct account *account =
        i < dc->account_count ? &dc->users[i] : &dc->machines[i - dc->account_count];
    if (account->name)
        add_string_item(out, piece->text, account->name);
    return account->name != NULL;
}

static void add_string_item(struct filter_text *out, const char *attribute, const char *value)
{
    add_item(out, attribute, "=", value, strlen(value));
}

static void add_item(struct filter_text *out, const char *attribute, const char *operator,
                     const void * value, size_t size)
{
    append_bytes(out, "(", 1);
    append_string(out, attribute);
    append_string(out, operator);
    append_value(out, value, size);
    append_bytes(out, ")", 1);
}

static bool fill_user(const struct piece *piece, struct conversation *conversation,
                      struct filter_text *out)
{
    const struct account *user = draw_user(conversation);
    if (!user)
        return false;
    if (conversation->dc->options.generic_ldap && user->dn && add_rdn_item(out, user->dn))
        return true;
    if (user->name)
        add_string_item(out, piece->text, user->name);
    return user->name != NULL;
}

static const struct account *draw_user(struct conversation *conversation)
{
    const struct dc *dc = conversation->dc;
    if (dc->account_count == 0)
        return NULL;
    return &dc->users[conversation_random(conversation, dc->account_count)];
}

/* Appends "(uid=jdoe)" for "uid=jdoe,ou=people,...", unless that requires decoding the DN. */
static bool add_rdn_item(struct filter_text *out, const char *dn)
{
    size_t size = strcspn(dn, ",");
    size_t type = strcspn(dn, "=");
    if (type == 0 || type >= size || strcspn(dn, "\\+\"#") < size)
        return false;
    append_bytes(out, "(", 1);
    append_bytes(out, dn, type + 1);
    append_value(out, dn + type + 1, size - type - 1);
    append_bytes(out, ")", 1);
    return true;
}

static bool fill_uid(const struct piece *piece, struct conversation *conversation,
                     struct filter_text *out)
{
    const struct account *user =
        conversation->dc->options.generic_ldap ? draw_user(conversation) : NULL;
    if (!user || !user->name)
        return false;
    add_string_item(out, piece->text, user->name);
    return true;
}

/* userPrincipalName and mail of the client. There is no domain with --server ldap. */
static bool fill_address(const struct piece *piece, struct conversation *conversation,
                         struct filter_text *out)
{
    const char *domain = conversation->dc->dns_domain;
    const struct account *user = conversation->user;
    if (!domain || !user || !user->name)
        return false;
    append_bytes(out, "(", 1);
    append_string(out, piece->text);
    append_bytes(out, "=", 1);
    append_value(out, user->name, strlen(user->name));
    append_bytes(out, "@", 1);
    append_value(out, domain, strlen(domain));
    append_bytes(out, ")", 1);
    return true;
}

static bool fill_value(const struct piece *piece, struct conversation *conversation,
                       struct filter_text *out)
{
    static const enum catalogue_value values[] = {
        [PIECE_RDN] = CATALOGUE_RDN,           [PIECE_DN] = CATALOGUE_DN,
        [PIECE_SID] = CATALOGUE_SID,           [PIECE_GUID] = CATALOGUE_GUID,
        [PIECE_CATEGORY] = CATALOGUE_CATEGORY, [PIECE_SPN] = CATALOGUE_SPN,
        [PIECE_HOST] = CATALOGUE_HOST,
    };
    const struct catalogue_bytes *value =
        catalogue_draw(conversation->dc->catalogue, conversation, values[piece->kind]);
    if (value)
        add_item(out, piece->text, "=", value->data, value->size);
    return value != NULL;
}

static bool fill_usn(const struct piece *piece, struct conversation *conversation,
                     struct filter_text *out)
{
    char digits[24];
    uint64_t usn = catalogue_highest_usn(conversation->dc->catalogue);
    int size = snprintf(digits, sizeof digits, "%" PRIu64, usn);
    add_item(out, piece->text, ">=", digits, (size_t)size);
    return true;
}

static bool fill_domain(const struct piece *piece, struct conversation *conversation,
                        struct filter_text *out)
{
    const char *base = conversation->dc->base_dn;
    if (base)
        add_string_item(out, piece->text, base);
    return base != NULL;
}

/* A client requests the few policies that apply to it, not all of a large domain. */
enum { GPOS_ASKED_MAX = 30 };

static bool fill_gpos(const struct piece *piece, struct conversation *conversation,
                      struct filter_text *out)
{
    (void)piece;
    size_t count, first = 0;
    const struct catalogue_bytes *const *gpos = catalogue_gpos(conversation->dc->catalogue, &count);
    if (count == 0) {
        append_string(out, "(objectClass=groupPolicyContainer)");
        return true;
    }
    if (count > GPOS_ASKED_MAX)
        first = conversation_random(conversation, count - GPOS_ASKED_MAX + 1);
    append_bytes(out, "(|", 2);
    for (size_t i = first; i < count && i < first + GPOS_ASKED_MAX; i++)
        add_item(out, "distinguishedName", "=", gpos[i]->data, gpos[i]->size);
    append_bytes(out, ")", 1);
    return true;
}

static bool fill_linked(const struct piece *piece, struct conversation *conversation,
                        struct filter_text *out)
{
    (void)piece;
    const struct dc *dc = conversation->dc;
    if (!dc->base_dn) {
        append_string(out, "(gpLink=*)");
        return true;
    }
    append_bytes(out, "(|", 2);
    add_string_item(out, "distinguishedName", dc->base_dn);
    append_string(out, "(distinguishedName=OU=Domain Controllers,");
    append_value(out, dc->base_dn, strlen(dc->base_dn));
    append_bytes(out, ")", 1);
    if (dc->instance_dn)
        add_string_item(out, "distinguishedName", dc->instance_dn);
    append_bytes(out, ")", 1);
    return true;
}

static void append_bytes(struct filter_text *text, const char *bytes, size_t size)
{
    if (text->error)
        return;
    if (text->capacity - text->size <= size) {
        size_t capacity = 2 * text->capacity + size + 64;
        char *larger = realloc(text->data, capacity);
        if (!larger) {
            text->error = -ENOMEM;
            return;
        }
        text->data = larger;
        text->capacity = capacity;
    }
    memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

static void append_string(struct filter_text *text, const char *string)
{
    append_bytes(text, string, strlen(string));
}

/* Appends a value (RFC 4515 3): special characters, and bytes that are not printable ASCII, as \XX.
 */
static void append_value(struct filter_text *text, const void *value, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = value;
    for (size_t i = 0; i < size;) {
        size_t run = i;
        while (run < size && is_plain(bytes[run]))
            run++;
        if (run > i) {
            append_bytes(text, (const char *)bytes + i, run - i);
            i = run;
            continue;
        }
        char escaped[] = {'\\', digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        append_bytes(text, escaped, sizeof escaped);
        i++;
    }
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && !strchr("*()\\", byte);
}
