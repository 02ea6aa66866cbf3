/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file: a YAML mapping whose keys are long option names. It is read into entries
 * with their places; settings.c interprets them.
 */
#ifndef REPLAY_CONFIG_FILE_H
#define REPLAY_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct config_entry {
    char *key;
    char *value;
    size_t line, column; /* of the value, from 1 */
    bool in_list;
};

struct config_file {
    struct config_entry *entries; /* in the file's order; a list gives one entry per value */
    size_t count;
    bool world_readable;
};

/*
 * Reads the file path. A missing file gives no entries. Returns 0, or a negative errno with one
 * line "file:line:column: expected ..." in error. The caller calls config_file_clear() in any case;
 * it overwrites the values, because some are secrets.
 */
int config_file_read(const char *path, struct config_file *file, struct error *error);
void config_file_clear(struct config_file *file);

/* $XDG_CONFIG_HOME/traffic-replay.yaml or ~/.config/traffic-replay.yaml; the caller frees it. NULL:
 * neither folder is known. */
char *config_file_path(void);

#endif
