/* SPDX-License-Identifier: Apache-2.0 */
/* Text files in memory. */
#ifndef BASE_FILES_TEXT_FILE_H
#define BASE_FILES_TEXT_FILE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

enum { TEXT_FILE_MAX = 64 << 20, TEXT_FILE_LINE_SIZE = 4096 };

struct text_place {
    unsigned line, column; /* from 1 */
};

/*
 * Reads a whole file; "-" is standard input. The caller frees *text, which has a NUL after its size
 * bytes. A UTF-8 byte order mark is kept. Returns 0, or a negative errno with a line in error;
 * -EINVAL for directories, empty files, files larger than limit, and files with NUL bytes.
 */
int text_file_read(const char *path, size_t limit, char **text, size_t *size, struct error *error);

/* The two halves of text_file_read(). Opens a file: a descriptor, or a negative errno with a
 * line in error. Then reads the rest of a file whose first `begun` bytes are in `begin`. */
int text_file_open(const char *path, struct error *error);
int text_file_read_rest(int fd, const char *path, const char *begin, size_t begun, size_t limit,
                        char **text, size_t *size, struct error *error);

/* Reads the next bytes of a file: size of them, or fewer at its end. Returns their number or a
 * negative errno. */
ssize_t text_file_read_start(int fd, char *bytes, size_t size);

/*
 * Reads the next line of a stream into line, without its newline. For files of short lines, so that
 * an endless file is not read into memory. Returns 1; 0 at the end; or a negative errno, -EINVAL
 * for a line of size bytes or more and for a NUL byte.
 */
int text_file_read_line(FILE *stream, char *line, size_t size);
/* Describes a failure of text_file_read_line(); returns code. */
int text_file_line_error(const char *path, size_t number, int code, struct error *error);

/* Flushes a stream at the end of writing. Returns 0, or the negative errno of the flush or of an
 * earlier write; for that, errno must have been 0 when writing began. */
int text_file_flush(FILE *stream);

/* Applies the checks of text_file_read() to text in memory. */
int text_file_check(const char *name, const char *text, size_t size, struct error *error);

/* The name of a path in messages: the path, or "stdin" for "-". */
const char *text_file_name(const char *path);

/* The place of a byte. Columns count UTF-8 characters. */
struct text_place text_file_place(const char *text, size_t offset);

#endif
