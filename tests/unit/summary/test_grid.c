/* SPDX-License-Identifier: Apache-2.0 */
/* Grids from result files: the published tables, ranges, repeats, metrics, service levels. */
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

struct shape {
    enum metric metric;
    bool full, spread;
    const struct slo *slo;
    bool colour;
};
static const struct slo no_slo;

static char *grid_text(const struct readings *readings, struct shape shape)
{
    struct grid grid;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(
        grid_make(&grid, readings, shape.metric, shape.full, shape.slo ? shape.slo : &no_slo), 0);
    grid_print(stream, &grid,
               (struct grid_print_form){.spread = shape.spread, .colour = shape.colour});
    grid_clear(&grid);
    fclose(stream);
    return text;
}

static void assert_grid(struct shape shape, const char *wanted)
{
    struct readings readings = results_read_folder();
    char *text = grid_text(&readings, shape);
    assert_string_equal(text, wanted);
    free(text);
    readings_clear(&readings);
}

static void assert_published(const char *name)
{
    char tsv[128], published[128];
    snprintf(tsv, sizeof tsv, "tests/data/published-grids/%s.tsv", name);
    snprintf(published, sizeof published, "tests/data/published-grids/%s.published.txt", name);
    char *wanted = results_load_text(published);
    results_write_published(tsv, results_write_json, ".json");
    assert_grid((struct shape){METRIC_OK, true, false, NULL, false}, wanted);
    /* Text of the same runs beside it changes nothing. */
    results_write_published(tsv, results_write_text, ".txt");
    struct readings readings = results_read_folder();
    assert_int_equal(readings.count, 168);
    assert_int_equal(readings.repeated, 168);
    assert_int_equal(readings.refused, 0);
    readings_clear(&readings);
    assert_grid((struct shape){METRIC_OK, true, false, NULL, false}, wanted);
    /* The text alone. */
    for (unsigned seed = 1; seed <= 168; seed++)
        assert_int_equal(unlink(results_path("run-%u.json", seed)), 0);
    assert_grid((struct shape){METRIC_OK, true, false, NULL, false}, wanted);
    free(wanted);
}

static void the_published_samba_grid_is_printed_byte_for_byte(void **state)
{
    (void)state;
    assert_published("samba");
}

static void the_published_windows_grid_is_printed_byte_for_byte(void **state)
{
    (void)state;
    assert_published("windows");
}

/* As in a search for the maximum: rows and columns are those with runs, other cells are blank. */
static void a_sparse_grid_has_only_rows_and_columns_with_runs(void **state)
{
    (void)state;
    results_write_json(&(struct results_run){4, 5, 1, 119066, 0, 0}, results_path("a.json"));
    results_write_json(&(struct results_run){6, 7, 2, 110525, 0, 0}, results_path("b.json"));
    assert_grid((struct shape){METRIC_OK, false, false, NULL, false}, " r\\S         5        7\n"
                                                                      "  4   *119.066         \n"
                                                                      "  6             110.525\n"
                                                                      "\n"
                                                                      "max: 119.066\n");
    assert_grid((struct shape){METRIC_OK, true, false, NULL, false},
                " r\\S         1        2        3        4        5        6        7        8\n"
                "  1          0        0        0        0        0        0        0        0\n"
                "  2          0        0        0        0        0        0        0        0\n"
                "  3          0        0        0        0        0        0        0        0\n"
                "  4          0        0        0        0 *119.066        0        0        0\n"
                "  5          0        0        0        0        0        0        0        0\n"
                "  6          0        0        0        0        0        0  110.525        0\n"
                "  7          0        0        0        0        0        0        0        0\n"
                "\n"
                "max: 119.066\n");
}

