/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments quoted for a shell. */
#ifndef BASE_SHELL_TEXT_H
#define BASE_SHELL_TEXT_H

#include <stdio.h>

/*
 * Writes one argument so that bash reads it back unchanged. It is quoted only if necessary. An
 * argument with control characters, or that is not UTF-8, is written as $'...' with octal escapes,
 * so the text is safe for terminals and for JSON.
 */
void shell_text_write(FILE *out, const char *argument);

/* A command line with blanks between the arguments; the caller frees it. NULL: no memory. */
char *shell_text_join(int argc, char *const *argv);

#endif
