/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a model comes into being: histories, transitions and details are added one by one, in any
 * order, each with its place in the file; builder_finish() checks the whole, recovers a Samba v2
 * model's lost ends, solves for the visits and makes the alias tables. Both loaders use it.
 */
#ifndef MODEL_MODEL_BUILDER_H
#define MODEL_MODEL_BUILDER_H

#include "base/document.h"
#include "base/error.h"
#include "model/chain.h"

enum { BUILDER_NAME_MAX = 64 };
#define BUILDER_COUNT_MAX UINT64_C(1000000000000)

typedef void builder_warning(void *context, const char *line);

struct builder_table {
    uint32_t *slots; /* index + 1; 0: free */
    uint32_t room, used;
};

struct builder_history {
    const uint32_t *entries;
    struct document_place place; /* where it is defined, or else first led to */
    bool defined;
};

struct builder_transition {
    uint32_t history, entry, next;
    uint64_t count;
    struct document_place place;
};

struct builder_details {
    uint32_t type;
    struct model_details details;
};

struct builder_gaps {
    struct gaps gaps; /* its entries as the builder numbers types */
    struct document_place place;
};

struct builder {
    const char *file;
    struct error *error;
    builder_warning *warning;
    void *warning_context;
    char separator;  /* between a history's entries in a key: ' ', or a tab in Samba v2 models */
    uint32_t length; /* entries in a history; 0: the first key says */
    struct model *model;
    struct model_type *types; /* model->types while they grow; NULL once the arena has them */
    struct builder_history *histories;
    struct builder_transition *transitions;
    struct builder_details *details;
    struct builder_gaps *gaps;
    size_t history_count, history_room, transition_count, transition_room;
    size_t details_count, details_room, gaps_count, gaps_room, type_room;
    struct builder_table history_table, type_table;
};

/* Readies a builder for file (as messages call it). The strings must outlive it. 0 or -ENOMEM. */
int builder_init(struct builder *builder, const char *file, struct error *error,
                 builder_warning *warning, void *context);

/* "file:line:column: ..." into error; returns -EINVAL. */
int builder_wrong(struct builder *builder, struct document_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int builder_no_memory(struct builder *builder);
/* A line for the user, with its place. */
void builder_warn(struct builder *builder, struct document_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A history's key. Refuses a wrong length, wrong entries, one that exists. */
int builder_add_history(struct builder *builder, const char *key, struct document_place place,
                        uint32_t *history);
/* After it came entry, count times (1..BUILDER_COUNT_MAX). */
int builder_add_transition(struct builder *builder, uint32_t history, const char *entry,
                           uint64_t count, struct document_place place);
/* The type of a packet's name; made when it is not there yet and `make`, else UINT32_MAX. */
int builder_find_type(struct builder *builder, const char *name, bool make,
                      struct document_place place, uint32_t *type);
/* A form of a packet; fields live in the model's arena. */
int builder_add_details(struct builder *builder, uint32_t type, uint64_t count,
                        const struct model_field *fields, size_t field_count);

/* Points of the pauses (model/gaps.h) before what the key's last entry names, a packet or a wait,
 * when it comes after the key's other entries: count of them, in the model's arena. Refuses a key
 * that has some already. */
int builder_add_gaps(struct builder *builder, const char *key, const double *points, uint32_t count,
                     struct document_place place);

/* The history of these entries; made, undefined, when it is not there and `make`, else
 * UINT32_MAX. */
int builder_find_history(struct builder *builder, const uint32_t *entries, bool make,
                         struct document_place place, uint32_t *history);
int builder_append_transition(struct builder *builder, const struct builder_transition *transition);

/* Checks and completes. On success *out is the caller's and the builder is empty. */
int builder_finish(struct builder *builder, struct model **out);
/* Drops what was built so far. Also after builder_finish(). */
void builder_clear(struct builder *builder);

#endif
