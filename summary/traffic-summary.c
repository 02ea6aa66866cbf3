/* SPDX-License-Identifier: Apache-2.0 */
/* traffic-summary(1): reads the results of runs and prints them as a grid of r and S. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/message.h"
#include "base/options.h"
#include "base/program.h"
#include "summary/compare.h"
#include "summary/grid.h"
#include "summary/heatmap.h"
#include "summary/mixed.h"
#include "summary/page.h"
#include "summary/reading.h"
#include "summary/result/result.h"
#include "summary/slo.h"
#include "summary/vary.h"

struct options {
    bool full, spread, csv, json, compare, list_labels;
    enum metric metric;
    struct slo slo;
    const char *by, *svg, *html;
};

/* What the functions that draw into a file are given. */
struct picture {
    const struct grid *grid;
    const struct readings *readings;
    const struct compare *compare;
    const struct vary *vary;
    struct error error;
};

static enum step traffic_summary_read_options(struct options *options, int argc, char **argv,
                                              int *first, int *status);
static int traffic_summary_check(const struct options *options, int files);
static int traffic_summary_check_conflicts(const struct options *options);
static int compare_paths(const struct options *options, char **paths);
static int read_paths(struct readings *readings, char **paths, size_t count, enum metric metric);
static int traffic_summary_check_pace(const struct readings *readings,
                                      const struct readings *other);
static void traffic_summary_print_warning(void *context, const char *line);
static int traffic_summary_failed(int result);
static void print_notes(const struct readings *readings);
static void warn_missing(const struct readings *readings, enum metric metric);
static void print_mixed(const char *prefix, const struct mixed *mixed);
static bool wants_colour(void);
static int print_compare(const struct readings sides[COMPARE_SIDES], char **paths,
                         const struct options *options);
static int finish_text(int result);
static int traffic_summary_draw(const char *option, const char *path,
                                int (*function)(FILE *stream, void *context),
                                struct picture *picture);
static int draw_compare_page(FILE *stream, void *context);
static int draw_vary_page(FILE *stream, void *context);
static int traffic_summary_summarise(const struct options *options, char **paths, size_t count);
static int print_vary(const struct readings *readings, const struct options *options);
static int print_grid(const struct readings *readings, const struct options *options);
static int draw_grid(const struct grid *grid, const struct readings *readings,
                     const struct options *options);
static int draw_map(FILE *stream, void *context);
static int draw_page(FILE *stream, void *context);
static const char *parse_metric(void *owner, char *value);
static const char *traffic_summary_parse_slo(void *owner, char *value);
static void traffic_summary_help(FILE *out);

enum row_group { GROUP_CELLS, GROUP_OUTPUT, GROUP_OTHER, GROUP_COUNT };

static const char *const group_titles[GROUP_COUNT] = {
    [GROUP_CELLS] = "What is shown",
    [GROUP_OUTPUT] = "Output",
    [GROUP_OTHER] = "Other",
};

#define AT(member) offsetof(struct options, member)

