/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a model is made of: private to the room. A history is the last `history_length` entries; it
 * has transitions, each with its count, its entry and the history that it leads to. Histories are
 * numbered from the start (0) in breadth-first order, a history's transitions go from the most to
 * the least frequent, so that neither plans nor written files depend on the order of the file read.
 */
#ifndef MODEL_CHAIN_H
#define MODEL_CHAIN_H

#include "base/arena.h"
#include "model/alias.h"
#include "model/gaps.h"
#include "model/model.h"

enum { CHAIN_START = 0, CHAIN_WAIT_MAX = 20, CHAIN_HISTORY_MAX = 32 };

/* An entry of the chain in one number: a packet's type index, or one of these. */
enum { CHAIN_WAIT = 0x40000000, CHAIN_NONE = 0x7fffffff }; /* CHAIN_WAIT + N; "-" */

static inline bool chain_is_packet(uint32_t entry)
{
    return entry < CHAIN_WAIT;
}

static inline bool chain_is_wait(uint32_t entry)
{
    return entry >= CHAIN_WAIT && entry < CHAIN_NONE;
}

struct chain_transition {
    uint64_t threshold; /* alias table of its history */
    uint32_t alias;
    uint32_t entry;
    uint32_t next;    /* history that it leads to; CHAIN_START after an end */
    uint32_t gaps;    /* of the pause before it: index in the model's, or one of CHAIN_GAPS_... */
    bool further_leg; /* a later leg of the packet before it: no operation (smb2:1) */
    uint64_t count;
};

/* A pause without points: by the formula of its kind, or none, since it follows a wait whose points
 * are the whole time between two packets. */
enum { CHAIN_GAPS_FORMULA = 0x7fffffff, CHAIN_GAPS_NONE = 0x7ffffffe };

struct chain_history {
    uint32_t first, count; /* its transitions */
    uint64_t total;        /* sum of their counts */
    double visits;         /* expected number in one conversation */
    const uint32_t *entries;
};

/* Where a version 3 file says that it comes from. */
struct model_source {
    const char *capture;                    /* NULL: not said */
    double packets, seconds, conversations; /* negative: not said */
};

struct model {
    struct arena arena;
    const char *name;
    uint8_t sha256[MODEL_SHA256_SIZE];
    bool samba_v2;
    bool separate_legs; /* every leg of an SMB2 session set-up is an entry of its own */
    struct model_source source;
    double packet_rate;
    uint64_t dns_queries;
    uint32_t history_length;
    uint32_t history_count, transition_count, type_count;
    struct chain_history *histories;
    struct chain_transition *transitions;
    uint32_t gaps_count;
    struct gaps *gaps; /* by what comes last, waits first; then by length */
    struct model_type *types;
    struct alias_slot **details; /* by type: which details, NULL when there is no choice */
    uint32_t *types_by_name;     /* sorted, for model_find_type() */
    struct recording *recording; /* instead of histories and transitions; else NULL */
};

/* Sorts types_by_name, which holds the number of every type. */
void model_sort_types(struct model *model);

/* Writes an entry's name ("ldap:3", "wait:2", "-"); returns buffer. */
enum { CHAIN_NAME_SIZE = 160 };
const char *chain_entry_name(const struct model *model, uint32_t entry, char *buffer, size_t size);

#endif
