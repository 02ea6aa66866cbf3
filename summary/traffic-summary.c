/* SPDX-License-Identifier: Apache-2.0 */
/* traffic-summary: reads results of runs and prints their r x S grid. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/whole_file.h"
#include "summary/compare.h"
#include "summary/grid.h"
#include "summary/heatmap.h"
#include "summary/page.h"
#include "summary/reading.h"
#include "summary/result/result.h"
#include "summary/slo.h"
#include "summary/vary.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct options {
    bool full, spread, csv, json, compare, help, version;
    enum metric metric;
    struct slo slo;
    const char *by, *svg, *html;
};

/* One row an option: --help is printed from here. */
struct option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: takes none */
    const char *help;
    size_t flag;                                             /* offset of its bool, or */
    bool (*set)(struct options *options, const char *value); /* takes its argument */
};

struct picture {
    const struct grid *grid;
    const struct readings *readings;
    const struct compare *compare;
    struct error error;
};

static bool traffic_summary_read_options(struct options *options, int argc, char **argv);
static void traffic_summary_make_getopt(struct option *long_options, char *letters);
static bool traffic_summary_take_option(struct options *options, const struct option_row *row,
                                        const char *value);
static void traffic_summary_print_help(void);
static int compare_paths(const struct options *options, char **paths);
static int read_paths(struct readings *readings, char **paths, size_t count, enum metric metric);
static void traffic_summary_print_warning(void *context, const char *line);
static void print_notes(const struct readings *readings);
static void warn_missing(const struct readings *readings, enum metric metric);
static int print_compare(const struct readings sides[COMPARE_SIDES], char **paths,
                         const struct options *options);
static int traffic_summary_draw(const char *option, const char *path,
                                int (*function)(FILE *stream, void *context),
                                struct picture *picture);
static int draw_compare_page(FILE *stream, void *context);
static int status_of(int result, size_t refused);
static int traffic_summary_summarise(const struct options *options, char **paths, size_t count);
static int print_vary(const struct readings *readings, const struct options *options);
static int print_grid(const struct readings *readings, const struct options *options);
static int draw_grid(const struct grid *grid, const struct readings *readings,
                     const struct options *options);
static int draw_map(FILE *stream, void *context);
static int draw_page(FILE *stream, void *context);
static bool set_metric(struct options *options, const char *value);
static bool set_slo(struct options *options, const char *value);
static bool set_by(struct options *options, const char *value);
static bool set_svg(struct options *options, const char *value);
static bool set_file(const char *option, const char **to, const char *value);
static bool set_html(struct options *options, const char *value);

static const struct option_row rows[] = {
    {"full", 'f', NULL, "rows and columns from 1 to one past the largest r and S",
     offsetof(struct options, full), NULL},
    {"metric", 'm', "NAME", "what the cells show (ok)", 0, set_metric},
    {"spread", 0, NULL, "smallest and largest of a cell's runs beside their mean",
     offsetof(struct options, spread), NULL},
    {"slo", 0, "LEVEL", "marks cells that miss it, as in success>=99%,p95<=200ms", 0, set_slo},
    {"by", 0, "LABEL", "instead of the grid, a row for each value of a label", 0, set_by},
    {"compare", 0, NULL, "compares two results or folders: --compare A B",
     offsetof(struct options, compare), NULL},
    {"svg", 0, "FILE", "also draws the grid as a heat map", 0, set_svg},
    {"html", 0, "FILE", "also writes a page with the grid, charts and details", 0, set_html},
    {"csv", 0, NULL, "one line a cell: r,S,metric,runs,mean,min,max", offsetof(struct options, csv),
     NULL},
    {"json", 0, NULL, "the same as JSON", offsetof(struct options, json), NULL},
    {"help", 'h', NULL, "this text", offsetof(struct options, help), NULL},
    {"version", 'V', NULL, "the version", offsetof(struct options, version), NULL},
};
enum { ROWS = sizeof rows / sizeof rows[0], FIRST_LONG = 256 };

