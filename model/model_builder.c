/* SPDX-License-Identifier: Apache-2.0 */
/* Histories, transitions and details as a file brings them. Completing the model is in finish.c. */
#include "model/model_builder.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

typedef uint32_t hash_function(const struct builder *builder, const void *key);
typedef bool same_function(const struct builder *builder, uint32_t index, const void *key);

static void builder_format_line(const struct builder *builder, struct document_place place,
                                char *line, size_t size, const char *format, va_list args);
static int parse_history(struct builder *builder, const char *key, struct document_place place,
                         uint32_t *entries);
static int check_length(struct builder *builder, const char *key, struct document_place place);
static int parse_entry(struct builder *builder, const char *name, struct document_place place,
                       uint32_t *entry);
static int parse_wait(struct builder *builder, const char *name, struct document_place place,
                      uint32_t *entry);
static bool is_packet_name(const char *name);
static int table_grow(struct builder *builder, struct builder_table *table, hash_function *hash,
                      same_function *same);
static uint32_t *table_slot(const struct builder *builder, const struct builder_table *table,
                            const void *key, hash_function *hash, same_function *same);
static const void *key_of(const struct builder *builder, const struct builder_table *table,
                          uint32_t index, char *buffer, size_t size);
static uint32_t hash_type(const struct builder *builder, const void *key);
static uint32_t hash_bytes(const void *bytes, size_t size);
static bool same_type(const struct builder *builder, uint32_t index, const void *key);
static int builder_add_type(struct builder *builder, const char *name, uint32_t *type);
static int builder_grow(struct builder *builder, void *array, size_t count, size_t *room,
                        size_t size);
static int parse_gaps_key(struct builder *builder, const char *key, struct document_place place,
                          struct gaps *gaps);
static bool is_same_key(const struct gaps *a, const struct gaps *b);
static uint32_t hash_history(const struct builder *builder, const void *key);
static bool same_history(const struct builder *builder, uint32_t index, const void *key);

int builder_init(struct builder *builder, const char *file, struct error *error,
                 builder_warning *warning, void *context)
{
    *builder = (struct builder){.file = file,
                                .error = error,
                                .warning = warning,
                                .warning_context = context,
                                .separator = ' '};
    builder->model = calloc(1, sizeof *builder->model);
    if (!builder->model)
        return builder_no_memory(builder);
    builder->model->source = (struct model_source){NULL, -1, -1, -1};
    return 0;
}

int builder_wrong(struct builder *builder, struct document_place place, const char *format, ...)
{
    va_list args;
    char line[ERROR_TEXT_SIZE];
    va_start(args, format);
    builder_format_line(builder, place, line, sizeof line, format, args);
    va_end(args);
    return error_set(builder->error, -EINVAL, "%s", line);
}

/* "file:line:column: ...", with control characters of the file replaced. */
static void builder_format_line(const struct builder *builder, struct document_place place,
                                char *line, size_t size, const char *format, va_list args)
{
    int used = snprintf(line, size, "%s:%u:%u: ", builder->file, place.line, place.column);
    if (used >= 0 && (size_t)used < size)
        vsnprintf(line + used, size - (size_t)used, format, args);
    if (size > 0)
        text_clean(line);
}

int builder_no_memory(struct builder *builder)
{
    return error_set(builder->error, -ENOMEM, "%s: out of memory", builder->file);
}

void builder_warn(struct builder *builder, struct document_place place, const char *format, ...)
{
    char line[ERROR_TEXT_SIZE];
    va_list args;
    if (!builder->warning)
        return;
    va_start(args, format);
    builder_format_line(builder, place, line, sizeof line, format, args);
    va_end(args);
    builder->warning(builder->warning_context, line);
}

int builder_add_history(struct builder *builder, const char *key, struct document_place place,
                        uint32_t *history)
{
    uint32_t entries[CHAIN_HISTORY_MAX];
    int result = parse_history(builder, key, place, entries);
    if (result == 0)
        result = builder_find_history(builder, entries, true, place, history);
    if (result < 0)
        return result;
    if (builder->histories[*history].defined)
        return builder_wrong(builder, place, "expected each history once, found '%.100s' again",
                             key);
    builder->histories[*history].defined = true;
    return 0;
}

