/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/chain.h"
#include "model/chain_steps_private.h"
#include "model/model_builder_private.h"

enum { NAMED_MAX = 8, WARNINGS_MAX = 5 };

/* Transitions by the history that they lead to, and the histories that are still to be visited. */
struct backwards {
    size_t *first;  /* by history: its first one in from[] */
    uint32_t *from; /* the histories that the transitions leave */
    uint32_t *queue;
    uint32_t head, tail;
};

static int refuse_traps(const struct chain_work *work);
static int find_ways_out(const struct builder *builder, bool *out);
static void index_backwards(const struct builder *builder, struct backwards *backwards);
static void visit_backwards(struct backwards *backwards, uint32_t history, bool *out);
static int refuse_trap(const struct chain_work *work, const bool *out);
static size_t list_trap_entries(const struct chain_work *work, const bool *out,
                                uint32_t entries[NAMED_MAX + 1]);
static bool is_listed(const uint32_t *entries, size_t count, uint32_t entry);
static int check_gaps(struct builder *builder);
static bool has_gaps_of_entry(const struct builder *builder, uint32_t entry);
static int check_sends(const struct chain_work *work);
static void warn_unreachable(const struct chain_work *work);

int chain_check(const struct chain_work *work)
{
    int result = refuse_traps(work);
    if (result == 0)
        result = check_gaps(work->builder);
    if (result == 0)
        result = check_sends(work);
    /* Unreachable histories of a Samba v2 file have a negative balance, which was reported. */
    if (result == 0 && !work->builder->model->samba_v2)
        warn_unreachable(work);
    return result;
}

/* A trap is a set of histories from which no end can be reached. */
static int refuse_traps(const struct chain_work *work)
{
    struct builder *builder = work->builder;
    uint32_t count = builder_history_count(builder), h = 0;
    bool *out = calloc(count, sizeof *out);
    int result = out ? find_ways_out(builder, out) : -ENOMEM;
    while (result == 0 && h < count && out[h])
        h++;
    if (result < 0)
        error_no_memory(builder->error);
    else if (h < count)
        result = refuse_trap(work, out);
    free(out);
    return result;
}

/* Sets out[h] for each history h from which an end can be reached: from the ends backwards. 0 or
 * -ENOMEM. */
static int find_ways_out(const struct builder *builder, bool *out)
{
    uint32_t count = builder_history_count(builder);
    struct backwards backwards = {0};
    backwards.first = calloc((size_t)count + 2, sizeof *backwards.first);
    backwards.from = calloc(builder->transition_count + 1, sizeof *backwards.from);
    backwards.queue = calloc(count, sizeof *backwards.queue);
    int result = backwards.first && backwards.from && backwards.queue ? 0 : -ENOMEM;
    if (result == 0)
        index_backwards(builder, &backwards);
    for (size_t t = 0; t < builder->transition_count && result == 0; t++)
        if (builder->transitions[t].entry == CHAIN_NONE)
            visit_backwards(&backwards, builder->transitions[t].history, out);
    while (result == 0 && backwards.head < backwards.tail) {
        uint32_t history = backwards.queue[backwards.head++];
        for (size_t i = backwards.first[history]; i < backwards.first[history + 1]; i++)
            visit_backwards(&backwards, backwards.from[i], out);
    }
    free(backwards.queue);
    free(backwards.from);
    free(backwards.first);
    return result;
}

/* A counting sort: first[h + 1] is where history h is filled, and ends up as its end. */
static void index_backwards(const struct builder *builder, struct backwards *backwards)
{
    uint32_t count = builder_history_count(builder);
    for (size_t t = 0; t < builder->transition_count; t++)
        backwards->first[builder->transitions[t].next + 2]++;
    for (uint32_t h = 2; h < count + 2; h++)
        backwards->first[h] += backwards->first[h - 1];
    for (size_t t = 0; t < builder->transition_count; t++) {
        const struct builder_transition *transition = &builder->transitions[t];
        backwards->from[backwards->first[transition->next + 1]++] = transition->history;
    }
}

