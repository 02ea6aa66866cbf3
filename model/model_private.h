/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a model. A history is the last history_length entries of a conversation. It has
 * transitions, each with an entry, a count and the history that it leads to. Histories are numbered
 * from the start (0) in breadth-first order, and a history's transitions are sorted by falling
 * count, so that plans and written files do not depend on the order of the file that was read.
 */
#ifndef MODEL_MODEL_PRIVATE_H
#define MODEL_MODEL_PRIVATE_H

#include "base/arena.h"
#include "model/model.h"

struct alias_slot;
struct gaps;

enum { CHAIN_START = 0 };

struct chain_transition {
    uint64_t threshold; /* of the history's alias table */
    uint32_t alias;
    uint32_t entry;
    uint32_t next;    /* history that it leads to; CHAIN_START after an end */
    uint32_t gaps;    /* pause before it: index in model->gaps, or one of CHAIN_GAPS_... */
    bool further_leg; /* a further leg of the packet before it (smb2:1), not an operation */
    uint64_t count;
};

/* Pauses without points. CHAIN_GAPS_FORMULA: by the formula of the entry's kind.
 * CHAIN_GAPS_NONE: no pause, because the points of the wait before it cover the whole time between
 * two packets. */
enum { CHAIN_GAPS_FORMULA = 0x7fffffff, CHAIN_GAPS_NONE = 0x7ffffffe };

struct chain_history {
    uint32_t first, count; /* its transitions */
    uint64_t total;        /* sum of their counts */
    double visits;         /* expected number in one conversation */
    const uint32_t *entries;
};

/* The source: section of a version 3 file. */
struct model_source {
    const char *capture;                    /* NULL: absent */
    double packets, seconds, conversations; /* negative: absent */
};

struct recording_packet {
    int64_t time; /* ns since the recording's first packet */
    uint32_t details;
    uint16_t type;
    bool further_leg; /* of the smb2:1 before it: a packet, but not an operation */
};

_Static_assert(sizeof(struct recording_packet) == 16, "recordings hold millions of packets");

/* A client: its packets in the order of their times. */
struct recording_client {
    uint32_t first, count;
};

struct recording {
    struct recording_packet *packets; /* client after client */
    struct recording_client *clients; /* by the time of their first packet */
    uint32_t *by_size;                /* clients, from the most packets to the fewest */
    uint32_t packet_count, client_count;
    uint64_t conversations;
    int64_t length; /* ns from the first packet to the last */
};

struct model {
    struct arena arena;
    const char *name;
    uint8_t sha256[MODEL_SHA256_SIZE];
    bool samba_v2;
    bool separate_legs; /* each leg of an SMB2 session set-up is a separate entry */
    struct model_source source;
    double packet_rate;   /* packets/s at -r 1 -S 1 */
    uint64_t dns_queries; /* that a Samba v2 model counts outside of its chain; else 0 */
    uint32_t history_length;
    uint32_t history_count, transition_count, type_count;
    struct chain_history *histories;
    struct chain_transition *transitions;
    uint32_t gaps_count;
    struct gaps *gaps; /* by last entry, waits first, then by length */
    struct model_type *types;
    struct alias_slot **details;           /* by type: choice of details; NULL: nothing to choose */
    uint32_t *types_by_name;               /* sorted, for model_find_type() */
    struct recording *recording;           /* instead of histories and transitions; else NULL */
    struct script *script;                 /* the same */
    uint32_t script_types[SCRIPT_PACKETS]; /* by operation: index in types */
};

/* Allocates types_by_name and fills it. 0 or -ENOMEM. */
int model_index_types(struct model *model);

#endif
