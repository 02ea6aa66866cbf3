/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samba v2 model files. jansson reads the values; a walk along the same text, which is known to be
 * valid JSON by then, gives the place of each (jansson keeps an object's keys in the file's order).
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/details.h"
#include "model/load.h"

/* ---- The walk ---- */

struct walk {
    const char *at;
    struct document_place place;
};

/* One byte on; columns count characters, not the bytes of one. */
static void load_samba_step(struct walk *walk)
{
    if (*walk->at == '\n') {
        walk->place.line++;
        walk->place.column = 1;
    } else if (((unsigned char)walk->at[1] & 0xc0) != 0x80) {
        walk->place.column++;
    }
    walk->at++;
}

static void skip(struct walk *walk, const char *these)
{
    while (*walk->at && strchr(these, *walk->at))
        load_samba_step(walk);
}

static void skip_string(struct walk *walk)
{
    for (load_samba_step(walk); *walk->at && *walk->at != '"'; load_samba_step(walk))
        if (*walk->at == '\\' && walk->at[1])
            load_samba_step(walk);
    if (*walk->at)
        load_samba_step(walk);
}

/* To the next key or value inside a collection; its place. */
static struct document_place walk_next(struct walk *walk)
{
    skip(walk, " \t\r\n,:");
    return walk->place;
}

static struct document_place walk_key(struct walk *walk)
{
    struct document_place place = walk_next(walk);
    skip_string(walk);
    walk_next(walk);
    return place;
}

/* Over a value of any kind. */
static void walk_over(struct walk *walk)
{
    size_t depth = 0;
    walk_next(walk);
    do {
        if (*walk->at == '"') {
            skip_string(walk);
        } else if (*walk->at == '{' || *walk->at == '[') {
            depth++;
            load_samba_step(walk);
        } else if (*walk->at == '}' || *walk->at == ']') {
            depth--;
            load_samba_step(walk);
        } else {
            while (*walk->at && !strchr(" \t\r\n,:{}[]\"", *walk->at))
                load_samba_step(walk);
        }
        if (depth > 0)
            walk_next(walk);
    } while (depth > 0 && *walk->at);
}

/* Into a collection, and out of it after its last element. */
static void walk_into(struct walk *walk)
{
    walk_next(walk);
    load_samba_step(walk);
}

static void walk_out(struct walk *walk)
{
    skip(walk, " \t\r\n");
    load_samba_step(walk);
}

/* ---- Values ---- */

static int load_samba_unexpected(struct builder *builder, struct document_place place,
                                 const char *what, const json_t *value)
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

static int load_samba_read_count(struct builder *builder, struct document_place place,
                                 const json_t *value, uint64_t *count)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 1 || (uint64_t)number > BUILDER_COUNT_MAX)
        return load_samba_unexpected(builder, place, "a whole number from 1 to 1000000000000",
                                     value);
    *count = (uint64_t)number;
    return 0;
}

/* ---- Sections: each is read with the walk standing before its value, and leaves it behind ---- */

static int load_samba_read_version(struct builder *builder, struct walk *walk, json_t *value)
{
    struct document_place place = walk_next(walk);
    if (!json_is_integer(value) || json_integer_value(value) != 2)
        return load_samba_unexpected(builder, place, "version 2", value);
    walk_over(walk);
    return 0;
}

/* Reads one member of an object: the walk stands before its value and is left behind it. owner is
 * what the object belongs to. */
typedef int read_member(struct builder *builder, struct walk *walk, uint32_t owner, const char *key,
                        struct document_place place, json_t *value);

/* All members of an object in the file's order; what says what was expected. */
static int load_samba_read_object(struct builder *builder, struct walk *walk, json_t *object,
                                  const char *what, read_member *read, uint32_t owner)
{
    const char *key;
    json_t *value;
    struct document_place place = walk_next(walk);
    if (!json_is_object(object))
        return load_samba_unexpected(builder, place, what, object);
    walk_into(walk);
    json_object_foreach(object, key, value)
    {
        place = walk_key(walk);
        int result = read(builder, walk, owner, key, place, value);
        if (result < 0)
            return result;
    }
    walk_out(walk);
    return 0;
}