static void fractions_of_r_and_S_get_rows_and_columns(void **state)
{
    (void)state;
    results_write_json(&(struct results_run){0.5, 3.7, 1, 1000, 0, 0}, results_path("a.json"));
    results_write_text(&(struct results_run){0.5, 0.1, 2, 2000, 0, 0}, results_path("b.txt"));
    results_write_json(&(struct results_run){2, 0.1, 3, 3000, 0, 0}, results_path("c.json"));
    results_write_text(&(struct results_run){1.0 / 3, 0.1, 4, 4000, 0, 0}, results_path("d.txt"));
    assert_grid((struct shape){METRIC_OK, false, false, NULL, false},
                "            r\\S       0.1      3.7\n"
                "0.333333333333     *4.000         \n"
                "           0.5      2.000    1.000\n"
                "             2      3.000         \n"
                "\n"
                "max: 4.000\n");
    results_write_json(&(struct results_run){0.5, 1, 5, 9000, 0, 0}, results_path("e.json"));
    assert_int_equal(unlink(results_path("d.txt")), 0);
    assert_grid((struct shape){METRIC_OK, true, false, NULL, false},
                " r\\S       0.1        1        2        3      3.7        4\n"
                "0.5      2.000   *9.000        0        0    1.000        0\n"
                "  1          0        0        0        0        0        0\n"
                "  2      3.000        0        0        0        0        0\n"
                "  3          0        0        0        0        0        0\n"
                "\n"
                "max: 9.000\n");
}

/* A range that would be absurd is not filled. */
static void an_absurdly_wide_range_is_not_filled(void **state)
{
    (void)state;
    results_write_json(&(struct results_run){1, 1, 1, 1000, 0, 0}, results_path("a.json"));
    results_write_json(&(struct results_run){100000, 1, 2, 2000, 0, 0}, results_path("b.json"));
    assert_grid((struct shape){METRIC_OK, true, false, NULL, false}, "    r\\S         1        2\n"
                                                                     "     1      1.000        0\n"
                                                                     "100000     *2.000        0\n"
                                                                     "\n"
                                                                     "max: 2.000\n");
}

static void a_cell_shows_the_mean_of_its_runs(void **state)
{
    (void)state;
    results_write_json(&(struct results_run){1, 1, 1, 1000, 0, 0}, results_path("a.json"));
    results_write_json(&(struct results_run){1, 1, 2, 2000, 0, 0}, results_path("b.json"));
    results_write_text(&(struct results_run){1, 1, 3, 6000, 0, 0}, results_path("c.txt"));
    results_write_json(&(struct results_run){2, 1, 4, 2500, 0, 0}, results_path("d.json"));
    assert_grid((struct shape){METRIC_OK, false, false, NULL, false}, " r\\S         1\n"
                                                                      "  1     *3.000\n"
                                                                      "  2      2.500\n"
                                                                      "\n"
                                                                      "max: 3.000\n");
    assert_grid((struct shape){METRIC_OK, false, true, NULL, false},
                " r\\S                      1\n"
                "  1   *3.000 (1.000..6.000)\n"
                "  2                   2.500\n"
                "\n"
                "max: 3.000\n");
}

/* On a terminal: escape sequences around the values, nothing else changes. */
static void colour_adds_nothing_but_escape_sequences(void **state)
{
    (void)state;
    results_write_json(&(struct results_run){1, 1, 1, 1000, 0, 0}, results_path("a.json"));
    results_write_json(&(struct results_run){2, 1, 2, 2000, 0, 0}, results_path("b.json"));
    results_write_json(&(struct results_run){2, 2, 3, 0, 0, 0}, results_path("c.json"));
    assert_grid((struct shape){METRIC_OK, false, false, NULL, true},
                " r\\S         1        2\n"
                "  1      \033[38;5;70m1.000\033[0m         \n"
                "  2     \033[1;38;5;160m*2.000\033[0m    \033[38;5;32m0.000\033[0m\n"
                "\n"
                "max: 2.000\n");
}

