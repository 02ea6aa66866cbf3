/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a file said to a model: transitions find the histories that they lead to, a Samba v2
 * model's lost ends are added, the whole is checked, put into its order, solved for the visits, and
 * the alias tables are made.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_builder.h"
#include "model/visits.h"

enum { NAMED_MAX = 8, WARNINGS_MAX = 5 };

static const struct document_place top = {1, 1};

struct balance {
    uint64_t entered, left;
    size_t file_end; /* its end in the file, or SIZE_MAX */
};

/* What the steps below share. order[n] is the n-th history of the model. */
struct finish {
    struct builder *builder;
    uint32_t start;
    size_t *first;     /* of each history among the sorted transitions */
    uint32_t *order;   /* histories in the model's order: reached ones first */
    uint32_t *numbers; /* of each history, its place in order */
    uint32_t reached;
    uint32_t *type_numbers;
};

static int prepare(struct finish *finish);
static int find_start(struct builder *builder, uint32_t *start);
static const char *history_name(const struct builder *builder, const uint32_t *entries,
                                char *buffer, size_t size);
static int link_all(struct builder *builder, uint32_t start);
static int link_one(struct builder *builder, struct builder_transition *transition, uint32_t start);
static int recover_ends(struct builder *builder, uint32_t start);
static int apply_balances(struct builder *builder, uint32_t start, const struct balance *balances);
static void warn_balance(struct builder *builder, uint32_t history, const struct balance *balance);
static int add_end(struct builder *builder, uint32_t history, uint32_t start, uint64_t ends,
                   size_t file_end);
static int sort_transitions(struct finish *finish);
static int compare_transitions(const void *a, const void *b, void *context);
static int check_not_empty(struct finish *finish);
static int order_histories(struct finish *finish);
static void reach(struct finish *finish, uint32_t history);
static int compare_histories(const void *a, const void *b, void *context);
static int finish_check(struct finish *finish);
static int check_ways_out(struct finish *finish);
static int find_ways_out(const struct finish *finish, bool *out);
static int refuse_trap(const struct finish *finish, const bool *out);
static bool is_listed(const uint32_t *entries, size_t count, uint32_t entry);
static int check_gaps(struct builder *builder);
static uint32_t last_entry(const struct gaps *gaps);
static int check_sends(struct finish *finish);
static void warn_unreached(struct finish *finish);
static int finish_complete(struct finish *finish);
static int number_types(struct finish *finish);
static int fill_chain(struct finish *finish);
static void fill_history(struct finish *finish, uint32_t number, uint32_t *filled);
static uint32_t renumbered(const struct finish *finish, uint32_t entry);
static bool is_session_setup(const struct model *model, uint32_t entry);
static int fill_gaps(struct finish *finish);
static int copy_gaps(struct finish *finish, const struct gaps *from, struct gaps *to);
static int compare_gaps(const void *a, const void *b);
static uint32_t pause_before(const struct model *model, const struct chain_history *history,
                             uint32_t entry);
static uint32_t find_gaps(const struct model *model, const uint32_t *history, uint32_t length,
                          uint32_t entry);
static bool is_suffix(const struct gaps *gaps, const uint32_t *history, uint32_t length,
                      uint32_t entry);
static int make_aliases(struct builder *builder, const struct chain_history *history);
static int solve_visits(struct builder *builder);
static int finish_fill_details(struct finish *finish);
static int compare_details(const void *a, const void *b);
static int fill_type_details(struct builder *builder, uint32_t type,
                             const struct builder_details *const *forms, size_t count);
static int index_types(struct builder *builder);

const char *chain_entry_name(const struct model *model, uint32_t entry, char *buffer, size_t size)
{
    if (entry == CHAIN_NONE)
        snprintf(buffer, size, "-");
    else if (chain_is_wait(entry))
        snprintf(buffer, size, "wait:%u", entry - CHAIN_WAIT);
    else
        snprintf(buffer, size, "%s:%s", model->types[entry].protocol, model->types[entry].opcode);
    return buffer;
}