static int parse_history(struct builder *builder, const char *key, struct document_place place,
                         uint32_t *entries)
{
    int result = check_length(builder, key, place);
    for (uint32_t i = 0; i < builder->length && result == 0; i++) {
        char name[BUILDER_NAME_MAX + 2];
        size_t length = (size_t)(strchrnul(key, builder->separator) - key);
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name),
                 key);
        result = parse_entry(builder, name, place, &entries[i]);
        if (result == 0 && i > 0 && entries[i] == CHAIN_NONE && entries[i - 1] != CHAIN_NONE)
            result = builder_wrong(builder, place,
                                   "expected '-' only before a conversation's first "
                                   "entries");
        key += length + (key[length] != '\0');
    }
    return result;
}

static int check_length(struct builder *builder, const char *key, struct document_place place)
{
    uint32_t length = 1;
    for (const char *c = key; *c; c++)
        length += *c == builder->separator;
    if (builder->length == 0 && length <= CHAIN_HISTORY_MAX)
        builder->length = length;
    if (builder->length == 0)
        return builder_wrong(builder, place, "expected a history of at most %d entries, found %u",
                             CHAIN_HISTORY_MAX, length);
    if (length != builder->length)
        return builder_wrong(builder, place, "expected a history of %u %s, found %u: '%.100s'",
                             builder->length, builder->length == 1 ? "entry" : "entries", length,
                             key);
    return 0;
}

static int parse_entry(struct builder *builder, const char *name, struct document_place place,
                       uint32_t *entry)
{
    if (strcmp(name, "-") == 0) {
        *entry = CHAIN_NONE;
        return 0;
    }
    if (strncmp(name, "wait:", 5) == 0)
        return parse_wait(builder, name, place, entry);
    if (!is_packet_name(name))
        return builder_wrong(builder, place,
                             "expected a packet like ldap:3, wait:N or -, found '%.64s'", name);
    return builder_find_type(builder, name, true, place, entry);
}

static int parse_wait(struct builder *builder, const char *name, struct document_place place,
                      uint32_t *entry)
{
    const char *digits = name + 5;
    size_t length = strspn(digits, "0123456789");
    unsigned long exponent = strtoul(digits, NULL, 10);
    if (length == 0 || length > 2 || digits[length] != '\0' || (length == 2 && *digits == '0') ||
        exponent > CHAIN_WAIT_MAX)
        return builder_wrong(builder, place, "expected wait:0 to wait:%d, found '%.64s'",
                             CHAIN_WAIT_MAX, name);
    *entry = CHAIN_WAIT + (uint32_t)exponent;
    return 0;
}

static bool is_packet_name(const char *name)
{
    const char *colon = strchr(name, ':');
    if (!colon || colon == name || strchr(colon + 1, ':') || strlen(name) > BUILDER_NAME_MAX)
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_:.*-", *c))
            return false;
    return true;
}

int builder_add_transition(struct builder *builder, uint32_t history, const char *entry,
                           uint64_t count, struct document_place place)
{
    struct builder_transition transition = {.history = history, .count = count, .place = place};
    int result = parse_entry(builder, entry, place, &transition.entry);
    return result < 0 ? result : builder_append_transition(builder, &transition);
}

int builder_find_type(struct builder *builder, const char *name, bool make,
                      struct document_place place, uint32_t *type)
{
    if (!is_packet_name(name) || strncmp(name, "wait:", 5) == 0)
        return builder_wrong(builder, place, "expected a packet like ldap:3, found '%.64s'", name);
    if (table_grow(builder, &builder->type_table, hash_type, same_type) < 0)
        return -ENOMEM;
    uint32_t *slot = table_slot(builder, &builder->type_table, name, hash_type, same_type);
    *type = *slot ? *slot - 1 : UINT32_MAX;
    if (*slot || !make)
        return 0;
    int result = builder_add_type(builder, name, type);
    if (result == 0) {
        *slot = *type + 1;
        builder->type_table.used++;
    }
    return result;
}

