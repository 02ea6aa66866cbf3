/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is safe for terminals, arguments quoted for a shell, lists of arguments. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arguments.h"
#include "base/shell_text.h"

static const struct {
    const char *text, *clean;
} texts[] = {
    {"", ""},
    {"plain text", "plain text"},
    {"a\x1b[31mred\n", "a?[31mred?"},
    {"tab\t, DEL\x7f", "tab?, DEL?"},
    {"C1 \xc2\x9b"
     "2J",
     "C1 ??2J"},
    {"na\xc3\xafve \xc2\xa0 \xe2\x82\xac", "na\xc3\xafve \xc2\xa0 \xe2\x82\xac"},
    {"cut \xc2", "cut \xc2"},
};

static void control_characters_are_replaced(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *copy = strdup(texts[i].text), *printed = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&printed, &size);
        assert_non_null(stream);
        text_print_clean(stream, texts[i].text);
        assert_int_equal(fclose(stream), 0);
        assert_string_equal(text_clean(copy), texts[i].clean);
        assert_string_equal(printed, texts[i].clean);
        free(printed);
        free(copy);
    }
}

static void a_byte_order_mark_has_three_bytes(void **state)
{
    (void)state;
    assert_int_equal(text_mark_length("\xef\xbb\xbftext"), 3);
    assert_int_equal(text_mark_length("text"), 0);
    assert_int_equal(text_mark_length("\xef\xbb"), 0);
}

static void arguments_are_quoted_when_necessary(void **state)
{
    (void)state;
    char *argv[] = {(char[]){"traffic-replay"},
                    (char[]){"--label=a b"},
                    (char[]){"it's"},
                    (char[]){""},
                    (char[]){"{r}"},
                    (char[]){"{a,b}"},
                    (char[]){"-U"},
                    (char[]){"a%***"}};
    char *text = shell_text_join(sizeof argv / sizeof argv[0], argv);
    assert_string_equal(text, "traffic-replay '--label=a b' 'it'\\''s' '' {r} '{a,b}' -U a%***");
    free(text);
}

static void arguments_that_are_no_text_are_escaped(void **state)
{
    (void)state;
    char *argv[] = {(char[]){"a\x1b'\\"}, (char[]){"\xff"}};
    char *text = shell_text_join(2, argv);
    assert_string_equal(text, "$'a\\033\\047\\134' $'\\377'");
    free(text);
}

static void lists_of_arguments_grow(void **state)
{
    (void)state;
    struct arguments arguments = {0};
    char wanted[16];
    for (int i = 0; i < 100; i++) {
        arguments_add(&arguments, "--n=%d", i);
        assert_int_equal(arguments.count, i + 1);
        assert_null(arguments.items[i + 1]);
    }
    for (int i = 0; i < 100; i++) {
        snprintf(wanted, sizeof wanted, "--n=%d", i);
        assert_string_equal(arguments.items[i], wanted);
    }
    assert_false(arguments.failed);
    arguments_clear(&arguments);
    assert_true(!arguments.items && arguments.count == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(a_byte_order_mark_has_three_bytes),
        cmocka_unit_test(arguments_are_quoted_when_necessary),
        cmocka_unit_test(arguments_that_are_no_text_are_escaped),
        cmocka_unit_test(lists_of_arguments_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