int builder_finish(struct builder *builder, struct model **out)
{
    struct finish finish = {.builder = builder};
    int result = prepare(&finish);
    if (result == 0)
        result = finish_check(&finish);
    if (result == 0)
        result = finish_complete(&finish);
    if (result == 0) {
        *out = builder->model;
        builder->model = NULL;
    }
    free(finish.first);
    free(finish.order);
    free(finish.numbers);
    free(finish.type_numbers);
    return result;
}

static int prepare(struct finish *finish)
{
    struct builder *builder = finish->builder;
    int result = find_start(builder, &finish->start);
    if (result == 0)
        result = link_all(builder, finish->start);
    if (result == 0 && builder->model->samba_v2)
        result = recover_ends(builder, finish->start);
    if (result == 0)
        result = sort_transitions(finish);
    if (result == 0)
        result = check_not_empty(finish);
    if (result == 0)
        result = order_histories(finish);
    return result;
}

static int find_start(struct builder *builder, uint32_t *start)
{
    uint32_t entries[CHAIN_HISTORY_MAX];
    char name[256];
    if (builder->length == 0)
        return builder_wrong(builder, top, "expected a chain with histories, found an empty one");
    for (uint32_t i = 0; i < builder->length; i++)
        entries[i] = CHAIN_NONE;
    if (builder_find_history(builder, entries, false, top, start) < 0)
        return -ENOMEM;
    if (*start == UINT32_MAX)
        return builder_wrong(builder, top, "expected a history '%s', the start of conversations",
                             history_name(builder, entries, name, sizeof name));
    return 0;
}

/* A history's name in a message, shortened when it is long. */
static const char *history_name(const struct builder *builder, const uint32_t *entries,
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

static int link_all(struct builder *builder, uint32_t start)
{
    int result = 0;
    for (size_t i = 0; i < builder->transition_count && result == 0; i++)
        result = link_one(builder, &builder->transitions[i], start);
    return result;
}

static int link_one(struct builder *builder, struct builder_transition *transition, uint32_t start)
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
    memcpy(entries, builder->histories[transition->history].entries + 1,
           (builder->length - 1) * sizeof *entries);
    entries[builder->length - 1] = transition->entry;
    if (builder_find_history(builder, entries, builder->model->samba_v2, transition->place,
                             &transition->next) < 0)
        return -ENOMEM;
    if (transition->next == UINT32_MAX)
        return builder_wrong(builder, transition->place,
                             "expected a history '%s' in the chain, which this leads to",
                             history_name(builder, entries, name, sizeof name));
    return 0;
}

static int recover_ends(struct builder *builder, uint32_t start)
{
    struct balance *balances = calloc(builder->history_count, sizeof *balances);
    int result = balances ? 0 : builder_no_memory(builder);
    for (size_t i = 0; i < builder->history_count && result == 0; i++)
        balances[i].file_end = SIZE_MAX;
    for (size_t i = 0; i < builder->transition_count && result == 0; i++) {
        const struct builder_transition *transition = &builder->transitions[i];
        balances[transition->history].left += transition->count;
        if (transition->entry == CHAIN_NONE)
            balances[transition->history].file_end = i;
        else
            balances[transition->next].entered += transition->count;
    }
    if (result == 0)
        result = apply_balances(builder, start, balances);
    free(balances);
    return result;
}

static int apply_balances(struct builder *builder, uint32_t start, const struct balance *balances)
{
    size_t below = 0, count = builder->history_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct balance *balance = &balances[i];
        if (i == start || balance->entered == balance->left)
            continue;
        if (balance->entered < balance->left) {
            if (below++ < WARNINGS_MAX)
                warn_balance(builder, i, balance);
        } else if (add_end(builder, i, start, balance->entered - balance->left, balance->file_end) <
                   0) {
            return -ENOMEM;
        }
    }
    if (below > WARNINGS_MAX)
        builder_warn(builder, top, "%zu more histories are left more often than entered",
                     below - WARNINGS_MAX);
    return 0;
}