static void visit_backwards(struct backwards *backwards, uint32_t history, bool *out)
{
    if (out[history])
        return;
    out[history] = true;
    backwards->queue[backwards->tail++] = history;
}

/* The message lists the entries of the histories without a way out, and has the place of the first
 * of them. */
static int refuse_trap(const struct chain_work *work, const bool *out)
{
    struct builder *builder = work->builder;
    uint32_t entries[NAMED_MAX + 1], first = 0;
    size_t count = list_trap_entries(work, out, entries), used = 0;
    char names[ERROR_TEXT_SIZE / 4] = "";
    for (size_t i = 0; i < count && i < NAMED_MAX && used < sizeof names; i++) {
        char name[CHAIN_NAME_SIZE];
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 chain_entry_name(builder->model, entries[i], name, sizeof name));
    }
    while (out[work->order[first]])
        first++;
    return builder_wrong(builder, builder->histories[work->order[first]].place,
                         "expected a way to an end ('-'), found none out of %s%s", names,
                         count > NAMED_MAX ? ", ..." : "");
}

/* Lists each entry once. Lists at most one more entry than the message can name. */
static size_t list_trap_entries(const struct chain_work *work, const bool *out,
                                uint32_t entries[NAMED_MAX + 1])
{
    const struct builder *builder = work->builder;
    size_t count = 0;
    for (uint32_t i = 0; i < builder_history_count(builder); i++) {
        uint32_t history = work->order[i];
        for (size_t t = work->first[history]; !out[history] && t < work->first[history + 1]; t++) {
            uint32_t entry = builder->transitions[t].entry;
            if (count <= NAMED_MAX && !is_listed(entries, count, entry))
                entries[count++] = entry;
        }
    }
    return count;
}

static bool is_listed(const uint32_t *entries, size_t count, uint32_t entry)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i] == entry)
            return true;
    return false;
}

/* Points of a longer key require points of its last entry alone. Then each wait either always has
 * points or never. */
static int check_gaps(struct builder *builder)
{
    for (size_t i = 0; i < builder->gaps_count; i++) {
        const struct gaps *gaps = &builder->gaps[i].gaps;
        uint32_t last = gaps->entries[gaps->length - 1];
        char name[CHAIN_NAME_SIZE];
        if (gaps->length > 1 && !has_gaps_of_entry(builder, last))
            return builder_wrong(builder, builder->gaps[i].place, "expected gaps of '%s' alone too",
                                 chain_entry_name(builder->model, last, name, sizeof name));
    }
    return 0;
}

static bool has_gaps_of_entry(const struct builder *builder, uint32_t entry)
{
    for (size_t i = 0; i < builder->gaps_count; i++)
        if (builder->gaps[i].gaps.length == 1 && builder->gaps[i].gaps.entries[0] == entry)
            return true;
    return false;
}

static int check_sends(const struct chain_work *work)
{
    struct builder *builder = work->builder;
    for (uint32_t i = 0; i < work->reached; i++) {
        uint32_t history = work->order[i];
        for (size_t t = work->first[history]; t < work->first[history + 1]; t++)
            if (chain_is_packet(builder->transitions[t].entry))
                return 0;
    }
    return builder_wrong(builder, builder->histories[work->start].place,
                         "expected a packet somewhere after the start, found only waits");
}

static void warn_unreachable(const struct chain_work *work)
{
    struct builder *builder = work->builder;
    uint32_t warned = 0, count = builder_history_count(builder) - work->reached;
    for (; warned < count && warned < WARNINGS_MAX; warned++) {
        uint32_t history = work->order[work->reached + warned];
        char name[256];
        builder_warn(
            builder, builder->histories[history].place,
            "history '%s' is never reached from the start",
            builder_history_name(builder, builder_entries(builder, history), name, sizeof name));
    }
    if (warned < count)
        builder_warn(builder, builder->histories[work->order[work->reached + warned]].place,
                     "%u more histories are never reached from the start", count - warned);
}
