/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts that others have made, from a file: one a line, name (or DN) and password.
 *
 * A line with a tab is cut at its first tab and taken as it stands. Other lines are CSV (RFC 4180):
 * two fields with a comma between; a field in double quotes may hold commas, and "" in it is one
 * quote. Empty lines and lines that begin with # say nothing.
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
    size_t number; /* of the line, from 1 */
};

struct account_file {
    struct account_file_line *lines;
    size_t count;
    bool world_readable;
};

/* -EINVAL: a line is wrong; with "file:line: what" in error. account_file_clear() is due in any
 * case. */
int account_file_read(const char *path, struct account_file *file, struct error *error);
void account_file_clear(struct account_file *file);

/*
 * Gives dc `clients` users from the file and, when machines are wanted, as many machines: those
 * whose names end in $. Looks up what the file does not say (the DN to a name, the name to a DN)
 * with dc->admin. 0; -EINVAL: the user's mistake (too few accounts, one that is not there); another
 * negative errno: the server. A line in error.
 */
int account_file_load(const char *path, uint32_t clients, bool machines, struct dc *dc,
                      struct error *error);

#endif
