/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and reads the fields of packets. */
#include "packets/packet_details.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

static const struct packet_word *find_word(const struct packet_rule *rule, const char *text);
static bool is_pattern(const char *text);
static bool is_name(const char *text);
static bool is_attribute(const char *text);
static bool is_oid(const char *text);
static bool is_dns_type(const char *text);
static bool rule_number(const struct packet_rule *rule, const char *text, uint64_t *number);
static bool read_number(const char *text, uint64_t *number);
static bool in_ranges(const char *ranges, uint64_t number);
static void list_words(const struct packet_word *words, char *buffer, size_t size);
static void list_numbers(const struct packet_rule *rule, char *buffer, size_t size);
static int read_field(const struct packet_rule *rule, const struct packet_field *field,
                      struct packet_value *value, struct error *error);
static void read_value(const struct packet_rule *rule, const char *text,
                       struct packet_value *value);

const struct packet_rule *packet_rule_find(const struct packet_row *row, const char *key)
{
    for (const struct packet_rule *rule = row ? row->rules : NULL; rule && rule->key; rule++)
        if (strcmp(rule->key, key) == 0)
            return rule;
    return NULL;
}

bool packet_rule_is_list(const struct packet_rule *rule)
{
    return rule->type == PACKET_ATTRIBUTES || rule->type == PACKET_OIDS;
}

const char *packet_rule_check(const struct packet_rule *rule, const char *text)
{
    const struct packet_word *word;
    uint64_t number;
    switch (rule->type) {
    case PACKET_WORD:
        word = find_word(rule, text);
        return !word ? NULL : word->of ? word->of : text;
    case PACKET_FILTER:
        return text;
    case PACKET_PATTERN:
        return is_pattern(text) ? text : NULL;
    case PACKET_NAME:
        return is_name(text) ? text : NULL;
    case PACKET_ATTRIBUTES:
        return is_attribute(text) ? text : NULL;
    case PACKET_OID:
    case PACKET_OIDS:
        return is_oid(text) ? text : NULL;
    case PACKET_FLAG:
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ? text : NULL;
    case PACKET_NUMBER:
        return rule_number(rule, text, &number) ? text : NULL;
    case PACKET_RRTYPE:
        return is_dns_type(text) ? text : NULL;
    }
    return NULL;
}

static const struct packet_word *find_word(const struct packet_rule *rule, const char *text)
{
    for (const struct packet_word *word = rule->words; word->name; word++)
        if (strcmp(word->name, text) == 0)
            return word;
    return NULL;
}

static bool is_pattern(const char *text)
{
    if (*text == '\0')
        return true;
    for (;;) {
        size_t length = strspn(text, LETTERS DIGITS ".-");
        if (length == 0)
            return false;
        text += length;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

static bool is_name(const char *text)
{
    size_t length = strspn(text, LETTERS DIGITS "._-");
    return length > 0 && length < 64 && text[length] == '\0';
}

/* Names of attributes (with options), "*", "+", "1.1": no blanks, no commas. */
static bool is_attribute(const char *text)
{
    if (*text == '\0')
        return false;
    for (; *text; text++)
        if (!isgraph((unsigned char)*text) || *text == ',')
            return false;
    return true;
}

/* A numericoid: two or more numbers with dots between them (RFC 4512 1.4). */
static bool is_oid(const char *text)
{
    size_t numbers = 0, digits;
    for (; (digits = strspn(text, DIGITS)) > 0; text++) {
        numbers++;
        text += digits;
        if (*text != '.')
            return *text == '\0' && numbers > 1;
    }
    return false;
}

/* In capital letters, as files write them. */
static bool is_dns_type(const char *text)
{
    for (const char *c = text; *c; c++)
        if (islower((unsigned char)*c))
            return false;
    return packet_dns_type(text) != 0;
}

static bool rule_number(const struct packet_rule *rule, const char *text, uint64_t *number)
{
    return read_number(text, number) && *number >= rule->min && *number <= rule->max &&
           (!rule->ranges || in_ranges(rule->ranges, *number));
}

/* Decimal, or hexadecimal with 0x. */
static bool read_number(const char *text, uint64_t *number)
{
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hexadecimal ? text + 2 : text;
    size_t length = strspn(digits, hexadecimal ? DIGITS "abcdefABCDEF" : DIGITS);
    if (length == 0 || length > 16 || digits[length] != '\0')
        return false;
    *number = strtoull(digits, NULL, hexadecimal ? 16 : 10);
    return true;
}

/* "1-9 11-13 20" */
static bool in_ranges(const char *ranges, uint64_t number)
{
    for (char *end; *ranges; ranges = *end ? end + 1 : end) {
        uint64_t from = strtoull(ranges, &end, 10);
        uint64_t to = *end == '-' ? strtoull(end + 1, &end, 10) : from;
        if (number >= from && number <= to)
            return true;
    }
    return false;
}

const char *packet_rule_expected(const struct packet_rule *rule, char *buffer, size_t size)
{
    static const char *const texts[] = {
        [PACKET_FILTER] = "an LDAP filter without values",
        [PACKET_PATTERN] = "a DN pattern like CN,CN,DC,DC",
        [PACKET_NAME] = "a word of letters, digits, '.', '-' and '_'",
        [PACKET_ATTRIBUTES] = "a list of names without blanks and commas",
        [PACKET_OID] = "an OID like 1.2.840.113556.1.4.801",
        [PACKET_FLAG] = "true or false",
        [PACKET_RRTYPE] = "a DNS type like A, SRV or TYPE65",
    };
    if (rule->type == PACKET_WORD)
        list_words(rule->words, buffer, size);
    else if (rule->type == PACKET_NUMBER)
        list_numbers(rule, buffer, size);
    else if (rule->type == PACKET_OIDS)
        snprintf(buffer, size, "a list of at most %llu OIDs", (unsigned long long)rule->max);
    else
        snprintf(buffer, size, "%s", texts[rule->type]);
    return buffer;
}

static void list_words(const struct packet_word *words, char *buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "one of ");
    for (const struct packet_word *word = words; word->name && used < size; word++)
        if (!word->of)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", word == words ? "" : ", ",
                                     word->name);
}