static void warn_balance(struct builder *builder, uint32_t history, const struct balance *balance)
{
    char name[256];
    builder_warn(builder, builder->histories[history].place,
                 "history '%s' is entered %llu times but left %llu times: taken as if no "
                 "conversation ends there",
                 history_name(builder, builder->histories[history].entries, name, sizeof name),
                 (unsigned long long)balance->entered, (unsigned long long)balance->left);
}

/*
 * The tool that writes these models writes '-' once per file, though every conversation has an end:
 * what enters a history and does not leave it ended there. A negative balance (the tool drops
 * packets now and then) is told and taken as no end.
 */
static int add_end(struct builder *builder, uint32_t history, uint32_t start, uint64_t ends,
                   size_t file_end)
{
    if (file_end != SIZE_MAX) {
        builder->transitions[file_end].count += ends;
        return 0;
    }
    struct builder_transition end = {.history = history,
                                     .entry = CHAIN_NONE,
                                     .next = start,
                                     .count = ends,
                                     .place = builder->histories[history].place};
    return builder_append_transition(builder, &end);
}

static int sort_transitions(struct finish *finish)
{
    struct builder *builder = finish->builder;
    size_t i = 0;
    finish->first = calloc(builder->history_count + 1, sizeof *finish->first);
    if (!finish->first)
        return builder_no_memory(builder);
    if (builder->transition_count > 0)
        qsort_r(builder->transitions, builder->transition_count, sizeof *builder->transitions,
                compare_transitions, builder->model);
    for (uint32_t h = 0; h <= builder->history_count; h++) {
        while (i < builder->transition_count && builder->transitions[i].history < h)
            i++;
        finish->first[h] = i;
    }
    return 0;
}

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

static int check_not_empty(struct finish *finish)
{
    struct builder *builder = finish->builder;
    char name[256];
    for (uint32_t h = 0; h < builder->history_count; h++)
        if (finish->first[h] == finish->first[h + 1])
            return builder_wrong(
                builder, builder->histories[h].place,
                "expected what comes after '%s', found nothing",
                history_name(builder, builder->histories[h].entries, name, sizeof name));
    return 0;
}

/* Breadth first from the start; then those that nothing leads to, by name. */
static int order_histories(struct finish *finish)
{
    struct builder *builder = finish->builder;
    uint32_t count = (uint32_t)builder->history_count, unreached;
    finish->order = calloc(count, sizeof *finish->order);
    finish->numbers = malloc(count * sizeof *finish->numbers);
    if (!finish->order || !finish->numbers)
        return builder_no_memory(builder);
    memset(finish->numbers, 0xff, count * sizeof *finish->numbers);
    reach(finish, finish->start);
    for (uint32_t i = 0; i < finish->reached; i++)
        for (size_t t = finish->first[finish->order[i]]; t < finish->first[finish->order[i] + 1];
             t++)
            reach(finish, builder->transitions[t].next);
    unreached = finish->reached;
    for (uint32_t h = 0; h < count; h++)
        if (finish->numbers[h] == UINT32_MAX)
            finish->order[unreached++] = h;
    qsort_r(finish->order + finish->reached, count - finish->reached, sizeof *finish->order,
            compare_histories, builder);
    for (uint32_t i = finish->reached; i < count; i++)
        finish->numbers[finish->order[i]] = i;
    return 0;
}

static void reach(struct finish *finish, uint32_t history)
{
    if (finish->numbers[history] != UINT32_MAX)
        return;
    finish->numbers[history] = finish->reached;
    finish->order[finish->reached++] = history;
}

static int compare_histories(const void *a, const void *b, void *context)
{
    const struct builder *builder = context;
    char left[1024], right[1024];
    return strcmp(
        history_name(builder, builder->histories[*(const uint32_t *)a].entries, left, sizeof left),
        history_name(builder, builder->histories[*(const uint32_t *)b].entries, right,
                     sizeof right));
}

static int finish_check(struct finish *finish)
{
    int result = check_ways_out(finish);
    if (result == 0)
        result = check_gaps(finish->builder);
    if (result == 0)
        result = check_sends(finish);
    if (result == 0)
        warn_unreached(finish);
    return result;
}

