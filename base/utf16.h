/* SPDX-License-Identifier: Apache-2.0 */
/* Text as Microsoft's protocols carry it: UTF-16, little endian, without a byte order mark. */
#ifndef BASE_UTF16_H
#define BASE_UTF16_H

#include <stddef.h>
#include <stdint.h>

/* From UTF-8. *out is malloc'd (never NULL on success), *size in bytes, no terminator. -EILSEQ: not
 * UTF-8; -ENOMEM. */
int utf16le_from_utf8(const char *text, uint8_t **out, size_t *size);

/* As utf16le_from_utf8(), in upper case (simple case mapping, one unit to one unit). */
int utf16le_upper_from_utf8(const char *text, uint8_t **out, size_t *size);

/* Bytes that utf16le_from_utf8() would make. -EILSEQ: not UTF-8. */
int utf16le_size(const char *text, size_t *size);

/* To NUL-terminated UTF-8 in a malloc'd *out. An unpaired surrogate or a NUL inside becomes U+FFFD,
 * an odd byte at the end is -EILSEQ. */
int utf16le_to_utf8(const uint8_t *text, size_t size, char **out);

#endif