/* clang-format off */
static const struct options_row rows[] = {
    {"full", 'f', NULL, OPTIONS_FLAG, AT(full), 0, 0, 0, GROUP_CELLS,
     "rows and columns from 1 to one past the largest r and S;\n0 in cells without runs", NULL},
    {"metric", 'm', "NAME", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CELLS,
     "figure to show in the cells (default ok)", parse_metric},
    {"spread", 0, NULL, OPTIONS_FLAG, AT(spread), 0, 0, 0, GROUP_CELLS,
     "smallest and largest run of a cell after the mean", NULL},
    {"slo", 0, "LEVEL", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CELLS,
     "service level, as in success>=99%,p95<=200ms;\nmark the cells that miss it",
     traffic_summary_parse_slo},
    {"by", 0, "LABEL", OPTIONS_NAME, AT(by), 0, 0, 0, GROUP_CELLS,
     "one row per value of a label instead of the grid", NULL},
    {"list-labels", 0, NULL, OPTIONS_FLAG, AT(list_labels), 0, 0, 0, GROUP_CELLS,
     "print the names of the results' labels, for --by", NULL},
    {"compare", 0, NULL, OPTIONS_FLAG, AT(compare), 0, 0, 0, GROUP_CELLS,
     "compare two results or folders, A and B", NULL},

    {"svg", 0, "FILE", OPTIONS_OUTPUT, AT(svg), 0, 0, 0, GROUP_OUTPUT,
     "also draw the grid as a heat map", NULL},
    {"html", 0, "FILE", OPTIONS_OUTPUT, AT(html), 0, 0, 0, GROUP_OUTPUT,
     "also write a page with the grid, charts and details", NULL},
    {"csv", 0, NULL, OPTIONS_FLAG, AT(csv), 0, 0, 0, GROUP_OUTPUT,
     "one line per cell: r,S,metric,runs,mean,min,max", NULL},
    {"json", 0, NULL, OPTIONS_FLAG, AT(json), 0, 0, 0, GROUP_OUTPUT,
     "the same figures as JSON", NULL},

    OPTIONS_COMPLETION_ROW(GROUP_OTHER),
    OPTIONS_HELP_ROW(GROUP_OTHER),
    OPTIONS_VERSION_ROW(GROUP_OTHER),
};
/* clang-format on */

_Static_assert(sizeof rows / sizeof rows[0] <= OPTIONS_ROWS_MAX, "raise OPTIONS_ROWS_MAX");

static const struct options_words words[] = {
    {"metric", "$(\"$program\" --help | sed -n '/^Metrics:/,/^$/s/^  \\([^ ]*\\) .*/\\1/p')",
     false},
    {"by", "$(\"$program\" --list-labels \"${others[@]}\" 2>/dev/null)", false},
    {NULL, NULL, false}};

static const struct options_table table = {.rows = rows,
                                           .count = sizeof rows / sizeof rows[0],
                                           .groups = group_titles,
                                           .group_count = GROUP_COUNT,
                                           .help_column = 24,
                                           .print_help = traffic_summary_help,
                                           .completion = {.words = words}};

int main(int argc, char **argv)
{
    struct options options = {.metric = METRIC_OK};
    int first = argc, status;
    program_begin("traffic-summary");
    if (traffic_summary_read_options(&options, argc, argv, &first, &status) == STEP_DONE)
        return program_end(status);
    if (options.compare)
        status = compare_paths(&options, argv + first);
    else
        status = traffic_summary_summarise(&options, argv + first, (size_t)(argc - first));
    return program_end(status);
}

static enum step traffic_summary_read_options(struct options *options, int argc, char **argv,
                                              int *first, int *status)
{
    if (options_read(&table, options, argc, argv, first, status) == STEP_DONE)
        return STEP_DONE;
    *status = traffic_summary_check(options, argc - *first);
    return *status == EXIT_OK ? STEP_NEXT : STEP_DONE;
}

static int traffic_summary_check(const struct options *options, int files)
{
    if (traffic_summary_check_conflicts(options) != EXIT_OK)
        return EXIT_USAGE;
    if (files == 0)
        return options_complain("missing FILE or FOLDER; give results of runs, or see --help");
    if (options->compare && files != 2)
        return options_complain("--compare: expected two files or folders, found %d", files);
    if (options->svg && strcmp(options->svg, "-") == 0)
        return options_complain("--svg: cannot be standard output; give a file name");
    if (options->html && strcmp(options->html, "-") == 0)
        return options_complain("--html: cannot be standard output; give a file name");
    return EXIT_OK;
}

