/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/bytes.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

size_t bytes_from_hex(const char *hex, uint8_t *out)
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

void assert_bytes(const uint8_t *data, size_t size, const char *hex)
{
    uint8_t *expected = malloc(strlen(hex) / 2 + 1);
    assert_non_null(expected);
    size_t expected_size = bytes_from_hex(hex, expected);
    assert_int_equal(size, expected_size);
    assert_memory_equal(data, expected, size);
    free(expected);
}

uint8_t *bytes_exact(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    if (size)
        memcpy(copy, data, size);
    return copy;
}
