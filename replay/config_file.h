/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file: a YAML mapping whose keys are long option names. Read here into entries
 * with their places; what they mean is settings.c's business.
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
    struct config_entry *entries; /* a list of values gives an entry each, in the file's order */
    size_t count;
    bool world_readable;
};

/*
 * Reads path. 0 and an empty config_file when there is no such file. On failure a negative errno
 * and a line "file:line:column: what is wrong" in error. In any case the caller gives *file to
 * config_file_clear(), which overwrites the values: some are secrets.
 */
int config_file_read(const char *path, struct config_file *file, struct error *error);
void config_file_clear(struct config_file *file);

/* $XDG_CONFIG_HOME/traffic-replay.yaml, or under ~/.config; malloc'd. NULL: neither is known. */
char *config_file_path(void);

#endif
