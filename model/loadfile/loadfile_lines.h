/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a file that may be compressed by gzip. */
#ifndef MODEL_LOADFILE_LOADFILE_LINES_H
#define MODEL_LOADFILE_LOADFILE_LINES_H

#include <stdbool.h>
#include <stdio.h>

struct loadfile_lines;

/* NULL: out of memory. The file stays the caller's. */
struct loadfile_lines *loadfile_lines_new(FILE *file, bool gzip);
void loadfile_lines_free(struct loadfile_lines *lines);

/* Sets *line to the next line, without its end, valid until the next call. 1; 0: no more; -E2BIG: a
 * line longer than LOADFILE_LINE_MAX; -EBADMSG: damaged gzip data; -EILSEQ: a NUL byte; another
 * negative errno of reading. */
int loadfile_lines_next(struct loadfile_lines *lines, char **line);

#endif
