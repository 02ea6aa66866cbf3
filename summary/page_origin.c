/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML page: what was measured, and what speaks against the figures. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "summary/page_private.h"
#include "summary/svg.h"

enum { TEXT_SIZE = 512, SHOWN = 3, LINE_SIZE = 1024 };

/* One row of the table: a text for each run; false: the file does not contain it. */
struct origin_row {
    const char *title;
    bool (*read)(const struct reading *reading, char *out);
};

static bool read_server(const struct reading *reading, char *out);
static bool read_model(const struct reading *reading, char *out);
static bool read_pace(const struct reading *reading, char *out);
static bool read_window(const struct reading *reading, char *out);
static bool read_seed(const struct reading *reading, char *out);
static bool read_program(const struct reading *reading, char *out);
static bool read_labels(const struct reading *reading, char *out);
static bool read_command(const struct reading *reading, char *out);
static int print_row(FILE *stream, const struct readings *readings, const struct origin_row *row);
static int origin_compare_texts(const void *left, const void *right);
static void print_values(FILE *stream, char (*texts)[TEXT_SIZE], size_t count);
static void print_dates(FILE *stream, const struct readings *readings);
static void write_date(char *out, size_t size, double start);
static void print_doubt(FILE *stream, size_t count, const char *what);

static const struct origin_row rows[] = {
    {"Server", read_server}, {"Model", read_model},     {"Pace", read_pace},
    {"Window", read_window}, {"Program", read_program}, {"Seed", read_seed},
    {"Labels", read_labels}, {"Command", read_command},
};

int page_print_origin(FILE *stream, const struct readings *readings)
{
    int printed = 0;
    fprintf(stream,
            "<h2>What was measured</h2>\n<table class=\"o\">\n"
            "<tr><th class=\"l\">Runs</th><td class=\"l\">%zu</td></tr>\n",
            readings->count);
    print_dates(stream, readings);
    for (size_t i = 0; printed == 0 && i < sizeof rows / sizeof rows[0]; i++)
        printed = print_row(stream, readings, &rows[i]);
    fputs("</table>\n", stream);
    return printed;
}

static void print_dates(FILE *stream, const struct readings *readings)
{
    double first = NAN, last = NAN;
    char begin[TEXT_SIZE], end[TEXT_SIZE];
    for (size_t i = 0; i < readings->count; i++)
        if (readings->items[i].start > 0) {
            first = fmin(first, readings->items[i].start);
            last = fmax(last, readings->items[i].start);
        }
    if (isnan(first))
        return;
    write_date(begin, sizeof begin, first);
    write_date(end, sizeof end, last);
    fprintf(stream, "<tr><th class=\"l\">Date</th><td class=\"l\">%s%s%s UTC</td></tr>\n", begin,
            last > first ? " to " : "", last > first ? end : "");
}

static void write_date(char *out, size_t size, double start)
{
    time_t seconds = (time_t)start;
    struct tm utc;
    snprintf(out, size, "unknown");
    if (gmtime_r(&seconds, &utc))
        strftime(out, size, "%Y-%m-%d %H:%M", &utc);
}

/* Prints the distinct values of all runs. */
static int print_row(FILE *stream, const struct readings *readings, const struct origin_row *row)
{
    size_t count = 0;
    char(*texts)[TEXT_SIZE] = calloc(readings->count + 1, sizeof *texts);
    if (!texts)
        return -ENOMEM;
    for (size_t i = 0; i < readings->count; i++)
        count += row->read(&readings->items[i], texts[count]);
    qsort(texts, count, sizeof *texts, origin_compare_texts);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0)
            memmove(texts[kept++], texts[i], sizeof *texts);
    if (kept) {
        fprintf(stream, "<tr><th class=\"l\">%s</th><td class=\"l\">", row->title);
        print_values(stream, texts, kept);
        fputs("</td></tr>\n", stream);
    }
    free(texts);
    return 0;
}

static int origin_compare_texts(const void *left, const void *right)
{
    return reading_compare_values(left, right);
}

static void print_values(FILE *stream, char (*texts)[TEXT_SIZE], size_t count)
{
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        if (i)
            fputs("<br/>", stream);
        svg_text(stream, texts[i]);
    }
    if (count > SHOWN)
        fprintf(stream, "<br/>and %zu more", count - SHOWN);
}

