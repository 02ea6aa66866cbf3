/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays one cell: --before, the accounts (once), the pause, one traffic-replay with samples of the
 * server, --after. sweep.c chooses the cells.
 */
#ifndef REPLAY_SWEEP_SWEEP_PLAYER_H
#define REPLAY_SWEEP_SWEEP_PLAYER_H

#include <stdbool.h>

#include "base/error.h"
#include "replay/sweep/sweep_cell.h"
#include "replay/sweep/sweep_child.h"
#include "replay/sweep/sweep_disturbed.h"
#include "replay/sweep/sweep_options.h"
#include "replay/sweep/sweep_sample.h"
#include "replay/sweep/sweep_store.h"

/* Value of the label RESULT_SPOILED: the server's processes ended while the cell was played. */
#define SWEEP_SPOILED_BY_SERVER "server"

/* The same: other programs or the generator itself disturbed the cell, and a search repeats it. */
#define SWEEP_SPOILED_BY_MACHINE "machine"

enum { SWEEP_VERSION_SIZE = 64, SWEEP_TAIL_SIZE = 4096 };

struct sweep_player {
    const struct sweep_options *options;
    struct sweep_watch *watch;
    const struct sweep_identity *identity;
    char *program; /* traffic-replay: a path, or a name to be found in PATH */
    char version[SWEEP_VERSION_SIZE];
    int secrets; /* an unnamed file, mode 0600, with the credentials for the runs */
    bool accounts_made;
    bool repeats_disturbed; /* a cell that was played in disturbed seconds is marked as spoiled */
    struct sweep_stolen stolen;    /* at the start of the run */
    struct sweep_sampler *sampler; /* while a cell is played */
    char tail[SWEEP_TAIL_SIZE];    /* the end of a failed child's output; "": none */
    bool reported_samples;         /* missing samples, or a problem with them, were reported */
    /* Called before a message, to remove the status line; can be NULL. */
    void (*before_message)(void *context);
    void *context;
};

/* Finds traffic-replay and its version; writes the credentials for the runs. 0 or a negative errno
 * with a line in error. */
int sweep_player_open(struct sweep_player *player, struct error *error);
void sweep_player_close(struct sweep_player *player);

/* Prints the tail on standard error, line by line, and clears it. */
void sweep_player_show_tail(struct sweep_player *player);

/* sweep_watch.tick must call it. */
void sweep_player_tick(struct sweep_player *player);

/*
 * Plays the cell and writes its files. Returns 0; -EINTR after an interrupt before the run, or a
 * second one during it; or another negative errno with a line in error. After a failure no
 * unfinished file is left.
 */
int sweep_player_play(struct sweep_player *player, const struct sweep_cell *cell,
                      const struct sweep_files *files, struct error *error);

#endif
