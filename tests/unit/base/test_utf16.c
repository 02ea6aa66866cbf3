/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 to UTF-16LE and back, and what is neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "base/utf16.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/lib/bytes.h"

static void there_and_back(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } rows[] = {
        {"", ""},
        {"dc1", "640063003100"},
        {"\xc3\xa4\xe2\x82\xac", "e400ac20"},
        {"\xf0\x9f\x98\x80", "3dd800de"},
        {"\xf4\x8f\xbf\xbf", "ffdbffdf"},
        {"\xef\xbf\xbf", "ffff"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t *wide;
        size_t size;
        char *text;
        assert_int_equal(utf16le_from_utf8(rows[i].text, &wide, &size), 0);
        assert_bytes(wide, size, rows[i].hex);
        assert_int_equal(utf16le_to_utf8(wide, size, &text), 0);
        assert_string_equal(text, rows[i].text);
        free(text);
        free(wide);
    }
}

static void upper_case(void **state)
{
    (void)state;
    uint8_t *wide;
    size_t size;
    assert_int_equal(utf16le_upper_from_utf8("stgu-1\xc3\xa9\xd1\x8f\xc3\x9f", &wide, &size), 0);
    assert_bytes(wide, size, "5300540047005500 2d003100 c900 2f04 df00");
    free(wide);
}

static void not_utf8(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "\x80",
        "\xc3",
        "\xc0\x80",
        "\xe0\x80\x80",
        "\xed\xa0\x80",
        "\xe2\x82",
        "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "a\xff",
        "\xe2\x28\xa1",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint8_t *wide;
        size_t size;
        assert_int_equal(utf16le_from_utf8(wrong[i], &wide, &size), -EILSEQ);
    }
}

static void not_utf16(void **state)
{
    (void)state;
    static const struct {
        const char *hex, *text;
    } rows[] = {
        {"3dd8", "\xef\xbf\xbd"},
        {"3dd84100", "\xef\xbf\xbd"
                     "A"},
        {"00de", "\xef\xbf\xbd"},
        {"410000004200", "A\xef\xbf\xbd"
                         "B"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t bytes[16];
        size_t size = bytes_from_hex(rows[i].hex, bytes);
        uint8_t *copy = bytes_exact(bytes, size);
        char *text;
        assert_int_equal(utf16le_to_utf8(copy, size, &text), 0);
        assert_string_equal(text, rows[i].text);
        free(text);
        free(copy);
    }
    char *text;
    assert_int_equal(utf16le_to_utf8((const uint8_t *)"abc", 3, &text), -EILSEQ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(upper_case),
        cmocka_unit_test(not_utf8),
        cmocka_unit_test(not_utf16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
