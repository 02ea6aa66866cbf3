/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the transitions of a capture, then builds a model as the loaders do, so that a learned
 * model passes the checks of a loaded one. */
#include "model/learn/learn_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/chain.h"
#include "model/learn/learn_histogram.h"
#include "model/learn/learn_pauses.h"
#include "model/model_builder.h"

enum { NO_PAUSE = -1, POINTS = 33, KEY_SIZE = (LEARN_HISTORY_MAX + 1) * CHAIN_NAME_SIZE };

struct lesson {
    struct learn_capture *capture;
    const struct learn_settings *settings;
    struct intern types;       /* "protocol:opcode" */
    struct intern histories;   /* entries, each a type of types, CHAIN_WAIT + N or CHAIN_NONE */
    struct intern transitions; /* history, entry */
    uint64_t *transition_counts;
    uint32_t *type_of_form; /* number + 1; 0: not known yet */
    uint64_t *form_counts;
    size_t form_count;
    struct learn_pauses pauses; /* by transition */
    uint64_t packets, conversations;
};

struct points_target {
    const struct lesson *lesson;
    struct builder *builder;
};

static const struct text_place nowhere = {0, 0};

static int learn_model_take_packet(void *context, struct learn_conversation *conversation,
                                   uint32_t form, double gap);
static int type_of(struct lesson *lesson, uint32_t form, uint32_t *type);
static int count_transition(struct lesson *lesson, struct learn_conversation *conversation,
                            uint32_t entry, double pause);
static int find_transition(struct lesson *lesson, const uint32_t pair[2], uint32_t *number);
static uint32_t wait_of(double pause);
static int learn_model_take_end(void *context, struct learn_conversation *conversation);
static int make_model(struct lesson *lesson, struct model **out);
static int add_source(const struct lesson *lesson, struct builder *builder);
static double learn_model_rounded(double value);
static int add_histories(const struct lesson *lesson, struct builder *builder);
static void write_key(const struct lesson *lesson, const uint32_t *entries, uint32_t count,
                      char key[KEY_SIZE]);
static const char *entry_name(const struct lesson *lesson, uint32_t entry, char *buffer,
                              size_t size);
static int add_transitions(const struct lesson *lesson, struct builder *builder);
static int add_pauses(struct lesson *lesson, struct builder *builder);
static int add_points(void *context, const uint32_t *entries, uint32_t count,
                      const struct learn_histogram *histogram);
static int add_forms(struct lesson *lesson, struct builder *builder);
static int compare_forms(const void *a, const void *b, void *context);
static int add_type_forms(struct lesson *lesson, struct builder *builder, const uint32_t *forms,
                          size_t count);
static int learn_model_add_form(struct builder *builder, const struct intern_entry *form,
                                uint32_t type, uint64_t count);
static int split_values(struct arena *arena, const struct packet_rule *rule, char *text,
                        struct packet_field *field);
static void lesson_clear(struct lesson *lesson);

int learn_model(struct learn_capture *capture, const struct learn_settings *settings,
                struct model **out)
{
    /* One more than there are now: learn_walk() may add the form of a hint. */
    struct lesson lesson = {
        .capture = capture, .settings = settings, .form_count = capture->forms.count + 1};
    struct learn_walk_observer observer = {learn_model_take_packet, learn_model_take_end, &lesson};
    lesson.type_of_form = calloc(lesson.form_count, sizeof *lesson.type_of_form);
    lesson.form_counts = calloc(lesson.form_count, sizeof *lesson.form_counts);
    int result = lesson.type_of_form && lesson.form_counts ? 0 : -ENOMEM;
    if (result == 0)
        result = learn_walk(capture, &settings->walk, &observer);
    if (result == 0)
        result = make_model(&lesson, out);
    if (result == -ENOMEM)
        error_no_memory(capture->error);
    lesson_clear(&lesson);
    return result;
}

/* A pause of at least this many seconds becomes a wait, which is a separate entry of the chain. */
#define WAIT_LEAST 0.1

static int learn_model_take_packet(void *context, struct learn_conversation *conversation,
                                   uint32_t form, double gap)
{
    struct lesson *lesson = context;
    uint32_t type;
    int result = type_of(lesson, form, &type);
    if (conversation->packets == 1)
        for (uint32_t i = 0; i < lesson->settings->history; i++)
            conversation->entries[i] = CHAIN_NONE;
    bool wait = conversation->packets > 1 && gap >= WAIT_LEAST;
    if (result == 0 && wait)
        result = count_transition(lesson, conversation, wait_of(gap), gap);
    /* No pause is counted at the start, nor after a wait, which covers the whole time. */
    if (wait || conversation->packets == 1)
        gap = NO_PAUSE;
    if (result == 0)
        result = count_transition(lesson, conversation, type, gap);
    if (result == 0) {
        lesson->form_counts[form]++;
        lesson->packets++;
    }
    return result;
}

