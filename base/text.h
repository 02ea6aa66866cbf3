/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is safe to print on a terminal. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Replaces control characters in place by "?": C0, DEL and, in UTF-8, C1. They could start a new
 * line or move the terminal's cursor. Returns text. */
char *text_clean(char *text);

/* Writes text to a stream with the same characters replaced. */
void text_print_clean(FILE *stream, const char *text);

/* The length of the UTF-8 byte order mark that a file's text begins with, or 0. Windows programs
 * write such marks, and users do not see them. */
size_t text_mark_length(const char *text);

/* Writes bytes as lower-case hexadecimal digits to out, which has room for 2 * size + 1. */
void text_hex(char *out, const uint8_t *bytes, size_t size);

#endif
