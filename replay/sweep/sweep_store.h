/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results folder. A cell is NAME.json with NAME.txt, both whole or not there: they are written
 * under names that begin with a dot and renamed, the JSON last, so that it alone says that the
 * cell is finished. One sweep at a time uses a folder.
 */
#ifndef REPLAY_SWEEP_SWEEP_STORE_H
#define REPLAY_SWEEP_SWEEP_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "summary/result/result.h"

struct sweep_store {
    const char *folder;
    int lock; /* the folder, locked */
};

/* Paths of one cell, to be given to sweep_files_clear(). */
struct sweep_files {
    char *json, *text; /* where they are when they are whole */
    char *unfinished_json, *unfinished_text;
};

/* Makes the folder when it is not there, tries to write into it, and locks it. 0 or a negative
 * errno, and then a line in error. */
int sweep_store_open(struct sweep_store *store, const char *folder, struct error *error);
void sweep_store_close(struct sweep_store *store);

/* 0 or -ENOMEM. */
int sweep_files_name(const struct sweep_store *store, const char *name, struct sweep_files *files);
void sweep_files_clear(struct sweep_files *files);

/* Makes both finished. 0 or a negative errno with a line in error. */
int sweep_files_finish(const struct sweep_files *files, struct error *error);
/* Takes away what is not finished. */
void sweep_files_abandon(const struct sweep_files *files);

#endif