/* "a whole number: 1-9, 11-13" */
static void list_numbers(const struct packet_rule *rule, char *buffer, size_t size)
{
    if (!rule->ranges) {
        snprintf(buffer, size, "a whole number from %llu to %llu", (unsigned long long)rule->min,
                 (unsigned long long)rule->max);
        return;
    }
    size_t used = (size_t)snprintf(buffer, size, "one of ");
    for (const char *at = rule->ranges; *at && used + 2 < size; at++) {
        if (*at == ' ')
            buffer[used++] = ',';
        buffer[used++] = *at;
    }
    buffer[used] = '\0';
}

const char *packet_rule_keys(const struct packet_row *row, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (const struct packet_rule *rule = row ? row->rules : NULL; rule && rule->key; rule++)
        if (used < size)
            used +=
                (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", rule->key);
    return buffer;
}

int packet_details_read(struct packet_details *details, const struct packet_row *row,
                        const struct packet_field *fields, size_t count, struct error *error)
{
    *details = (struct packet_details){.row = row, .count = 1};
    for (size_t i = 0; row->rules && row->rules[i].key; i++)
        if (row->rules[i].usual)
            read_value(&row->rules[i], row->rules[i].usual, &details->values[i]);
    for (size_t i = 0; i < count; i++) {
        const struct packet_rule *rule = packet_rule_find(row, fields[i].key);
        if (!rule)
            return error_set(error, -EINVAL, "\"%.80s\" is not a field of %s:%s", fields[i].key,
                             row->protocol->name, row->opcode);
        int result = read_field(rule, &fields[i], &details->values[rule - row->rules], error);
        if (result < 0)
            return result;
    }
    return 0;
}

static int read_field(const struct packet_rule *rule, const struct packet_field *field,
                      struct packet_value *value, struct error *error)
{
    char expected[200];
    bool list = packet_rule_is_list(rule);
    if (!list && field->count != 1)
        return error_set(error, -EINVAL, "%s: expected one value, found %zu", rule->key,
                         field->count);
    if (rule->type == PACKET_OIDS && field->count > rule->max)
        return error_set(error, -EINVAL, "%s: expected %s, found %zu", rule->key,
                         packet_rule_expected(rule, expected, sizeof expected), field->count);
    for (size_t i = 0; i < field->count; i++)
        if (!packet_rule_check(rule, field->values[i]))
            return error_set(error, -EINVAL, "%s: expected %s, found \"%.80s\"", rule->key,
                             packet_rule_expected(rule, expected, sizeof expected),
                             field->values[i]);
    *value = (struct packet_value){.given = true};
    if (list) {
        value->count = field->count;
        value->items = field->values;
    } else {
        read_value(rule, field->values[0], value);
    }
    return 0;
}

/* A text that the rule allows. */
static void read_value(const struct packet_rule *rule, const char *text, struct packet_value *value)
{
    value->text = packet_rule_check(rule, text);
    if (rule->type == PACKET_WORD)
        value->number = find_word(rule, value->text)->value;
    else if (rule->type == PACKET_NUMBER)
        rule_number(rule, text, &value->number);
    else if (rule->type == PACKET_FLAG)
        value->number = strcmp(text, "true") == 0;
    else if (rule->type == PACKET_RRTYPE)
        value->number = packet_dns_type(text);
}

const struct packet_value *packet_details_get(const struct packet_details *details, const char *key)
{
    const struct packet_rule *rule = packet_rule_find(details->row, key);
    if (!rule)
        abort(); /* a player reads a field that its row does not have */
    return &details->values[rule - details->row->rules];
}

unsigned packet_details_needs(const struct packet_row *row, const struct packet_field *fields,
                              size_t count)
{
    unsigned needs = 0;
    for (size_t i = 0; i < count; i++) {
        const struct packet_rule *rule = packet_rule_find(row, fields[i].key);
        bool word = rule && rule->type == PACKET_WORD && fields[i].count == 1;
        const struct packet_word *found = word ? find_word(rule, fields[i].values[0]) : NULL;
        needs |= found ? found->needs : 0;
    }
    return needs;
}

static const struct {
    const char *name;
    uint16_t type;
} dns_types[] = {{"A", 1},  {"AAAA", 28}, {"ANY", 255}, {"CNAME", 5}, {"MX", 15},
                 {"NS", 2}, {"PTR", 12},  {"SOA", 6},   {"SRV", 33},  {"TXT", 16}};

enum { DNS_TYPE_NAMES = sizeof dns_types / sizeof dns_types[0] };

/* RFC 1035 3.2.2, RFC 2782, RFC 3596; others by their number, RFC 3597 5. */
uint16_t packet_dns_type(const char *text)
{
    uint64_t number;
    for (size_t i = 0; i < DNS_TYPE_NAMES; i++)
        if (strcasecmp(dns_types[i].name, text) == 0)
            return dns_types[i].type;
    bool numbered = strncasecmp(text, "TYPE", 4) == 0 && isdigit((unsigned char)text[4]) &&
                    text[4 + strspn(text + 4, DIGITS)] == '\0' && read_number(text + 4, &number);
    return numbered && number <= UINT16_MAX ? (uint16_t)number : 0;
}

const char *packet_dns_type_name(size_t i)
{
    return i < DNS_TYPE_NAMES ? dns_types[i].name : NULL;
}
