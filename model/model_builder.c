/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model_builder.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "model/chain.h"
#include "model/chain_steps_private.h"
#include "model/model_builder_private.h"

static int parse_history(struct builder *builder, const char *key, struct text_place place,
                         uint32_t *entries);
static int check_length(struct builder *builder, const char *key, struct text_place place);
static int parse_key_entry(struct builder *builder, const char **key, char separator,
                           struct text_place place, uint32_t *entry);
static int parse_entry(struct builder *builder, const char *name, struct text_place place,
                       uint32_t *entry);
static int parse_wait(struct builder *builder, const char *name, struct text_place place,
                      uint32_t *entry);
static bool is_packet_name(const char *name);
static int find_or_add_type(struct builder *builder, const char *name, uint32_t *type);
static int append_type(struct builder *builder, const char *name);
static int parse_gaps_key(struct builder *builder, const char *key, struct text_place place,
                          struct gaps *gaps);
static bool is_same_key(const struct gaps *a, const struct gaps *b);
static void format_line(const struct builder *builder, struct text_place place, char *line,
                        size_t size, const char *format, va_list args);

struct builder *builder_new(const char *file, struct error *error,
                            void (*warning)(void *context, const char *line), void *context)
{
    struct builder *builder = calloc(1, sizeof *builder);
    struct model *model = calloc(1, sizeof *model);
    if (!builder || !model) {
        free(builder);
        free(model);
        return NULL;
    }
    model->source = (struct model_source){NULL, -1, -1, -1};
    *builder = (struct builder){.file = file,
                                .error = error,
                                .warning = warning,
                                .warning_context = context,
                                .separator = ' ',
                                .model = model};
    return builder;
}

void builder_free(struct builder *builder)
{
    if (!builder)
        return;
    model_free(builder->model);
    free(builder->types);
    intern_clear(&builder->type_names);
    intern_clear(&builder->history_keys);
    free(builder->histories);
    free(builder->transitions);
    free(builder->details);
    free(builder->gaps);
    free(builder);
}

struct arena *builder_arena(struct builder *builder)
{
    return &builder->model->arena;
}

int builder_set_source(struct builder *builder, const struct builder_source *source)
{
    struct model *model = builder->model;
    model->name = arena_string(&model->arena, source->capture, strlen(source->capture));
    model->source =
        (struct model_source){model->name, source->packets, source->seconds, source->conversations};
    model->packet_rate = source->packet_rate;
    builder->length = source->history_length;
    return model->name ? 0 : error_no_memory(builder->error);
}

int builder_add_history(struct builder *builder, const char *key, struct text_place place,
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

static int parse_history(struct builder *builder, const char *key, struct text_place place,
                         uint32_t *entries)
{
    int result = check_length(builder, key, place);
    for (uint32_t i = 0; i < builder->length && result == 0; i++) {
        result = parse_key_entry(builder, &key, builder->separator, place, &entries[i]);
        if (result == 0 && i > 0 && entries[i] == CHAIN_NONE && entries[i - 1] != CHAIN_NONE)
            result = builder_wrong(builder, place,
                                   "expected '-' only before a conversation's first entries");
    }
    return result;
}

/* The first key decides the length of histories, unless the file does. */
static int check_length(struct builder *builder, const char *key, struct text_place place)
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

/* Parses the entry at *key and moves *key to the next one. */
static int parse_key_entry(struct builder *builder, const char **key, char separator,
                           struct text_place place, uint32_t *entry)
{
    char name[BUILDER_NAME_MAX + 2];
    size_t length = (size_t)(strchrnul(*key, separator) - *key);
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name), *key);
    *key += length + ((*key)[length] != '\0');
    return parse_entry(builder, name, place, entry);
}

static int parse_entry(struct builder *builder, const char *name, struct text_place place,
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
    return find_or_add_type(builder, name, entry);
}

