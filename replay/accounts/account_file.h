/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Existing accounts from a file (--accounts): one per line, name or DN and password.
 *
 * A line with a tab is split at its first tab; both parts are used unchanged. Other lines are CSV
 * (RFC 4180) with two fields: a field in double quotes may contain commas, and "" in it is one
 * quote. Empty lines and lines that begin with # are ignored.
 */
#ifndef REPLAY_ACCOUNTS_ACCOUNT_FILE_H
#define REPLAY_ACCOUNTS_ACCOUNT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "protocols/dc.h"

struct account_file_line {
    char *name, *password;
    size_t number; /* line number, from 1 */
};

struct account_file {
    struct account_file_line *lines;
    size_t count;
    bool world_readable;
};

/* 0; -EINVAL: the file cannot be read, or a line is wrong ("FILE:LINE: what"); or -ENOMEM. Call
 * account_file_clear() in any case. */
int account_file_read(const char *path, struct account_file *file, struct error *error);
void account_file_clear(struct account_file *file);

/*
 * Gives dc `clients` users from the file and, with machines, as many machine accounts (those whose
 * names end in $). Looks up in the directory what the file does not contain (the DN of a name, the
 * name of a DN) as dc->admin. 0; -EINVAL: usage error (too few accounts, unknown account); another
 * negative errno: the server refused a request or could not be reached.
 */
int account_file_load(const char *path, uint32_t clients, bool machines, struct dc *dc,
                      struct error *error);

#endif