int main(int argc, char **argv)
{
    struct options options = {.metric = METRIC_OK};
    if (!traffic_summary_read_options(&options, argc, argv))
        return EXIT_USAGE;
    if (options.help) {
        traffic_summary_print_help();
        return EXIT_OK;
    }
    if (options.version) {
        puts("traffic-summary " TRAFFIC_VERSION);
        return EXIT_OK;
    }
    if (options.compare)
        return compare_paths(&options, argv + optind);
    return traffic_summary_summarise(&options, argv + optind, (size_t)(argc - optind));
}

static bool traffic_summary_read_options(struct options *options, int argc, char **argv)
{
    struct option long_options[ROWS + 1];
    char letters[2 * ROWS + 1];
    traffic_summary_make_getopt(long_options, letters);
    for (int got; (got = getopt_long(argc, argv, letters, long_options, NULL)) != -1;) {
        size_t row = 0;
        while (row < ROWS && got != FIRST_LONG + (int)row && got != rows[row].letter)
            row++;
        if (row == ROWS || !traffic_summary_take_option(options, &rows[row], optarg))
            return false; /* told already */
    }
    const struct {
        bool one, other;
        const char *names;
    } exclude[] = {{options->csv, options->json, "--csv and --json"},
                   {options->compare, options->by != NULL, "--compare and --by"},
                   {options->compare, options->full, "--compare and --full"},
                   {options->compare, options->svg != NULL, "--compare and --svg"},
                   {options->by != NULL, options->svg != NULL, "--by and --svg"},
                   {options->by != NULL, options->html != NULL, "--by and --html"}};
    for (size_t i = 0; i < sizeof exclude / sizeof exclude[0]; i++)
        if (exclude[i].one && exclude[i].other) {
            fprintf(stderr, "traffic-summary: %s exclude each other\n", exclude[i].names);
            return false;
        }
    if (options->compare && argc - optind != 2 && !options->help && !options->version) {
        fprintf(stderr, "traffic-summary: --compare wants two files or folders, not %d\n",
                argc - optind);
        return false;
    }
    if (optind == argc && !options->help && !options->version) {
        fputs("traffic-summary: name result files or folders; --help tells more\n", stderr);
        return false;
    }
    return true;
}

/* The rows in the form of getopt_long(3). */
static void traffic_summary_make_getopt(struct option *long_options, char *letters)
{
    for (size_t i = 0; i < ROWS; i++) {
        long_options[i] =
            (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument, NULL,
                            FIRST_LONG + (int)i};
        if (rows[i].letter)
            *letters++ = rows[i].letter;
        if (rows[i].letter && rows[i].argument)
            *letters++ = ':';
    }
    long_options[ROWS] = (struct option){0};
    *letters = '\0';
}

static bool traffic_summary_take_option(struct options *options, const struct option_row *row,
                                        const char *value)
{
    if (row->set)
        return row->set(options, value);
    *(bool *)((char *)options + row->flag) = true;
    return true;
}

static void traffic_summary_print_help(void)
{
    char name[40];
    puts("Usage: traffic-summary [options] FILE|FOLDER...\n\n"
         "Prints the r x S grid of the runs that the files tell of: results of traffic-replay "
         "(text\n"
         "or JSON) and text reports of the established Python tool.\n");
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(name, sizeof name, "--%s%s%s", rows[i].name, rows[i].argument ? " " : "",
                 rows[i].argument ? rows[i].argument : "");
        if (rows[i].letter)
            printf("  -%c, %-18s %s\n", rows[i].letter, name, rows[i].help);
        else
            printf("      %-18s %s\n", name, rows[i].help);
    }
    puts("\nMetrics:");
    for (enum metric metric = 0; metric < METRICS; metric++)
        printf("  %-14s %s\n", metric_forms[metric].name, metric_forms[metric].unit);
}

