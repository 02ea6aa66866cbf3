/* SPDX-License-Identifier: Apache-2.0 */
/* The builder's contents, for the loaders and for the steps that complete a model. */
#ifndef MODEL_MODEL_BUILDER_PRIVATE_H
#define MODEL_MODEL_BUILDER_PRIVATE_H

#include "base/intern.h"
#include "model/gaps_private.h"
#include "model/model_builder.h"
#include "model/model_private.h"

enum { BUILDER_NAME_MAX = 64 };

struct builder_history {
    struct text_place place; /* where it is defined, or else the first transition to it */
    bool defined;
};

struct builder_transition {
    uint32_t history, entry, next;
    uint64_t count;
    struct text_place place;
};

struct builder_details {
    uint32_t type;
    struct model_details details;
};

struct builder_gaps {
    struct gaps gaps; /* its entries have the builder's numbers of types */
    struct text_place place;
};

struct builder {
    const char *file;
    struct error *error;
    void (*warning)(void *context, const char *line);
    void *warning_context;
    char separator;  /* between a history's entries in a key: ' ', or a tab in Samba v2 files */
    uint32_t length; /* entries in a history; 0: the first key decides */
    /* Samba v2 files lack histories that a conversation ends in, and their ends. */
    bool adds_histories;
    int (*add_ends)(struct builder *builder, uint32_t start);
    struct model *model;
    struct model_type *types;   /* model->types while they grow; NULL: they are in the arena */
    struct intern type_names;   /* "ldap:3", by type */
    struct intern history_keys; /* entries, by history */
    struct builder_history *histories;
    struct builder_transition *transitions;
    struct builder_details *details;
    struct builder_gaps *gaps;
    size_t transition_count, details_count, gaps_count;
};

static inline uint32_t builder_history_count(const struct builder *builder)
{
    return (uint32_t)builder->history_keys.count;
}

/* The entries of a history, builder->length of them. */
static inline const uint32_t *builder_entries(const struct builder *builder, uint32_t history)
{
    return (const void *)builder->history_keys.entries[history].bytes;
}

/* Writes a history's name for a message, shortened to size. Returns buffer. */
const char *builder_history_name(const struct builder *builder, const uint32_t *entries,
                                 char *buffer, size_t size);

/* Sets "file:line:column: ..." as the error. Returns -EINVAL. */
int builder_wrong(struct builder *builder, struct text_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints a warning with its place. */
void builder_warn(struct builder *builder, struct text_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets *history to the number of the history with these entries. If it does not exist, adds it,
 * undefined, when add is true; else *history becomes UINT32_MAX. 0 or -ENOMEM. */
int builder_find_history(struct builder *builder, const uint32_t *entries, bool add,
                         struct text_place place, uint32_t *history);

int builder_append_transition(struct builder *builder, const struct builder_transition *transition);

#endif
