/* SPDX-License-Identifier: Apache-2.0 */
/* Counts first, in the order of the capture; then the loaders' own way to a model, so that what is
 * learned is checked as what is read. */
#include "model/learn/learn_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/chain.h"
#include "model/details.h"
#include "model/learn/learn_histogram.h"
#include "model/learn/learn_pauses.h"
#include "model/model_builder.h"

enum {
    NO_PAUSE = -1,
    POINTS = 33,
    KEY_SIZE = (LEARN_HISTORY_MAX + 1) * CHAIN_NAME_SIZE,
    FIELDS_MAX = 12
};

struct lesson {
    struct learn_capture *capture;
    const struct learn_settings *settings;
    struct learn_words types;       /* "protocol:opcode" */
    struct learn_words histories;   /* entries, each a type here, CHAIN_WAIT + N or CHAIN_NONE */
    struct learn_words transitions; /* history, entry; counted */
    uint32_t *type_of_form;         /* number + 1; 0: not looked up yet */
    uint64_t *form_counts;
    uint32_t form_count;
    struct learn_pauses pauses; /* by transition */
    uint64_t packets, conversations;
};

struct points {
    const struct lesson *lesson;
    struct builder *builder;
};

static const struct text_place nowhere = {0, 0};

static int learn_model_take_packet(void *context, struct learn_conversation *conversation,
                                   uint32_t form, double gap);
static int type_of(struct lesson *lesson, uint32_t form, uint32_t *type);
static int count_transition(struct lesson *lesson, struct learn_conversation *conversation,
                            uint32_t entry, double pause);
static uint32_t wait_of(double pause);
static int learn_model_take_end(void *context, struct learn_conversation *conversation);
static int make_model(struct lesson *lesson, struct model **out);
static int add_source(const struct lesson *lesson, struct builder *builder);
static double learn_model_rounded(double value);
static int add_histories(const struct lesson *lesson, struct builder *builder);
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
static int add_form(struct builder *builder, const struct learn_word *form, uint32_t type,
                    uint64_t count);
static int learn_model_split_form(struct arena *arena, char *text, struct packet_field *fields,
                                  size_t *count);
static int split_values(struct arena *arena, const struct packet_rule *rule, char *text,
                        struct packet_field *field);
static void lesson_clear(struct lesson *lesson);

int learn_model(struct learn_capture *capture, const struct learn_settings *settings,
                struct model **out)
{
    /* One more than there are: the walk may add the form of a hint. */
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

/* A pause from WAIT_LEAST seconds on is an entry of the chain of its own. */
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
    /* After a wait, whose points are the whole time, and at the start there is no other pause. */
    if (result == 0)
        result = count_transition(lesson, conversation, type,
                                  wait || conversation->packets == 1 ? NO_PAUSE : gap);
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
        const char *text = lesson->capture->forms.items[form].bytes;
        if (learn_words_add(&lesson->types, text, learn_form_type(text), type) < 0)
            return -ENOMEM;
        lesson->type_of_form[form] = *type + 1;
    }
    *type = lesson->type_of_form[form] - 1;
    return 0;
}

static int count_transition(struct lesson *lesson, struct learn_conversation *conversation,
                            uint32_t entry, double pause)
{
    uint32_t length = lesson->settings->history, pair[2] = {0, entry}, number;
    if (learn_words_add(&lesson->histories, conversation->entries,
                        length * sizeof *conversation->entries, &pair[0]) < 0 ||
        learn_words_add(&lesson->transitions, pair, sizeof pair, &number) < 0 ||
        (pause >= 0 && learn_pauses_add(&lesson->pauses, number, pause) < 0))
        return -ENOMEM;
    lesson->transitions.items[number].count++;
    memmove(conversation->entries, conversation->entries + 1,
            (length - 1) * sizeof *conversation->entries);
    conversation->entries[length - 1] = entry;
    return 0;
}

/* The entry of the chain that a pause is of its own. */
static uint32_t wait_of(double pause)
{
    int n = (int)floor(log(10 * pause));
    return CHAIN_WAIT + (uint32_t)(n < 0 ? 0 : n > CHAIN_WAIT_MAX ? CHAIN_WAIT_MAX : n);
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
    double seconds = (double)(lesson->capture->last - lesson->capture->first) / 1e9;
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
    char key[KEY_SIZE], name[CHAIN_NAME_SIZE];
    for (uint32_t h = 0; h < lesson->histories.count; h++) {
        const uint32_t *entries = (const void *)lesson->histories.items[h].bytes;
        size_t used = 0;
        uint32_t history;
        for (uint32_t i = 0; i < lesson->settings->history; i++)
            used += (size_t)snprintf(key + used, sizeof key - used, "%s%s", i ? " " : "",
                                     entry_name(lesson, entries[i], name, sizeof name));
        int result = builder_add_history(builder, key, nowhere, &history);
        if (result < 0)
            return result;
    }
    return 0;
}

