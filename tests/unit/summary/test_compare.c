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
        "B's maximum is 38.7% above A's (235.421 at r=22 S=5 against 169.764 at r=23 S=4); one run "
        "each: the difference may be chance.");
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
        "B's maximum is 27.9% below A's (169.764 at r=23 S=4 against 235.421 at r=22 S=5); one run "
        "each: the difference may be chance.");
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
    ratio = compare_samples(low, 2, high, 5);
    assert_false(ratio.interval);
    assert_true(fabs(ratio.low - 118.0 / 101) < 1e-9 && fabs(ratio.high - 122.0 / 100) < 1e-9);
    assert_true(isnan(compare_samples(zero, 5, low, 5).ratio));
    assert_true(isnan(compare_samples(low, 0, low, 5).ratio));
    assert_true(compare_samples(low, 5, zero, 5).ratio == 0);
    assert_true(compare_samples(low, 5, low, 5).low <= 1);
}

/* 97.5% points of Student's t from printed tables. */
static void the_quantiles_of_student_t_are_those_of_the_tables(void **state)
{
    (void)state;
    static const double table[][2] = {{1, 12.7062}, {2, 4.3027},  {3, 3.1824},
                                      {4, 2.7764},  {10, 2.2281}, {100, 1.9840}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_true(fabs(compare_student_t(table[i][0]) - table[i][1]) < 1e-4);
    assert_true(compare_student_t(2.5) < table[1][1] && compare_student_t(2.5) > table[2][1]);
}

enum noise { NOISE_NORMAL, NOISE_LOGNORMAL, NOISE_STALLS, NOISES };

static uint64_t simulation;

/* Between 0 and 1, without both. */
static double draw(void)
{
    simulation ^= simulation >> 12;
    simulation ^= simulation << 25;
    simulation ^= simulation >> 27;
    return ((double)(simulation * UINT64_C(2685821657736338717) >> 11) + 0.5) / 9007199254740992.0;
}

/* The rate of a run: 3% of normal noise, 20% of lognormal noise, or 2% of noise and, in one run of
 * ten, a stall that costs up to half of the rate. */
static double draw_rate(enum noise noise)
{
    double normal = sqrt(-2 * log(draw())) * cos(2 * M_PI * draw());
    if (noise == NOISE_LOGNORMAL)
        return 100 * exp(0.2 * normal);
    double rate = 100 * (1 + (noise == NOISE_NORMAL ? 0.03 : 0.02) * normal);
    return noise == NOISE_STALLS && draw() < 0.1 ? rate * (1 - 0.5 * draw()) : rate;
}

/* In how many of 2,000 cells B is called faster or slower, when its rate is factor times A's. */
static unsigned called_cells(enum noise noise, size_t runs, double factor)
{
    unsigned called = 0;
    for (unsigned cell = 0; cell < 2000; cell++) {
        double a[16], b[16];
        for (size_t i = 0; i < runs; i++) {
            a[i] = draw_rate(noise);
            b[i] = factor * draw_rate(noise);
        }
        struct compare_ratio ratio = compare_samples(a, runs, b, runs);
        assert_true(ratio.interval);
        called += ratio.low > 1 || ratio.high < 1;
    }
    return called;
}

static void of_equal_cells_at_most_six_of_a_hundred_are_called_different(void **state)
{
    (void)state;
    static const size_t runs[] = {3, 5, 10};
    simulation = 7;
    for (enum noise noise = 0; noise < NOISES; noise++)
        for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
            unsigned called = called_cells(noise, runs[i], 1);
            print_message("noise %d, %zu runs: %.1f%%\n", (int)noise, runs[i], called / 20.0);
            if (called > 120)
                fail_msg("noise %d, %zu runs: %u of 2000", (int)noise, runs[i], called);
        }
}

static void a_drop_of_ten_percent_is_found_with_five_runs(void **state)
{
    (void)state;
    simulation = 11;
    assert_true(called_cells(NOISE_NORMAL, 5, 0.9) >= 1900);
}

static void runs_with_zeros_still_have_an_interval(void **state)
{
    (void)state;
    static const double some[] = {0, 2, 1, 0, 3}, many[] = {40, 44, 39, 41, 45};
    struct compare_ratio ratio = compare_samples(some, 5, many, 5);
    assert_true(ratio.interval && ratio.low > 1 && isfinite(ratio.high));
    assert_true(ratio.low < ratio.ratio && ratio.ratio < ratio.high);
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

static const char *verdict_of(const double *a, const double *b, size_t runs)
{
    static char verdict[COMPARE_VERDICT_SIZE];
    struct readings sides[2];
    struct compare compare;
    for (size_t side = 0; side < 2; side++) {
        assert_true(mkdir(results_path(side ? "b" : "a"), 0777) == 0 || errno == EEXIST);
        for (size_t i = 0; i < runs; i++)
            write_side(side ? "b" : "a", (unsigned)i,
                       &(struct results_run){1, 1, i + 1 + 100 * side,
                                             (uint64_t)(1000 * (side ? b : a)[i]), 0, 0},
                       "timed out", 1000000);
    }
    compare_folders(sides, &compare, &no_slo);
    strcpy(verdict, compare.verdict);
    clear_compared(sides, &compare);
    return verdict;
}

static void equal_sides_are_said_to_have_no_difference(void **state)
{
    (void)state;
    static const double rates[] = {100, 102, 99, 101, 98}, turned[] = {98, 99, 100, 101, 102};
    assert_string_equal(verdict_of(rates, turned, 5),
                        "B's maximum is equal to A's (100.000 at r=1 S=1 against 100.000 at r=1 "
                        "S=1): no difference.");
}

static void single_runs_are_said_to_differ_perhaps_by_chance(void **state)
{
    (void)state;
    static const double one[] = {100}, other[] = {90};
    assert_string_equal(verdict_of(one, other, 1),
                        "B's maximum is 10.0% below A's (90.000 at r=1 S=1 against 100.000 at r=1 "
                        "S=1); one run each: the difference may be chance.");
}

static void control_characters_of_results_do_not_reach_the_terminal(void **state)
{
    (void)state;
    struct readings sides[2];
    struct compare compare;
    assert_int_equal(mkdir(results_path("a"), 0777), 0);
    assert_int_equal(mkdir(results_path("b"), 0777), 0);
    write_side("a", 1, &(struct results_run){1, 1, 1, 1000, 3, 0}, "title \033]0;x\a", 1000000);
    write_side("b", 1, &(struct results_run){1, 1, 2, 1000, 3, 0}, "C1 \xc2\x9b", 1000000);
    compare_folders(sides, &compare, &no_slo);
    char *text = compare_text(&compare, false);
    assert_non_null(strstr(text, "title ?]0;x?"));
    assert_null(strpbrk(text, "\033\a"));
    assert_null(strstr(text, "\xc2\x9b"));
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
        TEST(the_quantiles_of_student_t_are_those_of_the_tables),
        TEST(of_equal_cells_at_most_six_of_a_hundred_are_called_different),
        TEST(a_drop_of_ten_percent_is_found_with_five_runs),
        TEST(runs_with_zeros_still_have_an_interval),
        TEST(equal_sides_are_said_to_have_no_difference),
        TEST(single_runs_are_said_to_differ_perhaps_by_chance),
        TEST(control_characters_of_results_do_not_reach_the_terminal),
        TEST(repeated_cells_are_called_faster_or_slower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
