/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of a packet: a request comes in, an outcome goes out.
 *
 * A packet's row in the packet table (packets/) says everything about it except how to send it. A
 * protocol adds a player: the function that sends the packet, and the one that compiles its details
 * before the clock starts. A protocol knows nothing of models, plans or results: it gets a
 * conversation (who plays, what is open) and a packet's details, and returns the outcome.
 */
#ifndef PROTOCOLS_PACKET_H
#define PROTOCOLS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "packets/packet_details.h"
#include "protocols/outcome.h"

struct conversation;
struct dc_options;

/* What forms of one protocol share; the first member of the protocol's own struct. */
struct packet_shared {
    void (*free)(struct packet_shared *shared);
};

/* What the compiled forms of one model share. A zeroed struct is empty. */
struct packet_context {
    struct packet_shared *ldap; /* the searches that sealed ones draw from (ldap_details.c) */
};

struct packet_player {
    const char *name; /* "ldap:3": its row in the packet table */
    struct outcome (*play)(struct conversation *conversation, const void *compiled);
    /*
     * fill() or compile() turns details into what play() reads, once per distinct form, before the
     * clock starts. If both are NULL, the packet has no details and play() gets NULL. fill() writes
     * to a zeroed struct of `size` bytes. Texts of the details live as long as the compiled form.
     */
    size_t size;
    void (*fill)(const struct packet_details *details, void *compiled);
    /* Instead of fill(), if it can fail. Returns NULL on failure, with a line in error. */
    void *(*compile)(const struct packet_details *details, struct packet_context *context,
                     struct error *error);
    void (*release)(void *compiled);
};

/* The members of a player whose details are compiled by fill(). */
#define PACKET_DETAILS(type, function) .size = sizeof(type), .fill = (function)

/* The player of a row, or NULL: the packet is silent. */
const struct packet_player *packet_player_of(const struct packet_row *row);

/* The same by name. NULL also when the table has no such packet. */
const struct packet_player *packet_player_find(const char *protocol, const char *opcode);

/* Adds players, ended by one without a name, which take precedence: for tests and benchmarks that
 * add rows (packet_rows_add()). Call it before any thread plays. NULL removes them. */
void packet_players_add(const struct packet_player *players);

/* Calls visit for each player. */
void packet_players_each(void (*visit)(const struct packet_player *player, void *context),
                         void *context);

/* Whether the run's options allow a packet: a share to write to is given, the server is a domain
 * controller, ... */
bool packet_is_available(const struct packet_row *row, const struct dc_options *options);

/* Whether play() reads compiled details. */
bool packet_has_details(const struct packet_player *player);

/* Compiles the details of a form; only for a player with details. NULL on failure, with a line in
 * error. Release it with packet_release(), before the context. */
void *packet_compile(const struct packet_player *player, const struct packet_details *details,
                     struct packet_context *context, struct error *error);
void packet_release(const struct packet_player *player, void *compiled);
void packet_context_clear(struct packet_context *context);

/* Plays one packet: sets the wire's deadline (timeout in ns from now), clears its times and data,
 * calls play(), and turns the outcome into OUTCOME_UNFINISHED if a wait ended with -ECANCELED.
 * player may be NULL: a silent packet. */
struct outcome packet_play(struct conversation *conversation, const struct packet_player *player,
                           const void *compiled, int64_t timeout);

#endif
