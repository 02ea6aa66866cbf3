/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model made ready to be played: for each packet type who plays it and what this run does with
 * it, for each distinct details what its player made of them. Made once before the clock starts,
 * shared by all threads, read only.
 */
#ifndef REPLAY_PLAY_TABLE_H
#define REPLAY_PLAY_TABLE_H

#include <stddef.h>

#include "base/error.h"
#include "model/model.h"
#include "protocols/packet.h"
#include "replay/run.h"
#include "replay/settings.h"

struct compiled_type {
    const struct packet_type *packet; /* NULL: no player */
    enum run_part part;
    void **details; /* by index of the model's details; [0] when it has none */
    size_t details_count;
};

struct compiled {
    struct compiled_type *types; /* by index in model_types() */
    size_t type_count;
};

/* On success *out is the caller's. Else -ENOMEM, or -EINVAL and a line in error that names the
 * packet and its details. */
int compile_model(const struct model *model, const struct settings *settings, struct compiled **out,
                  struct error *error);
void compile_free(struct compiled *compiled);

#endif