/* JSON and text; a missing pace is one of its own. */
static void runs_of_different_pace_are_refused_in_one_grid(void **state)
{
    (void)state;
    struct results_run run = {4, 2, 1, 3000, 1000, 250000000};
    const struct reading *first = NULL;
    struct error error = {0};
    results_data.pace = "5 MB/s";
    results_write_json(&run, results_path("a.json"));
    run.seed = 2;
    results_write_text(&run, results_path("b.txt"));
    results_data.pace = "reply";
    run.seed = 3;
    results_write_text(&run, results_path("c.txt"));
    results_data.pace = NULL;
    struct readings readings = results_read_folder();
    assert_int_equal(readings.count, 3);
    assert_string_equal(readings.items[0].pace, "5 MB/s");
    assert_string_equal(readings.items[1].pace, "5 MB/s");
    assert_string_equal(readings.items[2].pace, "reply");
    assert_int_equal(readings_check_pace(&readings, &first, &error), -EINVAL);
    char wanted[1024];
    snprintf(wanted, sizeof wanted,
             "%s (pace 5 MB/s) and %s (pace reply) do not belong in one grid; give one of them",
             readings.items[0].path, readings.items[2].path);
    assert_string_equal(error.text, wanted);
    assert_true(readings.items[0].metrics[METRIC_ACHIEVED] == 100);
    assert_true(readings.items[1].metrics[METRIC_ACHIEVED] == 100);
    assert_true(isnan(readings.items[2].metrics[METRIC_ACHIEVED]));
    readings.count = 2;
    first = NULL;
    assert_int_equal(readings_check_pace(&readings, &first, &error), 0);
    readings.count = 3;
    readings_clear(&readings);
    results_data.pace = "reply";
    results_write_json(&run, results_path("c.txt"));
    results_data.pace = NULL;
    readings = results_read_folder();
    assert_true(isnan(readings.items[2].metrics[METRIC_ACHIEVED]));
    readings_clear(&readings);
}

static void runs_without_smb2_have_no_megabytes_per_second(void **state)
{
    (void)state;
    struct results_run run = {4, 2, 1, 3000, 1000, 250000000};
    results_write_json(&run, results_path("a.json"));
    run.seed = 2;
    results_write_text(&run, results_path("b.txt"));
    struct readings readings = results_read_folder();
    for (size_t i = 0; i < 2; i++)
        for (enum metric metric = METRIC_BYTES; metric <= METRIC_IOPS; metric++)
            assert_true(isnan(readings.items[i].metrics[metric]));
    readings_clear(&readings);
}

/* Every metric of our JSON and our text. */
static void every_metric_is_read_from_json_and_text(void **state)
{
    (void)state;
    static const double wanted[METRICS] = {
        [METRIC_OK] = 3,         [METRIC_FAILED] = 1,        [METRIC_NOMINAL] = 80,
        [METRIC_PLANNED] = 4000, [METRIC_MEAN] = 0.25,       [METRIC_P50] = 0.25,
        [METRIC_P95] = 0.25,     [METRIC_P99] = 0.25,        [METRIC_SUCCESS_RATE] = 75,
        [METRIC_ACHIEVED] = 100, [METRIC_PLANNED_RATE] = 4,  [METRIC_BYTES] = 3,
        [METRIC_READ_BYTES] = 2, [METRIC_WRITTEN_BYTES] = 1, [METRIC_IOPS] = 6};
    struct results_run run = {4, 2, 1, 3000, 1000, 250000000};
    results_data = (struct results_data){2000000000, 1000000000, 5000, NULL};
    results_write_json(&run, results_path("a.json"));
    run.seed = 2;
    results_write_text(&run, results_path("b.txt"));
    results_data = (struct results_data){0};
    struct readings readings = results_read_folder();
    assert_int_equal(readings.count, 2);
    for (size_t i = 0; i < 2; i++)
        for (enum metric metric = 0; metric < METRICS; metric++)
            assert_true(fabs(readings.items[i].metrics[metric] - wanted[metric]) < 1e-6);
    readings_clear(&readings);
    assert_int_equal(metric_find("success-rate"), METRIC_SUCCESS_RATE);
    assert_int_equal(metric_find("p98"), METRICS);
}

