/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alias.h"
#include "model/chain.h"
#include "model/chain_steps_private.h"
#include "model/model_builder_private.h"
#include "model/visits.h"

/* The chain as visits_solve() takes it. */
struct visits_input {
    uint32_t *first, *to;
    double *probability, *visits;
};

static int number_types(struct chain_work *work);
static void number_types_of_chain(struct chain_work *work, uint32_t *count);
static int fill_histories(const struct chain_work *work);
static int fill_history(const struct chain_work *work, uint32_t number, uint32_t *filled);
static uint32_t renumber_entry(const struct chain_work *work, uint32_t entry);
static uint32_t *renumber_entries(const struct chain_work *work, const uint32_t *entries,
                                  uint32_t count);
static bool has_separate_legs(const struct model *model, uint32_t entry);
static int fill_gaps(const struct chain_work *work);
static int copy_gaps(const struct chain_work *work, const struct gaps *from, struct gaps *to);
static int compare_gaps(const void *a, const void *b);
static uint32_t last_entry(const struct gaps *gaps);
static uint32_t find_pause(const struct model *model, const struct chain_history *history,
                           uint32_t entry);
static uint32_t find_gaps(const struct model *model, const uint32_t *history, uint32_t length,
                          uint32_t entry);
static bool is_suffix(const struct gaps *gaps, const uint32_t *history, uint32_t length,
                      uint32_t entry);
static int fill_aliases(const struct model *model);
static int fill_history_aliases(const struct model *model, const struct chain_history *history);
static int fill_visits(struct builder *builder);
static void describe_chain(const struct model *model, struct visits_input *input);
static void keep_visits(struct model *model, const struct visits_input *input);
static int fill_details(const struct chain_work *work);
static int compare_details(const void *a, const void *b);
static int fill_type_details(struct model *model, uint32_t type,
                             const struct builder_details *const *forms, size_t count);

int chain_fill(struct chain_work *work)
{
    struct builder *builder = work->builder;
    int result = number_types(work);
    if (result == 0)
        result = fill_histories(work);
    if (result == 0)
        result = fill_gaps(work);
    if (result == 0)
        result = fill_aliases(builder->model);
    if (result == 0)
        result = fill_visits(builder);
    if (result == 0)
        result = fill_details(work);
    if (result == 0)
        result = model_index_types(builder->model);
    return result == -ENOMEM ? error_no_memory(builder->error) : result;
}

/* Types are numbered as they appear in the ordered chain, so that their order does not depend on
 * the file. Types that only details name come last. */
static int number_types(struct chain_work *work)
{
    struct builder *builder = work->builder;
    struct model *model = builder->model;
    uint32_t count = 0;
    work->type_numbers = malloc((model->type_count + 1) * sizeof *work->type_numbers);
    struct model_type *types = arena_array(&model->arena, model->type_count, sizeof *types);
    if (!work->type_numbers || !types)
        return -ENOMEM;
    memset(work->type_numbers, 0xff, (model->type_count + 1) * sizeof *work->type_numbers);
    number_types_of_chain(work, &count);
    for (uint32_t type = 0; type < model->type_count; type++)
        if (work->type_numbers[type] == UINT32_MAX)
            work->type_numbers[type] = count++;
    for (uint32_t type = 0; type < model->type_count; type++)
        types[work->type_numbers[type]] = model->types[type];
    free(builder->types);
    builder->types = NULL;
    model->types = types;
    return 0;
}

static void number_types_of_chain(struct chain_work *work, uint32_t *count)
{
    const struct builder *builder = work->builder;
    for (uint32_t i = 0; i < builder_history_count(builder); i++) {
        uint32_t history = work->order[i];
        for (size_t t = work->first[history]; t < work->first[history + 1]; t++) {
            uint32_t entry = builder->transitions[t].entry;
            if (!chain_is_packet(entry))
                continue;
            if (work->type_numbers[entry] == UINT32_MAX)
                work->type_numbers[entry] = (*count)++;
            builder->model->types[entry].count += builder->transitions[t].count;
        }
    }
}

