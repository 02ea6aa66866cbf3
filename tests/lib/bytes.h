/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes for tests: from and to hexadecimal text, and copies whose end a sanitizer watches. */
#ifndef TESTS_LIB_BYTES_H
#define TESTS_LIB_BYTES_H

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Hexadecimal text, blanks allowed, into out (room for all); returns the number of bytes. */
static inline size_t bytes_from_hex(const char *hex, uint8_t *out)
{
    size_t size = 0;
    while (*hex) {
        if (isspace((unsigned char)*hex)) {
            hex++;
            continue;
        }
        char pair[3] = {hex[0], hex[1], '\0'};
        out[size++] = (uint8_t)strtoul(pair, NULL, 16);
        hex += 2;
    }
    return size;
}

/* Fails the test unless data is what the hexadecimal text says. */
static inline void assert_bytes(const uint8_t *data, size_t size, const char *hex)
{
    uint8_t *expected = malloc(strlen(hex) / 2 + 1);
    assert_non_null(expected);
    size_t expected_size = bytes_from_hex(hex, expected);
    assert_int_equal(size, expected_size);
    assert_memory_equal(data, expected, size);
    free(expected);
}

/* A copy in an allocation of exactly that size, so that reading past its end is caught. */
static inline uint8_t *bytes_exact(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

#endif