static int check_ways_out(struct finish *finish)
{
    struct builder *builder = finish->builder;
    bool *out = calloc(builder->history_count, sizeof *out), all = true;
    int result = out ? find_ways_out(finish, out) : -ENOMEM;
    for (size_t h = 0; h < builder->history_count && result == 0; h++)
        all = all && out[h];
    if (result == -ENOMEM)
        builder_no_memory(builder);
    else if (!all)
        result = refuse_trap(finish, out);
    free(out);
    return result;
}

/* Histories from which an end can be reached, found from the ends backwards. */
static int find_ways_out(const struct finish *finish, bool *out)
{
    const struct builder *builder = finish->builder;
    size_t count = builder->history_count, transitions = builder->transition_count;
    size_t *first = calloc(count + 2, sizeof *first);
    uint32_t *from = calloc(transitions + 1, sizeof *from);
    uint32_t *queue = calloc(count, sizeof *queue), head = 0, tail = 0;
    int result = first && from && queue ? 0 : -ENOMEM;
    for (size_t t = 0; t < transitions && result == 0; t++)
        first[builder->transitions[t].next + 2]++;
    for (size_t h = 2; h < count + 2 && result == 0; h++)
        first[h] += first[h - 1];
    for (size_t t = 0; t < transitions && result == 0; t++) {
        from[first[builder->transitions[t].next + 1]++] = builder->transitions[t].history;
        if (builder->transitions[t].entry == CHAIN_NONE && !out[builder->transitions[t].history]) {
            out[builder->transitions[t].history] = true;
            queue[tail++] = builder->transitions[t].history;
        }
    }
    while (result == 0 && head < tail) {
        uint32_t history = queue[head++];
        for (size_t e = first[history]; e < first[history + 1]; e++) {
            if (!out[from[e]]) {
                out[from[e]] = true;
                queue[tail++] = from[e];
            }
        }
    }
    free(queue);
    free(from);
    free(first);
    return result;
}

/* Names what goes round in histories without a way out, at the first of them. */
static int refuse_trap(const struct finish *finish, const bool *out)
{
    struct builder *builder = finish->builder;
    uint32_t entries[NAMED_MAX];
    size_t count = 0, used = 0;
    bool more = false;
    char names[ERROR_TEXT_SIZE / 4] = "";
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < builder->history_count; i++) {
        uint32_t history = finish->order[i];
        if (out[history])
            continue;
        first = first == UINT32_MAX ? history : first;
        for (size_t t = finish->first[history]; t < finish->first[history + 1]; t++) {
            uint32_t entry = builder->transitions[t].entry;
            if (is_listed(entries, count, entry))
                continue;
            more = more || count == NAMED_MAX;
            if (count < NAMED_MAX)
                entries[count++] = entry;
        }
    }
    for (size_t i = 0; i < count && used < sizeof names; i++) {
        char name[CHAIN_NAME_SIZE];
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 chain_entry_name(builder->model, entries[i], name, sizeof name));
    }
    return builder_wrong(builder, builder->histories[first].place,
                         "expected a way to an end ('-'), found none out of %s%s", names,
                         more ? ", ..." : "");
}

static bool is_listed(const uint32_t *entries, size_t count, uint32_t entry)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i] == entry)
            return true;
    return false;
}

/* What is finer goes with what is coarser, so that it is certain which waits have points. */
static int check_gaps(struct builder *builder)
{
    for (size_t i = 0; i < builder->gaps_count; i++) {
        uint32_t last = last_entry(&builder->gaps[i].gaps);
        bool found = builder->gaps[i].gaps.length == 1;
        char name[CHAIN_NAME_SIZE];
        for (size_t k = 0; k < builder->gaps_count && !found; k++)
            found = builder->gaps[k].gaps.length == 1 && builder->gaps[k].gaps.entries[0] == last;
        if (!found)
            return builder_wrong(builder, builder->gaps[i].place, "expected gaps of '%s' alone too",
                                 chain_entry_name(builder->model, last, name, sizeof name));
    }
    return 0;
}

static uint32_t last_entry(const struct gaps *gaps)
{
    return gaps->entries[gaps->length - 1];
}