static int type_of(struct lesson *lesson, uint32_t form, uint32_t *type)
{
    if (form >= lesson->form_count)
        return -EINVAL;
    if (lesson->type_of_form[form] == 0) {
        const char *text = lesson->capture->forms.entries[form].bytes;
        if (intern_add(&lesson->types, text, learn_form_type(text), type, NULL) < 0)
            return -ENOMEM;
        lesson->type_of_form[form] = *type + 1;
    }
    *type = lesson->type_of_form[form] - 1;
    return 0;
}

static int count_transition(struct lesson *lesson, struct learn_conversation *conversation,
                            uint32_t entry, double pause)
{
    uint32_t *entries = conversation->entries, length = lesson->settings->history;
    uint32_t pair[2] = {0, entry}, number;
    if (intern_add(&lesson->histories, entries, length * sizeof *entries, &pair[0], NULL) < 0 ||
        find_transition(lesson, pair, &number) < 0)
        return -ENOMEM;
    lesson->transition_counts[number]++;
    memmove(entries, entries + 1, (length - 1) * sizeof *entries);
    entries[length - 1] = entry;
    return pause >= 0 ? learn_pauses_add(&lesson->pauses, number, pause) : 0;
}

static int find_transition(struct lesson *lesson, const uint32_t pair[2], uint32_t *number)
{
    bool added;
    if (intern_add(&lesson->transitions, pair, 2 * sizeof *pair, number, &added) < 0)
        return -ENOMEM;
    if (!added)
        return 0;
    uint64_t *counts = array_grow(lesson->transition_counts, *number, sizeof *counts);
    if (!counts)
        return -ENOMEM;
    lesson->transition_counts = counts;
    counts[*number] = 0;
    return 0;
}

/* The wait that is closest to a pause. */
static uint32_t wait_of(double pause)
{
    double exponent = floor(log(10 * pause));
    return CHAIN_WAIT + (uint32_t)fmin(fmax(exponent, 0), CHAIN_WAIT_MAX);
}

static int learn_model_take_end(void *context, struct learn_conversation *conversation)
{
    struct lesson *lesson = context;
    lesson->conversations++;
    return count_transition(lesson, conversation, CHAIN_NONE, NO_PAUSE);
}

static int make_model(struct lesson *lesson, struct model **out)
{
    struct builder *builder =
        builder_new(lesson->settings->name, lesson->capture->error, NULL, NULL);
    if (!builder)
        return -ENOMEM;
    int result = add_source(lesson, builder);
    if (result == 0)
        result = add_histories(lesson, builder);
    if (result == 0)
        result = add_transitions(lesson, builder);
    if (result == 0)
        result = add_pauses(lesson, builder);
    if (result == 0)
        result = add_forms(lesson, builder);
    if (result == 0)
        result = builder_finish(builder, out);
    builder_free(builder);
    return result;
}

static int add_source(const struct lesson *lesson, struct builder *builder)
{
    /* A capture in which no time passes has no rate; it counts as one second. */
    double seconds = learn_spans_seconds(&lesson->capture->spans);
    seconds = seconds > 0 ? seconds : 1;
    struct builder_source source = {
        .capture = lesson->settings->name,
        .packets = (double)lesson->packets,
        .seconds = learn_model_rounded(seconds),
        .conversations = (double)lesson->conversations,
        .packet_rate = learn_model_rounded((double)lesson->packets / seconds),
        .history_length = lesson->settings->history,
    };
    return builder_set_source(builder, &source);
}

