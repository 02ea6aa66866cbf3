/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of traffic: a Markov chain of packets and pauses, and the details of the packets. A model
 * can also be a recording of traffic, which is played unchanged, or a loadfile: a script of
 * operations on a file server. A model does not change once it is loaded, and all threads share it.
 * It contains no code of the protocols: the caller decides which packets can be played.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packets/packet_details.h"
#include "packets/script.h"

struct model;

enum { MODEL_SHA256_SIZE = 32 };

/* One form of a packet and how often it was seen. */
struct model_details {
    uint64_t count;
    size_t field_count;
    const struct packet_field *fields;
};

/* Names a packet type of the model in all other structures: its index in model_types(). */
typedef uint32_t packet_index;

/* A packet type of the model. */
struct model_type {
    const char *protocol;
    const char *opcode;
    const struct packet_row *row; /* of the packet table; NULL: it has none */
    uint64_t count;       /* sum of the counts of its transitions, or its packets in a recording */
    double visits;        /* expected number of them in one conversation */
    size_t details_count; /* 0: the packet's usual form */
    const struct model_details *details;
};

/* Figures of a model, for messages. */
struct model_figures {
    double packets, conversations,
        seconds;        /* of the capture it was learned from; negative: unknown */
    double packet_rate; /* packets/s at -r 1 -S 1 */
    uint32_t types, histories, history_length;
};

/* Frees a model of model_load() or learn_model(). model may be NULL. */
void model_free(struct model *model);

/* The model's packet types; *count is set to their number. */
const struct model_type *model_types(const struct model *model, size_t *count);

/* The index of a type, or SIZE_MAX if the model does not have it. */
size_t model_find_type(const struct model *model, const char *protocol, const char *opcode);

const char *model_name(const struct model *model);      /* base name of the file */
const uint8_t *model_sha256(const struct model *model); /* of the file's bytes */
struct model_figures model_figures(const struct model *model);
bool model_is_samba_v2(const struct model *model);
bool model_is_recording(const struct model *model);

/* The script of a model that is a loadfile, else NULL. Its types are those of its operations, in
 * the order of enum script_op. */
const struct script *model_script(const struct model *model);

/* The duration in seconds, rounded up to whole milliseconds, in which all packets of a recording
 * are due at this replay rate. 0 if the model is not a recording. */
double model_recording_seconds(const struct model *model, double replay_rate);

#endif
