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

typedef uint32_t hash_function(const struct build *build, const void *key);
typedef bool same_function(const struct build *build, uint32_t index, const void *key);

static void build_format_line(const struct build *build, struct document_place place, char *line,
                              size_t size, const char *format, va_list args);
static int parse_history(struct build *build, const char *key, struct document_place place,
                         uint32_t *entries);
static int check_length(struct build *build, const char *key, struct document_place place);
static int parse_entry(struct build *build, const char *name, struct document_place place,
                       uint32_t *entry);
static int parse_wait(struct build *build, const char *name, struct document_place place,
                      uint32_t *entry);
static bool is_packet_name(const char *name);
static int table_grow(struct build *build, struct build_table *table, hash_function *hash,
                      same_function *same);
static uint32_t *table_slot(const struct build *build, const struct build_table *table,
                            const void *key, hash_function *hash, same_function *same);
static const void *key_of(const struct build *build, const struct build_table *table,
                          uint32_t index, char *buffer, size_t size);
static uint32_t hash_type(const struct build *build, const void *key);
static uint32_t hash_bytes(const void *bytes, size_t size);
static bool same_type(const struct build *build, uint32_t index, const void *key);
static int build_add_type(struct build *build, const char *name, uint32_t *type);
static int build_grow(struct build *build, void *array, size_t count, size_t *room, size_t size);
static int parse_gaps_key(struct build *build, const char *key, struct document_place place,
                          struct gaps *gaps);
static bool is_same_key(const struct gaps *a, const struct gaps *b);
static uint32_t hash_history(const struct build *build, const void *key);
static bool same_history(const struct build *build, uint32_t index, const void *key);

int build_begin(struct build *build, const char *file, struct error *error, build_warning *warning,
                void *context)
{
    *build = (struct build){.file = file,
                            .error = error,
                            .warning = warning,
                            .warning_context = context,
                            .separator = ' '};
    build->model = calloc(1, sizeof *build->model);
    if (!build->model)
        return build_no_memory(build);
    build->model->source = (struct model_source){NULL, -1, -1, -1};
    return 0;
}

int build_wrong(struct build *build, struct document_place place, const char *format, ...)
{
    va_list args;
    char line[ERROR_TEXT_SIZE];
    va_start(args, format);
    build_format_line(build, place, line, sizeof line, format, args);
    va_end(args);
    return error_set(build->error, -EINVAL, "%s", line);
}

/* "file:line:column: ..." Files may hold what a terminal would obey: control characters do not get
 * into messages. */
static void build_format_line(const struct build *build, struct document_place place, char *line,
                              size_t size, const char *format, va_list args)
{
    int used = snprintf(line, size, "%s:%u:%u: ", build->file, place.line, place.column);
    if (used >= 0 && (size_t)used < size)
        vsnprintf(line + used, size - (size_t)used, format, args);
    for (char *c = line; size > 0 && *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
}

int build_no_memory(struct build *build)
{
    return error_set(build->error, -ENOMEM, "%s: out of memory", build->file);
}

void build_warn(struct build *build, struct document_place place, const char *format, ...)
{
    char line[ERROR_TEXT_SIZE];
    va_list args;
    if (!build->warning)
        return;
    va_start(args, format);
    build_format_line(build, place, line, sizeof line, format, args);
    va_end(args);
    build->warning(build->warning_context, line);
}

int build_history(struct build *build, const char *key, struct document_place place,
                  uint32_t *history)
{
    uint32_t entries[CHAIN_HISTORY_MAX];
    int result = parse_history(build, key, place, entries);
    if (result == 0)
        result = build_intern(build, entries, true, place, history);
    if (result < 0)
        return result;
    if (build->histories[*history].defined)
        return build_wrong(build, place, "expected each history once, found '%.100s' again", key);
    build->histories[*history].defined = true;
    return 0;
}

static int parse_history(struct build *build, const char *key, struct document_place place,
                         uint32_t *entries)
{
    int result = check_length(build, key, place);
    for (uint32_t i = 0; i < build->length && result == 0; i++) {
        char name[BUILD_NAME_MAX + 2];
        size_t length = (size_t)(strchrnul(key, build->separator) - key);
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name),
                 key);
        result = parse_entry(build, name, place, &entries[i]);
        if (result == 0 && i > 0 && entries[i] == CHAIN_NONE && entries[i - 1] != CHAIN_NONE)
            result = build_wrong(build, place,
                                 "expected '-' only before a conversation's first "
                                 "entries");
        key += length + (key[length] != '\0');
    }
    return result;
}

