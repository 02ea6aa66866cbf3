/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written atomically: a reader finds the old file or the complete new one. */
#ifndef BASE_FILES_ATOMIC_FILE_H
#define BASE_FILES_ATOMIC_FILE_H

#include <stdio.h>

#include "base/error.h"

/*
 * Replaces the file path with what print() writes to stream. print() returns 0 or a negative errno.
 * The text goes to a temporary file in the same folder, which is renamed at the end; after a
 * failure the old file is unchanged. "-" is standard output. Devices and pipes are written to
 * directly. Returns 0, or a negative errno with one line in error.
 */
int atomic_file_write(const char *path, int (*print)(FILE *stream, void *context), void *context,
                      struct error *error);

#endif