static int fill_histories(const struct chain_work *work)
{
    const struct builder *builder = work->builder;
    struct model *model = builder->model;
    uint32_t filled = 0;
    int result = 0;
    model->history_length = builder->length;
    model->history_count = builder_history_count(builder);
    model->transition_count = (uint32_t)builder->transition_count;
    model->histories = arena_array(&model->arena, model->history_count, sizeof *model->histories);
    model->transitions =
        arena_array(&model->arena, model->transition_count, sizeof *model->transitions);
    if (!model->histories || !model->transitions)
        return -ENOMEM;
    for (uint32_t i = 0; i < model->history_count && result == 0; i++)
        result = fill_history(work, i, &filled);
    return result;
}

static int fill_history(const struct chain_work *work, uint32_t number, uint32_t *filled)
{
    const struct builder *builder = work->builder;
    struct model *model = builder->model;
    uint32_t old = work->order[number], length = builder->length;
    const uint32_t *entries = renumber_entries(work, builder_entries(builder, old), length);
    struct chain_history *history = &model->histories[number];
    if (!entries)
        return -ENOMEM;
    *history = (struct chain_history){.first = *filled, .entries = entries};
    for (size_t t = work->first[old]; t < work->first[old + 1]; t++) {
        const struct builder_transition *from = &builder->transitions[t];
        struct chain_transition *to = &model->transitions[(*filled)++];
        *to = (struct chain_transition){.entry = renumber_entry(work, from->entry),
                                        .next = work->numbers[from->next],
                                        .count = from->count};
        to->further_leg = model->separate_legs && has_separate_legs(model, to->entry) &&
                          entries[length - 1] == to->entry;
        history->count++;
        history->total += from->count;
    }
    return 0;
}

static uint32_t renumber_entry(const struct chain_work *work, uint32_t entry)
{
    return chain_is_packet(entry) ? work->type_numbers[entry] : entry;
}

/* A copy with the model's numbers of types, in the model's arena. NULL: out of memory. */
static uint32_t *renumber_entries(const struct chain_work *work, const uint32_t *entries,
                                  uint32_t count)
{
    uint32_t *copy = arena_array(&work->builder->model->arena, count, sizeof *copy);
    for (uint32_t i = 0; copy && i < count; i++)
        copy[i] = renumber_entry(work, entries[i]);
    return copy;
}

static bool has_separate_legs(const struct model *model, uint32_t entry)
{
    const struct packet_row *row = chain_is_packet(entry) ? model->types[entry].row : NULL;
    return row && row->legs && !row->legs->joined;
}

static int fill_gaps(const struct chain_work *work)
{
    const struct builder *builder = work->builder;
    struct model *model = builder->model;
    int result = 0;
    model->gaps = arena_array(&model->arena, builder->gaps_count, sizeof *model->gaps);
    if (!model->gaps)
        return -ENOMEM;
    for (size_t i = 0; i < builder->gaps_count && result == 0; i++)
        result = copy_gaps(work, &builder->gaps[i].gaps, &model->gaps[i]);
    model->gaps_count = (uint32_t)builder->gaps_count;
    if (result == 0 && model->gaps_count > 1)
        qsort(model->gaps, model->gaps_count, sizeof *model->gaps, compare_gaps);
    for (uint32_t h = 0; h < model->history_count && result == 0; h++) {
        const struct chain_history *history = &model->histories[h];
        for (uint32_t t = history->first; t < history->first + history->count; t++)
            model->transitions[t].gaps = find_pause(model, history, model->transitions[t].entry);
    }
    return result;
}