static int traffic_summary_check_conflicts(const struct options *options)
{
    const struct {
        bool one, other;
        const char *names;
    } exclude[] = {{options->csv, options->json, "--csv and --json"},
                   {options->compare, options->by != NULL, "--compare and --by"},
                   {options->compare, options->list_labels, "--compare and --list-labels"},
                   {options->by != NULL, options->list_labels, "--by and --list-labels"},
                   {options->compare, options->full, "--compare and --full"},
                   {options->compare, options->svg != NULL, "--compare and --svg"},
                   {options->by != NULL, options->svg != NULL, "--by and --svg"}};
    for (size_t i = 0; i < sizeof exclude / sizeof exclude[0]; i++)
        if (exclude[i].one && exclude[i].other)
            return options_complain("%s exclude each other; leave one out", exclude[i].names);
    return EXIT_OK;
}

static int compare_paths(const struct options *options, char **paths)
{
    struct readings sides[COMPARE_SIDES] = {{0}, {0}};
    int result = read_paths(&sides[COMPARE_A], &paths[0], 1, options->metric);
    if (result == 0)
        result = read_paths(&sides[COMPARE_B], &paths[1], 1, options->metric);
    if (result == 0)
        result = traffic_summary_check_pace(&sides[COMPARE_A], &sides[COMPARE_B]);
    if (result == 0)
        result = print_compare(sides, paths, options);
    bool refused = sides[COMPARE_A].refused + sides[COMPARE_B].refused > 0;
    bool empty = sides[COMPARE_A].count == 0 || sides[COMPARE_B].count == 0;
    readings_clear(&sides[COMPARE_A]);
    readings_clear(&sides[COMPARE_B]);
    return result < 0 || refused || empty ? EXIT_FAILED : EXIT_OK;
}

/* Reads files and folders. Files that cannot be used are reported and skipped. 0 or a negative
 * errno, which is reported. */
static int read_paths(struct readings *readings, char **paths, size_t count, enum metric metric)
{
    int result = 0;
    *readings = (struct readings){.warning = traffic_summary_print_warning};
    for (size_t i = 0; i < count && result == 0; i++)
        result = readings_add(readings, paths[i]);
    if (result == 0)
        result = readings_finish(readings);
    if (result < 0)
        return traffic_summary_failed(result);
    result = traffic_summary_check_pace(readings, NULL);
    if (result < 0)
        return result;
    print_notes(readings);
    warn_missing(readings, metric);
    return 0;
}

/* Refuses runs of different pace, on either side of a comparison. other may be NULL. */
static int traffic_summary_check_pace(const struct readings *readings, const struct readings *other)
{
    const struct reading *first = NULL;
    struct error error = {0};
    int result = readings_check_pace(readings, &first, &error);
    if (result == 0 && other)
        result = readings_check_pace(other, &first, &error);
    if (result < 0)
        message_print("%s", error.text);
    return result;
}

static void traffic_summary_print_warning(void *context, const char *line)
{
    (void)context;
    message_print("%s", line);
}

static int traffic_summary_failed(int result)
{
    message_print("%s", strerror(-result));
    return result;
}

/* Reports how files were combined, and runs that a signal ended. */
static void print_notes(const struct readings *readings)
{
    if (readings->repeated > readings->twins)
        message_print("files with a run that another file also contains: %zu; each run is "
                      "counted once",
                      readings->repeated - readings->twins);
    if (readings->joined)
        message_print("files from further processes of a run: %zu; counts, rates and scales are "
                      "added",
                      readings->joined);
    for (size_t i = 0; i < readings->count; i++)
        if (readings->items[i].spoiled)
            message_print("%s: spoiled: %s; the maximum leaves it out", readings->items[i].path,
                          reading_label(&readings->items[i], RESULT_SPOILED));
        else if (readings->items[i].interrupted)
            message_print("%s: this run ended early", readings->items[i].path);
}

/* Prints one warning for each run without the metric. */
static void warn_missing(const struct readings *readings, enum metric metric)
{
    for (size_t i = 0; i < readings->count; i++)
        if (isnan(readings->items[i].metrics[metric]))
            message_print("%s: contains no %s", readings->items[i].path, metric_forms[metric].name);
}

