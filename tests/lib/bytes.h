/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes for tests: from and to hexadecimal text, and copies whose end a sanitizer watches. */
#ifndef TESTS_LIB_BYTES_H
#define TESTS_LIB_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* Hexadecimal text, blanks allowed, into out (room for all); returns the number of bytes. */
size_t bytes_from_hex(const char *hex, uint8_t *out);

/* Fails the test unless data is what the hexadecimal text says. */
void assert_bytes(const uint8_t *data, size_t size, const char *hex);

/* A copy in an allocation of exactly that size, so that reading past its end is caught. */
uint8_t *bytes_exact(const uint8_t *data, size_t size);

#endif