static bool read_server(const struct reading *reading, char *out)
{
    snprintf(out, TEXT_SIZE, "%s", reading->dc ? reading->dc : "");
    return *out != '\0';
}

static bool read_model(const struct reading *reading, char *out)
{
    if (!reading->model_name || !*reading->model_name)
        return false;
    snprintf(out, TEXT_SIZE, "%.300s%s%s%s", reading->model_name,
             *reading->model ? " (SHA-256 " : "", reading->model, *reading->model ? ")" : "");
    return true;
}

static bool read_pace(const struct reading *reading, char *out)
{
    bool closed = strcmp(reading->pace, "reply") == 0;
    snprintf(out, TEXT_SIZE, "%s (%s loop)", reading->pace, closed ? "closed" : "open");
    return *reading->pace != '\0';
}

static bool read_window(const struct reading *reading, char *out)
{
    char seconds[SVG_NUMBER_SIZE];
    svg_number(seconds, reading->window);
    snprintf(out, TEXT_SIZE, "%s s", seconds);
    return reading->window > 0 && !reading->interrupted;
}

static bool read_seed(const struct reading *reading, char *out)
{
    snprintf(out, TEXT_SIZE, "%" PRIu64, reading->seed);
    return reading->form != READING_PYTHON;
}

static bool read_program(const struct reading *reading, char *out)
{
    if (reading->form == READING_PYTHON)
        snprintf(out, TEXT_SIZE, "Samba's traffic replay script");
    else
        snprintf(out, TEXT_SIZE, "traffic-replay %.80s", reading->version);
    return true;
}

static bool read_labels(const struct reading *reading, char *out)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < reading->label_count && used < TEXT_SIZE; i++)
        if (strcmp(reading->labels[i].name, "repeat") != 0)
            used += (size_t)snprintf(out + used, TEXT_SIZE - used, "%s%s=%s", used ? ", " : "",
                                     reading->labels[i].name, reading->labels[i].value);
    return used > 0;
}

/* Commands of a sweep differ in r, S and file names alone, so a few of them are enough. */
static bool read_command(const struct reading *reading, char *out)
{
    snprintf(out, TEXT_SIZE, "%s", reading->command ? reading->command : "");
    return *out != '\0';
}

void page_print_doubts(FILE *stream, const struct readings *readings)
{
    /* Those of traffic-replay's report; a timer that late cannot keep times. */
    static const double busy_limit = 0.95, late_limit = 0.010;
    size_t busy = 0, unsent = 0, interrupted = 0, late = 0, spoiled = 0;
    for (size_t i = 0; i < readings->count; i++) {
        const struct reading *reading = &readings->items[i];
        busy += reading->busy >= busy_limit;
        late += reading->timer_p99 >= late_limit;
        unsent += reading->unsent > 0;
        interrupted += reading->interrupted;
        spoiled += reading->spoiled;
    }
    if (busy + late + unsent + interrupted + spoiled == 0)
        return;
    fputs("<ul class=\"warn\">\n", stream);
    print_doubt(stream, spoiled, "spoiled, and left out of the maximum");
    print_doubt(stream, busy, "limited by the generator, whose busiest thread had no time left");
    print_doubt(stream, unsent,
                "behind with operations that were not sent: response times are lower bounds");
    print_doubt(stream, interrupted, "cut short");
    print_doubt(stream, late,
                "on a machine whose timers were late by 10 ms or more (99th percentile)");
    fputs("</ul>\n", stream);
}

static void print_doubt(FILE *stream, size_t count, const char *what)
{
    if (count)
        fprintf(stream, "<li>%zu run%s %s %s</li>\n", count, count == 1 ? "" : "s",
                count == 1 ? "was" : "were", what);
}

void page_print_mixed(FILE *stream, const struct mixed *mixed, const char *prefix)
{
    char line[LINE_SIZE];
    if (mixed->count == 0)
        return;
    fputs("<ul class=\"warn\">\n", stream);
    for (size_t i = 0; i < mixed->count; i++) {
        mixed_text(line, sizeof line, &mixed->kinds[i]);
        fputs("<li>", stream);
        svg_text(stream, prefix);
        svg_text(stream, line);
        fputs("</li>\n", stream);
    }
    fputs("</ul>\n", stream);
}