static int parse_wait(struct builder *builder, const char *name, struct text_place place,
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

static int find_or_add_type(struct builder *builder, const char *name, uint32_t *type)
{
    bool added;
    if (intern_add(&builder->type_names, name, strlen(name), type, &added) < 0 ||
        (added && append_type(builder, name) < 0))
        return error_no_memory(builder->error);
    return 0;
}

static int append_type(struct builder *builder, const char *name)
{
    struct model *model = builder->model;
    char *copy = arena_string(&model->arena, name, strlen(name));
    struct model_type *types = array_grow(builder->types, model->type_count, sizeof *types);
    if (types)
        builder->types = model->types = types;
    if (!copy || !types)
        return -ENOMEM;
    char *colon = strchr(copy, ':');
    *colon = '\0';
    types[model->type_count++] = (struct model_type){
        .protocol = copy, .opcode = colon + 1, .row = packet_row_find_in_model(copy, colon + 1)};
    return 0;
}

int builder_add_transition(struct builder *builder, uint32_t history, const char *entry,
                           uint64_t count, struct text_place place)
{
    struct builder_transition transition = {.history = history, .count = count, .place = place};
    int result = parse_entry(builder, entry, place, &transition.entry);
    return result < 0 ? result : builder_append_transition(builder, &transition);
}

int builder_append_transition(struct builder *builder, const struct builder_transition *transition)
{
    struct builder_transition *transitions =
        array_grow(builder->transitions, builder->transition_count, sizeof *transitions);
    if (!transitions)
        return error_no_memory(builder->error);
    builder->transitions = transitions;
    transitions[builder->transition_count++] = *transition;
    return 0;
}

int builder_find_history(struct builder *builder, const uint32_t *entries, bool add,
                         struct text_place place, uint32_t *history)
{
    size_t size = builder->length * sizeof *entries;
    size_t count = builder->history_keys.count;
    *history = intern_find(&builder->history_keys, entries, size);
    if (*history != UINT32_MAX || !add)
        return 0;
    struct builder_history *histories = array_grow(builder->histories, count, sizeof *histories);
    if (!histories)
        return error_no_memory(builder->error);
    builder->histories = histories;
    histories[count] = (struct builder_history){.place = place};
    if (intern_add(&builder->history_keys, entries, size, history, NULL) < 0)
        return error_no_memory(builder->error);
    return 0;
}

int builder_find_type(struct builder *builder, const char *name, struct text_place place,
                      uint32_t *type)
{
    if (!is_packet_name(name) || strncmp(name, "wait:", 5) == 0)
        return builder_wrong(builder, place, "expected a packet like ldap:3, found '%.64s'", name);
    *type = intern_find(&builder->type_names, name, strlen(name));
    return 0;
}

int builder_add_details(struct builder *builder, uint32_t type, uint64_t count,
                        const struct packet_field *fields, size_t field_count)
{
    struct builder_details *details =
        array_grow(builder->details, builder->details_count, sizeof *details);
    if (!details)
        return error_no_memory(builder->error);
    builder->details = details;
    details[builder->details_count++] =
        (struct builder_details){type, {count, field_count, fields}};
    return 0;
}

int builder_add_gaps(struct builder *builder, const char *key, const double *points, uint32_t count,
                     struct text_place place)
{
    struct builder_gaps row = {.gaps = {.count = count, .points = points}, .place = place};
    int result = parse_gaps_key(builder, key, place, &row.gaps);
    if (result < 0)
        return result;
    for (size_t i = 0; i < builder->gaps_count; i++)
        if (is_same_key(&builder->gaps[i].gaps, &row.gaps))
            return builder_wrong(builder, place, "expected each key once, found '%.100s' again",
                                 key);
    struct builder_gaps *gaps = array_grow(builder->gaps, builder->gaps_count, sizeof *gaps);
    if (!gaps)
        return error_no_memory(builder->error);
    builder->gaps = gaps;
    gaps[builder->gaps_count++] = row;
    return 0;
}

static int parse_gaps_key(struct builder *builder, const char *key, struct text_place place,
                          struct gaps *gaps)
{
    uint32_t entries[CHAIN_HISTORY_MAX + 1], count = 0;
    for (const char *rest = key; *rest || count == 0; count++) {
        if (count > builder->length)
            return builder_wrong(builder, place,
                                 "expected at most %u entries, history and one more",
                                 builder->length + 1);
        int result = parse_key_entry(builder, &rest, ' ', place, &entries[count]);
        if (result < 0)
            return result;
    }
    if (entries[count - 1] == CHAIN_NONE)
        return builder_wrong(builder, place, "expected a packet or wait:N at the end, found '-'");
    uint32_t *kept = arena_array(&builder->model->arena, count, sizeof *kept);
    if (!kept)
        return error_no_memory(builder->error);
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

int builder_finish(struct builder *builder, struct model **out)
{
    struct chain_work work = {.builder = builder};
    int result = chain_link(&work);
    if (result == 0)
        result = chain_check(&work);
    if (result == 0)
        result = chain_fill(&work);
    if (result == 0) {
        *out = builder->model;
        builder->model = NULL;
    }
    free(work.first);
    free(work.order);
    free(work.numbers);
    free(work.type_numbers);
    return result;
}

const char *builder_history_name(const struct builder *builder, const uint32_t *entries,
                                 char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (uint32_t i = 0; i < builder->length && used < size; i++) {
        char name[CHAIN_NAME_SIZE];
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? " " : "",
                                 chain_entry_name(builder->model, entries[i], name, sizeof name));
    }
    return buffer;
}

int builder_wrong(struct builder *builder, struct text_place place, const char *format, ...)
{
    va_list args;
    char line[ERROR_TEXT_SIZE];
    va_start(args, format);
    format_line(builder, place, line, sizeof line, format, args);
    va_end(args);
    return error_set(builder->error, -EINVAL, "%s", line);
}

static void format_line(const struct builder *builder, struct text_place place, char *line,
                        size_t size, const char *format, va_list args)
{
    int used = snprintf(line, size, "%s:%u:%u: ", builder->file, place.line, place.column);
    if (used >= 0 && (size_t)used < size)
        vsnprintf(line + used, size - (size_t)used, format, args);
    text_clean(line);
}

void builder_warn(struct builder *builder, struct text_place place, const char *format, ...)
{
    char line[ERROR_TEXT_SIZE];
    va_list args;
    if (!builder->warning)
        return;
    va_start(args, format);
    format_line(builder, place, line, sizeof line, format, args);
    va_end(args);
    builder->warning(builder->warning_context, line);
}
