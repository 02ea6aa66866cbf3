/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What traffic looks like: a Markov chain of packets and pauses with the details that packets
 * carry, read from a version 3 YAML file or a Samba v2 JSON file into one form; or a recording of
 * traffic, a traffic-summary text, which is played as it is. Immutable once loaded and shared by
 * all threads. Knows nothing of the network: whether a packet has a player is asked of the caller.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct model;

enum { MODEL_SHA256_SIZE = 32 };
enum { MODEL_FILE_MAX = 64 << 20, MODEL_NESTING_MAX = 64 };

/* One field of details: `attrs: [cn, member]` is {"attrs", 2, {"cn", "member"}}. */
struct model_field {
    const char *key;
    size_t count;
    const char *const *values;
};

/* One form of a packet and how often it was seen. */
struct model_details {
    uint64_t count;
    size_t field_count;
    const struct model_field *fields;
};

/* A packet type of the model. Its index in model_types() names it everywhere else. */
struct model_type {
    const char *protocol;
    const char *opcode;
    uint64_t count;       /* times the chain's counts name it, or the recording has it */
    double visits;        /* expected number of them in one conversation */
    size_t details_count; /* 0: the packet's usual form */
    const struct model_details *details;
};

/*
 * Reads a model file, YAML, JSON or a traffic-summary text by its content, path "-" being standard
 * input. On success *out is the caller's. On failure returns a negative errno (-EINVAL: the file is
 * wrong) and a line "file:line:column: what was expected" in error. warning(context, line) is
 * called for what the user should know but can live with (a Samba v2 history with a negative
 * balance); may be NULL.
 */
int model_load(const char *path, struct model **out, struct error *error,
               void (*warning)(void *context, const char *line), void *context);
/* The same from memory; name stands for the file's. */
int model_load_text(const char *name, const char *text, size_t size, struct model **out,
                    struct error *error, void (*warning)(void *context, const char *line),
                    void *context);
void model_free(struct model *model);

const struct model_type *model_types(const struct model *model, size_t *count);
/* Index of a type, or SIZE_MAX. */
size_t model_find_type(const struct model *model, const char *protocol, const char *opcode);

const char *model_name(const struct model *model);      /* base name of the file */
const uint8_t *model_sha256(const struct model *model); /* of the file's bytes */
bool model_is_samba_v2(const struct model *model);
bool model_is_recording(const struct model *model);
/* Seconds, in whole milliseconds, in which a recording is over at replay rate r: its last packet is
 * due before. 0 when the model is none. */
double model_recording_seconds(const struct model *model, double replay_rate);
double model_packet_rate(const struct model *model); /* packets/s at -r 1 -S 1 */
/* DNS queries that a Samba v2 model keeps beside its chain; 0 in version 3 files. */
uint64_t model_dns_queries(const struct model *model);

/* Writes a model as a version 3 file, commented, always in the same order. Loaded again it gives
 * the same plans to the last nanosecond. 0, or a negative errno of writing; -ENOTSUP for a
 * recording. */
int model_write_yaml(const struct model *model, FILE *out);

#endif
