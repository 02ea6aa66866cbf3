/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written whole or not at all: whoever reads one finds the old or the new. */
#ifndef BASE_WHOLE_FILE_H
#define BASE_WHOLE_FILE_H

#include <stdio.h>

#include "base/error.h"

/* Writes path by draw(), which returns 0 or a negative errno: a temporary file beside it, renamed;
 * "-" is standard output, and what is no regular file (/dev/null, a pipe) is written to.
 * Returns 0 or a negative errno with a line "path: what" in error. */
int whole_file_write(const char *path, int (*draw)(FILE *stream, void *context), void *context,
                     struct error *error);

#endif