static int check_sends(struct finish *finish)
{
    struct builder *builder = finish->builder;
    for (uint32_t i = 0; i < finish->reached; i++)
        for (size_t t = finish->first[finish->order[i]]; t < finish->first[finish->order[i] + 1];
             t++)
            if (chain_is_packet(builder->transitions[t].entry))
                return 0;
    return builder_wrong(builder, builder->histories[finish->start].place,
                         "expected a packet somewhere after the start, found only waits");
}

/* In a Samba v2 model such a history has a negative balance, which was told. */
static void warn_unreached(struct finish *finish)
{
    struct builder *builder = finish->builder;
    uint32_t told = 0, count = (uint32_t)builder->history_count - finish->reached;
    if (builder->model->samba_v2)
        return;
    for (; told < count && told < WARNINGS_MAX; told++) {
        const struct builder_history *history =
            &builder->histories[finish->order[finish->reached + told]];
        char name[256];
        builder_warn(builder, history->place, "history '%s' is never reached from the start",
                     history_name(builder, history->entries, name, sizeof name));
    }
    if (told < count)
        builder_warn(builder, builder->histories[finish->order[finish->reached + told]].place,
                     "%u more histories are never reached from the start", count - told);
}

static int finish_complete(struct finish *finish)
{
    struct builder *builder = finish->builder;
    int result = number_types(finish);
    if (result == 0)
        result = fill_chain(finish);
    if (result == 0)
        result = fill_gaps(finish);
    for (uint32_t h = 0; result == 0 && h < builder->model->history_count; h++)
        result = make_aliases(builder, &builder->model->histories[h]);
    if (result == 0)
        result = solve_visits(builder);
    if (result == 0)
        result = finish_fill_details(finish);
    if (result == 0)
        result = index_types(builder);
    return result;
}

/* Types are numbered as the ordered chain meets them, so that their order is no accident of the
 * file either; those that only details name come last. */
static int number_types(struct finish *finish)
{
    struct builder *builder = finish->builder;
    struct model *model = builder->model;
    uint32_t count = 0;
    finish->type_numbers = malloc((model->type_count + 1) * sizeof *finish->type_numbers);
    struct model_type *types = arena_array(&model->arena, model->type_count, sizeof *types);
    if (!finish->type_numbers || !types)
        return builder_no_memory(builder);
    memset(finish->type_numbers, 0xff, (model->type_count + 1) * sizeof *finish->type_numbers);
    for (uint32_t i = 0; i < builder->history_count; i++) {
        uint32_t history = finish->order[i];
        for (size_t t = finish->first[history]; t < finish->first[history + 1]; t++) {
            uint32_t entry = builder->transitions[t].entry;
            if (!chain_is_packet(entry))
                continue;
            if (finish->type_numbers[entry] == UINT32_MAX)
                finish->type_numbers[entry] = count++;
            model->types[entry].count += builder->transitions[t].count;
        }
    }
    for (uint32_t type = 0; type < model->type_count; type++)
        if (finish->type_numbers[type] == UINT32_MAX)
            finish->type_numbers[type] = count++;
    for (uint32_t type = 0; type < model->type_count; type++)
        types[finish->type_numbers[type]] = model->types[type];
    free(builder->types);
    builder->types = NULL;
    model->types = types;
    return 0;
}

static int fill_chain(struct finish *finish)
{
    struct builder *builder = finish->builder;
    struct model *model = builder->model;
    uint32_t filled = 0;
    model->history_length = builder->length;
    model->history_count = (uint32_t)builder->history_count;
    model->transition_count = (uint32_t)builder->transition_count;
    model->histories = arena_array(&model->arena, model->history_count, sizeof *model->histories);
    model->transitions =
        arena_array(&model->arena, model->transition_count, sizeof *model->transitions);
    if (!model->histories || !model->transitions)
        return builder_no_memory(builder);
    for (uint32_t i = 0; i < model->history_count; i++)
        fill_history(finish, i, &filled);
    return 0;
}

