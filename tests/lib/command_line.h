/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of command lines: a private folder, arguments, and the messages on standard error. */
#ifndef TESTS_LIB_COMMAND_LINE_H
#define TESTS_LIB_COMMAND_LINE_H

#include <sys/types.h>

enum { WORDS_MAX = 40, TEXT_MAX = 4096 };

/* The folder of the test's files: a template for mkdtemp(), which the program's set-up calls. */
extern char folder[];
/* What was written to standard error between capture_messages() and end_capture(). */
extern char messages[TEXT_MAX];
/* The arguments, from cut(), followed by NULL. */
extern char *words[WORDS_MAX + 1];

/* A path in the folder; valid for the next four calls. */
const char *path_in_folder(const char *name);

/* Writes a file in the folder. */
void write_file(const char *name, const char *content, mode_t mode);

/* Frees the words of the last cut(). */
void free_words(void);

/* Cuts a line at blanks into writable arguments after the program's name; returns their number. */
int cut(const char *program, const char *line);

/* Redirects standard error until end_capture(), which fills in messages. */
void capture_messages(void);

void end_capture(void);

/* Expects one line: the program's name and the message, with the test's folder for each @. */
void expect_message(const char *line, const char *program, const char *message);

#endif
