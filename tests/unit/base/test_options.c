/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of options: values of each kind, command lines, usage errors, the nearest name, help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* needs the four above */
#include <cmocka.h>

#include "base/options.h"

#include "base/message.h"
#include "tests/lib/command_line.h"

struct values {
    bool flag;
    int counter, integer;
    double number, above;
    uint64_t whole;
    unsigned natural;
    const char *text, *input, *output;
    char *secret;
    const char *custom;
};

static const char *parse_custom(void *owner, char *value)
{
    struct values *values = owner;
    values->custom = value;
    return strcmp(value, "no") == 0 ? options_wrong("\"%s\" is not wanted", value) : NULL;
}

enum { GROUP_FIRST, GROUP_SECOND, GROUP_COUNT };

static const char *const titles[GROUP_COUNT] = {"First", "Second"};

#define AT(member) offsetof(struct values, member)

/* clang-format off */
static const struct options_row rows[] = {
    {"flag", 'f', NULL, OPTIONS_FLAG, AT(flag), 0, 0, 0, GROUP_FIRST, "a flag", NULL},
    {"counter", 'c', NULL, OPTIONS_COUNTER, AT(counter), 0, 0, 0, GROUP_FIRST, "one more", NULL},
    {"number", 'n', "N", OPTIONS_NUMBER, AT(number), 0, 10, 0, GROUP_FIRST,
     "two lines\nof help", NULL},
    {"number-above", 0, "N", OPTIONS_NUMBER, AT(above), 0, 10, OPTIONS_ABOVE, GROUP_SECOND,
     "more than nothing", NULL},
    {"whole", 0, "N", OPTIONS_WHOLE, AT(whole), 1, 1e9, 0, GROUP_FIRST, "a count", NULL},
    {"integer", 0, "N", OPTIONS_INT, AT(integer), 0, 99, 0, GROUP_SECOND, "an int", NULL},
    {"natural", 0, "N", OPTIONS_UNSIGNED, AT(natural), 1, 99, 0, GROUP_SECOND, "unsigned", NULL},
    {"text", 't', "WORD", OPTIONS_TEXT, AT(text), 0, 0, 0, GROUP_SECOND, "a word", NULL},
    {"input", 0, "FILE", OPTIONS_INPUT, AT(input), 0, 0, 0, GROUP_SECOND, "to be read", NULL},
    {"output", 0, "FILE", OPTIONS_OUTPUT, AT(output), 0, 0, 0, GROUP_SECOND, "to write", NULL},
    {"secret", 0, "WORD", OPTIONS_SECRET, AT(secret), 0, 0, 0, GROUP_SECOND, "a secret", NULL},
    {"custom", 0, "WORD", OPTIONS_CUSTOM, 0, 0, 0, OPTIONS_OWN, GROUP_SECOND,
     "its own", parse_custom},
    OPTIONS_HELP_ROW(GROUP_SECOND),
};
/* clang-format on */

static const struct options_table table = {.rows = rows,
                                           .count = sizeof rows / sizeof rows[0],
                                           .groups = titles,
                                           .group_count = GROUP_COUNT,
                                           .help_column = 24};

static const char *apply(struct values *values, const char *name, char *value)
{
    const struct options_row *row = options_find(&table, name);
    assert_non_null(row);
    return options_apply(row, values, value);
}

static void values_of_each_kind_are_read(void **state)
{
    (void)state;
    struct values values = {.counter = 1};
    char text[] = "word", secret[] = "hidden", dash[] = "-";
    assert_null(apply(&values, "flag", NULL));
    assert_null(apply(&values, "counter", NULL));
    assert_null(apply(&values, "number", (char[]){"2.5"}));
    assert_null(apply(&values, "number-above", (char[]){"1e-3"}));
    assert_null(apply(&values, "whole", (char[]){"1000000000"}));
    assert_null(apply(&values, "integer", (char[]){"0"}));
    assert_null(apply(&values, "natural", (char[]){"99"}));
    assert_null(apply(&values, "text", text));
    assert_null(apply(&values, "output", dash));
    assert_null(apply(&values, "secret", secret));
    assert_null(apply(&values, "custom", text));
    assert_null(apply(&values, "help", NULL));
    assert_true(values.flag && values.counter == 2 && values.number == 2.5);
    assert_true(values.above == 1e-3 && values.whole == 1000000000);
    assert_true(values.integer == 0 && values.natural == 99);
    assert_ptr_equal(values.text, text);
    assert_ptr_equal(values.output, dash);
    assert_ptr_equal(values.custom, text);
    /* A secret is copied, and the original overwritten. */
    assert_string_equal(values.secret, "hidden");
    for (size_t i = 0; i < sizeof secret; i++)
        assert_int_equal(secret[i], 0);
    free(values.secret);
}

