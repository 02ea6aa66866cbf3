/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a loadfile: one operation per line, in the grammar of NetBench's clients as dbench and
 * smbtorture play it, with dbench's LOOP, REPEAT, RANDOMSTRING, SLEEP and computed numbers.
 * traffic-loadfile(5) describes it. A line that does not fit is refused; nothing is
 * skipped but comments and empty lines.
 */
#ifndef MODEL_LOADFILE_LOADFILE_H
#define MODEL_LOADFILE_LOADFILE_H

#include <stdio.h>

#include "base/error.h"
#include "packets/script.h"

enum { LOADFILE_STEPS_MAX = 1 << 24, LOADFILE_LINE_MAX = 4096, LOADFILE_DEPTH_MAX = 8 };

/* Whether the first bytes of a file, followed by a NUL, begin a loadfile: its first line that is no
 * comment is `[TIME] WORD ...` with a word of the grammar. A word that only other backends of
 * dbench have counts, too: loadfile_load() refuses it by name. */
bool loadfile_begins(const char *begin);
/* Whether these bytes begin a gzip file. */
bool loadfile_is_gzip(const void *begin, size_t size);

/* Reads a script from file to its end; name is for messages. gzip: the bytes are compressed. On
 * success *out is the caller's, to be freed with script_free(). 0, -ENOMEM, or -EINVAL with
 * "name:line: expected ..." in error. */
int loadfile_load(FILE *file, bool gzip, const char *name, struct script **out,
                  struct error *error);

/* NULL is allowed. */
void script_free(struct script *script);

#endif