static int compare_paths(const struct options *options, char **paths)
{
    struct readings sides[COMPARE_SIDES] = {{0}, {0}};
    int result = read_paths(&sides[COMPARE_A], &paths[0], 1, options->metric);
    if (result == 0)
        result = read_paths(&sides[COMPARE_B], &paths[1], 1, options->metric);
    if (result == 0)
        result = print_compare(sides, paths, options);
    int status = status_of(result, sides[COMPARE_A].refused + sides[COMPARE_B].refused);
    if (sides[COMPARE_A].count == 0 || sides[COMPARE_B].count == 0)
        status = EXIT_FAILED;
    readings_clear(&sides[COMPARE_A]);
    readings_clear(&sides[COMPARE_B]);
    return status;
}

/* Reads what the paths name; tells what is wrong with it. */
static int read_paths(struct readings *readings, char **paths, size_t count, enum metric metric)
{
    int result = 0;
    *readings = (struct readings){.warning = traffic_summary_print_warning};
    for (size_t i = 0; i < count && result == 0; i++)
        result = readings_add(readings, paths[i]);
    if (result == 0)
        result = readings_finish(readings);
    if (result < 0)
        return result;
    print_notes(readings);
    warn_missing(readings, metric);
    return 0;
}

static void traffic_summary_print_warning(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "traffic-summary: %s\n", line);
}

/* What was done with the files, and what to think of some. */
static void print_notes(const struct readings *readings)
{
    if (readings->repeated > readings->twins)
        fprintf(stderr,
                "traffic-summary: files that tell of a run that another file tells of too: %zu; "
                "each run is counted once\n",
                readings->repeated - readings->twins);
    if (readings->joined)
        fprintf(stderr,
                "traffic-summary: files of further processes of a run: %zu; counts, rates and "
                "scales are added\n",
                readings->joined);
    for (size_t i = 0; i < readings->count; i++)
        if (readings->items[i].interrupted)
            fprintf(stderr, "traffic-summary: %s: this run was cut short by a signal\n",
                    readings->items[i].path);
}

/* One warning for each run that cannot give the metric. */
static void warn_missing(const struct readings *readings, enum metric metric)
{
    for (size_t i = 0; i < readings->count; i++)
        if (isnan(readings->items[i].metrics[metric]))
            fprintf(stderr, "traffic-summary: %s: holds no %s\n", readings->items[i].path,
                    metric_forms[metric].name);
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
        fprintf(stderr, "traffic-summary: %s\n", error.text);
        return 1;
    }
    if (options->csv)
        result = compare_print_csv(stdout, &compare);
    else if (options->json)
        result = compare_print_json(stdout, &compare);
    else
        result = compare_print(stdout, &compare, options->spread);
    if (result == 0 && fflush(stdout) == EOF)
        result = -errno;
    if (result == 0)
        result = traffic_summary_draw("html", options->html, draw_compare_page,
                                      &(struct picture){.compare = &compare});
    compare_clear(&compare);
    return result;
}

/* Draws into a file unless none is named. 0, or 1 after a failure that was told. */
static int traffic_summary_draw(const char *option, const char *path,
                                int (*function)(FILE *stream, void *context),
                                struct picture *picture)
{
    struct error error = {0};
    if (!path)
        return 0;
    picture->error = (struct error){0};
    if (whole_file_write(path, function, picture, &error) == 0)
        return 0;
    fprintf(stderr, "traffic-summary: --%s: %s\n", option,
            picture->error.code ? picture->error.text : error.text);
    return 1;
}

static int draw_compare_page(FILE *stream, void *context)
{
    struct picture *picture = context;
    return page_print_compare(stream, picture->compare, &picture->error);
}

/* The exit status: by what went wrong (told here when it is an errno), and whether files were left
 * out. */
static int status_of(int result, size_t refused)
{
    if (result < 0)
        fprintf(stderr, "traffic-summary: %s\n", strerror(-result));
    return result || refused ? EXIT_FAILED : EXIT_OK;
}

