/* SPDX-License-Identifier: Apache-2.0 */
/* --compare: the published comparison, intervals, failures of one side. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "replay/session/report.h"
#include "summary/compare.h"
#include "summary/grid.h"
#include "summary/reading.h"
#include "summary/result/result.h"
#include "summary/slo.h"
#include "summary/text_report.h"
#include "summary/vary.h"
#include "tests/lib/result_files.h"

static const struct slo no_slo;

static char *compare_text(const struct compare *compare, bool spread)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(compare_print(stream, compare, spread), 0);
    fclose(stream);
    return text;
}

/* Reads folder/a and folder/b and compares them. */
static void compare_folders(struct readings sides[2], struct compare *compare,
                            const struct slo *slo)
{
    static const char *const names[] = {"a", "b"};
    struct error error = {0};
    for (size_t side = 0; side < 2; side++) {
        sides[side] = (struct readings){.warning = results_keep_warning};
        assert_int_equal(readings_add(&sides[side], results_path("%s", names[side])), 0);
        assert_int_equal(readings_finish(&sides[side]), 0);
    }
    if (compare_make(compare, &sides[0], &sides[1], names, METRIC_OK, slo, &error))
        fail_msg("%s", error.text);
}

static void clear_compared(struct readings sides[2], struct compare *compare)
{
    compare_clear(compare);
    readings_clear(&sides[0]);
    readings_clear(&sides[1]);
}

/* The comparison that was published, both ways round. */
static void the_published_comparison_is_reproduced_both_ways(void **state)
{
    (void)state;
    struct readings sides[2];
    struct compare compare;
    struct slo slo;
    struct error error = {0};
    char whole[sizeof results_folder];
    snprintf(whole, sizeof whole, "%s", results_folder);
    for (const char *side = "ab"; *side; side++) {
        assert_int_equal(mkdir(results_path("%c", *side), 0777), 0);
        snprintf(results_folder + strlen(results_folder),
                 sizeof results_folder - strlen(results_folder), "/%c", *side);
        results_write_published(*side == 'a' ? "tests/data/published-grids/samba.tsv"
                                             : "tests/data/published-grids/windows.tsv",
                                results_write_json, ".json");
        snprintf(results_folder, sizeof results_folder, "%s", whole);
    }
    assert_int_equal(slo_parse(&slo, "ok<=200", &error), 0);
    compare_folders(sides, &compare, &slo);
    assert_string_equal(
        compare.verdict,
        "B's maximum is 38.7% above A's (235.421 at r=22 S=5 against 169.764 at r=23 S=4).");
    char *text = compare_text(&compare, false);
    assert_non_null(strstr(text, "\n  4      0.912    0.900    0.722    1.084 "));
    assert_non_null(
        strstr(text, "\nmax: A 169.764 at r=23 S=4, B 235.421 at r=22 S=5, B/A 1.387\n"
                     "max within ok<=200: A 169.764 at r=23 S=4, B 196.766 at r=17 S=6, B/A "));
    /* One run a cell: no word and no mark says that B is faster. */
    assert_null(strstr(compare.verdict, "faster"));
    assert_null(strstr(text, "+1."));
    free(text);
    struct compare back;
    static const char *const names[] = {"b", "a"};
    assert_int_equal(compare_make(&back, &sides[1], &sides[0], names, METRIC_OK, &no_slo, &error),
                     0);
    assert_string_equal(
        back.verdict,
        "B's maximum is 27.9% below A's (169.764 at r=23 S=4 against 235.421 at r=22 S=5).");
    compare_clear(&back);
    clear_compared(sides, &compare);
}