static void flags_in_files_have_values(void **state)
{
    (void)state;
    struct values values = {.flag = false};
    assert_null(apply(&values, "flag", (char[]){"Yes"}));
    assert_true(values.flag);
    assert_null(apply(&values, "flag", (char[]){"off"}));
    assert_false(values.flag);
    assert_string_equal(apply(&values, "flag", (char[]){"maybe"}),
                        "\"maybe\" is neither true nor false");
}

static const struct {
    const char *name, *value, *wrong;
} bad_values[] = {
    {"number", "", "\"\" is not a number"},
    {"number", "x", "\"x\" is not a number"},
    {"number", " 3", "\" 3\" is not a number"},
    {"number", "3x", "\"3x\" is not a number"},
    {"number", "0x3", "\"0x3\" is not a number"},
    {"number", "nan", "\"nan\" is not a number"},
    {"number", "1e999", "\"1e999\" is not a number"},
    {"number", "-1", "\"-1\" is out of range: expected a number from 0 to 10"},
    {"number", "10.1", "\"10.1\" is out of range: expected a number from 0 to 10"},
    {"number-above", "0", "\"0\" is out of range: expected a number above 0 and at most 10"},
    {"whole", "", "\"\" is not a whole number"},
    {"whole", "1.5", "\"1.5\" is not a whole number"},
    {"whole", "+1", "\"+1\" is not a whole number"},
    {"whole", "0", "\"0\" is out of range: expected a number from 1 to 1000000000"},
    {"whole", "-3", "\"-3\" is out of range: expected a number from 1 to 1000000000"},
    {"whole", "99999999999999999999",
     "\"99999999999999999999\" is out of range: expected a number from 1 to 1000000000"},
    {"integer", "100", "\"100\" is out of range: expected a number from 0 to 99"},
    {"natural", "0", "\"0\" is out of range: expected a number from 1 to 99"},
    {"text", "", "empty value"},
    {"secret", "", "empty value"},
    {"input", "/no/such/file", "cannot read \"/no/such/file\": No such file or directory"},
    {"input", "/", "cannot read \"/\": Is a directory"},
    {"output", "/no/such/file", "cannot write \"/no/such/file\": No such file or directory"},
    {"output", "/", "cannot write \"/\": Is a directory"},
    {"custom", "no", "\"no\" is not wanted"},
};

static void bad_values_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_values / sizeof bad_values[0]; i++) {
        struct values values = {.whole = 7, .number = 7};
        char *value = strdup(bad_values[i].value);
        assert_string_equal(apply(&values, bad_values[i].name, value), bad_values[i].wrong);
        /* The old value remains. */
        assert_true(values.whole == 7 && values.number == 7 && !values.secret);
        free(value);
    }
}

static void options_are_found_by_name(void **state)
{
    (void)state;
    assert_string_equal(options_find(&table, "whole")->help, "a count");
    assert_null(options_find(&table, "whol"));
    assert_string_equal(options_nearest(&table, "whle"), "whole");
    assert_string_equal(options_nearest(&table, "texts"), "text");
    assert_string_equal(options_nearest(&table, "custommade"), "custom");
    assert_null(options_nearest(&table, "frobnicate"));
    assert_null(options_nearest(&table, "a-name-that-is-far-longer-than-any-option-of-the-table"));
    assert_true(options_has_letter(&table, 'n'));
    assert_false(options_has_letter(&table, 'x') || options_has_letter(&table, 0));
}

static void expect_given(struct options_scan *scan, const char *name, const char *value,
                         bool by_letter)
{
    struct options_given given;
    int first = -1;
    assert_true(options_next(scan, &given, &first));
    assert_int_equal(given.fault, OPTIONS_GOOD);
    assert_string_equal(given.row->name, name);
    assert_int_equal(given.by_letter, by_letter);
    assert_int_equal(first, -1);
    if (value)
        assert_string_equal(given.value, value);
    else
        assert_null(given.value);
}

static void a_command_line_is_read(void **state)
{
    (void)state;
    struct options_scan scan;
    struct options_given given;
    int first = 0, count = cut("program", "-fcn 3 one --whole=4 --cust x two -- -f");
    options_scan(&scan, &table, count, words);
    expect_given(&scan, "flag", NULL, true);
    expect_given(&scan, "counter", NULL, true);
    expect_given(&scan, "number", "3", true);
    expect_given(&scan, "whole", "4", false);
    expect_given(&scan, "custom", "x", false);
    assert_false(options_next(&scan, &given, &first));
    assert_int_equal(count - first, 3);
    assert_string_equal(words[first], "one");
    assert_string_equal(words[first + 1], "two");
    assert_string_equal(words[first + 2], "-f");
}