static int copy_gaps(const struct chain_work *work, const struct gaps *from, struct gaps *to)
{
    *to = *from;
    to->entries = renumber_entries(work, from->entries, from->length);
    return to->entries ? gaps_complete(to, &work->builder->model->arena) : -ENOMEM;
}

/* By last entry, waits before packets; then by length, the shortest first. */
static int compare_gaps(const void *a, const void *b)
{
    const struct gaps *left = a, *right = b;
    uint32_t left_last = last_entry(left), right_last = last_entry(right);
    if (chain_is_wait(left_last) != chain_is_wait(right_last))
        return chain_is_wait(left_last) ? -1 : 1;
    if (left_last != right_last)
        return left_last < right_last ? -1 : 1;
    if (left->length != right->length)
        return left->length < right->length ? -1 : 1;
    for (uint32_t i = 0; i < left->length; i++)
        if (left->entries[i] != right->entries[i])
            return left->entries[i] < right->entries[i] ? -1 : 1;
    return 0;
}

static uint32_t last_entry(const struct gaps *gaps)
{
    return gaps->entries[gaps->length - 1];
}

/* The pause before an entry. The first packet of a conversation always follows a short pause by
 * formula, because points describe the time between two packets. */
static uint32_t find_pause(const struct model *model, const struct chain_history *history,
                           uint32_t entry)
{
    uint32_t length = model->history_length, before = history->entries[length - 1];
    if (entry == CHAIN_NONE || (before == CHAIN_NONE && chain_is_packet(entry)))
        return CHAIN_GAPS_FORMULA;
    if (chain_is_packet(entry) && chain_is_wait(before) &&
        find_gaps(model, NULL, 0, before) != CHAIN_GAPS_FORMULA)
        return CHAIN_GAPS_NONE;
    return find_gaps(model, history->entries, length, entry);
}

/* The points with the longest key that fits. */
static uint32_t find_gaps(const struct model *model, const uint32_t *history, uint32_t length,
                          uint32_t entry)
{
    uint32_t found = CHAIN_GAPS_FORMULA;
    for (uint32_t i = 0; i < model->gaps_count; i++)
        if (is_suffix(&model->gaps[i], history, length, entry) &&
            (found == CHAIN_GAPS_FORMULA || model->gaps[i].length > model->gaps[found].length))
            found = i;
    return found;
}

/* True if the history and the entry end in the key of these points. */
static bool is_suffix(const struct gaps *gaps, const uint32_t *history, uint32_t length,
                      uint32_t entry)
{
    uint32_t before = gaps->length - 1;
    if (gaps->entries[before] != entry || before > length)
        return false;
    return before == 0 ||
           memcmp(gaps->entries, history + (length - before), before * sizeof *history) == 0;
}

static int fill_aliases(const struct model *model)
{
    int result = 0;
    for (uint32_t h = 0; h < model->history_count && result == 0; h++)
        result = fill_history_aliases(model, &model->histories[h]);
    return result;
}

static int fill_history_aliases(const struct model *model, const struct chain_history *history)
{
    struct chain_transition *transitions = &model->transitions[history->first];
    struct alias_slot *slots = calloc(history->count, sizeof *slots);
    uint64_t *weights = calloc(history->count, sizeof *weights);
    int result = slots && weights ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < history->count && result == 0; i++)
        weights[i] = transitions[i].count;
    if (result == 0)
        result = alias_build(slots, weights, history->count);
    for (uint32_t i = 0; i < history->count && result == 0; i++) {
        transitions[i].threshold = slots[i].threshold;
        transitions[i].alias = slots[i].alias;
    }
    free(weights);
    free(slots);
    return result;
}