static int read_transition(struct builder *builder, struct walk *walk, uint32_t history,
                           const char *entry, struct document_place place, json_t *value)
{
    uint64_t count = 0;
    int result = load_samba_read_count(builder, walk->place, value, &count);
    if (result == 0)
        result = builder_add_transition(builder, history, entry, count, place);
    walk_over(walk);
    return result;
}

static int load_samba_read_history(struct builder *builder, struct walk *walk, uint32_t owner,
                                   const char *key, struct document_place place, json_t *value)
{
    (void)owner;
    uint32_t history;
    int result = builder_add_history(builder, key, place, &history);
    return result < 0
               ? result
               : load_samba_read_object(builder, walk, value, "an object of packets and counts",
                                        read_transition, history);
}

static int read_ngrams(struct builder *builder, struct walk *walk, json_t *value)
{
    return load_samba_read_object(builder, walk, value, "an object of histories",
                                  load_samba_read_history, 0);
}

static int load_samba_add_details(struct builder *builder, uint32_t type,
                                  struct document_place place, const char *text, uint64_t count)
{
    struct model *model = builder->model;
    struct model_field *fields;
    size_t field_count;
    bool foreign = false;
    const struct model_type *packet = &model->types[type];
    if (details_from_samba(&model->arena, packet->protocol, packet->opcode, text, &fields,
                           &field_count, &foreign) < 0)
        return builder_no_memory(builder);
    if (foreign)
        builder_warn(builder, place, "details of %s:%s not understood, left out: '%.100s'",
                     packet->protocol, packet->opcode, text);
    return builder_add_details(builder, type, count, fields, field_count);
}

static int load_samba_read_details(struct builder *builder, struct walk *walk, uint32_t type,
                                   const char *text, struct document_place place, json_t *value)
{
    uint64_t count = 0;
    int result = load_samba_read_count(builder, walk->place, value, &count);
    if (result == 0 && type != UINT32_MAX)
        result = load_samba_add_details(builder, type, place, text, count);
    walk_over(walk);
    return result;
}

static int load_samba_read_packet_details(struct builder *builder, struct walk *walk,
                                          uint32_t owner, const char *key,
                                          struct document_place place, json_t *value)
{
    (void)owner;
    uint32_t type;
    int result = builder_find_type(builder, key, false, place, &type);
    if (result < 0)
        return result;
    if (type == UINT32_MAX)
        builder_warn(builder, place, "details of %.64s, which the chain lacks, left out", key);
    return load_samba_read_object(builder, walk, value, "an object of details and counts",
                                  load_samba_read_details, type);
}

static int read_query_details(struct builder *builder, struct walk *walk, json_t *value)
{
    return load_samba_read_object(builder, walk, value, "an object of packets",
                                  load_samba_read_packet_details, 0);
}

static int load_samba_read_packet_rate(struct builder *builder, struct walk *walk, json_t *value)
{
    struct document_place place = walk_next(walk);
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
    walk_over(walk);
    return 0;
}

/* 0 is a client's query, all else servers' replies. */
static int read_dns_opcode(struct builder *builder, struct walk *walk, uint32_t owner,
                           const char *opcode, struct document_place place, json_t *value)
{
    (void)owner;
    uint64_t count = 0;
    if (opcode[0] == '\0' || opcode[strspn(opcode, "0123456789")] != '\0')
        return builder_wrong(builder, place, "expected a DNS opcode, found '%.64s'", opcode);
    int result = load_samba_read_count(builder, walk->place, value, &count);
    if (result == 0 && strcmp(opcode, "0") == 0)
        builder->model->dns_queries = count;
    walk_over(walk);
    return result;
}

static int load_samba_read_dns(struct builder *builder, struct walk *walk, json_t *value)
{
    return load_samba_read_object(builder, walk, value, "an object of DNS opcodes and counts",
                                  read_dns_opcode, 0);
}

static int read_duration(struct builder *builder, struct walk *walk, json_t *value)
{
    struct document_place place = walk_next(walk);
    if (!json_is_number(value) || json_number_value(value) < 0)
        return load_samba_unexpected(builder, place, "a number of seconds", value);
    walk_over(walk);
    return 0;
}

