/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grids from result files: the published tables byte for byte from our text and our JSON, several
 * runs of a cell, fractions, metrics that a file lacks, and folders with everything in them.
 */
#include <errno.h>
#include <ftw.h>
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
#include "replay/report.h"
#include "summary/compare.h"
#include "summary/grid.h"
#include "summary/reading.h"
#include "summary/result/result.h"
#include "summary/slo.h"
#include "summary/text_report.h"
#include "summary/vary.h"

/* A folder of the test's own, removed with all that is in it. */
static char folder[256];

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/summary.XXXXXX", base ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

__attribute__((format(printf, 1, 2))) static const char *in_folder(const char *format, ...)
{
    static char path[512];
    va_list args;
    int used = snprintf(path, sizeof path, "%s/", folder);
    va_start(args, format);
    vsnprintf(path + used, sizeof path - (size_t)used, format, args);
    va_end(args);
    return path;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* One run: so many operations in 1000 s, one packet type. */
struct run {
    double r, S;
    uint64_t seed, ok, failed;
    int64_t response; /* ns, of every operation */
};

static void make_result(struct result *result, const struct run *run)
{
    result_init(result);
    result->program = "traffic-replay";
    result->version = "0.1.0";
    result->command = "traffic-replay model.yaml dc1";
    result->model = "model.yaml";
    result->r = run->r;
    result->S = run->S;
    result->seed = run->seed;
    result->dc = "dc1";
    result->start = 1700000000.5;
    result->warmup = 5;
    result->window = 1000;
    result->nominal = 10 * run->r * run->S;
    result->done_ok = result->ok = run->ok;
    result->done_failed = result->failed = run->failed;
    result->sent = result->planned = run->ok + run->failed;
    result->planned_packets = 2 * result->planned;
    result->packets = result_alloc(result, 1, sizeof *result->packets);
    result->seconds = result_alloc(result, 1, sizeof *result->seconds);
    struct result_count *cause = result_alloc(result, 1, sizeof *cause);
    assert_non_null(result->packets);
    assert_non_null(result->seconds);
    assert_non_null(cause);
    result->packet_count = result->second_count = 1;
    *cause = (struct result_count){"timed out", run->failed};
    struct result_packet *packet = &result->packets[0];
    *packet = (struct result_packet){.protocol = "ldap",
                                     .opcode = "3",
                                     .description = "searchRequest",
                                     .count = result->sent,
                                     .failed = run->failed,
                                     .causes = cause,
                                     .cause_count = run->failed > 0,
                                     .planned = result->planned};
    histogram_init(&packet->service);
    histogram_init(&packet->response);
    histogram_init(&packet->lag);
    if (run->response)
        assert_int_equal(histogram_add(&packet->response, run->response), 0);
    result->seconds[0] = (struct result_second){0, result->planned, run->ok, run->failed, NAN};
}

static void write_json(const struct run *run, const char *path)
{
    struct result result;
    struct error error = {0};
    make_result(&result, run);
    if (result_write(&result, path, &error) != 0)
        fail_msg("%s", error.text);
    result_clear(&result);
}

static void write_text(const struct run *run, const char *path)
{
    struct result result;
    make_result(&result, run);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(report_print(file, &result), 0);
    assert_int_equal(fclose(file), 0);
    result_clear(&result);
}

/* All warnings, one line each. */
static char warnings[4096];

static void keep_warning(void *context, const char *line)
{
    (void)context;
    size_t used = strlen(warnings);
    snprintf(warnings + used, sizeof warnings - used, "%s\n", line);
}

static struct readings read_folder(void)
{
    struct readings readings = {.warning = keep_warning};
    warnings[0] = '\0';
    assert_int_equal(readings_add(&readings, folder), 0);
    assert_int_equal(readings_finish(&readings), 0);
    return readings;
}

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
    struct readings readings = read_folder();
    char *text = grid_text(&readings, shape);
    assert_string_equal(text, wanted);
    free(text);
    readings_clear(&readings);
}

static char *load(const char *path)
{
    struct error error = {0};
    char *bytes;
    size_t length;
    if (result_load(path, &bytes, &length, &error) != 0)
        fail_msg("%s", error.text);
    bytes[length] = '\0';
    return bytes;
}