static int check_length(struct build *build, const char *key, struct document_place place)
{
    uint32_t length = 1;
    for (const char *c = key; *c; c++)
        length += *c == build->separator;
    if (build->length == 0 && length <= CHAIN_HISTORY_MAX)
        build->length = length;
    if (build->length == 0)
        return build_wrong(build, place, "expected a history of at most %d entries, found %u",
                           CHAIN_HISTORY_MAX, length);
    if (length != build->length)
        return build_wrong(build, place, "expected a history of %u %s, found %u: '%.100s'",
                           build->length, build->length == 1 ? "entry" : "entries", length, key);
    return 0;
}

static int parse_entry(struct build *build, const char *name, struct document_place place,
                       uint32_t *entry)
{
    if (strcmp(name, "-") == 0) {
        *entry = CHAIN_NONE;
        return 0;
    }
    if (strncmp(name, "wait:", 5) == 0)
        return parse_wait(build, name, place, entry);
    if (!is_packet_name(name))
        return build_wrong(build, place,
                           "expected a packet like ldap:3, wait:N or -, found '%.64s'", name);
    return build_type(build, name, true, place, entry);
}

static int parse_wait(struct build *build, const char *name, struct document_place place,
                      uint32_t *entry)
{
    const char *digits = name + 5;
    size_t length = strspn(digits, "0123456789");
    unsigned long exponent = strtoul(digits, NULL, 10);
    if (length == 0 || length > 2 || digits[length] != '\0' || (length == 2 && *digits == '0') ||
        exponent > CHAIN_WAIT_MAX)
        return build_wrong(build, place, "expected wait:0 to wait:%d, found '%.64s'",
                           CHAIN_WAIT_MAX, name);
    *entry = CHAIN_WAIT + (uint32_t)exponent;
    return 0;
}

static bool is_packet_name(const char *name)
{
    const char *colon = strchr(name, ':');
    if (!colon || colon == name || strchr(colon + 1, ':') || strlen(name) > BUILD_NAME_MAX)
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_:.*-", *c))
            return false;
    return true;
}

int build_transition(struct build *build, uint32_t history, const char *entry, uint64_t count,
                     struct document_place place)
{
    struct build_transition transition = {.history = history, .count = count, .place = place};
    int result = parse_entry(build, entry, place, &transition.entry);
    return result < 0 ? result : build_add(build, &transition);
}

int build_type(struct build *build, const char *name, bool make, struct document_place place,
               uint32_t *type)
{
    if (!is_packet_name(name) || strncmp(name, "wait:", 5) == 0)
        return build_wrong(build, place, "expected a packet like ldap:3, found '%.64s'", name);
    if (table_grow(build, &build->type_table, hash_type, same_type) < 0)
        return -ENOMEM;
    uint32_t *slot = table_slot(build, &build->type_table, name, hash_type, same_type);
    *type = *slot ? *slot - 1 : UINT32_MAX;
    if (*slot || !make)
        return 0;
    int result = build_add_type(build, name, type);
    if (result == 0) {
        *slot = *type + 1;
        build->type_table.used++;
    }
    return result;
}

/* Keeps at least half of the slots free, so that table_slot() ends soon. */
static int table_grow(struct build *build, struct build_table *table, hash_function *hash,
                      same_function *same)
{
    if (table->room > 2 * table->used)
        return 0;
    struct build_table larger = {.room = table->room ? 2 * table->room : 256, .used = table->used};
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return build_no_memory(build);
    for (uint32_t i = 0; i < table->room; i++) {
        char buffer[CHAIN_NAME_SIZE];
        if (table->slots[i])
            *table_slot(build, &larger,
                        key_of(build, table, table->slots[i] - 1, buffer, sizeof buffer), hash,
                        same) = table->slots[i];
    }
    free(table->slots);
    *table = larger;
    return 0;
}

static uint32_t *table_slot(const struct build *build, const struct build_table *table,
                            const void *key, hash_function *hash, same_function *same)
{
    uint32_t at = hash(build, key) & (table->room - 1);
    while (table->slots[at] && !same(build, table->slots[at] - 1, key))
        at = (at + 1) & (table->room - 1);
    return &table->slots[at];
}

static const void *key_of(const struct build *build, const struct build_table *table,
                          uint32_t index, char *buffer, size_t size)
{
    if (table == &build->history_table)
        return build->histories[index].entries;
    snprintf(buffer, size, "%s:%s", build->model->types[index].protocol,
             build->model->types[index].opcode);
    return buffer;
}