static const struct {
    const char *line;
    enum options_fault fault;
    int letter; /* of an unknown option */
    const char *message;
} faults[] = {
    {"-x", OPTIONS_UNKNOWN, 'x', "-x: unknown option; see --help"},
    {"-fx", OPTIONS_UNKNOWN, 'x', "-x: unknown option; see --help"},
    {"--nonsense=3", OPTIONS_UNKNOWN, 0, "--nonsense: unknown option; see --help"},
    {"--whle=3", OPTIONS_UNKNOWN, 0, "--whle: unknown option; did you mean --whole?"},
    {"one --num", OPTIONS_UNKNOWN, 0,
     "--num: ambiguous option; it matches --number, --number-above"},
    {"-n", OPTIONS_NO_VALUE, 0, "-n: missing N"},
    {"one --text", OPTIONS_NO_VALUE, 0, "--text: missing WORD"},
    {"--flag=3", OPTIONS_NEEDLESS, 0, "--flag: takes no value"},
};

static void faulty_command_lines_have_a_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct options_scan scan;
        struct options_given given = {.fault = OPTIONS_GOOD};
        int first = 0;
        options_scan(&scan, &table, cut("program", faults[i].line), words);
        while (given.fault == OPTIONS_GOOD)
            assert_true(options_next(&scan, &given, &first));
        assert_int_equal(given.fault, faults[i].fault);
        assert_int_equal(given.letter, faults[i].letter);
        assert_int_equal(given.row == NULL, given.fault == OPTIONS_UNKNOWN);
        capture_messages();
        int status = options_complain_of(&table, &given);
        end_capture();
        assert_int_equal(status, EXIT_USAGE);
        expect_message(faults[i].line, message_program, faults[i].message);
    }
}

static void a_complete_command_line_is_read(void **state)
{
    (void)state;
    struct values values = {.whole = 7};
    int first = 0, status = -1;
    int count = cut("program", "-f one --whole 4 -t x");
    assert_int_equal(options_read(&table, &values, count, words, &first, &status), STEP_NEXT);
    assert_true(values.flag && values.whole == 4 && first == count - 1);
    assert_string_equal(values.text, "x");
    assert_string_equal(words[first], "one");
    capture_messages();
    count = cut("program", "-n x --whole 5");
    assert_int_equal(options_read(&table, &values, count, words, &first, &status), STEP_DONE);
    end_capture();
    assert_int_equal(status, EXIT_USAGE);
    assert_int_equal(values.whole, 4);
    expect_message("a wrong value", message_program, "-n: \"x\" is not a number");
}

static void complaints_are_usage_errors(void **state)
{
    (void)state;
    capture_messages();
    int status = options_complain("%s: wrong", "this");
    end_capture();
    assert_int_equal(status, EXIT_USAGE);
    expect_message("a mistake", message_program, "this: wrong");
    capture_messages();
    status = options_out_of_memory();
    end_capture();
    assert_int_equal(status, EXIT_FAILED);
    expect_message("no memory", message_program, "out of memory");
}

static void help_lists_each_option(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    options_help(&table, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "\nFirst:\n"
                              "  -f, --flag            a flag\n"
                              "  -c, --counter         one more\n"
                              "  -n, --number N        two lines\n"
                              "                        of help\n"
                              "      --whole N         a count\n"
                              "\nSecond:\n"
                              "      --number-above N  more than nothing\n"
                              "      --integer N       an int\n"
                              "      --natural N       unsigned\n"
                              "  -t, --text WORD       a word\n"
                              "      --input FILE      to be read\n"
                              "      --output FILE     to write\n"
                              "      --secret WORD     a secret\n"
                              "      --custom WORD     its own\n"
                              "  -h, --help            print this help\n");
    free(text);
    /* The text of a wide option begins on the next line. */
    struct options_table narrow = table;
    narrow.rows += 3;
    narrow.count = 1;
    narrow.help_column = 10;
    out = open_memstream(&text, &size);
    assert_non_null(out);
    options_help(&narrow, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "\nFirst:\n\nSecond:\n"
                              "      --number-above N\n"
                              "          more than nothing\n");
    free(text);
}

static int clear_words(void **state)
{
    (void)state;
    free_words();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_of_each_kind_are_read),
                                       cmocka_unit_test(flags_in_files_have_values),
                                       cmocka_unit_test(bad_values_are_refused),
                                       cmocka_unit_test(options_are_found_by_name),
                                       cmocka_unit_test(a_command_line_is_read),
                                       cmocka_unit_test(faulty_command_lines_have_a_message),
                                       cmocka_unit_test(a_complete_command_line_is_read),
                                       cmocka_unit_test(complaints_are_usage_errors),
                                       cmocka_unit_test(help_lists_each_option)};
    return cmocka_run_group_tests(tests, NULL, clear_words);
}
