/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results folder. Each finished cell has NAME.json and NAME.txt. Both are written under names
 * that begin with a dot and then renamed, the JSON file last. So a cell with a JSON file is
 * finished. Only one sweep at a time can use a folder.
 */
#ifndef REPLAY_SWEEP_SWEEP_STORE_H
#define REPLAY_SWEEP_SWEEP_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "summary/result/result.h"

struct sweep_store {
    const char *folder;
    int lock; /* descriptor of the locked folder */
};

/* The paths of one cell. */
struct sweep_files {
    char *json, *text; /* when the cell is finished */
    char *unfinished_json, *unfinished_text;
};

/* Creates the folder if necessary, locks it, and checks that it is writable. 0 or a negative errno
 * with a line in error. */
int sweep_store_open(struct sweep_store *store, const char *folder, struct error *error);
void sweep_store_close(struct sweep_store *store);

/* Makes the paths of a cell. 0 or -ENOMEM. */
int sweep_files_name(const struct sweep_store *store, const char *name, struct sweep_files *files);
void sweep_files_clear(struct sweep_files *files);

/* Renames both files to their final names. 0 or a negative errno with a line in error. */
int sweep_files_finish(const struct sweep_files *files, struct error *error);
/* Removes unfinished files. */
void sweep_files_abandon(const struct sweep_files *files);

#endif