static int fill_visits(struct builder *builder)
{
    static const struct text_place top = {1, 1};
    struct model *model = builder->model;
    struct visits_input input = {
        .first = calloc((size_t)model->history_count + 1, sizeof *input.first),
        .to = calloc(model->transition_count, sizeof *input.to),
        .probability = calloc(model->transition_count, sizeof *input.probability),
        .visits = calloc(model->history_count, sizeof *input.visits),
    };
    int result = input.first && input.to && input.probability && input.visits ? 0 : -ENOMEM;
    if (result == 0) {
        describe_chain(model, &input);
        result = visits_solve(model->history_count, input.first, input.to, input.probability,
                              input.visits);
    }
    if (result == 0)
        keep_visits(model, &input);
    else if (result == -ERANGE)
        result = builder_wrong(builder, top,
                               "expected a chain whose equations can be solved, found one too "
                               "large and too dense");
    free(input.visits);
    free(input.probability);
    free(input.to);
    free(input.first);
    return result;
}

static void describe_chain(const struct model *model, struct visits_input *input)
{
    for (uint32_t h = 0; h < model->history_count; h++) {
        const struct chain_history *history = &model->histories[h];
        input->first[h + 1] = history->first + history->count;
        for (uint32_t t = history->first; t < input->first[h + 1]; t++) {
            input->to[t] = model->transitions[t].next;
            input->probability[t] = (double)model->transitions[t].count / (double)history->total;
        }
    }
}

static void keep_visits(struct model *model, const struct visits_input *input)
{
    for (uint32_t h = 0; h < model->history_count; h++) {
        model->histories[h].visits = input->visits[h];
        for (uint32_t t = input->first[h]; t < input->first[h + 1]; t++) {
            uint32_t entry = model->transitions[t].entry;
            if (chain_is_packet(entry))
                model->types[entry].visits += input->visits[h] * input->probability[t];
        }
    }
}

static int fill_details(const struct chain_work *work)
{
    struct builder *builder = work->builder;
    struct model *model = builder->model;
    const struct builder_details **sorted = calloc(builder->details_count + 1, sizeof *sorted);
    model->details = arena_array(&model->arena, model->type_count, sizeof *model->details);
    int result = sorted && model->details ? 0 : -ENOMEM;
    for (size_t i = 0; i < builder->details_count && result == 0; i++) {
        builder->details[i].type = work->type_numbers[builder->details[i].type];
        sorted[i] = &builder->details[i];
    }
    if (result == 0 && builder->details_count > 0)
        qsort(sorted, builder->details_count, sizeof *sorted, compare_details);
    for (size_t i = 0, end; i < builder->details_count && result == 0; i = end) {
        for (end = i; end < builder->details_count && sorted[end]->type == sorted[i]->type;)
            end++;
        result = fill_type_details(model, sorted[i]->type, sorted + i, end - i);
    }
    free(sorted);
    return result;
}

/* By type, then by falling count, then as in the file. */
static int compare_details(const void *a, const void *b)
{
    const struct builder_details *left = *(const struct builder_details *const *)a;
    const struct builder_details *right = *(const struct builder_details *const *)b;
    if (left->type != right->type)
        return left->type < right->type ? -1 : 1;
    if (left->details.count != right->details.count)
        return left->details.count > right->details.count ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* A single form without fields is the packet's usual form: it needs no details. */
static int fill_type_details(struct model *model, uint32_t type,
                             const struct builder_details *const *forms, size_t count)
{
    if (count == 1 && forms[0]->details.field_count == 0)
        return 0;
    struct model_details *details = arena_array(&model->arena, count, sizeof *details);
    struct alias_slot *slots = arena_array(&model->arena, count, sizeof *slots);
    uint64_t *weights = calloc(count, sizeof *weights);
    int result = details && slots && weights ? 0 : -ENOMEM;
    for (size_t i = 0; i < count && result == 0; i++) {
        details[i] = forms[i]->details;
        weights[i] = details[i].count;
    }
    if (result == 0)
        result = alias_build(slots, weights, count);
    if (result == 0) {
        model->types[type].details = details;
        model->types[type].details_count = count;
        model->details[type] = count > 1 ? slots : NULL;
    }
    free(weights);
    return result;
}
