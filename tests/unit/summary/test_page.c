/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures and the page: escaping, scales, axes, the knee; whole pages are checked by summary.sh.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "summary/chart.h"
#include "summary/heatmap.h"
#include "summary/page.h"
#include "summary/svg.h"

static char *text_of(void (*write)(FILE *stream, const void *what), const void *what)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    write(stream, what);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void write_text(FILE *stream, const void *text)
{
    svg_text(stream, text);
}

static void text_is_escaped(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"plain", "plain"},
        {"<a href=\"x\">&amp;</a>", "&lt;a href=&quot;x&quot;&gt;&amp;amp;&lt;/a&gt;"},
        {"K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x99\x82", "K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x99\x82"},
        {"tab\tline\n", "tab\tline\n"},
        {"bell\a escape\033", "bell? escape?"},
        {"latin \xf6 cut \xe2\x82", "latin ? cut ??"},
        {"long \xc0\xaf \xe0\x80\xaf", "long ?? ???"},
        {"surrogate \xed\xa0\x80 none \xef\xbf\xbf", "surrogate ??? none ???"},
        {"beyond \xf4\x90\x80\x80 \xf8\x88", "beyond ???? ??"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = text_of(write_text, cases[i][0]);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
}

static void values_have_levels_of_colour(void **state)
{
    (void)state;
    assert_int_equal(svg_level(0, 0, 10), 0);
    assert_int_equal(svg_level(10, 0, 10), SVG_LEVELS - 1);
    assert_int_equal(svg_level(5, 0, 10), 5);
    assert_int_equal(svg_level(-1, 0, 10), 0);
    assert_int_equal(svg_level(11, 0, 10), SVG_LEVELS - 1);
    assert_int_equal(svg_level(3, 3, 3), SVG_LEVELS / 2);
    assert_true(svg_step(10, 5) == 2);
    assert_true(svg_step(100, 6) == 20);
    assert_true(fabs(svg_step(0.07, 6) - 0.02) < 1e-12);
    assert_true(svg_step(0, 6) == 1 && svg_step(NAN, 6) == 1 && svg_step(INFINITY, 6) == 1);
}

static void numbers_have_three_significant_digits(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } numbers[] = {{444, "444"},    {2038.432, "2038"}, {44.44, "44.4"},
                   {4.444, "4.44"}, {0.1, "0.1"},       {0.0012345, "0.00123"},
                   {0, "0"},        {100, "100"},       {-12.34, "-12.3"},
                   {1e-12, "0"}};
    static const struct {
        enum metric metric;
        double value;
        const char *text;
    } metrics[] = {{METRIC_OK, 119.066, "119/s"},
                   {METRIC_P95, 0.803513, "804 ms"},
                   {METRIC_P95, 2.038, "2.04 s"},
                   {METRIC_P50, 0.000042, "42 us"},
                   {METRIC_SUCCESS_RATE, 99.996, "99.99%"},
                   {METRIC_SUCCESS_RATE, 100, "100%"},
                   {METRIC_PLANNED, 927, "927"}};
    char text[METRIC_TEXT_SIZE];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        svg_number(text, numbers[i].value);
        assert_string_equal(text, numbers[i].text);
    }
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        metric_text(text, metrics[i].metric, metrics[i].value);
        assert_string_equal(text, metrics[i].text);
    }
}

static void axes_have_round_ticks(void **state)
{
    (void)state;
    struct chart_axis axis = chart_linear("x", 0, 169.764);
    assert_true(axis.least == 0 && axis.largest == 200);
    assert_int_equal(axis.tick_count, 5);
    assert_string_equal(axis.ticks[0].label, "0");
    assert_string_equal(axis.ticks[4].label, "200");
    axis = chart_linear("x", 0, 0);
    assert_true(axis.largest > axis.least);
    axis = chart_logarithmic("x", 0.3, 420);
    assert_true(fabs(axis.least - 0.1) < 1e-12 && fabs(axis.largest - 1000) < 1e-9);
    assert_int_equal(axis.tick_count, 5);
    assert_string_equal(axis.ticks[0].label, "0.1");
    axis = chart_logarithmic("x", 10, 10);
    assert_true(axis.largest > axis.least);
    axis = chart_percentiles("x");
    assert_true(fabs(axis.ticks[axis.tick_count - 1].at - 3) < 1e-9);
    assert_true(fabs(chart_percentile_x(0.9) - 1) < 1e-12);
}

static void the_knee_is_marked(void **state)
{
    (void)state;
    static const double load[] = {10, 20, 30, 40, 50, 60, 70, 80};
    static const double bent[] = {10, 20, 30, 39, 40, 38, 41, 37};
    static const double rising[] = {10, 20, 30, 40, 50, 60, 70, 80};
    static const double falling[] = {80, 70, 60, 50, 40, 30, 20, 10};
    assert_int_equal(page_knee(load, bent, NULL, 8), 3);
    assert_int_equal(page_knee(load, falling, NULL, 8), SIZE_MAX);
    assert_int_equal(page_knee(load, bent, NULL, 2), SIZE_MAX);
    assert_int_equal(page_knee(load, bent, NULL, 0), SIZE_MAX);
    /* A server that keeps up to the end has none. */
    size_t knee = page_knee(load, rising, NULL, 8);
    assert_true(knee == SIZE_MAX);
    /* Two cells of one load, one of which was lucky, make no knee either. */
    static const double four_loads[] = {11, 33, 33, 98}, four_rates[] = {10.7, 50.3, 26.8, 91.8};
    assert_int_equal(page_knee(four_loads, four_rates, NULL, 4), SIZE_MAX);
    /* The server kept up with all loads from the knee on, so there is none. */
    static const bool behind_before[8] = {true, false, true, true, true, true, true, true};
    static const bool behind_after[8] = {true, true, true, true, true, true, true, false};
    assert_int_equal(page_knee(load, bent, behind_before, 8), SIZE_MAX);
    assert_true(page_knee(load, bent, behind_after, 8) != SIZE_MAX);
    static const double nothing[8] = {0};
    assert_int_equal(page_knee(load, nothing, NULL, 8), SIZE_MAX);
    static const double same_load[] = {5, 5, 5};
    assert_int_equal(page_knee(same_load, bent, NULL, 3), SIZE_MAX);
}