static void fill_history(struct finish *finish, uint32_t number, uint32_t *filled)
{
    struct builder *builder = finish->builder;
    struct model *model = builder->model;
    uint32_t old = finish->order[number];
    struct chain_history *history = &model->histories[number];
    uint32_t *entries = (uint32_t *)(uintptr_t)builder->histories[old].entries;
    for (uint32_t i = 0; i < builder->length; i++)
        entries[i] = renumbered(finish, entries[i]);
    *history = (struct chain_history){.first = *filled, .entries = entries};
    for (size_t t = finish->first[old]; t < finish->first[old + 1]; t++) {
        const struct builder_transition *from = &builder->transitions[t];
        struct chain_transition *to = &model->transitions[(*filled)++];
        *to = (struct chain_transition){.entry = renumbered(finish, from->entry),
                                        .next = finish->numbers[from->next],
                                        .count = from->count};
        to->further_leg = model->separate_legs && is_session_setup(model, to->entry) &&
                          entries[builder->length - 1] == to->entry;
        history->count++;
        history->total += from->count;
    }
}

static uint32_t renumbered(const struct finish *finish, uint32_t entry)
{
    return chain_is_packet(entry) ? finish->type_numbers[entry] : entry;
}

static bool is_session_setup(const struct model *model, uint32_t entry)
{
    return chain_is_packet(entry) && strcmp(model->types[entry].protocol, "smb2") == 0 &&
           strcmp(model->types[entry].opcode, "1") == 0;
}

static int fill_gaps(struct finish *finish)
{
    struct builder *builder = finish->builder;
    struct model *model = builder->model;
    int result = 0;
    model->gaps = arena_array(&model->arena, builder->gaps_count, sizeof *model->gaps);
    if (!model->gaps)
        return builder_no_memory(builder);
    for (size_t i = 0; i < builder->gaps_count && result == 0; i++)
        result = copy_gaps(finish, &builder->gaps[i].gaps, &model->gaps[i]);
    model->gaps_count = (uint32_t)builder->gaps_count;
    if (result == 0 && model->gaps_count > 1)
        qsort(model->gaps, model->gaps_count, sizeof *model->gaps, compare_gaps);
    for (uint32_t h = 0; h < model->history_count && result == 0; h++) {
        const struct chain_history *history = &model->histories[h];
        for (uint32_t t = history->first; t < history->first + history->count; t++)
            model->transitions[t].gaps = pause_before(model, history, model->transitions[t].entry);
    }
    return result;
}

static int copy_gaps(struct finish *finish, const struct gaps *from, struct gaps *to)
{
    struct arena *arena = &finish->builder->model->arena;
    uint32_t *entries = arena_array(arena, from->length, sizeof *entries);
    if (!entries)
        return builder_no_memory(finish->builder);
    for (uint32_t i = 0; i < from->length; i++)
        entries[i] = renumbered(finish, from->entries[i]);
    *to = *from;
    to->entries = entries;
    return gaps_complete(to, arena) < 0 ? builder_no_memory(finish->builder) : 0;
}

/* By what comes last, waits before packets; then from the shortest. */
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

/* The first packet of a conversation comes after a short gap in any case: the points tell of what
 * is between two packets. */
