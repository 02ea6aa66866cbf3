/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values from and to text. */
#ifndef BASE_FILES_JSON_TEXT_H
#define BASE_FILES_JSON_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* Writes the value and a newline; flags are those of json_dumpf(). 0, or a negative errno when the
 * stream fails. */
int json_text_write(FILE *stream, const json_t *value, size_t flags);

/* A string that the caller owns. File names can contain any bytes, JSON only UTF-8: if text is not
 * UTF-8, its non-ASCII bytes become "?". NULL: no memory. */
json_t *json_text_string(const char *text);

#endif
