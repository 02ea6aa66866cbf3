/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program says on standard error, one line at a time, and its exit statuses. Names of
 * files, words of the command line and a server's answers may hold anything: what would move a
 * terminal's cursor, or begin a line of its own, is shown as "?".
 */
#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

#include <stdarg.h>

/* What the programs exit with: fine, a run that failed, a mistake of the user's, a signal. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

/* Replaces control characters (C0, DEL and, in UTF-8, C1) in place by "?". */
void message_clean(char *text);

/* How lines begin: "traffic-replay", or the program that the code runs in. */
extern const char *message_program;

/* "traffic-replay: ", the text and a newline. */
void message_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_tell_args(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

#endif