static void draw_chart(FILE *stream, const void *chart)
{
    chart_draw(stream, chart);
}

static unsigned count_of(const char *text, const char *what)
{
    unsigned count = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

static void a_chart_has_its_lines(void **state)
{
    (void)state;
    static const double x[] = {1, 2, NAN, 4, 5}, y[] = {10, 0, 30, 40, INFINITY};
    struct chart chart = {.id = "c",
                          .title = "a < b",
                          .description = "d",
                          .x = chart_linear("load", 0, 5),
                          .y = chart_logarithmic("ms", 10, 40),
                          .mark = 4,
                          .limit = NAN,
                          .mark_text = "knee & more",
                          .series_count = 2,
                          .series = {{.name = "<one>", .points = true, .count = 5, .x = x, .y = y},
                                     {.name = "two", .lines = true, .count = 5, .x = x, .y = y}}};
    char *text = text_of(draw_chart, &chart);
    /* What a logarithmic axis cannot show, and what is no number, is passed over. */
    assert_int_equal(count_of(text, "<circle"), 3); /* one of them is in the legend */
    assert_int_equal(count_of(text, "class=\"s1\""), 2);
    assert_non_null(strstr(text, "knee &amp; more"));
    assert_non_null(strstr(text, "&lt;one&gt;"));
    assert_non_null(strstr(text, "<title id=\"c-t\">a &lt; b</title>"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
}

struct map_of {
    struct grid grid;
    struct heatmap map;
};

static void draw_map(FILE *stream, const void *what)
{
    const struct map_of *of = what;
    heatmap_draw(stream, &of->grid, &of->map);
}

/* A grid of 2 x 3: four cells with runs, one of them misses the level, one has no value. */
static void a_heat_map_shows_each_cell(void **state)
{
    (void)state;
    struct reading items[4] = {
        {.r = 1, .S = 1}, {.r = 1, .S = 2}, {.r = 2, .S = 2}, {.r = 2, .S = 3}};
    static const double ok[] = {10, 20, 30, NAN};
    for (size_t i = 0; i < 4; i++) {
        for (enum metric metric = 0; metric < METRICS; metric++)
            items[i].metrics[metric] = NAN;
        items[i].metrics[METRIC_OK] = ok[i];
    }
    struct readings readings = {.items = items, .count = 4};
    struct slo slo;
    struct error error = {0};
    assert_int_equal(slo_parse(&slo, "ok<=25", &error), 0);
    struct map_of of = {.map = {.standalone = true, .id = "g", .least = NAN, .largest = NAN}};
    assert_int_equal(grid_make(&of.grid, &readings, METRIC_OK, false, &slo), 0);
    char *text = text_of(draw_map, &of);
    assert_int_equal(count_of(text, "class=\"o h"), 3);
    assert_int_equal(count_of(text, "class=\"n\""), 3);
    assert_int_equal(count_of(text, "class=\"m\""), 1);
    /* Between r=1 S=2, which keeps it, and r=2 S=2; cells without runs have no edge. */
    assert_int_equal(count_of(text, "class=\"e\""), 1);
    assert_non_null(strstr(text, "30/s at r=2 S=2, the largest."));
    assert_non_null(strstr(text, "prefers-color-scheme:dark"));
    assert_null(strstr(text, "<a href"));
    free(text);
    of.map.links = "cell";
    text = text_of(draw_map, &of);
    assert_int_equal(count_of(text, "<a href=\"#cell-1-1\">"), 1);
    assert_int_equal(count_of(text, "<a href"), 3);
    free(text);
    grid_clear(&of.grid);
}

/* A search plays few cells: the edge lies between the next cells with runs. */
static void the_edge_of_the_service_level_crosses_cells_without_runs(void **state)
{
    (void)state;
    struct reading items[3] = {{.r = 1, .S = 1}, {.r = 1, .S = 3}, {.r = 2, .S = 2}};
    static const double ok[] = {10, 30, 40};
    for (size_t i = 0; i < 3; i++) {
        for (enum metric metric = 0; metric < METRICS; metric++)
            items[i].metrics[metric] = NAN;
        items[i].metrics[METRIC_OK] = ok[i];
    }
    struct readings readings = {.items = items, .count = 3};
    struct slo slo;
    struct error error = {0};
    assert_int_equal(slo_parse(&slo, "ok<=25", &error), 0);
    struct map_of of = {.map = {.standalone = true, .id = "g", .least = NAN, .largest = NAN}};
    assert_int_equal(grid_make(&of.grid, &readings, METRIC_OK, false, &slo), 0);
    char *text = text_of(draw_map, &of);
    assert_int_equal(count_of(text, "class=\"e\""), 1);
    free(text);
    grid_clear(&of.grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(values_have_levels_of_colour),
        cmocka_unit_test(axes_have_round_ticks),
        cmocka_unit_test(the_knee_is_marked),
        cmocka_unit_test(a_chart_has_its_lines),
        cmocka_unit_test(a_heat_map_shows_each_cell),
        cmocka_unit_test(the_edge_of_the_service_level_crosses_cells_without_runs),
        cmocka_unit_test(numbers_have_three_significant_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