/* Keeps at least half of the slots free, so that table_slot() ends soon. */
static int table_grow(struct builder *builder, struct builder_table *table, hash_function *hash,
                      same_function *same)
{
    if (table->room > 2 * table->used)
        return 0;
    struct builder_table larger = {.room = table->room ? 2 * table->room : 256,
                                   .used = table->used};
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return builder_no_memory(builder);
    for (uint32_t i = 0; i < table->room; i++) {
        char buffer[CHAIN_NAME_SIZE];
        if (table->slots[i])
            *table_slot(builder, &larger,
                        key_of(builder, table, table->slots[i] - 1, buffer, sizeof buffer), hash,
                        same) = table->slots[i];
    }
    free(table->slots);
    *table = larger;
    return 0;
}

static uint32_t *table_slot(const struct builder *builder, const struct builder_table *table,
                            const void *key, hash_function *hash, same_function *same)
{
    uint32_t at = hash(builder, key) & (table->room - 1);
    while (table->slots[at] && !same(builder, table->slots[at] - 1, key))
        at = (at + 1) & (table->room - 1);
    return &table->slots[at];
}

static const void *key_of(const struct builder *builder, const struct builder_table *table,
                          uint32_t index, char *buffer, size_t size)
{
    if (table == &builder->history_table)
        return builder->histories[index].entries;
    snprintf(buffer, size, "%s:%s", builder->model->types[index].protocol,
             builder->model->types[index].opcode);
    return buffer;
}

static uint32_t hash_type(const struct builder *builder, const void *key)
{
    (void)builder;
    return hash_bytes(key, strlen(key));
}

/* FNV-1a, its bits mixed once more. */
static uint32_t hash_bytes(const void *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return (uint32_t)(hash ^ (hash >> 32));
}

static bool same_type(const struct builder *builder, uint32_t index, const void *key)
{
    const struct model_type *type = &builder->model->types[index];
    size_t length = strlen(type->protocol);
    return strncmp(key, type->protocol, length) == 0 && ((const char *)key)[length] == ':' &&
           strcmp((const char *)key + length + 1, type->opcode) == 0;
}

static int builder_add_type(struct builder *builder, const char *name, uint32_t *type)
{
    struct model *model = builder->model;
    char *copy = arena_string(&model->arena, name, strlen(name));
    if (!copy || builder_grow(builder, &builder->types, model->type_count, &builder->type_room,
                              sizeof *builder->types) < 0)
        return builder_no_memory(builder);
    model->types = builder->types;
    char *colon = strchr(copy, ':');
    *colon = '\0';
    model->types[model->type_count] = (struct model_type){.protocol = copy, .opcode = colon + 1};
    *type = model->type_count++;
    return 0;
}

/* Makes room for one more element of an array. */
static int builder_grow(struct builder *builder, void *array, size_t count, size_t *room,
                        size_t size)
{
    void **pointer = array;
    if (count < *room)
        return 0;
    size_t larger = *room ? 2 * *room : 64;
    void *moved = reallocarray(*pointer, larger, size);
    if (!moved)
        return builder_no_memory(builder);
    *pointer = moved;
    *room = larger;
    return 0;
}

int builder_add_details(struct builder *builder, uint32_t type, uint64_t count,
                        const struct model_field *fields, size_t field_count)
{
    if (builder_grow(builder, &builder->details, builder->details_count, &builder->details_room,
                     sizeof *builder->details) < 0)
        return -ENOMEM;
    builder->details[builder->details_count++] =
        (struct builder_details){type, {count, field_count, fields}};
    return 0;
}