static uint32_t hash_type(const struct build *build, const void *key)
{
    (void)build;
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

static bool same_type(const struct build *build, uint32_t index, const void *key)
{
    const struct model_type *type = &build->model->types[index];
    size_t length = strlen(type->protocol);
    return strncmp(key, type->protocol, length) == 0 && ((const char *)key)[length] == ':' &&
           strcmp((const char *)key + length + 1, type->opcode) == 0;
}

static int build_add_type(struct build *build, const char *name, uint32_t *type)
{
    struct model *model = build->model;
    char *copy = arena_string(&model->arena, name, strlen(name));
    if (!copy || build_grow(build, &build->types, model->type_count, &build->type_room,
                            sizeof *build->types) < 0)
        return build_no_memory(build);
    model->types = build->types;
    char *colon = strchr(copy, ':');
    *colon = '\0';
    model->types[model->type_count] = (struct model_type){.protocol = copy, .opcode = colon + 1};
    *type = model->type_count++;
    return 0;
}

/* Makes room for one more element of an array. */
static int build_grow(struct build *build, void *array, size_t count, size_t *room, size_t size)
{
    void **pointer = array;
    if (count < *room)
        return 0;
    size_t larger = *room ? 2 * *room : 64;
    void *moved = reallocarray(*pointer, larger, size);
    if (!moved)
        return build_no_memory(build);
    *pointer = moved;
    *room = larger;
    return 0;
}

int build_details(struct build *build, uint32_t type, uint64_t count,
                  const struct model_field *fields, size_t field_count)
{
    if (build_grow(build, &build->details, build->details_count, &build->details_room,
                   sizeof *build->details) < 0)
        return -ENOMEM;
    build->details[build->details_count++] =
        (struct build_details){type, {count, field_count, fields}};
    return 0;
}

int build_gaps(struct build *build, const char *key, const double *points, uint32_t count,
               struct document_place place)
{
    struct build_gaps row = {.gaps = {.count = count, .points = points}, .place = place};
    int result = parse_gaps_key(build, key, place, &row.gaps);
    if (result < 0)
        return result;
    for (size_t i = 0; i < build->gaps_count; i++)
        if (is_same_key(&build->gaps[i].gaps, &row.gaps))
            return build_wrong(build, place, "expected each key once, found '%.100s' again", key);
    if (build_grow(build, &build->gaps, build->gaps_count, &build->gaps_room, sizeof *build->gaps) <
        0)
        return -ENOMEM;
    build->gaps[build->gaps_count++] = row;
    return 0;
}

static int parse_gaps_key(struct build *build, const char *key, struct document_place place,
                          struct gaps *gaps)
{
    uint32_t entries[CHAIN_HISTORY_MAX + 1], count = 0;
    for (const char *rest = key; *rest || count == 0; count++) {
        char name[BUILD_NAME_MAX + 2];
        size_t length = strcspn(rest, " ");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name),
                 rest);
        if (count > build->length)
            return build_wrong(build, place, "expected at most %u entries, history and one more",
                               build->length + 1);
        int result = parse_entry(build, name, place, &entries[count]);
        if (result < 0)
            return result;
        rest += length + (rest[length] != '\0');
    }
    if (entries[count - 1] == CHAIN_NONE)
        return build_wrong(build, place, "expected a packet or wait:N at the end, found '-'");
    uint32_t *kept = arena_array(&build->model->arena, count, sizeof *kept);
    if (!kept)
        return build_no_memory(build);
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

int build_intern(struct build *build, const uint32_t *entries, bool make,
                 struct document_place place, uint32_t *history)
{
    if (table_grow(build, &build->history_table, hash_history, same_history) < 0)
        return -ENOMEM;
    uint32_t *slot = table_slot(build, &build->history_table, entries, hash_history, same_history);
    *history = *slot ? *slot - 1 : UINT32_MAX;
    if (*slot || !make)
        return 0;
    uint32_t *copy = arena_array(&build->model->arena, build->length, sizeof *copy);
    if (!copy || build_grow(build, &build->histories, build->history_count, &build->history_room,
                            sizeof *build->histories) < 0)
        return build_no_memory(build);
    memcpy(copy, entries, build->length * sizeof *copy);
    build->histories[build->history_count] = (struct build_history){copy, place, false};
    *history = (uint32_t)build->history_count++;
    *slot = *history + 1;
    build->history_table.used++;
    return 0;
}

static uint32_t hash_history(const struct build *build, const void *key)
{
    return hash_bytes(key, build->length * sizeof(uint32_t));
}

static bool same_history(const struct build *build, uint32_t index, const void *key)
{
    return memcmp(build->histories[index].entries, key, build->length * sizeof(uint32_t)) == 0;
}

int build_add(struct build *build, const struct build_transition *transition)
{
    if (build_grow(build, &build->transitions, build->transition_count, &build->transition_room,
                   sizeof *build->transitions) < 0)
        return -ENOMEM;
    build->transitions[build->transition_count++] = *transition;
    return 0;
}

void build_end(struct build *build)
{
    model_free(build->model);
    free(build->types);
    free(build->histories);
    free(build->transitions);
    free(build->details);
    free(build->gaps);
    free(build->history_table.slots);
    free(build->type_table.slots);
    *build = (struct build){0};
}