static uint32_t pause_before(const struct model *model, const struct chain_history *history,
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

/* True when the history and the entry end in these points' key. */
static bool is_suffix(const struct gaps *gaps, const uint32_t *history, uint32_t length,
                      uint32_t entry)
{
    uint32_t before = gaps->length - 1;
    return gaps->entries[before] == entry && before <= length &&
           (before == 0 ||
            memcmp(gaps->entries, history + (length - before), before * sizeof *history) == 0);
}

static int make_aliases(struct builder *builder, const struct chain_history *history)
{
    struct chain_transition *transitions = &builder->model->transitions[history->first];
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
    return result < 0 ? builder_no_memory(builder) : 0;
}

static int solve_visits(struct builder *builder)
{
    struct model *model = builder->model;
    uint32_t *first = calloc(model->history_count + 1, sizeof *first);
    uint32_t *to = calloc(model->transition_count, sizeof *to);
    double *probability = calloc(model->transition_count, sizeof *probability);
    double *visits = calloc(model->history_count, sizeof *visits);
    int result = first && to && probability && visits ? 0 : -ENOMEM;
    for (uint32_t h = 0; h < model->history_count && result == 0; h++) {
        const struct chain_history *history = &model->histories[h];
        first[h + 1] = history->first + history->count;
        for (uint32_t t = history->first; t < first[h + 1]; t++) {
            to[t] = model->transitions[t].next;
            probability[t] = (double)model->transitions[t].count / (double)history->total;
        }
    }
    if (result == 0)
        result = visits_solve(model->history_count, first, to, probability, visits);
    for (uint32_t h = 0; h < model->history_count && result == 0; h++) {
        model->histories[h].visits = visits[h];
        for (uint32_t t = first[h]; t < first[h + 1]; t++)
            if (chain_is_packet(model->transitions[t].entry))
                model->types[model->transitions[t].entry].visits += visits[h] * probability[t];
    }
    free(visits);
    free(probability);
    free(to);
    free(first);
    if (result == -ENOMEM)
        return builder_no_memory(builder);
    if (result < 0)
        return builder_wrong(builder, top,
                             "expected a chain whose equations can be solved, found one "
                             "too large and too entangled");
    return 0;
}

static int finish_fill_details(struct finish *finish)
{
    struct builder *builder = finish->builder;
    struct model *model = builder->model;
    const struct builder_details **sorted = calloc(builder->details_count + 1, sizeof *sorted);
    model->details = arena_array(&model->arena, model->type_count, sizeof *model->details);
    int result = sorted && model->details ? 0 : builder_no_memory(builder);
    for (size_t i = 0; i < builder->details_count && result == 0; i++) {
        builder->details[i].type = finish->type_numbers[builder->details[i].type];
        sorted[i] = &builder->details[i];
    }
    if (result == 0 && builder->details_count > 0)
        qsort(sorted, builder->details_count, sizeof *sorted, compare_details);
    for (size_t i = 0, end; i < builder->details_count && result == 0; i = end) {
        for (end = i; end < builder->details_count && sorted[end]->type == sorted[i]->type;)
            end++;
        result = fill_type_details(builder, sorted[i]->type, sorted + i, end - i);
    }
    free(sorted);
    return result;
}

static int compare_details(const void *a, const void *b)
{
    const struct builder_details *left = *(const struct builder_details *const *)a;
    const struct builder_details *right = *(const struct builder_details *const *)b;
    if (left->type != right->type)
        return left->type < right->type ? -1 : 1;
    if (left->details.count != right->details.count)
        return left->details.count > right->details.count ? -1 : 1;
    return left < right ? -1 : left > right; /* as in the file */
}

/* One form without fields is the usual form: no choice to make, nothing to keep. */
static int fill_type_details(struct builder *builder, uint32_t type,
                             const struct builder_details *const *forms, size_t count)
{
    struct model *model = builder->model;
    uint64_t *weights = NULL;
    int result = -ENOMEM;
    if (count == 1 && forms[0]->details.field_count == 0)
        return 0;
    struct model_details *details = arena_array(&model->arena, count, sizeof *details);
    struct alias_slot *slots = arena_array(&model->arena, count, sizeof *slots);
    weights = calloc(count, sizeof *weights);
    if (!details || !slots || !weights)
        goto cleanup;
    for (size_t i = 0; i < count; i++) {
        details[i] = forms[i]->details;
        weights[i] = details[i].count;
    }
    result = alias_build(slots, weights, count);
    model->types[type].details = details;
    model->types[type].details_count = count;
    model->details[type] = count > 1 ? slots : NULL;
cleanup:
    free(weights);
    return result < 0 ? builder_no_memory(builder) : 0;
}

static int index_types(struct builder *builder)
{
    struct model *model = builder->model;
    model->types_by_name =
        arena_array(&model->arena, model->type_count, sizeof *model->types_by_name);
    if (!model->types_by_name)
        return builder_no_memory(builder);
    for (uint32_t i = 0; i < model->type_count; i++)
        model->types_by_name[i] = i;
    model_sort_types(model);
    return 0;
}
