/* SPDX-License-Identifier: Apache-2.0 */
/* The text of Microsoft's protocols: UTF-16, little endian, without a byte order mark. */
#ifndef BASE_UTF16_H
#define BASE_UTF16_H

#include <stddef.h>
#include <stdint.h>

/* Converts from UTF-8. The caller frees *out, which is never NULL on success and has no terminator.
 * *size is in bytes. 0, -EILSEQ (not UTF-8) or -ENOMEM. */
int utf16le_from_utf8(const char *text, uint8_t **out, size_t *size);

/* Like utf16le_from_utf8(), in upper case (simple case mapping, one unit to one unit). */
int utf16le_upper_from_utf8(const char *text, uint8_t **out, size_t *size);

/* The size in bytes that utf16le_from_utf8() returns. 0 or -EILSEQ (not UTF-8). */
int utf16le_size(const char *text, size_t *size);

/* Converts to NUL-terminated UTF-8; the caller frees *out. Unpaired surrogates and NUL characters
 * become U+FFFD. 0, -EILSEQ (odd size) or -ENOMEM. */
int utf16le_to_utf8(const uint8_t *text, size_t size, char **out);

#endif