/* Result files that carry the values of a published table. */
static void write_published(const char *tsv, void (*write)(const struct run *run, const char *path),
                            const char *ending)
{
    char line[128];
    FILE *file = fopen(tsv, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (uint64_t seed = 1; fgets(line, sizeof line, file); seed++) {
        struct run run = {.seed = seed, .failed = 7};
        double rate;
        assert_int_equal(sscanf(line, "%lf\t%lf\t%lf", &run.r, &run.S, &rate), 3);
        run.ok = (uint64_t)llround(rate * 1000);
        /* The name does not tell the cell: the content has to. */
        write(&run, in_folder("run-%" PRIu64 "%s", seed, ending));
    }
    fclose(file);
}

static void assert_published(const char *name)
{
    char tsv[128], published[128];
    snprintf(tsv, sizeof tsv, "tests/data/published-grids/%s.tsv", name);
    snprintf(published, sizeof published, "tests/data/published-grids/%s.published.txt", name);
    char *wanted = load(published);
    write_published(tsv, write_json, ".json");
    assert_grid((struct shape){METRIC_OK, true, false, NULL, false}, wanted);
    /* Text of the same runs beside it changes nothing. */
    write_published(tsv, write_text, ".txt");
    struct readings readings = read_folder();
    assert_int_equal(readings.count, 168);
    assert_int_equal(readings.repeated, 168);
    assert_int_equal(readings.refused, 0);
    readings_clear(&readings);
    assert_grid((struct shape){METRIC_OK, true, false, NULL, false}, wanted);
    /* The text alone. */
    for (unsigned seed = 1; seed <= 168; seed++)
        assert_int_equal(unlink(in_folder("run-%u.json", seed)), 0);
    assert_grid((struct shape){METRIC_OK, true, false, NULL, false}, wanted);
    free(wanted);
}

static void test_published_samba(void **state)
{
    (void)state;
    assert_published("samba");
}

static void test_published_windows(void **state)
{
    (void)state;
    assert_published("windows");
}

/* From the smallest to the largest value seen, with the rows in between. */
static void test_default_range(void **state)
{
    (void)state;
    write_json(&(struct run){4, 5, 1, 119066, 0, 0}, in_folder("a.json"));
    write_json(&(struct run){6, 7, 2, 110525, 0, 0}, in_folder("b.json"));
    assert_grid((struct shape){METRIC_OK, false, false, NULL, false},
                " r\\S         5        6        7\n"
                "  4   *119.066        0        0\n"
                "  5          0        0        0\n"
                "  6          0        0  110.525\n"
                "\n"
                "max: 119.066\n");
}

static void test_fractions(void **state)
{
    (void)state;
    write_json(&(struct run){0.5, 3.7, 1, 1000, 0, 0}, in_folder("a.json"));
    write_text(&(struct run){0.5, 0.1, 2, 2000, 0, 0}, in_folder("b.txt"));
    write_json(&(struct run){2, 0.1, 3, 3000, 0, 0}, in_folder("c.json"));
    write_text(&(struct run){1.0 / 3, 0.1, 4, 4000, 0, 0}, in_folder("d.txt"));
    assert_grid((struct shape){METRIC_OK, false, false, NULL, false},
                "            r\\S       0.1        1        2        3      3.7\n"
                "0.333333333333     *4.000        0        0        0        0\n"
                "           0.5      2.000        0        0        0    1.000\n"
                "             1          0        0        0        0        0\n"
                "             2      3.000        0        0        0        0\n"
                "\n"
                "max: 4.000\n");
    write_json(&(struct run){0.5, 1, 5, 9000, 0, 0}, in_folder("e.json"));
    assert_int_equal(unlink(in_folder("d.txt")), 0);
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
static void test_wide_range(void **state)
{
    (void)state;
    write_json(&(struct run){1, 1, 1, 1000, 0, 0}, in_folder("a.json"));
    write_json(&(struct run){100000, 1, 2, 2000, 0, 0}, in_folder("b.json"));
    assert_grid((struct shape){METRIC_OK, false, false, NULL, false}, "    r\\S         1\n"
                                                                      "     1      1.000\n"
                                                                      "100000     *2.000\n"
                                                                      "\n"
                                                                      "max: 2.000\n");
}

static void test_repeats(void **state)
{
    (void)state;
    write_json(&(struct run){1, 1, 1, 1000, 0, 0}, in_folder("a.json"));
    write_json(&(struct run){1, 1, 2, 2000, 0, 0}, in_folder("b.json"));
    write_text(&(struct run){1, 1, 3, 6000, 0, 0}, in_folder("c.txt"));
    write_json(&(struct run){2, 1, 4, 2500, 0, 0}, in_folder("d.json"));
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
static void test_colour(void **state)
{
    (void)state;
    write_json(&(struct run){1, 1, 1, 1000, 0, 0}, in_folder("a.json"));
    write_json(&(struct run){2, 1, 2, 2000, 0, 0}, in_folder("b.json"));
    write_json(&(struct run){2, 2, 3, 0, 0, 0}, in_folder("c.json"));
    assert_grid((struct shape){METRIC_OK, false, false, NULL, true},
                " r\\S         1        2\n"
                "  1      \033[38;5;70m1.000\033[0m        0\n"
                "  2     \033[1;38;5;160m*2.000\033[0m    \033[38;5;32m0.000\033[0m\n"
                "\n"
                "max: 2.000\n");
}

/* Every metric of our JSON and our text. */
static void test_metrics(void **state)
{
    (void)state;
    static const double wanted[METRICS] = {
        [METRIC_OK] = 3,         [METRIC_FAILED] = 1,  [METRIC_NOMINAL] = 80,
        [METRIC_PLANNED] = 4000, [METRIC_MEAN] = 0.25, [METRIC_P50] = 0.25,
        [METRIC_P95] = 0.25,     [METRIC_P99] = 0.25,  [METRIC_SUCCESS_RATE] = 75};
    struct run run = {4, 2, 1, 3000, 1000, 250000000};
    write_json(&run, in_folder("a.json"));
    run.seed = 2;
    write_text(&run, in_folder("b.txt"));
    struct readings readings = read_folder();
    assert_int_equal(readings.count, 2);
    for (size_t i = 0; i < 2; i++)
        for (enum metric metric = 0; metric < METRICS; metric++)
            assert_true(fabs(readings.items[i].metrics[metric] - wanted[metric]) < 1e-6);
    readings_clear(&readings);
    assert_int_equal(metric_find("success-rate"), METRIC_SUCCESS_RATE);
    assert_int_equal(metric_find("p98"), METRICS);
}

/* The established tool's files: what they hold, and "-" for what they do not. */
static void test_python(void **state)
{
    (void)state;
    struct readings readings = {.warning = keep_warning};
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
    assert_non_null(strstr(text, "  4          0        0        0        0        -        0"));
    assert_non_null(strstr(text, "\n\nmax: none\n"));
    free(text);
    readings_clear(&readings);
}

/* Cells that miss the level, that cannot be judged, and the largest that keeps it. */
static void test_slo(void **state)
{
    (void)state;
    struct slo slo;
    struct error error = {0};
    assert_int_equal(slo_parse(&slo, "success>=99%,p95<=200ms", &error), 0);
    write_json(&(struct run){1, 1, 1, 9900, 100, 200000000}, in_folder("kept.json"));
    write_json(&(struct run){1, 2, 2, 12000, 130, 100000000}, in_folder("fails.json"));
    write_json(&(struct run){1, 3, 3, 13000, 0, 210000000}, in_folder("slow.json"));
    write_json(&(struct run){2, 1, 4, 5000, 0, 0}, in_folder("unknown.json"));
    write_json(&(struct run){2, 2, 5, 1000, 900, 0}, in_folder("unknown-and-fails.json"));
    write_json(&(struct run){2, 3, 6, 8000, 0, 1000000}, in_folder("good.json"));
    assert_grid((struct shape){METRIC_OK, false, false, &slo, false},
                " r\\S         1        2        3\n"
                "  1      9.900  !12.000 *!13.000\n"
                "  2     ?5.000   !1.000    8.000\n"
                "\n"
                "max: 13.000\n"
                "max within success>=99%,p95<=200ms: 9.900 at r=1 S=1\n");
    assert_int_equal(slo_parse(&slo, "ok>100/s", &error), 0);
    struct readings readings = read_folder();
    char *text = grid_text(&readings, (struct shape){METRIC_OK, false, false, &slo, false});
    assert_non_null(strstr(text, "max within ok>100/s: none\n"));
    free(text);
    readings_clear(&readings);
}

static void test_slo_forms(void **state)
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
static void test_processes(void **state)
{
    (void)state;
    const struct run first = {4, 2, 1, 3000, 1000, 250000000},
                     second = {4, 3, 2, 5000, 0, 100000000};
    struct result result;
    struct error error = {0};
    write_json(&first, in_folder("a.json"));
    make_result(&result, &second);
    result.instance = 1;
    result.start += 3;
    assert_int_equal(result_write(&result, in_folder("b.json"), &error), 0);
    struct readings readings = read_folder();
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
        make_result(&others[i], &second);
        others[i].instance = 1;
    }
    others[0].instance = 0;
    others[1].dc = "dc2";
    others[2].r = 5;
    others[3].labels = &label;
    others[3].label_count = 1;
    others[4].start += others[4].window;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(result_write(&others[i], in_folder("b.json"), &error), 0);
        readings = read_folder();
        assert_int_equal(readings.count, 2);
        assert_int_equal(readings.joined, 0);
        readings_clear(&readings);
        result_clear(&others[i]);
    }
    result_clear(&result);
}

static void write_labelled(const char *name, const struct run *run, const char *value, double cpu)
{
    struct result result;
    struct error error = {0};
    struct result_label labels[] = {{"site", "lab"}, {"prefork", value}};
    struct result_value first = {"cpu", 100}, last = {"cpu", 100 + cpu};
    struct result_sample samples[] = {{0, 1, &first}, {1000, 1, &last}};
    make_result(&result, run);
    result.labels = labels;
    result.label_count = value ? 2 : 1;
    result.samples = samples;
    result.sample_count = isnan(cpu) ? 0 : 2;
    assert_int_equal(result_write(&result, in_folder("%s.json", name), &error), 0);
    FILE *text = fopen(in_folder("%s.txt", name), "w");
    assert_non_null(text);
    assert_int_equal(report_print(text, &result), 0);
    fclose(text);
    result_clear(&result);
}

/* A row for each value of a label, numbers by size. */
static void test_by(void **state)
{
    (void)state;
    write_labelled("a", &(struct run){1, 1, 1, 9000, 1, 150000000}, "4", 18);
    write_labelled("b", &(struct run){2, 1, 2, 12000, 900, 150000000}, "4", NAN);
    write_labelled("c", &(struct run){1, 1, 3, 8000, 0, 100000000}, "16", 8);
    write_labelled("d", &(struct run){1, 1, 4, 6000, 0, 100000000}, "16", 6);
    write_labelled("e", &(struct run){1, 2, 5, 5000, 900, 0}, "1", NAN);
    write_labelled("f", &(struct run){1, 2, 6, 500, 0, 0}, NULL, NAN);
    struct readings readings = read_folder();
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
        "cpu_per_operation_kept\n"
        "1,ok,1,5,1,2,,,,,,,\n"
        "4,ok,2,12,2,1,0.15,,9,1,1,0.15,0.002\n"
        "16,ok,2,7,1,1,0.1,0.001,7,1,1,0.1,0.001\n"
        "none,ok,1,0.5,1,2,,,0.5,1,2,,\n"
        "{\n";
    text[sizeof wanted - 1] = '\0';
    assert_string_equal(text, wanted);
    free(text);
    vary_clear(&vary);
    readings_clear(&readings);
    /* The text reports alone tell the labels, too. */
    for (const char *name = "abcdef"; *name; name++)
        assert_int_equal(unlink(in_folder("%c.json", *name)), 0);
    readings = read_folder();
    assert_int_equal(readings.count, 6);
    assert_string_equal(reading_label(&readings.items[2], "prefork"), "16");
    assert_null(reading_label(&readings.items[5], "prefork"));
    readings_clear(&readings);
}

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
        sides[side] = (struct readings){.warning = keep_warning};
        assert_int_equal(readings_add(&sides[side], in_folder("%s", names[side])), 0);
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
static void test_compare_published(void **state)
{
    (void)state;
    struct readings sides[2];
    struct compare compare;
    struct slo slo;
    struct error error = {0};
    char whole[sizeof folder];
    snprintf(whole, sizeof whole, "%s", folder);
    for (const char *side = "ab"; *side; side++) {
        assert_int_equal(mkdir(in_folder("%c", *side), 0777), 0);
        snprintf(folder + strlen(folder), sizeof folder - strlen(folder), "/%c", *side);
        write_published(*side == 'a' ? "tests/data/published-grids/samba.tsv"
                                     : "tests/data/published-grids/windows.tsv",
                        write_json, ".json");
        snprintf(folder, sizeof folder, "%s", whole);
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

static void test_compare_samples(void **state)
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

static void write_side(const char *side, unsigned number, const struct run *run, const char *cause,
                       int64_t service)
{
    struct result result;
    struct error error = {0};
    make_result(&result, run);
    result.packets[0].causes[0].name = cause;
    assert_int_equal(histogram_add(&result.packets[0].service, service), 0);
    assert_int_equal(result_write(&result, in_folder("%s/%u.json", side, number), &error), 0);
    result_clear(&result);
}

/* Enough repeats: words; packet types and failures of the cells that both have. */
static void test_compare_repeats(void **state)
{
    (void)state;
    struct readings sides[2];
    struct compare compare;
    assert_int_equal(mkdir(in_folder("a"), 0777), 0);
    assert_int_equal(mkdir(in_folder("b"), 0777), 0);
    for (unsigned i = 0; i < 5; i++) {
        struct run run = {1, 1, i, 100000 + 1000 * i, 3, 0};
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
        assert_int_equal(unlink(in_folder("b/%u.json", i)), 0);
        assert_int_equal(unlink(in_folder("b/%u.json", 10 + i)), 0);
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

/* A cell of which some runs hold the metric shows their mean. */
static void test_partly_missing(void **state)
{
    (void)state;
    char *python = load("tests/data/samba-runs/dc1_r1_S1.txt");
    write_file(in_folder("x_r1_S1.txt"), python);
    free(python);
    write_json(&(struct run){1, 1, 1, 1000, 0, 250000000}, in_folder("a.json"));
    assert_grid((struct shape){METRIC_P95, false, false, NULL, false}, " r\\S          1\n"
                                                                       "  1   *0.250000\n"
                                                                       "\n"
                                                                       "max: 0.250000\n");
}

static void test_cell_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double r, S; /* 0: does not tell */
    } names[] = {
        {"dc1_r4_S5.txt", 4, 5},
        {"r4_S5.txt", 4, 5},
        {"a/b_r1_S1/dc1_r12_S11.json", 12, 11},
        {"dc1_r0.5_S3.7.txt", 0.5, 3.7},
        {"dc1_r0.5_S3.7", 0.5, 3.7},
        {"dc1_r4_S5", 4, 5},
        {"dc1_r4_S5_2.json", 4, 5},
        {"dc1_r4_S5-rerun.txt", 4, 5},
        {"dc_r1_r4_S5.txt", 4, 5},
        {"dc1_r4.txt", 0, 0},
        {"dc1_S5_r4.txt", 0, 0},
        {"dc1_r4_S5x.txt", 0, 0},
        {"dc1_r_S5.txt", 0, 0},
        {"dc1_r0_S5.txt", 0, 0},
        {"dc1_r-4_S5.txt", 0, 0},
        {"server4_S5.txt", 0, 0},
        {"dc1_r4_S5/result.txt", 0, 0},
        {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double r = 0, S = 0;
        bool told = reading_cell_of_name(names[i].name, &r, &S);
        if (told != (names[i].r > 0) || (told && (r != names[i].r || S != names[i].S)))
            fail_msg("%s: %d %g %g", names[i].name, told, r, S);
    }
}

/* Damaged, empty, foreign, duplicated, unreadable: each is named, the rest is read. */
static void test_folder_of_everything(void **state)
{
    (void)state;
    struct run run = {1, 1, 1, 1000, 0, 0};
    write_json(&run, in_folder("good.json"));
    write_text(&run, in_folder("same-run-as-text.txt"));
    char *bytes = load(in_folder("good.json"));
    write_file(in_folder("copy.json"), bytes);
    bytes[strlen(bytes) / 2] = '\0';
    write_file(in_folder("cut.json"), bytes);
    free(bytes);
    write_file(in_folder("empty.txt"), "");
    write_file(in_folder("blank.txt"), " \n\n");
    write_file(in_folder("foreign.txt"), "Dear diary,\n");
    write_file(in_folder("other.json"), "{\"results\": []}\n");
    write_file(in_folder("newer.json"), "{\"format\": 99}\n");
    write_file(in_folder(".hidden"), "not looked at");
    char *python = load("tests/data/samba-runs/dc1_r4_S5.txt");
    write_file(in_folder("no-cell.txt"), python);
    *strstr(python, "samr") = '\0';
    write_file(in_folder("cut_r4_S5.txt"), python);
    free(python);
    assert_int_equal(mkdir(in_folder("more"), 0777), 0);
    run.seed = 2;
    run.r = 2;
    write_json(&run, in_folder("more/deep.json"));
    assert_int_equal(symlink("..", in_folder("more/loop")), 0);
    assert_int_equal(symlink("nowhere", in_folder("nothing")), 0);
    assert_int_equal(mkfifo(in_folder("pipe"), 0666), 0);

    struct readings readings = read_folder();
    assert_int_equal(readings.count, 2);
    assert_int_equal(readings.repeated, 2);
    assert_string_equal(readings.items[0].path + strlen(folder), "/copy.json");
    assert_string_equal(readings.items[1].path + strlen(folder), "/more/deep.json");
    static const char *const wanted[] = {
        "/cut.json:1:",
        "/empty.txt: empty\n",
        "/blank.txt: empty\n",
        "/foreign.txt: not a result of a traffic replay\n",
        "/other.json: not a result of traffic-replay\n",
        "/newer.json: written in format 99; this program reads format 1\n",
        "/no-cell.txt: neither the file nor its name contains r and S; name it like dc1_r4_S5.txt\n",
        "/cut_r4_S5.txt:28: damaged: the table's rows do not add up to the operations above it\n",
        "/more/loop: link to a folder that contains it\n",
        "/nothing: dangling link\n",
        "/pipe: neither a file nor a folder\n",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!strstr(warnings, wanted[i]))
            fail_msg("no warning %s in\n%s", wanted[i], warnings);
    assert_int_equal(readings.refused, sizeof wanted / sizeof wanted[0]);
    readings_clear(&readings);
}

static void test_no_files(void **state)
{
    (void)state;
    struct readings readings = {.warning = keep_warning};
    warnings[0] = '\0';
    assert_int_equal(readings_add(&readings, folder), 0);
    assert_non_null(strstr(warnings, ": contains no result files"));
    assert_int_equal(readings_add(&readings, in_folder("missing.json")), 0);
    assert_non_null(strstr(warnings, "missing.json: cannot be read: No such file or directory"));
    assert_int_equal(readings.refused, 2);
    assert_int_equal(readings_finish(&readings), 0);
    assert_int_equal(readings.count, 0);
    readings_clear(&readings);
}

/* A text report cut off or changed at any place is either refused or unchanged in what it says. */
static void test_text_damage(void **state)
{
    (void)state;
    char *text = load("tests/data/samba-runs/dc1_r8_S10.txt");
    size_t length = strlen(text);
    struct error error = {0};
    struct text_report whole, report;
    assert_int_equal(text_report_parse(&whole, text, length, "x", &error), 0);
    for (size_t cut = 0; cut < length; cut++)
        if (text_report_parse(&report, text, cut, "x", &error) == 0)
            assert_true(report.ok == whole.ok && report.failed == whole.failed &&
                        cut > length - 40);
    free(text);
}

/* Timing data that -t - wrote before the report does not hide it; CRLF does not spoil it. */
static void test_text_around(void **state)
{
    (void)state;
    struct error error = {0};
    struct text_report report;
    static const char text[] = "time\tconv\tprotocol\ttype\tduration\tsuccessful\terror\r\n"
                               "1.0\t0\tldap\t3\t0.1\tTrue\t\r\n"
                               "Total conversations:            1\r\n"
                               "Successful operations:          1 (0.500 per second)\r\n"
                               "Failed operations:              0 (0.000 per second)\r\n"
                               "Planned packets:             1\r\n"
                               "Protocol    Op Code  Description\r\n"
                               "ldap              3  search of all things     "
                               "1 0 0.5 0.5 0.5 0.0 0.5\r\n";
    if (text_report_parse(&report, text, sizeof text - 1, "x", &error) != 0)
        fail_msg("%s", error.text);
    assert_true(report.mean == 0.5);
    assert_int_equal(report.ok, 1);
    assert_int_equal(text_report_parse(&report, "Total\0", 6, "x", &error), -EINVAL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_published_samba),
        TEST(test_published_windows),
        TEST(test_default_range),
        TEST(test_fractions),
        TEST(test_wide_range),
        TEST(test_repeats),
        TEST(test_colour),
        TEST(test_metrics),
        TEST(test_python),
        TEST(test_slo),
        TEST(test_slo_forms),
        TEST(test_processes),
        TEST(test_by),
        TEST(test_compare_published),
        TEST(test_compare_samples),
        TEST(test_compare_repeats),
        TEST(test_partly_missing),
        TEST(test_cell_names),
        TEST(test_folder_of_everything),
        TEST(test_no_files),
        TEST(test_text_damage),
        TEST(test_text_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