int builder_add_gaps(struct builder *builder, const char *key, const double *points, uint32_t count,
                     struct document_place place)
{
    struct builder_gaps row = {.gaps = {.count = count, .points = points}, .place = place};
    int result = parse_gaps_key(builder, key, place, &row.gaps);
    if (result < 0)
        return result;
    for (size_t i = 0; i < builder->gaps_count; i++)
        if (is_same_key(&builder->gaps[i].gaps, &row.gaps))
            return builder_wrong(builder, place, "expected each key once, found '%.100s' again",
                                 key);
    if (builder_grow(builder, &builder->gaps, builder->gaps_count, &builder->gaps_room,
                     sizeof *builder->gaps) < 0)
        return -ENOMEM;
    builder->gaps[builder->gaps_count++] = row;
    return 0;
}

static int parse_gaps_key(struct builder *builder, const char *key, struct document_place place,
                          struct gaps *gaps)
{
    uint32_t entries[CHAIN_HISTORY_MAX + 1], count = 0;
    for (const char *rest = key; *rest || count == 0; count++) {
        char name[BUILDER_NAME_MAX + 2];
        size_t length = strcspn(rest, " ");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name),
                 rest);
        if (count > builder->length)
            return builder_wrong(builder, place,
                                 "expected at most %u entries, history and one more",
                                 builder->length + 1);
        int result = parse_entry(builder, name, place, &entries[count]);
        if (result < 0)
            return result;
        rest += length + (rest[length] != '\0');
    }
    if (entries[count - 1] == CHAIN_NONE)
        return builder_wrong(builder, place, "expected a packet or wait:N at the end, found '-'");
    uint32_t *kept = arena_array(&builder->model->arena, count, sizeof *kept);
    if (!kept)
        return builder_no_memory(builder);
    memcpy(kept, entries, count * sizeof *kept);
    gaps->entries = kept;
    gaps->length = count;
    return 0;
}

static bool is_same_key(const struct gaps *a, const struct gaps *b)
{
    return a->length == b->length &&
           memcmp(a->entries, b->entries, a->length * sizeof *a->entries) == 0;
}

int builder_find_history(struct builder *builder, const uint32_t *entries, bool make,
                         struct document_place place, uint32_t *history)
{
    if (table_grow(builder, &builder->history_table, hash_history, same_history) < 0)
        return -ENOMEM;
    uint32_t *slot =
        table_slot(builder, &builder->history_table, entries, hash_history, same_history);
    *history = *slot ? *slot - 1 : UINT32_MAX;
    if (*slot || !make)
        return 0;
    uint32_t *copy = arena_array(&builder->model->arena, builder->length, sizeof *copy);
    if (!copy || builder_grow(builder, &builder->histories, builder->history_count,
                              &builder->history_room, sizeof *builder->histories) < 0)
        return builder_no_memory(builder);
    memcpy(copy, entries, builder->length * sizeof *copy);
    builder->histories[builder->history_count] = (struct builder_history){copy, place, false};
    *history = (uint32_t)builder->history_count++;
    *slot = *history + 1;
    builder->history_table.used++;
    return 0;
}

static uint32_t hash_history(const struct builder *builder, const void *key)
{
    return hash_bytes(key, builder->length * sizeof(uint32_t));
}

static bool same_history(const struct builder *builder, uint32_t index, const void *key)
{
    return memcmp(builder->histories[index].entries, key, builder->length * sizeof(uint32_t)) == 0;
}

int builder_append_transition(struct builder *builder, const struct builder_transition *transition)
{
    if (builder_grow(builder, &builder->transitions, builder->transition_count,
                     &builder->transition_room, sizeof *builder->transitions) < 0)
        return -ENOMEM;
    builder->transitions[builder->transition_count++] = *transition;
    return 0;
}

void builder_clear(struct builder *builder)
{
    model_free(builder->model);
    free(builder->types);
    free(builder->histories);
    free(builder->transitions);
    free(builder->details);
    free(builder->gaps);
    free(builder->history_table.slots);
    free(builder->type_table.slots);
    *builder = (struct builder){0};
}
