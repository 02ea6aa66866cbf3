/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a running sweep share. */
#ifndef REPLAY_SWEEP_SWEEP_PRIVATE_H
#define REPLAY_SWEEP_SWEEP_PRIVATE_H

#include "base/step.h"
#include "model/model.h"
#include "replay/sweep/search/search.h"
#include "replay/sweep/sweep_cell.h"
#include "replay/sweep/sweep_child.h"
#include "replay/sweep/sweep_corner.h"
#include "replay/sweep/sweep_player.h"
#include "replay/sweep/sweep_progress.h"
#include "replay/sweep/sweep_store.h"
#include "summary/reading.h"

enum { SWEEP_HEX_SIZE = 2 * MODEL_SHA256_SIZE + 1 };

struct sweep {
    struct sweep_options *options;
    struct sweep_watch watch;
    struct sweep_watch *watching; /* watch, or that of the first of two sweeps */
    struct sweep *second;         /* the one that uses this one's watch; NULL: none */
    struct sweep_store store;
    struct sweep_player player;
    struct sweep_progress progress;
    struct sweep_identity identity;
    struct sweep_corners corners;
    char sha256[SWEEP_HEX_SIZE];
    char *options_text;
    bool seed_known;            /* given, or read from the result of a finished cell */
    bool checked;               /* existing cells were checked and damaged ones reported */
    size_t empty;               /* cells without a successful operation */
    char last[SWEEP_NAME_SIZE]; /* the cell played before the current one */
    double metrics[METRICS];    /* of the current cell */
    double cpu_per_operation;   /* of the server in the current cell, in seconds; NaN: unknown */
    bool measured;              /* the current cell has a result, which is in metrics */
    bool disturbed;             /* it was played in disturbed seconds and has to be repeated */
    struct error error;
    int status; /* the exit status, once a step returned STEP_DONE */
};

/* Opens a sweep: model, results folder, player. A second sweep at the same time shares the signals
 * of the first one. The caller calls sweep_close() in any case, for the second one first. */
void sweep_init(struct sweep *sweep, struct sweep_options *options);
enum step sweep_open(struct sweep *sweep, struct sweep *first);
void sweep_close(struct sweep *sweep);
/* --dry-run: prints the largest number of runs and how long they take. Contacts nobody and writes
 * no file. Returns the exit status. */
int sweep_dry_run(struct sweep *sweep);
/* Reports how the sweep ended; returns the exit status. */
int sweep_finish(struct sweep *sweep, enum step step);

/* Prints a message and ends the sweep. */
enum step sweep_end(struct sweep *sweep, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints a message. */
void sweep_print(struct sweep *sweep, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Lists the cells of the full grid, after a check of all existing results. */
enum step sweep_list_cells(struct sweep *sweep, struct sweep_cells *cells);
/* Plays a cell unless it has a result. Stores its metrics. */
enum step sweep_run_cell(struct sweep *sweep, const struct sweep_cell *cell);

/* --find-max (sweep_max.c). */
enum step sweep_find_max(struct sweep *sweep);
/* Sorts the lists of values, which a search expects to rise, and sets the usual number of repeats.
 */
void sweep_search_prepare(struct sweep_options *options);
/* The largest number of runs of a sweep or a search, without repeats of disturbed runs. */
size_t sweep_most_runs(const struct sweep_options *options);
/* Begins a search over the grid of the options. 0 or -ENOMEM. */
int sweep_search_init(const struct sweep_options *options, struct search *search);
/* Plays the cell that a search named, with the varied values of *cell, and gives the search its
 * result. */
enum step sweep_play_search_cell(struct sweep *sweep, struct search *search, size_t next,
                                 struct sweep_cell *cell);

/* --tune (sweep_tune.c). */
enum step sweep_tune(struct sweep *sweep);

#endif