static int print_compare(const struct readings sides[COMPARE_SIDES], char **paths,
                         const struct options *options)
{
    struct compare compare;
    struct error error = {0};
    const char *const names[] = {paths[0], paths[1]};
    int result = compare_make(&compare, &sides[COMPARE_A], &sides[COMPARE_B], names,
                              options->metric, &options->slo, &error);
    if (result < 0) {
        message_print("%s", error.text);
        return result;
    }
    print_mixed("A: ", &compare.mixed[COMPARE_A]);
    print_mixed("B: ", &compare.mixed[COMPARE_B]);
    if (options->csv)
        result = compare_print_csv(stdout, &compare);
    else if (options->json)
        result = compare_print_json(stdout, &compare);
    else
        result = compare_print(stdout, &compare, options->spread);
    result = finish_text(result);
    if (result == 0)
        result = traffic_summary_draw("html", options->html, draw_compare_page,
                                      &(struct picture){.compare = &compare});
    compare_clear(&compare);
    return result;
}

static void print_mixed(const char *prefix, const struct mixed *mixed)
{
    char line[ERROR_TEXT_SIZE];
    for (size_t i = 0; i < mixed->count; i++) {
        mixed_text(line, sizeof line, &mixed->kinds[i]);
        message_print("%s%s", prefix, line);
    }
}

/* Flushes what was printed to standard output with this result. 0 or a negative errno, which is
 * reported. */
static int finish_text(int result)
{
    return result < 0 ? traffic_summary_failed(result) : program_flush_output();
}

/* Draws into a file; path NULL: does nothing. 0 or a negative errno, which is reported. */
static int traffic_summary_draw(const char *option, const char *path,
                                int (*function)(FILE *stream, void *context),
                                struct picture *picture)
{
    struct error error = {0};
    if (!path)
        return 0;
    picture->error = (struct error){0};
    int result = atomic_file_write(path, function, picture, &error);
    if (result < 0)
        message_print("--%s: %s", option, picture->error.code ? picture->error.text : error.text);
    return result;
}

static int draw_compare_page(FILE *stream, void *context)
{
    struct picture *picture = context;
    return page_print_compare(stream, picture->compare, &picture->error);
}

static int draw_vary_page(FILE *stream, void *context)
{
    struct picture *picture = context;
    return page_print_vary(stream, picture->vary, picture->readings, &picture->error);
}

static int traffic_summary_summarise(const struct options *options, char **paths, size_t count)
{
    struct readings readings;
    int result = read_paths(&readings, paths, count, options->metric);
    bool refused = readings.refused > 0, empty = readings.count == 0;
    if (result == 0 && empty)
        message_print("no results");
    else if (result == 0)
        result = options->list_labels ? vary_print_labels(stdout, &readings)
                 : options->by        ? print_vary(&readings, options)
                                      : print_grid(&readings, options);
    readings_clear(&readings);
    return result < 0 || refused || empty ? EXIT_FAILED : EXIT_OK;
}

static int print_vary(const struct readings *readings, const struct options *options)
{
    struct vary vary;
    int result = vary_make(&vary, readings, options->by, options->metric, &options->slo);
    if (result < 0)
        return traffic_summary_failed(result);
    for (size_t i = 0; i < readings->count; i++)
        if (!reading_label(&readings->items[i], options->by))
            message_print("%s: has no label %s", readings->items[i].path, options->by);
    for (size_t i = 0; i < vary.count; i++) {
        char prefix[128];
        snprintf(prefix, sizeof prefix, "%.40s=%.60s: ", options->by, vary.rows[i].value);
        print_mixed(prefix, &vary.rows[i].mixed);
    }
    if (options->csv)
        vary_print_csv(stdout, &vary);
    else if (options->json)
        result = vary_print_json(stdout, &vary);
    else
        vary_print(stdout, &vary);
    result = finish_text(result);
    if (result == 0)
        result = traffic_summary_draw("html", options->html, draw_vary_page,
                                      &(struct picture){.vary = &vary, .readings = readings});
    vary_clear(&vary);
    return result;
}

