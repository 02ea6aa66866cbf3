/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the ends of conversations that a Samba v2 file lacks. The tool that writes these files
 * writes '-' once per file, though every conversation has an end: if a history is entered more
 * often than left, the difference is the number of conversations that ended in it. A negative
 * balance, from packets that the tool drops now and then, causes a warning and adds no end.
 */
#include <errno.h>
#include <stdlib.h>

#include "model/chain.h"
#include "model/load_private.h"

enum { WARNINGS_MAX = 5 };

struct samba_balance {
    uint64_t entered, left;
    size_t file_end; /* the history's end in the file, or SIZE_MAX */
};

static void count_balances(const struct builder *builder, struct samba_balance *balances);
static int add_missing_ends(struct builder *builder, uint32_t start,
                            const struct samba_balance *balances);
static int add_end(struct builder *builder, uint32_t history, uint32_t start,
                   const struct samba_balance *balance);
static void warn_balance(struct builder *builder, uint32_t history,
                         const struct samba_balance *balance);

int load_samba_add_ends(struct builder *builder, uint32_t start)
{
    struct samba_balance *balances = calloc(builder_history_count(builder), sizeof *balances);
    if (!balances)
        return error_no_memory(builder->error);
    count_balances(builder, balances);
    int result = add_missing_ends(builder, start, balances);
    free(balances);
    return result;
}

static void count_balances(const struct builder *builder, struct samba_balance *balances)
{
    for (uint32_t h = 0; h < builder_history_count(builder); h++)
        balances[h].file_end = SIZE_MAX;
    for (size_t t = 0; t < builder->transition_count; t++) {
        const struct builder_transition *transition = &builder->transitions[t];
        balances[transition->history].left += transition->count;
        if (transition->entry == CHAIN_NONE)
            balances[transition->history].file_end = t;
        else
            balances[transition->next].entered += transition->count;
    }
}

static int add_missing_ends(struct builder *builder, uint32_t start,
                            const struct samba_balance *balances)
{
    static const struct text_place top = {1, 1};
    uint32_t negative = 0;
    int result = 0;
    for (uint32_t h = 0; h < builder_history_count(builder) && result == 0; h++) {
        const struct samba_balance *balance = &balances[h];
        if (h == start)
            continue;
        if (balance->entered > balance->left)
            result = add_end(builder, h, start, balance);
        else if (balance->entered < balance->left && negative++ < WARNINGS_MAX)
            warn_balance(builder, h, balance);
    }
    if (result == 0 && negative > WARNINGS_MAX)
        builder_warn(builder, top, "%u more histories are left more often than entered",
                     negative - WARNINGS_MAX);
    return result;
}

static int add_end(struct builder *builder, uint32_t history, uint32_t start,
                   const struct samba_balance *balance)
{
    uint64_t ends = balance->entered - balance->left;
    if (balance->file_end != SIZE_MAX) {
        builder->transitions[balance->file_end].count += ends;
        return 0;
    }
    struct builder_transition end = {.history = history,
                                     .entry = CHAIN_NONE,
                                     .next = start,
                                     .count = ends,
                                     .place = builder->histories[history].place};
    return builder_append_transition(builder, &end);
}

static void warn_balance(struct builder *builder, uint32_t history,
                         const struct samba_balance *balance)
{
    char name[256];
    builder_warn(
        builder, builder->histories[history].place,
        "history '%s' is entered %llu times but left %llu times; no conversation is assumed to "
        "end there",
        builder_history_name(builder, builder_entries(builder, history), name, sizeof name),
        (unsigned long long)balance->entered, (unsigned long long)balance->left);
}
