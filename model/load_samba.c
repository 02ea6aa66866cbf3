/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samba v2 model files. jansson reads the values. A cursor that moves along the same text, which is
 * valid JSON by then, gives the place of each value; jansson keeps an object's keys in the order of
 * the file.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/load_private.h"
#include "model/model_load.h"
#include "model/samba_details.h"

struct json_cursor {
    const char *at;
    struct text_place place;
};

/* Each reader starts with the cursor before its value and moves it past the value. */
static int load_samba_read_version(struct builder *builder, struct json_cursor *cursor,
                                   json_t *value);
static int read_ngrams(struct builder *builder, struct json_cursor *cursor, json_t *value);
static int read_query_details(struct builder *builder, struct json_cursor *cursor, json_t *value);
static int load_samba_read_packet_rate(struct builder *builder, struct json_cursor *cursor,
                                       json_t *value);
static int load_samba_read_dns(struct builder *builder, struct json_cursor *cursor, json_t *value);
static int read_duration(struct builder *builder, struct json_cursor *cursor, json_t *value);

/* In the order in which they are read: query_details needs the packets of ngrams. */
static const struct {
    const char *key;
    bool required;
    int (*read)(struct builder *builder, struct json_cursor *cursor, json_t *value);
} samba_sections[] = {
    {"version", true, load_samba_read_version},
    {"ngrams", true, read_ngrams},
    {"query_details", false, read_query_details},
    {"packet_rate", true, load_samba_read_packet_rate},
    {"dns", false, load_samba_read_dns},
    {"cumulative_duration", false, read_duration},
};

enum { SECTIONS = sizeof samba_sections / sizeof samba_sections[0] };

/* Reads one member of an object. owner is the number of what the object belongs to. */
typedef int read_member(struct builder *builder, struct json_cursor *cursor, uint32_t owner,
                        const char *key, struct text_place place, json_t *value);

static int check_depth(struct builder *builder, const char *text);
static int refuse_syntax(struct builder *builder, const json_error_t *error);
static unsigned token_column(const json_error_t *error);
static int load_samba_read_root(struct builder *builder, const char *text, json_t *root);
static bool is_version_1(const json_t *root);
static int find_sections(struct builder *builder, struct json_cursor cursor, json_t *root,
                         struct json_cursor places[SECTIONS]);
static int load_samba_read_object(struct builder *builder, struct json_cursor *cursor,
                                  json_t *object, const char *what, read_member *read,
                                  uint32_t owner);
static int load_samba_read_history(struct builder *builder, struct json_cursor *cursor,
                                   uint32_t owner, const char *key, struct text_place place,
                                   json_t *value);
static int read_transition(struct builder *builder, struct json_cursor *cursor, uint32_t history,
                           const char *entry, struct text_place place, json_t *value);
static int load_samba_read_packet_details(struct builder *builder, struct json_cursor *cursor,
                                          uint32_t owner, const char *key, struct text_place place,
                                          json_t *value);
static int load_samba_read_details(struct builder *builder, struct json_cursor *cursor,
                                   uint32_t type, const char *text, struct text_place place,
                                   json_t *value);
static int load_samba_add_details(struct builder *builder, uint32_t type, struct text_place place,
                                  const char *text, uint64_t count);
static int read_dns_opcode(struct builder *builder, struct json_cursor *cursor, uint32_t owner,
                           const char *opcode, struct text_place place, json_t *value);
static int load_samba_read_count(struct builder *builder, struct text_place place,
                                 const json_t *value, uint64_t *count);
static int load_samba_unexpected(struct builder *builder, struct text_place place, const char *what,
                                 const json_t *value);
static struct text_place cursor_to_key(struct json_cursor *cursor);
static struct text_place cursor_to_value(struct json_cursor *cursor);
static void cursor_enter(struct json_cursor *cursor);
static void cursor_leave(struct json_cursor *cursor);
static void cursor_skip_value(struct json_cursor *cursor);
static void cursor_skip_string(struct json_cursor *cursor);
static void cursor_skip(struct json_cursor *cursor, const char *these);
static void cursor_step(struct json_cursor *cursor);

