/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of a packet: a request comes in, an outcome goes out.
 *
 * A packet is one `protocol:opcode` request that a client sends. Each protocol keeps its packets as
 * rows of a table: what the packet is called (Wireshark's protocol names, opnums of the Microsoft
 * Open Specifications), whether it goes on the wire, and the function that plays it. A protocol
 * knows nothing of models, plans or records: it is given a conversation (who plays, what is open)
 * and a packet, and says how it went.
 */
#ifndef PROTOCOLS_PACKET_H
#define PROTOCOLS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct conversation;
struct dc_options;

enum packet_kind {
    PACKET_OPERATION, /* goes on the wire and is timed */
    PACKET_STATE,     /* changes what the conversation is (a hint, an unbind); not an operation */
    PACKET_SILENT     /* nothing is played: a reply, or what another packet's play brings along */
};

/* What a packet carries, as a model stored it: `attrs: [cn, member]` is {"attrs", 2, ...}. */
struct packet_field {
    const char *key;
    size_t count;
    const char *const *values;
};

struct packet_type {
    const char *protocol;    /* "ldap" */
    const char *opcode;      /* "3", "0x72", "" (the hint `kerberos:`), "*": every opcode */
    const char *description; /* "searchRequest": as the field's reports call it */
    enum packet_kind kind;
    /*
     * Turns details into what play() wants, once per distinct details before the clock starts.
     * No fields: the packet's usual form. On failure returns NULL and a line in error; otherwise
     * the result is freed with release(). NULL: this packet has no details.
     */
    void *(*compile)(const struct packet_field *fields, size_t count, struct error *error);
    void (*release)(void *compiled);
    /* Told after compile() how often the model saw these details. May be NULL. */
    void (*weigh)(void *compiled, uint64_t count);
    /* Whether the run's options let it be played at all (a share to write to is named, ...). NULL:
     * always. A packet that is not available counts as one without a player, and is told. */
    bool (*available)(const struct dc_options *options);
    /* The command line's option that available() looks for, to be told. May be NULL. */
    const char *needs;
    /* Plays it. outcome comes zeroed. NULL for PACKET_SILENT. */
    struct outcome (*play)(struct conversation *conversation, const void *details);
};

enum outcome_kind {
    OUTCOME_OK,
    OUTCOME_FAILED,     /* cause says why */
    OUTCOME_NO_ANSWER,  /* NBNS, CLDAP: nobody there who speaks it; apart from failures */
    OUTCOME_UNFINISHED, /* the run ended while it was waiting */
    OUTCOME_NOTHING     /* PACKET_STATE: done, nothing to count */
};

enum { OUTCOME_CAUSE_SIZE = 96 };

struct outcome {
    enum outcome_kind kind;
    /* OUTCOME_FAILED: a short, countable cause without values that vary from one failure to the
     * next: a result code's or NTSTATUS's name, "timed out", "connection reset". */
    char cause[OUTCOME_CAUSE_SIZE];
};

/* For `available`: what only a domain controller answers. */
bool packet_needs_dc(const struct dc_options *options);

struct outcome outcome_ok(void);
struct outcome outcome_nothing(void);
struct outcome outcome_no_answer(void);
/* A failure with a printf-like cause. */
struct outcome outcome_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What a stream's negative errno means: -ECANCELED is OUTCOME_UNFINISHED, all else a failure whose
 * cause is stream_error_text(). */
struct outcome outcome_of_error(int error);

/* The row for a packet, or NULL: it has no player. Looks at exact opcodes first, then at "*". */
const struct packet_type *packet_type_find(const char *protocol, const char *opcode);

/* A table of further rows, looked at first: for tests and benchmarks that play packets of their
 * own. Set before any thread plays; NULL takes it away. */
void packet_types_add(const struct packet_type *table);

/* All rows, protocol by protocol, for listings and tests: calls visit for each. */
void packet_types_each(void (*visit)(const struct packet_type *type, void *context), void *context);

/* Plays one packet: sets the wire's deadline (timeout in ns from now) and clears its times, calls
 * the row's play(), and turns whatever it says after -ECANCELED into OUTCOME_UNFINISHED. */
struct outcome packet_play(struct conversation *conversation, const struct packet_type *type,
                           const void *details, int64_t timeout);

#endif