/* ---- The file ---- */

static const struct section {
    const char *key;
    bool required;
    int (*read)(struct builder *builder, struct walk *walk, json_t *value);
} sections[] = {
    {"version", true, load_samba_read_version},         {"ngrams", true, read_ngrams},
    {"query_details", false, read_query_details}, /* after ngrams: their packets are known then */
    {"packet_rate", true, load_samba_read_packet_rate}, {"dns", false, load_samba_read_dns},
    {"cumulative_duration", false, read_duration},
};

enum { SECTIONS = sizeof sections / sizeof sections[0] };

/* Finds where each section begins; refuses keys that are none. */
static int find_sections(struct builder *builder, struct walk walk, json_t *root,
                         struct walk places[SECTIONS])
{
    const char *key;
    json_t *value;
    walk_into(&walk);
    json_object_foreach(root, key, value)
    {
        size_t i = 0;
        struct document_place place = walk_key(&walk);
        while (i < SECTIONS && strcmp(sections[i].key, key) != 0)
            i++;
        if (i == SECTIONS)
            return builder_wrong(builder, place,
                                 "expected one of the keys version, ngrams, query_details, "
                                 "packet_rate, dns, cumulative_duration, found '%.64s'",
                                 key);
        places[i] = walk;
        walk_over(&walk);
    }
    return 0;
}

static int load_samba_read_root(struct builder *builder, const char *text, json_t *root)
{
    struct walk places[SECTIONS] = {0};
    struct walk walk = {text, {1, 1}};
    struct document_place place = walk_next(&walk);
    int result = json_is_object(root)
                     ? 0
                     : load_samba_unexpected(builder, place, "a model: an object", root);
    if (result == 0)
        result = find_sections(builder, walk, root, places);
    for (size_t i = 0; i < SECTIONS && result == 0; i++) {
        json_t *value = json_object_get(root, sections[i].key);
        if (value)
            result = sections[i].read(builder, &places[i], value);
        else if (sections[i].required)
            result = builder_wrong(builder, place, "expected the key %s", sections[i].key);
    }
    return result;
}

/* jansson nests deeper than we want. Strings are skipped; broken ones are jansson's to refuse. */
static int check_depth(struct builder *builder, const char *text)
{
    struct walk walk = {text, {1, 1}};
    size_t depth = 0;
    while (*walk.at) {
        if (*walk.at == '"') {
            skip_string(&walk);
            continue;
        }
        if (*walk.at == '{' || *walk.at == '[')
            depth++;
        else if ((*walk.at == '}' || *walk.at == ']') && depth > 0)
            depth--;
        if (depth > MODEL_NESTING_MAX)
            return builder_wrong(builder, walk.place, "expected at most %d levels of nesting",
                                 MODEL_NESTING_MAX);
        load_samba_step(&walk);
    }
    return 0;
}

/* jansson's column is that of a token's last character; it quotes the token ("... near 'NaN'"). */
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

static int syntax_error(struct builder *builder, const json_error_t *error)
{
    struct document_place place = {error->line > 0 ? (unsigned)error->line : 1,
                                   token_column(error)};
    bool twice = json_error_code(error) == json_error_duplicate_key;
    if (json_error_code(error) == json_error_out_of_memory)
        return builder_no_memory(builder);
    return builder_wrong(builder, place, "expected %s: %s", twice ? "each key once" : "JSON",
                         error->text);
}

int load_samba(struct builder *builder, const char *text, size_t size, bool *version_3)
{
    json_error_t error;
    size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    int result = check_depth(builder, text + mark);
    if (result < 0)
        return result;
    json_t *root = json_loadb(text + mark, size - mark, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return syntax_error(builder, &error);
    *version_3 =
        json_is_object(root) && json_object_get(root, "chain") && !json_object_get(root, "ngrams");
    if (!*version_3) {
        builder->separator = '\t';
        builder->length = 0;
        builder->model->samba_v2 = true;
        builder->model->separate_legs = true;
        result = load_samba_read_root(builder, text + mark, root);
    }
    json_decref(root);
    return result;
}