static int traffic_summary_summarise(const struct options *options, char **paths, size_t count)
{
    struct readings readings;
    int result = read_paths(&readings, paths, count, options->metric), status;
    if (result == 0 && readings.count == 0) {
        fputs("traffic-summary: no results\n", stderr);
        status = EXIT_FAILED;
    } else {
        if (result == 0)
            result = options->by ? print_vary(&readings, options) : print_grid(&readings, options);
        status = status_of(result, readings.refused);
    }
    readings_clear(&readings);
    return status;
}

static int print_vary(const struct readings *readings, const struct options *options)
{
    struct vary vary;
    int result = vary_make(&vary, readings, options->by, options->metric, &options->slo);
    if (result < 0)
        return result;
    for (size_t i = 0; i < readings->count; i++)
        if (!reading_label(&readings->items[i], options->by))
            fprintf(stderr, "traffic-summary: %s: has no label %s\n", readings->items[i].path,
                    options->by);
    if (options->csv)
        vary_print_csv(stdout, &vary);
    else if (options->json)
        result = vary_print_json(stdout, &vary);
    else
        vary_print(stdout, &vary);
    vary_clear(&vary);
    if (result == 0 && fflush(stdout) == EOF)
        result = -errno;
    return result;
}

static int print_grid(const struct readings *readings, const struct options *options)
{
    struct grid grid;
    int result = grid_make(&grid, readings, options->metric, options->full, &options->slo);
    if (result < 0)
        return result;
    if (grid.too_wide)
        fprintf(stderr,
                "traffic-summary: a range of more than %d rows or columns: only those with runs "
                "are shown\n",
                GRID_RANGE_MAX);
    if (options->csv)
        grid_print_csv(stdout, &grid);
    else if (options->json)
        result = grid_print_json(stdout, &grid);
    else
        grid_print(
            stdout, &grid,
            (struct grid_print_form){.spread = options->spread,
                                     .colour = isatty(STDOUT_FILENO) == 1 && !getenv("NO_COLOR")});
    if (result == 0 && fflush(stdout) == EOF)
        result = -errno;
    if (result == 0)
        result = draw_grid(&grid, readings, options);
    grid_clear(&grid);
    return result;
}

static int draw_grid(const struct grid *grid, const struct readings *readings,
                     const struct options *options)
{
    struct picture picture = {.grid = grid, .readings = readings};
    int drawn = traffic_summary_draw("svg", options->svg, draw_map, &picture);
    return drawn ? drawn : traffic_summary_draw("html", options->html, draw_page, &picture);
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

static bool set_metric(struct options *options, const char *value)
{
    options->metric = metric_find(value);
    if (options->metric < METRICS)
        return true;
    fprintf(stderr, "traffic-summary: --metric %s: there is no such metric; choose one of", value);
    for (enum metric metric = 0; metric < METRICS; metric++)
        fprintf(stderr, "%s %s", metric ? "," : "", metric_forms[metric].name);
    fputc('\n', stderr);
    return false;
}

static bool set_slo(struct options *options, const char *value)
{
    struct error error = {0};
    if (slo_parse(&options->slo, value, &error) == 0)
        return true;
    fprintf(stderr, "traffic-summary: --slo %s\n", error.text);
    return false;
}

static bool set_by(struct options *options, const char *value)
{
    options->by = value;
    return true;
}

static bool set_svg(struct options *options, const char *value)
{
    return set_file("svg", &options->svg, value);
}

/* Standard output is for the text. */
static bool set_file(const char *option, const char **to, const char *value)
{
    *to = value;
    if (strcmp(value, "-") != 0)
        return true;
    fprintf(stderr, "traffic-summary: --%s -: name a file\n", option);
    return false;
}

static bool set_html(struct options *options, const char *value)
{
    return set_file("html", &options->html, value);
}
