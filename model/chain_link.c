/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/chain.h"
#include "model/chain_steps_private.h"
#include "model/model_builder_private.h"

static int find_start(struct builder *builder, uint32_t *start);
static int link_transitions(struct builder *builder, uint32_t start);
static int link_transition(struct builder *builder, struct builder_transition *transition,
                           uint32_t start);
static int sort_transitions(struct chain_work *work);
static int compare_transitions(const void *a, const void *b, void *context);
static int refuse_empty_histories(const struct chain_work *work);
static int order_histories(struct chain_work *work);
static void order_reachable(struct chain_work *work);
static void reach_history(struct chain_work *work, uint32_t history);
static void order_unreachable(struct chain_work *work);
static int compare_histories(const void *a, const void *b, void *context);

int chain_link(struct chain_work *work)
{
    struct builder *builder = work->builder;
    int result = find_start(builder, &work->start);
    if (result == 0)
        result = link_transitions(builder, work->start);
    if (result == 0 && builder->add_ends)
        result = builder->add_ends(builder, work->start);
    if (result == 0)
        result = sort_transitions(work);
    if (result == 0)
        result = refuse_empty_histories(work);
    if (result == 0)
        result = order_histories(work);
    return result;
}

static int find_start(struct builder *builder, uint32_t *start)
{
    static const struct text_place top = {1, 1};
    uint32_t entries[CHAIN_HISTORY_MAX];
    char name[256];
    if (builder->length == 0)
        return builder_wrong(builder, top, "expected a chain with histories, found an empty one");
    for (uint32_t i = 0; i < builder->length; i++)
        entries[i] = CHAIN_NONE;
    int result = builder_find_history(builder, entries, false, top, start);
    if (result == 0 && *start == UINT32_MAX)
        result = builder_wrong(builder, top, "expected a history '%s', the start of conversations",
                               builder_history_name(builder, entries, name, sizeof name));
    return result;
}

static int link_transitions(struct builder *builder, uint32_t start)
{
    int result = 0;
    for (size_t i = 0; i < builder->transition_count && result == 0; i++)
        result = link_transition(builder, &builder->transitions[i], start);
    return result;
}

static int link_transition(struct builder *builder, struct builder_transition *transition,
                           uint32_t start)
{
    uint32_t entries[CHAIN_HISTORY_MAX];
    char name[256];
    if (transition->entry == CHAIN_NONE) {
        transition->next = start;
        if (transition->history == start)
            return builder_wrong(builder, transition->place,
                                 "expected a packet or a wait at the start, found an end");
        return 0;
    }
    memcpy(entries, builder_entries(builder, transition->history) + 1,
           (builder->length - 1) * sizeof *entries);
    entries[builder->length - 1] = transition->entry;
    int result = builder_find_history(builder, entries, builder->adds_histories, transition->place,
                                      &transition->next);
    if (result == 0 && transition->next == UINT32_MAX)
        result = builder_wrong(builder, transition->place,
                               "expected a history '%s' in the chain, to which this leads",
                               builder_history_name(builder, entries, name, sizeof name));
    return result;
}

static int sort_transitions(struct chain_work *work)
{
    struct builder *builder = work->builder;
    uint32_t count = builder_history_count(builder);
    size_t i = 0;
    work->first = calloc((size_t)count + 1, sizeof *work->first);
    if (!work->first)
        return error_no_memory(builder->error);
    if (builder->transition_count > 0)
        qsort_r(builder->transitions, builder->transition_count, sizeof *builder->transitions,
                compare_transitions, builder->model);
    for (uint32_t h = 0; h <= count; h++) {
        while (i < builder->transition_count && builder->transitions[i].history < h)
            i++;
        work->first[h] = i;
    }
    return 0;
}

/* By history, then by falling count, then by name. */
static int compare_transitions(const void *a, const void *b, void *context)
{
    const struct builder_transition *left = a, *right = b;
    char left_name[CHAIN_NAME_SIZE], right_name[CHAIN_NAME_SIZE];
    const struct model *model = context;
    if (left->history != right->history)
        return left->history < right->history ? -1 : 1;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return strcmp(chain_entry_name(model, left->entry, left_name, sizeof left_name),
                  chain_entry_name(model, right->entry, right_name, sizeof right_name));
}

static int refuse_empty_histories(const struct chain_work *work)
{
    struct builder *builder = work->builder;
    char name[256];
    for (uint32_t h = 0; h < builder_history_count(builder); h++)
        if (work->first[h] == work->first[h + 1])
            return builder_wrong(
                builder, builder->histories[h].place,
                "expected what comes after '%s', found nothing",
                builder_history_name(builder, builder_entries(builder, h), name, sizeof name));
    return 0;
}

static int order_histories(struct chain_work *work)
{
    uint32_t count = builder_history_count(work->builder);
    work->order = calloc(count, sizeof *work->order);
    work->numbers = malloc(count * sizeof *work->numbers);
    if (!work->order || !work->numbers)
        return error_no_memory(work->builder->error);
    memset(work->numbers, 0xff, count * sizeof *work->numbers);
    order_reachable(work);
    order_unreachable(work);
    return 0;
}

/* Breadth first from the start. */
static void order_reachable(struct chain_work *work)
{
    reach_history(work, work->start);
    for (uint32_t i = 0; i < work->reached; i++) {
        uint32_t history = work->order[i];
        for (size_t t = work->first[history]; t < work->first[history + 1]; t++)
            reach_history(work, work->builder->transitions[t].next);
    }
}

static void reach_history(struct chain_work *work, uint32_t history)
{
    if (work->numbers[history] != UINT32_MAX)
        return;
    work->numbers[history] = work->reached;
    work->order[work->reached++] = history;
}

/* Unreachable histories follow, sorted by name. */
static void order_unreachable(struct chain_work *work)
{
    uint32_t count = builder_history_count(work->builder), filled = work->reached;
    for (uint32_t h = 0; h < count; h++)
        if (work->numbers[h] == UINT32_MAX)
            work->order[filled++] = h;
    qsort_r(work->order + work->reached, count - work->reached, sizeof *work->order,
            compare_histories, work->builder);
    for (uint32_t i = work->reached; i < count; i++)
        work->numbers[work->order[i]] = i;
}

static int compare_histories(const void *a, const void *b, void *context)
{
    const struct builder *builder = context;
    const uint32_t *left_entries = builder_entries(builder, *(const uint32_t *)a);
    const uint32_t *right_entries = builder_entries(builder, *(const uint32_t *)b);
    char left[1024], right[1024];
    return strcmp(builder_history_name(builder, left_entries, left, sizeof left),
                  builder_history_name(builder, right_entries, right, sizeof right));
}