int load_samba(struct builder *builder, const char *text, size_t size, bool *version_3)
{
    json_error_t error;
    size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    int result = check_depth(builder, text + mark);
    if (result < 0)
        return result;
    json_t *root = json_loadb(text + mark, size - mark, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return refuse_syntax(builder, &error);
    *version_3 =
        json_is_object(root) && json_object_get(root, "chain") && !json_object_get(root, "ngrams");
    if (!*version_3) {
        builder->separator = '\t';
        builder->length = 0;
        builder->adds_histories = true;
        builder->add_ends = load_samba_add_ends;
        builder->model->samba_v2 = true;
        builder->model->separate_legs = true;
        result = load_samba_read_root(builder, text + mark, root);
    }
    json_decref(root);
    return result;
}

/* jansson accepts deeper nesting. Broken strings are skipped here and refused by jansson. */
static int check_depth(struct builder *builder, const char *text)
{
    struct json_cursor cursor = {text, {1, 1}};
    size_t depth = 0;
    while (*cursor.at) {
        if (*cursor.at == '"') {
            cursor_skip_string(&cursor);
            continue;
        }
        if (*cursor.at == '{' || *cursor.at == '[')
            depth++;
        else if ((*cursor.at == '}' || *cursor.at == ']') && depth > 0)
            depth--;
        if (depth > MODEL_NESTING_MAX)
            return builder_wrong(builder, cursor.place, "expected at most %d levels of nesting",
                                 MODEL_NESTING_MAX);
        cursor_step(&cursor);
    }
    return 0;
}

static int refuse_syntax(struct builder *builder, const json_error_t *error)
{
    struct text_place place = {error->line > 0 ? (unsigned)error->line : 1, token_column(error)};
    bool twice = json_error_code(error) == json_error_duplicate_key;
    if (json_error_code(error) == json_error_out_of_memory)
        return error_no_memory(builder->error);
    return builder_wrong(builder, place, "expected %s: %s", twice ? "each key once" : "JSON",
                         error->text);
}

/* jansson gives the column of a token's last character, and quotes the token ("... near 'NaN'"). */
static unsigned token_column(const json_error_t *error)
{
    static const char near[] = " near '";
    const char *last = NULL;
    unsigned column = error->column > 0 ? (unsigned)error->column : 1;
    for (const char *at = error->text; (at = strstr(at, near)); at++)
        last = at + strlen(near);
    unsigned length = last ? (unsigned)strlen(last) - 1 : 1;
    return length > 0 && length <= column ? column - length + 1 : column;
}

static int load_samba_read_root(struct builder *builder, const char *text, json_t *root)
{
    struct json_cursor places[SECTIONS] = {0};
    struct json_cursor cursor = {text, {1, 1}};
    struct text_place place = cursor_to_value(&cursor);
    if (!json_is_object(root))
        return load_samba_unexpected(builder, place, "a model: an object", root);
    if (is_version_1(root))
        return builder_wrong(builder, place,
                             "found a Samba traffic model of version 1 (Samba 4.7 to 4.9), which "
                             "has no packet rate; recreate it from its capture with traffic-learn");
    int result = find_sections(builder, cursor, root, places);
    for (size_t i = 0; i < SECTIONS && result == 0; i++) {
        json_t *value = json_object_get(root, samba_sections[i].key);
        if (value)
            result = samba_sections[i].read(builder, &places[i], value);
        else if (samba_sections[i].required)
            result = builder_wrong(builder, place, "expected the key %s", samba_sections[i].key);
    }
    return result;
}

static bool is_version_1(const json_t *root)
{
    const json_t *version = json_object_get(root, "version");
    return json_is_object(json_object_get(root, "ngrams")) &&
           (json_object_get(root, "conversation_rate") || json_integer_value(version) == 1);
}

/* Finds where the value of each section begins. Refuses unknown keys. */
static int find_sections(struct builder *builder, struct json_cursor cursor, json_t *root,
                         struct json_cursor places[SECTIONS])
{
    const char *key;
    json_t *value;
    cursor_enter(&cursor);
    json_object_foreach(root, key, value)
    {
        size_t i = 0;
        struct text_place place = cursor_to_key(&cursor);
        while (i < SECTIONS && strcmp(samba_sections[i].key, key) != 0)
            i++;
        if (i == SECTIONS)
            return builder_wrong(builder, place,
                                 "expected one of the keys version, ngrams, query_details, "
                                 "packet_rate, dns, cumulative_duration, found '%.64s'",
                                 key);
        places[i] = cursor;
        cursor_skip_value(&cursor);
    }
    return 0;
}

static int load_samba_read_version(struct builder *builder, struct json_cursor *cursor,
                                   json_t *value)
{
    struct text_place place = cursor_to_value(cursor);
    if (!json_is_integer(value) || json_integer_value(value) != 2)
        return load_samba_unexpected(builder, place, "version 2", value);
    cursor_skip_value(cursor);
    return 0;
}

static int read_ngrams(struct builder *builder, struct json_cursor *cursor, json_t *value)
{
    return load_samba_read_object(builder, cursor, value, "an object of histories",
                                  load_samba_read_history, 0);
}

/* Reads all members of an object in the order of the file; what is for "expected ...". */
static int load_samba_read_object(struct builder *builder, struct json_cursor *cursor,
                                  json_t *object, const char *what, read_member *read,
                                  uint32_t owner)
{
    const char *key;
    json_t *value;
    struct text_place place = cursor_to_value(cursor);
    if (!json_is_object(object))
        return load_samba_unexpected(builder, place, what, object);
    cursor_enter(cursor);
    json_object_foreach(object, key, value)
    {
        place = cursor_to_key(cursor);
        int result = read(builder, cursor, owner, key, place, value);
        if (result < 0)
            return result;
    }
    cursor_leave(cursor);
    return 0;
}

static int load_samba_read_history(struct builder *builder, struct json_cursor *cursor,
                                   uint32_t owner, const char *key, struct text_place place,
                                   json_t *value)
{
    (void)owner;
    uint32_t history;
    int result = builder_add_history(builder, key, place, &history);
    if (result < 0)
        return result;
    return load_samba_read_object(builder, cursor, value, "an object of packets and counts",
                                  read_transition, history);
}

static int read_transition(struct builder *builder, struct json_cursor *cursor, uint32_t history,
                           const char *entry, struct text_place place, json_t *value)
{
    uint64_t count = 0;
    int result = load_samba_read_count(builder, cursor->place, value, &count);
    if (result == 0)
        result = builder_add_transition(builder, history, entry, count, place);
    cursor_skip_value(cursor);
    return result;
}

static int read_query_details(struct builder *builder, struct json_cursor *cursor, json_t *value)
{
    return load_samba_read_object(builder, cursor, value, "an object of packets",
                                  load_samba_read_packet_details, 0);
}

static int load_samba_read_packet_details(struct builder *builder, struct json_cursor *cursor,
                                          uint32_t owner, const char *key, struct text_place place,
                                          json_t *value)
{
    (void)owner;
    uint32_t type;
    int result = builder_find_type(builder, key, place, &type);
    if (result < 0)
        return result;
    if (type == UINT32_MAX)
        builder_warn(builder, place, "details of %.64s, which the chain lacks, left out", key);
    return load_samba_read_object(builder, cursor, value, "an object of details and counts",
                                  load_samba_read_details, type);
}

static int load_samba_read_details(struct builder *builder, struct json_cursor *cursor,
                                   uint32_t type, const char *text, struct text_place place,
                                   json_t *value)
{
    uint64_t count = 0;
    int result = load_samba_read_count(builder, cursor->place, value, &count);
    if (result == 0 && type != UINT32_MAX)
        result = load_samba_add_details(builder, type, place, text, count);
    cursor_skip_value(cursor);
    return result;
}

static int load_samba_add_details(struct builder *builder, uint32_t type, struct text_place place,
                                  const char *text, uint64_t count)
{
    struct model *model = builder->model;
    struct packet_field *fields;
    size_t field_count;
    bool foreign = false;
    const struct model_type *packet = &model->types[type];
    if (samba_details_read(&model->arena, packet->row, text, &fields, &field_count, &foreign) < 0)
        return error_no_memory(builder->error);
    if (foreign)
        builder_warn(builder, place, "details of %s:%s not understood, left out: '%.100s'",
                     packet->protocol, packet->opcode, text);
    return builder_add_details(builder, type, count, fields, field_count);
}

static int load_samba_read_packet_rate(struct builder *builder, struct json_cursor *cursor,
                                       json_t *value)
{
    struct text_place place = cursor_to_value(cursor);
    const json_t *packets = json_array_get(value, 0), *seconds = json_array_get(value, 1);
    struct model *model = builder->model;
    if (json_array_size(value) != 2 || !json_is_number(packets) || !json_is_number(seconds) ||
        json_number_value(packets) <= 0 || json_number_value(seconds) <= 0)
        return load_samba_unexpected(builder, place, "[packets, seconds], both above 0", value);
    model->packet_rate = json_number_value(packets) / json_number_value(seconds);
    model->source.packets = json_number_value(packets);
    model->source.seconds = json_number_value(seconds);
    if (!isfinite(model->packet_rate) || model->packet_rate <= 0)
        return load_samba_unexpected(builder, place, "[packets, seconds] in reason", value);
    cursor_skip_value(cursor);
    return 0;
}

static int load_samba_read_dns(struct builder *builder, struct json_cursor *cursor, json_t *value)
{
    return load_samba_read_object(builder, cursor, value, "an object of DNS opcodes and counts",
                                  read_dns_opcode, 0);
}

/* Opcode 0 counts the queries of clients; the others count replies of servers. */
static int read_dns_opcode(struct builder *builder, struct json_cursor *cursor, uint32_t owner,
                           const char *opcode, struct text_place place, json_t *value)
{
    (void)owner;
    uint64_t count = 0;
    if (opcode[0] == '\0' || opcode[strspn(opcode, "0123456789")] != '\0')
        return builder_wrong(builder, place, "expected a DNS opcode, found '%.64s'", opcode);
    int result = load_samba_read_count(builder, cursor->place, value, &count);
    if (result == 0 && strcmp(opcode, "0") == 0)
        builder->model->dns_queries = count;
    cursor_skip_value(cursor);
    return result;
}

static int read_duration(struct builder *builder, struct json_cursor *cursor, json_t *value)
{
    struct text_place place = cursor_to_value(cursor);
    if (!json_is_number(value) || json_number_value(value) < 0)
        return load_samba_unexpected(builder, place, "a number of seconds", value);
    cursor_skip_value(cursor);
    return 0;
}

static int load_samba_read_count(struct builder *builder, struct text_place place,
                                 const json_t *value, uint64_t *count)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 1 || (uint64_t)number > BUILDER_COUNT_MAX)
        return load_samba_unexpected(builder, place, "a whole number from 1 to 1000000000000",
                                     value);
    *count = (uint64_t)number;
    return 0;
}

