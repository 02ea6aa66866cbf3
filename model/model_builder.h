/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a model: histories, transitions, pauses and details are added one by one, in any order,
 * each with its place in the file. builder_finish() checks the chain, computes how often histories
 * are visited and fills the alias tables. The loaders and traffic-learn use it.
 */
#ifndef MODEL_MODEL_BUILDER_H
#define MODEL_MODEL_BUILDER_H

#include "base/arena.h"
#include "base/error.h"
#include "base/files/text_file.h"
#include "model/model.h"

#define BUILDER_COUNT_MAX UINT64_C(1000000000000)

struct builder;

/* Facts about a learned model that are not in its chain. */
struct builder_source {
    const char *capture; /* name; the model is called the same */
    double packets, seconds, conversations;
    double packet_rate;      /* packets/s at -r 1 -S 1 */
    uint32_t history_length; /* entries in each history */
};

/* A builder for a file, as messages call it. file and error must outlive it. warning may be NULL.
 * Returns NULL if there is no memory. */
struct builder *builder_new(const char *file, struct error *error,
                            void (*warning)(void *context, const char *line), void *context);
/* Frees the builder and the model, unless builder_finish() gave it away. builder may be NULL. */
void builder_free(struct builder *builder);

/* Memory that lives as long as the model: for the points and fields that are added. */
struct arena *builder_arena(struct builder *builder);

/* Sets where the model comes from. */
int builder_set_source(struct builder *builder, const struct builder_source *source);

/* Adds a history by its key. Refuses keys of a wrong length, wrong entries and a key that was added
 * before. */
int builder_add_history(struct builder *builder, const char *key, struct text_place place,
                        uint32_t *history);

/* Adds a transition: after history came entry, count times (1..BUILDER_COUNT_MAX). */
int builder_add_transition(struct builder *builder, uint32_t history, const char *entry,
                           uint64_t count, struct text_place place);

/* Sets *type to the number of a packet type, or to UINT32_MAX if the model does not have it.
 * Refuses what is not the name of a packet. */
int builder_find_type(struct builder *builder, const char *name, struct text_place place,
                      uint32_t *type);

/* Adds a form of a packet. The fields must be in builder_arena(). */
int builder_add_details(struct builder *builder, uint32_t type, uint64_t count,
                        const struct packet_field *fields, size_t field_count);

/* Adds the points of the pauses before the key's last entry, a packet or a wait, if it follows the
 * key's other entries. The points must be in builder_arena(). Refuses a key that has points. */
int builder_add_gaps(struct builder *builder, const char *key, const double *points, uint32_t count,
                     struct text_place place);

/* Checks and completes the model. On success *out is the caller's. */
int builder_finish(struct builder *builder, struct model **out);

#endif