/* The established tool's files: what they hold, and "-" for what they do not. */
static void reports_of_the_python_tool_are_read(void **state)
{
    (void)state;
    struct readings readings = {.warning = results_keep_warning};
    assert_int_equal(readings_add(&readings, "tests/data/samba-runs"), 0);
    /* Once more: it counts once. */
    assert_int_equal(readings_add(&readings, "tests/data/samba-runs/dc1_r1_S1.txt"), 0);
    assert_int_equal(readings_finish(&readings), 0);
    assert_int_equal(readings.count, 3);
    assert_int_equal(readings.repeated, 1);
    assert_int_equal(readings.refused, 0);
    const struct reading *run = &readings.items[0];
    assert_int_equal(run->form, READING_PYTHON);
    assert_true(run->r == 1 && run->S == 1);
    assert_true(run->metrics[METRIC_OK] == 27.679);
    assert_true(run->metrics[METRIC_FAILED] == 10.604);
    assert_true(run->metrics[METRIC_PLANNED] == 927);
    assert_true(fabs(run->metrics[METRIC_MEAN] - 0.027803) < 5e-7);
    assert_true(fabs(run->metrics[METRIC_SUCCESS_RATE] - 100.0 * 556 / 769) < 1e-9);
    assert_true(isnan(run->metrics[METRIC_P95]));
    assert_true(isnan(run->metrics[METRIC_NOMINAL]));
    /* Only r 4 S 5 and r 8 S 10 of these three. */
    char *text = grid_text(&readings, (struct shape){METRIC_P95, false, false, NULL, false});
    assert_non_null(strstr(text, "  4                   -         \n"));
    assert_non_null(strstr(text, "\n\nmax: none\n"));
    free(text);
    readings_clear(&readings);
}

/* Cells that miss the level, that cannot be judged, and the largest that keeps it. */
static void cells_are_marked_by_the_service_level(void **state)
{
    (void)state;
    struct slo slo;
    struct error error = {0};
    assert_int_equal(slo_parse(&slo, "success>=99%,p95<=200ms", &error), 0);
    results_write_json(&(struct results_run){1, 1, 1, 9900, 100, 200000000},
                       results_path("kept.json"));
    results_write_json(&(struct results_run){1, 2, 2, 12000, 130, 100000000},
                       results_path("fails.json"));
    results_write_json(&(struct results_run){1, 3, 3, 13000, 0, 210000000},
                       results_path("slow.json"));
    results_write_json(&(struct results_run){2, 1, 4, 5000, 0, 0}, results_path("unknown.json"));
    results_write_json(&(struct results_run){2, 2, 5, 1000, 900, 0},
                       results_path("unknown-and-fails.json"));
    results_write_json(&(struct results_run){2, 3, 6, 8000, 0, 1000000}, results_path("good.json"));
    assert_grid((struct shape){METRIC_OK, false, false, &slo, false},
                " r\\S         1        2        3\n"
                "  1      9.900  !12.000 *!13.000\n"
                "  2     ?5.000   !1.000    8.000\n"
                "\n"
                "max: 13.000\n"
                "max within success>=99%,p95<=200ms: 9.900 at r=1 S=1\n");
    assert_int_equal(slo_parse(&slo, "ok>100/s", &error), 0);
    struct readings readings = results_read_folder();
    char *text = grid_text(&readings, (struct shape){METRIC_OK, false, false, &slo, false});
    assert_non_null(strstr(text, "max within ok>100/s: none\n"));
    free(text);
    readings_clear(&readings);
}

static void service_levels_are_parsed_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum metric metric;
        enum slo_relation relation;
        double limit;
    } good[] = {
        {"success>=99.5%", METRIC_SUCCESS_RATE, SLO_AT_LEAST, 99.5},
        {"success-rate>90%", METRIC_SUCCESS_RATE, SLO_MORE, 90},
        {"p99<1.5s", METRIC_P99, SLO_LESS, 1.5},
        {"mean<=500us", METRIC_MEAN, SLO_AT_MOST, 5e-4},
        {"p50<=1ms", METRIC_P50, SLO_AT_MOST, 1e-3},
        {"ok>=100", METRIC_OK, SLO_AT_LEAST, 100},
        {"failed<1/s", METRIC_FAILED, SLO_LESS, 1},
        {"planned>=1000", METRIC_PLANNED, SLO_AT_LEAST, 1000},
    };
    struct slo slo;
    struct error error = {0};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (slo_parse(&slo, good[i].text, &error) != 0)
            fail_msg("%s", error.text);
        assert_int_equal(slo.count, 1);
        assert_int_equal(slo.conditions[0].metric, good[i].metric);
        assert_int_equal(slo.conditions[0].relation, good[i].relation);
        assert_true(fabs(slo.conditions[0].limit - good[i].limit) < 1e-12);
    }
    static const char *const wrong[] = {
        "",          "success",      "success>=", "success>=99",     "success=99%",
        "p95<=200",  "p95<=200%",    "p96<=1s",   "success>=99%,",   ",success>=99%",
        "p95<=-1s",  "p95<=nans",    "p95<=1 s",  "success >=99%",   "ok>=1s",
        "p95<=1sec", "successx>=1%", "p95<=infs", "planned>=1000/s", "p95==1s",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        error.text[0] = '\0';
        if (slo_parse(&slo, wrong[i], &error) != -EINVAL || !strstr(error.text, "expected"))
            fail_msg("%s: %s", wrong[i], error.text);
    }
}

