/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The play table binds a model to its players: for each packet type the player, what this run does
 * with the type, and what the player compiled from each distinct set of details. Built once before
 * the clock starts; all threads share it read-only.
 */
#ifndef REPLAY_PLAY_TABLE_H
#define REPLAY_PLAY_TABLE_H

#include <stddef.h>

#include "base/error.h"
#include "model/model.h"
#include "protocols/packet.h"
#include "replay/run_part.h"
#include "replay/settings.h"

struct play_row {
    enum run_part part;
    const struct packet_player *player; /* of RUN_OPERATION and RUN_STATE; otherwise NULL */
    void **details;                     /* by index of the model's details; [0] when it has none */
    size_t details_count;
    const struct script_step *steps; /* of a loadfile, whose steps are the details; else NULL */
};

struct play_table {
    struct play_row *rows; /* by packet_index */
    size_t row_count;
    struct packet_context context;
};

/* On success *out is the caller's. Otherwise -ENOMEM, or -EINVAL with a text that names the packet
 * and its details. */
int play_table_new(const struct model *model, const struct settings *settings,
                   struct play_table **out, struct error *error);
void play_table_free(struct play_table *table);

#endif
