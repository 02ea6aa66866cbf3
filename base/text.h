/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is safe to print on a terminal. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdio.h>

/* Replaces control characters in place by "?": C0, DEL and, in UTF-8, C1. They could begin a line
 * of their own or move a terminal's cursor. Returns text. */
char *text_clean(char *text);

/* Writes text to a stream with the same characters replaced. */
void text_print_clean(FILE *stream, const char *text);

#endif