/* What several processes made of one run counts as one; one after the other they are repeats. */
static void processes_of_one_run_are_joined(void **state)
{
    (void)state;
    const struct results_run first = {4, 2, 1, 3000, 1000, 250000000},
                             second = {4, 3, 2, 5000, 0, 100000000};
    struct result result;
    struct error error = {0};
    results_write_json(&first, results_path("a.json"));
    results_make(&result, &second);
    result.instance = 1;
    result.start += 3;
    assert_int_equal(result_write(&result, results_path("b.json"), &error), 0);
    struct readings readings = results_read_folder();
    assert_int_equal(readings.count, 1);
    assert_int_equal(readings.joined, 1);
    const struct reading *run = &readings.items[0];
    assert_true(run->r == 4 && run->S == 5);
    assert_true(fabs(run->metrics[METRIC_OK] - 8) < 1e-9);
    assert_true(fabs(run->metrics[METRIC_NOMINAL] - 200) < 1e-9);
    assert_true(fabs(run->metrics[METRIC_PLANNED] - 9000) < 1e-9);
    assert_true(fabs(run->metrics[METRIC_SUCCESS_RATE] - 100.0 * 8 / 9) < 1e-9);
    assert_true(fabs(run->metrics[METRIC_MEAN] - 0.175) < 1e-9);
    assert_int_equal(run->response.count, 2);
    readings_clear(&readings);

    /* The same instance twice at one time, other servers, other rates, other labels, other times.
     */
    static struct result_label label = {"prefork", "4"};
    struct result others[5];
    for (size_t i = 0; i < 5; i++) {
        results_make(&others[i], &second);
        others[i].instance = 1;
    }
    others[0].instance = 0;
    others[1].dc = "dc2";
    others[2].r = 5;
    others[3].labels = &label;
    others[3].label_count = 1;
    others[4].start += others[4].window;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(result_write(&others[i], results_path("b.json"), &error), 0);
        readings = results_read_folder();
        assert_int_equal(readings.count, 2);
        assert_int_equal(readings.joined, 0);
        readings_clear(&readings);
        result_clear(&others[i]);
    }
    result_clear(&result);
}

static void write_labelled(const char *name, const struct results_run *run, const char *value,
                           double cpu)
{
    struct result result;
    struct error error = {0};
    struct result_label labels[] = {{"site", "lab"}, {"prefork", value}};
    struct result_value first = {"cpu", 100}, last = {"cpu", 100 + cpu};
    struct result_sample samples[] = {{0, 1, &first}, {1000, 1, &last}};
    results_make(&result, run);
    result.labels = labels;
    result.label_count = value ? 2 : 1;
    result.samples = samples;
    result.sample_count = isnan(cpu) ? 0 : 2;
    assert_int_equal(result_write(&result, results_path("%s.json", name), &error), 0);
    FILE *text = fopen(results_path("%s.txt", name), "w");
    assert_non_null(text);
    assert_int_equal(report_print(text, &result), 0);
    fclose(text);
    result_clear(&result);
}

