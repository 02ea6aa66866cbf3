/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages on standard error: one line each, "program: text". File names, arguments and a server's
 * answers can contain anything, so control characters are replaced (text_clean()).
 */
#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

#include <stdarg.h>

/* The name that messages begin with; program_begin() sets it. */
extern const char *message_program;

/* Called before each message, with standard error locked, so that the owner of a status line can
 * remove it. May be NULL. Change it only while no other thread prints. */
extern void (*message_before_line)(void);

/* Prints the program's name, ": ", the text and a newline. Any thread may call it. */
void message_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_print_args(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

#endif