static int print_grid(const struct readings *readings, const struct options *options)
{
    struct grid grid;
    struct mixed mixed;
    char beyond[ERROR_TEXT_SIZE];
    int result = mixed_find(&mixed, readings, NULL);
    if (result == 0)
        result = grid_make(&grid, readings, options->metric, options->full, &options->slo);
    if (result < 0) {
        mixed_clear(&mixed);
        return traffic_summary_failed(result);
    }
    print_mixed("", &mixed);
    grid_mark_mixed(&grid, &mixed);
    if (grid_maximum_is_beyond(&grid, beyond, sizeof beyond))
        message_print("%s", beyond);
    if (grid.too_wide)
        message_print("more than %d rows or columns; showing only those with runs", GRID_RANGE_MAX);
    if (options->csv)
        grid_print_csv(stdout, &grid);
    else if (options->json)
        result = grid_print_json(stdout, &grid);
    else
        grid_print(stdout, &grid,
                   (struct grid_print_form){.spread = options->spread, .colour = wants_colour()});
    result = finish_text(result);
    if (result == 0)
        result = draw_grid(&grid, readings, options);
    grid_clear(&grid);
    mixed_clear(&mixed);
    return result;
}

static bool wants_colour(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) == 1 && !getenv("NO_COLOR") && terminal && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

static int draw_grid(const struct grid *grid, const struct readings *readings,
                     const struct options *options)
{
    struct picture picture = {.grid = grid, .readings = readings};
    int result = traffic_summary_draw("svg", options->svg, draw_map, &picture);
    return result < 0 ? result : traffic_summary_draw("html", options->html, draw_page, &picture);
}

static int draw_map(FILE *stream, void *context)
{
    const struct picture *picture = context;
    heatmap_draw(stream, picture->grid,
                 &(struct heatmap){.standalone = true, .id = "grid", .least = NAN, .largest = NAN});
    return 0;
}

static int draw_page(FILE *stream, void *context)
{
    struct picture *picture = context;
    return page_print(stream, picture->grid, picture->readings, &picture->error);
}

static const char *parse_metric(void *owner, char *value)
{
    struct options *options = owner;
    char names[OPTIONS_ERROR_SIZE] = "";
    size_t length = 0;
    options->metric = metric_find(value);
    if (options->metric < METRICS)
        return NULL;
    for (enum metric metric = 0; metric < METRICS; metric++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   metric ? ", " : "", metric_forms[metric].name);
    return options_wrong("unknown metric \"%s\"; choose one of %s", value, names);
}

static const char *traffic_summary_parse_slo(void *owner, char *value)
{
    struct options *options = owner;
    struct error error = {0};
    return slo_parse(&options->slo, value, &error) < 0 ? options_wrong("%s", error.text) : NULL;
}

static void traffic_summary_help(FILE *out)
{
    fputs("traffic-summary prints the results of traffic-replay runs as a grid, with a row for\n"
          "each replay rate (r) and a column for each scale (S).\n"
          "\n"
          "  traffic-summary [OPTION...] FILE|FOLDER...\n"
          "  traffic-summary --compare [OPTION...] A B\n"
          "\n"
          "FILE is a JSON result or text report of traffic-replay, or a text report of Samba's\n"
          "traffic replay script. A FOLDER is searched for such files.\n",
          out);
    options_help(&table, out);
    fputs("\nMetrics:\n", out);
    for (enum metric metric = 0; metric < METRICS; metric++)
        fprintf(out, "  %-14s %s\n", metric_forms[metric].name, metric_forms[metric].unit);
    fputs("\nSee traffic-summary(1).\n", out);
}