/* A row for each value of a label, numbers by size. */
static void each_value_of_a_label_gets_a_row(void **state)
{
    (void)state;
    write_labelled("a", &(struct results_run){1, 1, 1, 9000, 1, 150000000}, "4", 18);
    write_labelled("b", &(struct results_run){2, 1, 2, 12000, 900, 150000000}, "4", NAN);
    write_labelled("c", &(struct results_run){1, 1, 3, 8000, 0, 100000000}, "16", 8);
    write_labelled("d", &(struct results_run){1, 1, 4, 6000, 0, 100000000}, "16", 6);
    write_labelled("e", &(struct results_run){1, 2, 5, 5000, 900, 0}, "1", NAN);
    write_labelled("f", &(struct results_run){1, 2, 6, 500, 0, 0}, NULL, NAN);
    struct readings readings = results_read_folder();
    assert_int_equal(readings.count, 6);
    struct vary vary;
    struct slo slo;
    struct error error = {0};
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(slo_parse(&slo, "success>=99%", &error), 0);
    assert_int_equal(vary_make(&vary, &readings, "prefork", METRIC_OK, &slo), 0);
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    vary_print(stream, &vary);
    fputc('\n', stream);
    vary_print_csv(stream, &vary);
    assert_int_equal(vary_print_json(stream, &vary), 0);
    fclose(stream);
    static const char wanted[] =
        "service level: success>=99%\n"
        "\n"
        "prefork  runs         max  at                max within  at                 p95 there"
        "   DC CPU/op\n"
        "      1     1       5.000  r=1 S=2                    -  -                          -"
        "           -\n"
        "      4     2      12.000  r=2 S=1                9.000  r=1 S=1             0.150000"
        "    0.002000\n"
        "     16     2       7.000  r=1 S=1                7.000  r=1 S=1             0.100000"
        "    0.001000\n"
        "   none     1       0.500  r=1 S=2                0.500  r=1 S=2                    -"
        "           -\n"
        "\n"
        "prefork,metric,runs,max,r,S,p95,cpu_per_operation,max_kept,r_kept,S_kept,p95_kept,"
        "cpu_per_operation_kept,mixed\n"
        "1,ok,1,5,1,2,,,,,,,,false\n"
        "4,ok,2,12,2,1,0.15,,9,1,1,0.15,0.002,false\n"
        "16,ok,2,7,1,1,0.1,0.001,7,1,1,0.1,0.001,false\n"
        "none,ok,1,0.5,1,2,,,0.5,1,2,,,false\n"
        "{\n";
    text[sizeof wanted - 1] = '\0';
    assert_string_equal(text, wanted);
    free(text);
    vary_clear(&vary);
    readings_clear(&readings);
    /* The text reports alone tell the labels, too. */
    for (const char *name = "abcdef"; *name; name++)
        assert_int_equal(unlink(results_path("%c.json", *name)), 0);
    readings = results_read_folder();
    assert_int_equal(readings.count, 6);
    assert_string_equal(reading_label(&readings.items[2], "prefork"), "16");
    assert_null(reading_label(&readings.items[5], "prefork"));
    readings_clear(&readings);
}

/* A cell of which some runs hold the metric shows their mean. */
static void a_cell_ignores_runs_without_the_metric(void **state)
{
    (void)state;
    char *python = results_load_text("tests/data/samba-runs/dc1_r1_S1.txt");
    results_write_file(results_path("x_r1_S1.txt"), python);
    free(python);
    results_write_json(&(struct results_run){1, 1, 1, 1000, 0, 250000000}, results_path("a.json"));
    assert_grid((struct shape){METRIC_P95, false, false, NULL, false}, " r\\S          1\n"
                                                                       "  1   *0.250000\n"
                                                                       "\n"
                                                                       "max: 0.250000\n");
}

static void write_spoiled(const struct results_run *run, const char *path)
{
    struct result result;
    struct error error = {0};
    struct result_label label = {RESULT_SPOILED, "the server's processes are gone"};
    results_make(&result, run);
    result.labels = &label;
    result.label_count = 1;
    assert_int_equal(result_write(&result, path, &error), 0);
    result_clear(&result);
}

static void spoiled_runs_are_marked_and_left_out_of_the_maximum(void **state)
{
    (void)state;
    results_write_json(&(struct results_run){1, 1, 1, 1000, 0, 0}, results_path("a.json"));
    write_spoiled(&(struct results_run){1, 1, 2, 9000, 0, 0}, results_path("b.json"));
    write_spoiled(&(struct results_run){2, 1, 3, 5000, 0, 0}, results_path("c.json"));
    assert_grid((struct shape){METRIC_OK, false, false, NULL, false}, " r\\S         1\n"
                                                                      "  1     *1.000\n"
                                                                      "  2     x5.000\n"
                                                                      "\n"
                                                                      "max: 1.000\n");
}

