/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays one cell: the command before it, the accounts (once), the pause, one traffic-replay with
 * samples of the server meanwhile, the command after it. The sweep's conductor (sweep.c) says which
 * cells.
 */
#ifndef REPLAY_SWEEP_SWEEP_PLAYER_H
#define REPLAY_SWEEP_SWEEP_PLAYER_H

#include <stdbool.h>

#include "base/error.h"
#include "replay/sweep/sweep_cell.h"
#include "replay/sweep/sweep_child.h"
#include "replay/sweep/sweep_options.h"
#include "replay/sweep/sweep_sample.h"
#include "replay/sweep/sweep_store.h"

enum { SWEEP_VERSION_SIZE = 64, SWEEP_TAIL_SIZE = 4096 };

struct sweep_player {
    const struct sweep_options *options;
    struct sweep_watch *watch;
    const struct sweep_identity *identity;
    char *program; /* traffic-replay: beside this program, or a name for PATH */
    char version[SWEEP_VERSION_SIZE];
    int secrets; /* a file without a name, mode 0600, that the runs read credentials from */
    bool accounts_made;
    struct sweep_sampler *sampler; /* while a cell is played */
    char tail[SWEEP_TAIL_SIZE];    /* the last that a failed child said; "": nothing */
    bool told_samples;             /* that there are none, or what is wrong with them */
    /* Takes the status line off the terminal before something is told; may be NULL. */
    void (*before_telling)(void *context);
    void *context;
};

/* Finds traffic-replay and its version; makes the file of the secrets. 0 or a negative errno with a
 * line in error. */
int sweep_player_open(struct sweep_player *player, struct error *error);
void sweep_player_close(struct sweep_player *player);

/* Shows the tail, line by line, on standard error, and forgets it. */
void sweep_player_show_tail(struct sweep_player *player);

/* To be called from sweep_watch.tick. */
void sweep_player_tick(struct sweep_player *player);

/*
 * Plays the cell; its files are finished when it returns 0. -EINTR: an interrupt came before it was
 * played, or the second one while it was. Another negative errno: it could not be played, with
 * what to tell in error. Nothing unfinished is left.
 */
int sweep_player_play(struct sweep_player *player, const struct sweep_cell *cell,
                      const struct sweep_files *files, struct error *error);

#endif