static int load_samba_unexpected(struct builder *builder, struct text_place place, const char *what,
                                 const json_t *value)
{
    static const char *const kinds[] = {"an object", "an array", "a string", "a whole number",
                                        "a number",  "true",     "false",    "null"};
    if (json_is_integer(value))
        return builder_wrong(builder, place, "expected %s, found %lld", what,
                             (long long)json_integer_value(value));
    if (json_is_string(value))
        return builder_wrong(builder, place, "expected %s, found '%.64s'", what,
                             json_string_value(value));
    return builder_wrong(builder, place, "expected %s, found %s", what, kinds[json_typeof(value)]);
}

/* Moves past the next key, to its value. Returns the place of the key. */
static struct text_place cursor_to_key(struct json_cursor *cursor)
{
    struct text_place place = cursor_to_value(cursor);
    cursor_skip_string(cursor);
    cursor_to_value(cursor);
    return place;
}

/* Moves to the next key or value of a collection. Returns its place. */
static struct text_place cursor_to_value(struct json_cursor *cursor)
{
    cursor_skip(cursor, " \t\r\n,:");
    return cursor->place;
}

static void cursor_enter(struct json_cursor *cursor)
{
    cursor_to_value(cursor);
    cursor_step(cursor);
}

static void cursor_leave(struct json_cursor *cursor)
{
    cursor_skip(cursor, " \t\r\n");
    cursor_step(cursor);
}

