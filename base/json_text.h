/* SPDX-License-Identifier: Apache-2.0 */
/* Values of jansson's as text in a stream. */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* Writes the value and a newline; flags are json_dumpf()'s. 0 or what the stream failed with, as a
 * negative errno. */
int json_text_write(FILE *stream, const json_t *value, size_t flags);

#endif