static void intervals_need_enough_runs(void **state)
{
    (void)state;
    static const double low[] = {100, 101, 99, 100, 102}, high[] = {120, 122, 119, 121, 118};
    static const double wide[] = {80, 130, 95, 110, 90, 105}, zero[] = {0, 0, 0, 0, 0};
    struct compare_ratio ratio = compare_samples(low, 5, high, 5);
    assert_true(ratio.interval);
    assert_true(fabs(ratio.ratio - 120.0 / 100.4) < 1e-9);
    assert_true(ratio.low > 1.17 && ratio.low < ratio.ratio);
    assert_true(ratio.high < 1.22 && ratio.high > ratio.ratio);
    struct compare_ratio again = compare_samples(low, 5, high, 5);
    assert_true(again.low == ratio.low && again.high == ratio.high);
    ratio = compare_samples(low, 5, wide, 6);
    assert_true(ratio.interval && ratio.low < 1 && ratio.high > 1);
    ratio = compare_samples(low, 4, high, 5);
    assert_false(ratio.interval);
    assert_true(fabs(ratio.low - 118.0 / 101) < 1e-9 && fabs(ratio.high - 122.0 / 99) < 1e-9);
    assert_true(isnan(compare_samples(zero, 5, low, 5).ratio));
    assert_true(isnan(compare_samples(low, 0, low, 5).ratio));
    assert_true(compare_samples(low, 5, zero, 5).ratio == 0);
    assert_true(compare_samples(low, 5, low, 5).low <= 1);
}

static void write_side(const char *side, unsigned number, const struct results_run *run,
                       const char *cause, int64_t service)
{
    struct result result;
    struct error error = {0};
    results_make(&result, run);
    result.packets[0].causes[0].name = cause;
    assert_int_equal(histogram_add(&result.packets[0].service, service), 0);
    assert_int_equal(result_write(&result, results_path("%s/%u.json", side, number), &error), 0);
    result_clear(&result);
}

/* Enough repeats: words; packet types and failures of the cells that both have. */
static void repeated_cells_are_called_faster_or_slower(void **state)
{
    (void)state;
    struct readings sides[2];
    struct compare compare;
    assert_int_equal(mkdir(results_path("a"), 0777), 0);
    assert_int_equal(mkdir(results_path("b"), 0777), 0);
    for (unsigned i = 0; i < 5; i++) {
        struct results_run run = {1, 1, i, 100000 + 1000 * i, 3, 0};
        write_side("a", i, &run, "timed out", 20000000);
        run.ok += 20000;
        write_side("b", i, &run, i ? "timed out" : "connection reset", 10000000);
        run.S = 2;
        run.ok = 50000 + 10000 * i;
        write_side("a", 10 + i, &run, "timed out", 20000000);
        run.ok = 51000 + 10000 * (4 - i);
        write_side("b", 10 + i, &run, "timed out", 10000000);
        run.S = 3;
        write_side("b", 20 + i, &run, "in a cell that A does not have", 90000000);
    }
    compare_folders(sides, &compare, &no_slo);
    static const char wanted[] = "B's maximum is 19.6% above A's (122.000 at r=1 S=1 against "
                                 "102.000 at r=1 S=1): B is faster, the 95% interval of the "
                                 "difference is +";
    assert_memory_equal(compare.verdict, wanted, sizeof wanted - 1);
    char *text = compare_text(&compare, false);
    assert_non_null(strstr(text, " r\\S         1        2        3\n"
                                 "  1     +1.196    1.014        B\n"));
    assert_non_null(strstr(text, "searchRequest                       0.020000    0.010000   0.500"
                                 "    0.020000    0.010000   0.500\n"));
    assert_non_null(strstr(text, "\nFailures that only B has:\n"
                                 "         3  ldap:3  connection reset\n"));
    assert_null(strstr(text, "only A has:"));
    assert_null(strstr(text, "in a cell that"));
    free(text);
    clear_compared(sides, &compare);

    /* Fewer: ranges. */
    for (unsigned i = 1; i < 5; i++) {
        assert_int_equal(unlink(results_path("b/%u.json", i)), 0);
        assert_int_equal(unlink(results_path("b/%u.json", 10 + i)), 0);
    }
    compare_folders(sides, &compare, &no_slo);
    assert_string_equal(compare.verdict,
                        "B's maximum is 17.6% above A's (120.000 at r=1 S=1 against 102.000 at r=1 "
                        "S=1); between single runs the difference ranges from +15.4% to +20.0%.");
    text = compare_text(&compare, true);
    assert_non_null(strstr(text, "  1.176 (1.154..1.200)"));
    free(text);
    clear_compared(sides, &compare);
}

#define TEST(function)                                                                             \
    cmocka_unit_test_setup_teardown(function, results_make_folder, results_remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_published_comparison_is_reproduced_both_ways),
        TEST(intervals_need_enough_runs),
        TEST(repeated_cells_are_called_faster_or_slower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