static const char *entry_name(const struct lesson *lesson, uint32_t entry, char *buffer,
                              size_t size)
{
    if (entry == CHAIN_NONE)
        snprintf(buffer, size, "-");
    else if (chain_is_wait(entry))
        snprintf(buffer, size, "wait:%u", entry - CHAIN_WAIT);
    else
        snprintf(buffer, size, "%s", lesson->types.items[entry].bytes);
    return buffer;
}

static int add_transitions(const struct lesson *lesson, struct builder *builder)
{
    char name[CHAIN_NAME_SIZE];
    for (uint32_t t = 0; t < lesson->transitions.count; t++) {
        const struct learn_word *transition = &lesson->transitions.items[t];
        const uint32_t *pair = (const void *)transition->bytes;
        /* Histories were given in the order of their numbers here. */
        int result =
            builder_add_transition(builder, pair[0], entry_name(lesson, pair[1], name, sizeof name),
                                   transition->count, nowhere);
        if (result < 0)
            return result;
    }
    return 0;
}

static int add_pauses(struct lesson *lesson, struct builder *builder)
{
    struct points points = {lesson, builder};
    return learn_pauses_list(&lesson->pauses, &lesson->histories, &lesson->transitions,
                             lesson->settings->history, add_points, &points);
}

/* One list of points, of the pauses before the last entry of a key. */
static int add_points(void *context, const uint32_t *entries, uint32_t count,
                      const struct learn_histogram *histogram)
{
    const struct points *points = context;
    struct builder *builder = points->builder;
    char key[KEY_SIZE], name[CHAIN_NAME_SIZE];
    size_t used = 0;
    double *list = arena_array(builder_arena(builder), POINTS, sizeof *list);
    if (!list)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(key + used, sizeof key - used, "%s%s", i ? " " : "",
                                 entry_name(points->lesson, entries[i], name, sizeof name));
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

/* By type, then from the commonest. */
static int compare_forms(const void *a, const void *b, void *context)
{
    const struct lesson *lesson = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    if (lesson->type_of_form[left] != lesson->type_of_form[right])
        return lesson->type_of_form[left] < lesson->type_of_form[right] ? -1 : 1;
    if (lesson->form_counts[left] != lesson->form_counts[right])
        return lesson->form_counts[left] > lesson->form_counts[right] ? -1 : 1;
    return strcmp(lesson->capture->forms.items[left].bytes,
                  lesson->capture->forms.items[right].bytes);
}

/* The forms of one type: what is beyond the limit is counted with the commonest. */
static int add_type_forms(struct lesson *lesson, struct builder *builder, const uint32_t *forms,
                          size_t count)
{
    uint32_t type;
    size_t kept = count < lesson->settings->max_details ? count : lesson->settings->max_details;
    uint64_t more = 0;
    const char *name = lesson->types.items[lesson->type_of_form[forms[0]] - 1].bytes;
    int result = builder_find_type(builder, name, nowhere, &type);
    for (size_t i = kept; i < count; i++)
        more += lesson->form_counts[forms[i]];
    for (size_t i = 0; i < kept && result == 0; i++)
        result = add_form(builder, &lesson->capture->forms.items[forms[i]], type,
                          lesson->form_counts[forms[i]] + (i == 0 ? more : 0));
    return result;
}

static int add_form(struct builder *builder, const struct learn_word *form, uint32_t type,
                    uint64_t count)
{
    struct packet_field fields[FIELDS_MAX], *kept;
    size_t field_count;
    struct arena *arena = builder_arena(builder);
    char *text = arena_string(arena, form->bytes, form->length);
    int result = text ? learn_model_split_form(arena, text, fields, &field_count) : -ENOMEM;
    if (result < 0)
        return result;
    kept = arena_array(arena, field_count, sizeof *kept);
    if (!kept)
        return -ENOMEM;
    memcpy(kept, fields, field_count * sizeof *kept);
    return builder_add_details(builder, type, count, kept, field_count);
}

/* A form's fields; text is the model's and is taken apart. */
static int learn_model_split_form(struct arena *arena, char *text, struct packet_field *fields,
                                  size_t *count)
{
    const char separator[2] = {LEARN_FIELD, '\0'};
    char *packet = strsep(&text, separator), *colon = strchr(packet, ':'), *item;
    *count = 0;
    if (!colon)
        return -EINVAL;
    *colon = '\0';
    const struct packet_row *row = packet_row_find(packet, colon + 1);
    while ((item = strsep(&text, separator)) && *count < FIELDS_MAX) {
        char *value = strchr(item, '=');
        if (!value)
            continue;
        *value++ = '\0';
        const struct packet_rule *rule = packet_rule_find(row, item);
        int result = rule ? split_values(arena, rule, value, &fields[*count]) : 0;
        if (result < 0)
            return result;
        *count += rule != NULL;
    }
    return 0;
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
    learn_words_clear(&lesson->types);
    learn_words_clear(&lesson->histories);
    learn_words_clear(&lesson->transitions);
    free(lesson->type_of_form);
    free(lesson->form_counts);
    learn_pauses_clear(&lesson->pauses);
}