/* Moves past a value of any kind. */
static void cursor_skip_value(struct json_cursor *cursor)
{
    size_t depth = 0;
    cursor_to_value(cursor);
    do {
        if (*cursor->at == '"') {
            cursor_skip_string(cursor);
        } else if (*cursor->at == '{' || *cursor->at == '[') {
            depth++;
            cursor_step(cursor);
        } else if (*cursor->at == '}' || *cursor->at == ']') {
            depth--;
            cursor_step(cursor);
        } else {
            while (*cursor->at && !strchr(" \t\r\n,:{}[]\"", *cursor->at))
                cursor_step(cursor);
        }
        if (depth > 0)
            cursor_to_value(cursor);
    } while (depth > 0 && *cursor->at);
}

static void cursor_skip_string(struct json_cursor *cursor)
{
    for (cursor_step(cursor); *cursor->at && *cursor->at != '"'; cursor_step(cursor))
        if (*cursor->at == '\\' && cursor->at[1])
            cursor_step(cursor);
    if (*cursor->at)
        cursor_step(cursor);
}

static void cursor_skip(struct json_cursor *cursor, const char *these)
{
    while (*cursor->at && strchr(these, *cursor->at))
        cursor_step(cursor);
}

/* Moves one byte. Columns count characters, not bytes. */
static void cursor_step(struct json_cursor *cursor)
{
    if (*cursor->at == '\n') {
        cursor->place.line++;
        cursor->place.column = 1;
    } else if (((unsigned char)cursor->at[1] & 0xc0) != 0x80) {
        cursor->place.column++;
    }
    cursor->at++;
}