/* Writes a run in which the server did not end all that was planned. */
static void write_behind(const struct results_run *run, uint64_t unsent, const char *path)
{
    struct result result;
    struct error error = {0};
    results_make(&result, run);
    result.not_sent = unsent;
    result.planned += unsent;
    result.packets[0].planned += unsent;
    result.seconds[0].planned += unsent;
    assert_int_equal(result_write(&result, path, &error), 0);
    result_clear(&result);
}

static bool maximum_is_beyond(void)
{
    struct readings readings = results_read_folder();
    struct grid grid;
    char text[256] = "";
    assert_int_equal(grid_make(&grid, &readings, METRIC_OK, false, &no_slo), 0);
    bool beyond = grid_maximum_is_beyond(&grid, text, sizeof text);
    assert_true(!beyond || strstr(text, "give larger -r or -S"));
    grid_clear(&grid);
    readings_clear(&readings);
    return beyond;
}

static void a_maximum_at_the_edge_that_was_kept_up_with_lies_beyond_the_grid(void **state)
{
    (void)state;
    results_write_json(&(struct results_run){1, 1, 1, 1000, 0, 0}, results_path("a.json"));
    results_write_json(&(struct results_run){2, 1, 2, 2000, 0, 0}, results_path("b.json"));
    assert_true(maximum_is_beyond());
    /* The server fell behind in a larger cell. */
    write_behind(&(struct results_run){2, 2, 3, 1900, 0, 0}, 100, results_path("c.json"));
    assert_false(maximum_is_beyond());
    /* It fell behind in the largest. */
    write_behind(&(struct results_run){2, 2, 3, 2900, 0, 0}, 100, results_path("c.json"));
    assert_false(maximum_is_beyond());
    /* It failed more than elsewhere. */
    results_write_json(&(struct results_run){2, 2, 3, 2900, 600, 0}, results_path("c.json"));
    assert_false(maximum_is_beyond());
}

static void a_lone_cell_with_many_failures_was_not_kept_up_with(void **state)
{
    (void)state;
    /* There is no other cell to compare with: 8% of the operations failed, then 25%. */
    results_write_json(&(struct results_run){1, 1, 1, 920, 80, 0}, results_path("a.json"));
    assert_true(maximum_is_beyond());
    results_write_json(&(struct results_run){1, 1, 1, 750, 250, 0}, results_path("a.json"));
    assert_false(maximum_is_beyond());
}

#define TEST(function)                                                                             \
    cmocka_unit_test_setup_teardown(function, results_make_folder, results_remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_published_samba_grid_is_printed_byte_for_byte),
        TEST(the_published_windows_grid_is_printed_byte_for_byte),
        TEST(a_sparse_grid_has_only_rows_and_columns_with_runs),
        TEST(fractions_of_r_and_S_get_rows_and_columns),
        TEST(an_absurdly_wide_range_is_not_filled),
        TEST(a_cell_shows_the_mean_of_its_runs),
        TEST(colour_adds_nothing_but_escape_sequences),
        TEST(every_metric_is_read_from_json_and_text),
        TEST(runs_of_different_pace_are_refused_in_one_grid),
        TEST(runs_without_smb2_have_no_megabytes_per_second),
        TEST(reports_of_the_python_tool_are_read),
        TEST(cells_are_marked_by_the_service_level),
        TEST(service_levels_are_parsed_or_refused),
        TEST(processes_of_one_run_are_joined),
        TEST(each_value_of_a_label_gets_a_row),
        TEST(a_cell_ignores_runs_without_the_metric),
        TEST(spoiled_runs_are_marked_and_left_out_of_the_maximum),
        TEST(a_maximum_at_the_edge_that_was_kept_up_with_lies_beyond_the_grid),
        TEST(a_lone_cell_with_many_failures_was_not_kept_up_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