static double learn_model_rounded(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

static int add_histories(const struct lesson *lesson, struct builder *builder)
{
    char key[KEY_SIZE];
    for (size_t h = 0; h < lesson->histories.count; h++) {
        const uint32_t *entries = (const void *)lesson->histories.entries[h].bytes;
        uint32_t history;
        write_key(lesson, entries, lesson->settings->history, key);
        int result = builder_add_history(builder, key, nowhere, &history);
        if (result < 0)
            return result;
    }
    return 0;
}

static void write_key(const struct lesson *lesson, const uint32_t *entries, uint32_t count,
                      char key[KEY_SIZE])
{
    char name[CHAIN_NAME_SIZE];
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(key + used, KEY_SIZE - used, "%s%s", i ? " " : "",
                                 entry_name(lesson, entries[i], name, sizeof name));
}

static const char *entry_name(const struct lesson *lesson, uint32_t entry, char *buffer,
                              size_t size)
{
    if (entry == CHAIN_NONE)
        snprintf(buffer, size, "-");
    else if (chain_is_wait(entry))
        snprintf(buffer, size, "wait:%u", entry - CHAIN_WAIT);
    else
        snprintf(buffer, size, "%s", lesson->types.entries[entry].bytes);
    return buffer;
}

static int add_transitions(const struct lesson *lesson, struct builder *builder)
{
    char name[CHAIN_NAME_SIZE];
    for (size_t t = 0; t < lesson->transitions.count; t++) {
        /* The builder numbers histories in the order of add_histories(), as lesson does. */
        const uint32_t *pair = (const void *)lesson->transitions.entries[t].bytes;
        const char *entry = entry_name(lesson, pair[1], name, sizeof name);
        int result =
            builder_add_transition(builder, pair[0], entry, lesson->transition_counts[t], nowhere);
        if (result < 0)
            return result;
    }
    return 0;
}

static int add_pauses(struct lesson *lesson, struct builder *builder)
{
    struct points_target points = {lesson, builder};
    return learn_pauses_list(&lesson->pauses, &lesson->histories, &lesson->transitions,
                             lesson->settings->history, add_points, &points);
}

/* Adds one list of points: of the pauses before the last entry of a key. */
static int add_points(void *context, const uint32_t *entries, uint32_t count,
                      const struct learn_histogram *histogram)
{
    const struct points_target *points = context;
    struct builder *builder = points->builder;
    char key[KEY_SIZE];
    double *list = arena_array(builder_arena(builder), POINTS, sizeof *list);
    if (!list)
        return -ENOMEM;
    write_key(points->lesson, entries, count, key);
    uint32_t length = learn_histogram_points(histogram, list, POINTS);
    return builder_add_gaps(builder, key, list, length, nowhere);
}

static int add_forms(struct lesson *lesson, struct builder *builder)
{
    uint32_t *forms = calloc(lesson->form_count + 1, sizeof *forms);
    size_t count = 0;
    int result = forms ? 0 : -ENOMEM;
    for (uint32_t form = 0; form < lesson->form_count && result == 0; form++)
        if (lesson->form_counts[form] > 0)
            forms[count++] = form;
    if (result == 0)
        qsort_r(forms, count, sizeof *forms, compare_forms, lesson);
    for (size_t i = 0, end; i < count && result == 0; i = end) {
        for (end = i + 1;
             end < count && lesson->type_of_form[forms[end]] == lesson->type_of_form[forms[i]];)
            end++;
        result = add_type_forms(lesson, builder, forms + i, end - i);
    }
    free(forms);
    return result;
}

/* By type, then by falling count, then by text. */
static int compare_forms(const void *a, const void *b, void *context)
{
    const struct lesson *lesson = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    if (lesson->type_of_form[left] != lesson->type_of_form[right])
        return lesson->type_of_form[left] < lesson->type_of_form[right] ? -1 : 1;
    if (lesson->form_counts[left] != lesson->form_counts[right])
        return lesson->form_counts[left] > lesson->form_counts[right] ? -1 : 1;
    return strcmp(lesson->capture->forms.entries[left].bytes,
                  lesson->capture->forms.entries[right].bytes);
}

/* Adds the forms of one type. Those beyond the limit count as the commonest form. */
static int add_type_forms(struct lesson *lesson, struct builder *builder, const uint32_t *forms,
                          size_t count)
{
    uint32_t type;
    size_t kept = count < lesson->settings->max_details ? count : lesson->settings->max_details;
    uint64_t more = 0;
    const char *name = lesson->types.entries[lesson->type_of_form[forms[0]] - 1].bytes;
    int result = builder_find_type(builder, name, nowhere, &type);
    for (size_t i = kept; i < count; i++)
        more += lesson->form_counts[forms[i]];
    for (size_t i = 0; i < kept && result == 0; i++)
        result = learn_model_add_form(builder, &lesson->capture->forms.entries[forms[i]], type,
                                      lesson->form_counts[forms[i]] + (i == 0 ? more : 0));
    return result;
}

static int learn_model_add_form(struct builder *builder, const struct intern_entry *form,
                                uint32_t type, uint64_t count)
{
    struct arena *arena = builder_arena(builder);
    struct learn_form_parts parts;
    size_t field_count = 0;
    char *text = arena_string(arena, form->bytes, form->size);
    struct packet_field *fields = arena_array(arena, LEARN_FORM_FIELDS, sizeof *fields);
    if (!text || !fields)
        return -ENOMEM;
    learn_form_split(text, &parts);
    const struct packet_row *row = packet_row_find(parts.protocol, parts.opcode);
    for (size_t i = 0; i < parts.count; i++) {
        const struct packet_rule *rule = packet_rule_find(row, parts.fields[i].key);
        if (!rule)
            continue;
        if (split_values(arena, rule, parts.fields[i].value, &fields[field_count++]) < 0)
            return -ENOMEM;
    }
    return builder_add_details(builder, type, count, fields, field_count);
}

static int split_values(struct arena *arena, const struct packet_rule *rule, char *text,
                        struct packet_field *field)
{
    size_t count = 1, used = 0;
    for (const char *c = text; packet_rule_is_list(rule) && *c; c++)
        count += *c == ',';
    const char **values = arena_array(arena, count, sizeof *values);
    if (!values)
        return -ENOMEM;
    for (char *rest = text; used < count;)
        values[used++] = packet_rule_is_list(rule) ? strsep(&rest, ",") : rest;
    *field = (struct packet_field){rule->key, count, values};
    return 0;
}

static void lesson_clear(struct lesson *lesson)
{
    intern_clear(&lesson->types);
    intern_clear(&lesson->histories);
    intern_clear(&lesson->transitions);
    free(lesson->transition_counts);
    free(lesson->type_of_form);
    free(lesson->form_counts);
    learn_pauses_clear(&lesson->pauses);
}
