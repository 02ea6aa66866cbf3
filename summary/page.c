/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTML page, from top to bottom: what was found, the grid, charts, failures, samples, cells. A
 * cell's details are shown when its link is followed (:target), so no script is needed.
 */
#include "summary/page.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "summary/chart.h"
#include "summary/heatmap.h"
#include "summary/result/result.h"
#include "summary/svg.h"

static const double nanosecond = 1e-9, milli = 1e-3;
enum { SAMPLES_MAX = 8, FAILURES_MAX = 50, TEXT_SIZE = 256, CURVE_POINTS = 31 };

struct page {
    FILE *stream;
    const struct grid *grid;
    const struct readings *readings;
    const struct grid_cell *best; /* that is looked at closer; NULL: no cell has a value */
    struct detail total;          /* counts and causes of all runs */
    struct error *error;
};

struct load_points {
    bool nominal; /* load is operations per second; else r x S */
    size_t count;
    double *load, *rate, *p95; /* by rising load; p95 in ms */
};

struct load_point {
    double load, rate, p95;
};

/* One curve of a protocol's response times. */
struct curve {
    const char *protocol;
    struct histogram response;
    double x[CURVE_POINTS], y[CURVE_POINTS];
};

struct failure {
    const struct detail_type *type;
    const struct detail_cause *cause;
};

static void print_top(FILE *stream, const char *title);
static void print_style(FILE *stream);
static int print_body(struct page *page);
static void print_answer(const struct page *page);
static void print_where(FILE *stream, const struct grid *grid, const struct grid_cell *cell);
static void print_map(FILE *stream, const struct grid *grid, const struct heatmap *map);
static int print_cells(struct page *page);
static int page_print_cell(struct page *page, size_t place);
static void print_cell_metrics(FILE *stream, const struct grid_cell *cell);
static int detail_of_cell(const struct page *page, const struct grid_cell *cell,
                          struct detail *detail);
static bool in_cell(const struct page *page, const struct reading *reading,
                    const struct grid_cell *cell);
static void print_cell_types(FILE *stream, const struct detail *detail);
static void page_print_time(FILE *stream, const struct histogram *histogram, double fraction);
static int page_print_failures(FILE *stream, const struct detail *detail, const char *heading);
static int by_count(const void *left, const void *right);
static void print_failure_rows(FILE *stream, const struct failure *failures, size_t count);
static int page_no_memory(const struct page *page);
static int print_charts(const struct page *page);
static int make_points(const struct grid *grid, struct load_points *points);
static void clear_points(struct load_points *points);
static double page_offered(const struct grid *grid, const struct grid_cell *cell, bool nominal);
static int by_load(const void *left, const void *right);
static void draw_loads(FILE *stream, const struct load_points *points);
static bool find_span(const double *values, size_t count, double *least, double *largest);
static void draw_figure(FILE *stream, const struct chart *chart);
static int page_print_percentiles(const struct page *page);
static int make_curves(const struct detail *detail, struct curve *curves, size_t *count);
static int join_rare(struct curve *curves, size_t *count);
static int by_response_count(const void *left, const void *right);
static void draw_curves(FILE *stream, struct curve *curves, size_t count, const char *title);
static int print_samples(const struct page *page);
static int draw_samples(const struct page *page, const struct result *result);
static size_t sample_names(const struct result *result, char names[][64]);
static bool known_name(char names[][64], size_t count, const char *name);
static void draw_sample(FILE *stream, const struct result *result, const char *name, size_t number,
                        double *x, double *y);
static double page_sample_value(const struct result_sample *sample, const char *name);
static void print_bottom(FILE *stream);
static void print_sides(FILE *stream, const struct compare *compare);
static void print_side(FILE *stream, const struct compare *compare, enum compare_sides side,
                       double least, double largest);

int page_print(FILE *stream, const struct grid *grid, const struct readings *readings,
               struct error *error)
{
    struct page page = {.stream = stream,
                        .grid = grid,
                        .readings = readings,
                        .best = grid->largest_kept ? grid->largest_kept : grid->largest,
                        .error = error};
    print_top(stream, "traffic-summary: what the server takes");
    int made = print_body(&page);
    print_bottom(stream);
    detail_clear(&page.total);
    return made;
}

static void print_top(FILE *stream, const char *title)
{
    fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
          stream);
    svg_text(stream, title);
    fputs("</title>\n<style>\n", stream);
    print_style(stream);
    fputs("</style>\n</head>\n<body>\n", stream);
}

static void print_style(FILE *stream)
{
    fputs(
        ":root{color-scheme:light dark;--p:#fff;--t:#1b1f24;--f:#59636e;--l:#d5dae0;--a:#1f5fb4}\n"
        "@media(prefers-color-scheme:dark){:root{--p:#14171b;--t:#e6e9ed;--f:#9aa4af;"
        "--l:#343a42;--a:#7db1f5}}\n"
        "*{box-sizing:border-box}body{margin:0 auto;max-width:1240px;padding:12px;"
        "background:var(--p);color:var(--t);font:15px/1.5 sans-serif}"
        "h1{font-size:1.4em;line-height:1.3}h2{font-size:1.15em;margin-top:2em}"
        "a{color:var(--a)}p.f,td.f{color:var(--f)}.w{overflow-x:auto}"
        ".s{display:flex;flex-wrap:wrap;gap:16px 24px;align-items:flex-start}"
        ".s>figure{margin:0;min-width:0;max-width:100%}figcaption{font-weight:bold}"
        ".s svg{max-width:100%;height:auto}.s .w svg{max-width:none}\n"
        "table{border-collapse:collapse;font-size:14px;margin-bottom:1.2em}th,td{padding:3px 10px;"
        "border-bottom:1px solid var(--l);text-align:right;white-space:nowrap}"
        "th.l,td.l{text-align:left}dt{font-weight:bold}"
        ".cell{display:none}.cell:target{display:block}\n",
        stream);
    svg_style(stream);
}

static int print_body(struct page *page)
{
    print_answer(page);
    fputs("<h2 id=\"top\">The grid</h2>\n<p class=\"f\">Follow a cell to its details below the "
          "grid.</p>\n",
          page->stream);
    print_map(page->stream, page->grid,
              &(struct heatmap){.id = "grid", .links = "cell", .least = NAN, .largest = NAN});
    int made = print_cells(page);
    if (made == 0)
        made = print_charts(page);
    if (made == 0 && page_print_failures(page->stream, &page->total,
                                         "<h2>Failures by cause, of all runs</h2>\n") < 0)
        made = page_no_memory(page);
    if (made == 0 && page->best)
        made = print_samples(page);
    return made;
}

static void print_answer(const struct page *page)
{
    const struct grid *grid = page->grid;
    FILE *stream = page->stream;
    fputs("<h1>", stream);
    if (grid->largest) {
        fputs("Largest: ", stream);
        print_where(stream, grid, grid->largest);
    } else {
        fputs("No run has a value", stream);
    }
    fputs("</h1>\n", stream);
    if (grid->slo->count) {
        fputs("<p>Largest within the service level ", stream);
        svg_text(stream, grid->slo->text);
        fputs(": <b>", stream);
        if (grid->largest_kept)
            print_where(stream, grid, grid->largest_kept);
        else
            fputs("none", stream);
        fputs("</b></p>\n", stream);
    }
    fprintf(stream, "<p class=\"f\">%zu runs.</p>\n", page->readings->count);
}

/* "119.066 successful operations per second at r=4 S=5" */
static void print_where(FILE *stream, const struct grid *grid, const struct grid_cell *cell)
{
    const struct metric_form *form = &metric_forms[grid->metric];
    fprintf(stream, "%.*f %s at r=%.12g S=%.12g", form->decimals, grid_mean(grid, cell), form->unit,
            grid_cell_r(grid, cell), grid_cell_S(grid, cell));
}

static void print_map(FILE *stream, const struct grid *grid, const struct heatmap *map)
{
    fputs("<div class=\"w\">\n", stream);
    heatmap_draw(stream, grid, map);
    fputs("</div>\n", stream);
}

static int print_cells(struct page *page)
{
    int made = 0;
    for (size_t i = 0; made == 0 && i < page->grid->row_count * page->grid->column_count; i++)
        if (page->grid->cells[i].runs)
            made = page_print_cell(page, i);
    return made;
}

static int page_print_cell(struct page *page, size_t place)
{
    const struct grid *grid = page->grid;
    const struct grid_cell *cell = &grid->cells[place];
    FILE *stream = page->stream;
    struct detail detail = {0};
    fprintf(stream,
            "<section class=\"cell\" id=\"cell-%zu-%zu\">\n<h2>r=%.12g S=%.12g: %zu run%s</h2>\n"
            "<p><a href=\"#top\">back to the grid</a></p>\n",
            place / grid->column_count, place % grid->column_count, grid_cell_r(grid, cell),
            grid_cell_S(grid, cell), cell->runs, cell->runs == 1 ? "" : "s");
    print_cell_metrics(stream, cell);
    int made = detail_of_cell(page, cell, &detail);
    if (made == 0) {
        print_cell_types(stream, &detail);
        if (page_print_failures(stream, &detail, "<h3>Failures by cause</h3>\n") < 0 ||
            detail_merge_counts(&page->total, &detail) < 0)
            made = page_no_memory(page);
    }
    detail_clear(&detail);
    fputs("</section>\n", stream);
    return made;
}

static void print_cell_metrics(FILE *stream, const struct grid_cell *cell)
{
    fputs("<div class=\"w\"><table>\n<tr><th class=\"l\">Metric</th><th>Mean</th><th>Least</th>"
          "<th>Largest</th><th>Runs</th></tr>\n",
          stream);
    for (enum metric metric = 0; metric < METRICS; metric++) {
        const struct grid_value *value = &cell->values[metric];
        int decimals = metric_forms[metric].decimals;
        if (value->count == 0)
            continue;
        fputs("<tr><td class=\"l\">", stream);
        svg_text(stream, metric_forms[metric].unit);
        fprintf(stream, "</td><td>%.*f</td><td>%.*f</td><td>%.*f</td><td>%zu</td></tr>\n", decimals,
                value->mean, decimals, value->min, decimals, value->max, value->count);
    }
    fputs("</table></div>\n", stream);
}

static int detail_of_cell(const struct page *page, const struct grid_cell *cell,
                          struct detail *detail)
{
    int added = 0;
    for (size_t i = 0; added == 0 && i < page->readings->count; i++)
        if (in_cell(page, &page->readings->items[i], cell))
            added = detail_add(detail, &page->readings->items[i], page->error);
    return added;
}

/* The runs of a cell. */
static bool in_cell(const struct page *page, const struct reading *reading,
                    const struct grid_cell *cell)
{
    return grid_same(reading->r, grid_cell_r(page->grid, cell)) &&
           grid_same(reading->S, grid_cell_S(page->grid, cell));
}

static void print_cell_types(FILE *stream, const struct detail *detail)
{
    if (detail->type_count == 0)
        return;
    fputs(
        "<div class=\"w\"><table>\n<tr><th class=\"l\">Packet</th><th class=\"l\">Description</th>"
        "<th>Count</th><th>Failed</th><th>Median ms</th><th>95% ms</th><th>Max ms</th></tr>\n",
        stream);
    for (size_t i = 0; i < detail->type_count; i++) {
        const struct detail_type *type = &detail->types[i];
        fputs("<tr><td class=\"l\">", stream);
        svg_text(stream, type->protocol);
        fputc(':', stream);
        svg_text(stream, type->opcode);
        fputs("</td><td class=\"l\">", stream);
        svg_text(stream, type->description);
        fprintf(stream, "</td><td>%" PRIu64 "</td><td>%" PRIu64 "</td>", type->count, type->failed);
        page_print_time(stream, &type->service, 0.5);
        page_print_time(stream, &type->service, 0.95);
        page_print_time(stream, &type->service, 1);
        fputs("</tr>\n", stream);
    }
    fputs("</table></div>\n<p class=\"f\">Times are service times.</p>\n", stream);
}

static void page_print_time(FILE *stream, const struct histogram *histogram, double fraction)
{
    int64_t ns = histogram_quantile(histogram, fraction);
    if (ns < 0)
        fputs("<td>none</td>", stream);
    else
        fprintf(stream, "<td>%.3f</td>", (double)ns * nanosecond / milli);
}

/* Failures of a detail, the most frequent first. 0 or -ENOMEM. */
static int page_print_failures(FILE *stream, const struct detail *detail, const char *heading)
{
    size_t count = 0, place = 0;
    for (size_t i = 0; i < detail->type_count; i++)
        count += detail->types[i].cause_count;
    if (count == 0)
        return 0;
    struct failure *failures = reallocarray(NULL, count, sizeof *failures);
    if (!failures)
        return -ENOMEM;
    for (size_t i = 0; i < detail->type_count; i++)
        for (size_t cause = 0; cause < detail->types[i].cause_count; cause++)
            failures[place++] =
                (struct failure){&detail->types[i], &detail->types[i].causes[cause]};
    qsort(failures, count, sizeof *failures, by_count);
    fputs(heading, stream);
    print_failure_rows(stream, failures, count);
    free(failures);
    return 0;
}

static int by_count(const void *left, const void *right)
{
    const struct failure *a = left, *b = right;
    return a->cause->count > b->cause->count ? -1 : a->cause->count < b->cause->count;
}

static void print_failure_rows(FILE *stream, const struct failure *failures, size_t count)
{
    fputs("<div class=\"w\"><table>\n<tr><th>Count</th><th class=\"l\">Packet</th><th class=\"l\">"
          "Cause</th></tr>\n",
          stream);
    for (size_t i = 0; i < count && i < FAILURES_MAX; i++) {
        fprintf(stream, "<tr><td>%" PRIu64 "</td><td class=\"l\">", failures[i].cause->count);
        svg_text(stream, failures[i].type->protocol);
        fputc(':', stream);
        svg_text(stream, failures[i].type->opcode);
        fputs("</td><td class=\"l\">", stream);
        svg_text(stream, failures[i].cause->text);
        fputs("</td></tr>\n", stream);
    }
    fputs("</table></div>\n", stream);
    if (count > FAILURES_MAX)
        fprintf(stream, "<p class=\"f\">and %zu rarer ones</p>\n", count - FAILURES_MAX);
}

static int page_no_memory(const struct page *page)
{
    return error_no_memory(page->error);
}

static int print_charts(const struct page *page)
{
    struct load_points points;
    int made = make_points(page->grid, &points);
    if (made < 0)
        return page_no_memory(page);
    fputs("<h2>Load and response times</h2>\n<div class=\"s\">\n", page->stream);
    draw_loads(page->stream, &points);
    clear_points(&points);
    if (page->best)
        made = page_print_percentiles(page);
    fputs("</div>\n", page->stream);
    return made;
}

static int make_points(const struct grid *grid, struct load_points *points)
{
    size_t cells = grid->row_count * grid->column_count;
    struct load_point *sorted = reallocarray(NULL, cells + 1, sizeof *sorted);
    *points = (struct load_points){.nominal = true,
                                   .load = reallocarray(NULL, cells + 1, 3 * sizeof(double))};
    if (!sorted || !points->load) {
        free(sorted);
        clear_points(points);
        return -ENOMEM;
    }
    points->rate = points->load + cells + 1;
    points->p95 = points->rate + cells + 1;
    for (size_t i = 0; i < cells; i++)
        if (grid->cells[i].runs && isnan(grid->cells[i].values[METRIC_NOMINAL].mean))
            points->nominal = false;
    for (size_t i = 0; i < cells; i++) {
        const struct grid_cell *cell = &grid->cells[i];
        if (cell->runs == 0 || isnan(cell->values[METRIC_OK].mean))
            continue;
        sorted[points->count++] = (struct load_point){page_offered(grid, cell, points->nominal),
                                                      cell->values[METRIC_OK].mean,
                                                      cell->values[METRIC_P95].mean / milli};
    }
    qsort(sorted, points->count, sizeof *sorted, by_load);
    for (size_t i = 0; i < points->count; i++) {
        points->load[i] = sorted[i].load;
        points->rate[i] = sorted[i].rate;
        points->p95[i] = sorted[i].p95;
    }
    free(sorted);
    return 0;
}

static void clear_points(struct load_points *points)
{
    free(points->load);
    *points = (struct load_points){0};
}

/* The offered load of a cell: what was asked for, or r x S when the files do not tell that. */
static double page_offered(const struct grid *grid, const struct grid_cell *cell, bool nominal)
{
    if (nominal)
        return cell->values[METRIC_NOMINAL].mean;
    return grid_cell_r(grid, cell) * grid_cell_S(grid, cell);
}

static int by_load(const void *left, const void *right)
{
    const struct load_point *a = left, *b = right;
    return a->load < b->load ? -1 : a->load > b->load;
}

static void draw_loads(FILE *stream, const struct load_points *points)
{
    double least, largest;
    char text[TEXT_SIZE];
    size_t knee = page_knee(points->load, points->rate, points->count);
    const char *load =
        points->nominal ? "offered load, operations per second" : "offered load, r x S";
    struct chart chart = {.id = "rate",
                          .title = "Successful operations per second over offered load",
                          .description = "One point for each cell.",
                          .mark = NAN,
                          .series_count = 1};
    if (!find_span(points->load, points->count, &least, &largest))
        return;
    chart.x = chart_linear(load, 0, largest);
    if (knee != SIZE_MAX) {
        snprintf(text, sizeof text, "knee at %.4g: %.4g/s", points->load[knee], points->rate[knee]);
        chart.mark = points->load[knee];
        chart.mark_text = text;
    }
    if (find_span(points->rate, points->count, &least, &largest)) {
        chart.y = chart_linear("per second", 0, largest);
        chart.series[0] = (struct chart_series){
            .points = true, .count = points->count, .x = points->load, .y = points->rate};
        draw_figure(stream, &chart);
    }
    if (find_span(points->p95, points->count, &least, &largest)) {
        chart.id = "p95";
        chart.title = "Response time of 95% over offered load";
        chart.y = chart_logarithmic("milliseconds", least, largest);
        chart.series[0] = (struct chart_series){
            .points = true, .count = points->count, .x = points->load, .y = points->p95};
        draw_figure(stream, &chart);
    }
}

/* Least and largest of values that are numbers (and positive); false: there is none. */
static bool find_span(const double *values, size_t count, double *least, double *largest)
{
    *least = INFINITY;
    *largest = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]) && values[i] > 0) {
            *least = fmin(*least, values[i]);
            *largest = fmax(*largest, values[i]);
        }
    return *largest > 0;
}

static void draw_figure(FILE *stream, const struct chart *chart)
{
    fputs("<figure><figcaption>", stream);
    svg_text(stream, chart->title);
    fputs("</figcaption>\n", stream);
    chart_draw(stream, chart);
    fputs("</figure>\n", stream);
}

static int page_print_percentiles(const struct page *page)
{
    struct curve *curves = NULL;
    struct detail detail = {0};
    char title[TEXT_SIZE];
    size_t count = 0;
    int made = detail_of_cell(page, page->best, &detail);
    if (made < 0)
        goto cleanup;
    curves = calloc(detail.type_count + 1, sizeof *curves);
    if (!curves || make_curves(&detail, curves, &count) < 0) {
        made = page_no_memory(page);
        goto cleanup;
    }
    snprintf(title, sizeof title, "Response times by protocol at r=%.6g S=%.6g",
             grid_cell_r(page->grid, page->best), grid_cell_S(page->grid, page->best));
    if (count)
        draw_curves(page->stream, curves, count, title);
cleanup:
    for (size_t i = 0; i < count; i++)
        histogram_clear(&curves[i].response);
    free(curves);
    detail_clear(&detail);
    return made;
}

/* Adds up the types of each protocol; curves has room for one a type. */
static int make_curves(const struct detail *detail, struct curve *curves, size_t *count)
{
    int merged = 0;
    *count = 0;
    for (size_t i = 0; merged == 0 && i < detail->type_count; i++) {
        const struct detail_type *type = &detail->types[i];
        if (type->response.count == 0)
            continue;
        /* Types are sorted by protocol. */
        if (*count == 0 || strcmp(curves[*count - 1].protocol, type->protocol) != 0) {
            curves[*count].protocol = type->protocol;
            histogram_init(&curves[*count].response);
            ++*count;
        }
        merged = histogram_merge(&curves[*count - 1].response, &type->response);
    }
    return merged == 0 ? join_rare(curves, count) : merged;
}

/* A chart has so many colours: the rarest protocols become one curve. */
static int join_rare(struct curve *curves, size_t *count)
{
    int merged = 0;
    if (*count <= CHART_SERIES_MAX)
        return 0;
    qsort(curves, *count, sizeof *curves, by_response_count);
    struct curve *rest = &curves[CHART_SERIES_MAX - 1];
    rest->protocol = "others";
    for (size_t i = CHART_SERIES_MAX; i < *count; i++) {
        if (merged == 0)
            merged = histogram_merge(&rest->response, &curves[i].response);
        histogram_clear(&curves[i].response);
    }
    *count = CHART_SERIES_MAX;
    return merged;
}

static int by_response_count(const void *left, const void *right)
{
    const struct curve *a = left, *b = right;
    if (a->response.count != b->response.count)
        return a->response.count > b->response.count ? -1 : 1;
    return strcmp(a->protocol, b->protocol);
}

static void draw_curves(FILE *stream, struct curve *curves, size_t count, const char *title)
{
    double least = INFINITY, largest = 0;
    struct chart chart = {.id = "percentiles",
                          .title = title,
                          .description = "One curve for each protocol.",
                          .mark = NAN,
                          .series_count = count};
    for (size_t i = 0; i < count; i++) {
        for (size_t point = 0; point < CURVE_POINTS; point++) {
            double x = 3.0 * (double)point / (CURVE_POINTS - 1);
            int64_t ns = histogram_quantile(&curves[i].response, 1 - pow(10, -x));
            curves[i].x[point] = x;
            curves[i].y[point] = fmax((double)ns, 1000) * nanosecond / milli;
            least = fmin(least, curves[i].y[point]);
            largest = fmax(largest, curves[i].y[point]);
        }
        chart.series[i] = (struct chart_series){
            .name = curves[i].protocol, .count = CURVE_POINTS, .x = curves[i].x, .y = curves[i].y};
    }
    chart.x = chart_percentiles("percent of operations");
    chart.y = chart_logarithmic("milliseconds", least, largest);
    draw_figure(stream, &chart);
}

/* Samples of the first run of the best cell that has some. */
static int print_samples(const struct page *page)
{
    bool found = false;
    int read = 0;
    for (size_t i = 0; read == 0 && !found && i < page->readings->count; i++) {
        const struct reading *reading = &page->readings->items[i];
        struct result result;
        if (reading->form != READING_JSON || !in_cell(page, reading, page->best))
            continue;
        result_init(&result);
        read = result_read(&result, reading->path, page->error);
        found = read == 0 && result.sample_count > 0;
        if (found)
            read = draw_samples(page, &result);
        result_clear(&result);
    }
    return read;
}

static int draw_samples(const struct page *page, const struct result *result)
{
    char names[SAMPLES_MAX][64];
    size_t count = sample_names(result, names), length = result->sample_count;
    double *x = reallocarray(NULL, length, 2 * sizeof *x);
    if (!x)
        return page_no_memory(page);
    fprintf(page->stream, "<h2>The server at r=%.6g S=%.6g</h2>\n<div class=\"s\">\n", result->r,
            result->S);
    for (size_t i = 0; i < count; i++)
        draw_sample(page->stream, result, names[i], i, x, x + length);
    fputs("</div>\n", page->stream);
    free(x);
    return 0;
}

static size_t sample_names(const struct result *result, char names[][64])
{
    size_t count = 0;
    for (size_t i = 0; i < result->sample_count; i++)
        for (size_t value = 0; value < result->samples[i].value_count; value++) {
            const char *name = result->samples[i].values[value].name;
            if (count < SAMPLES_MAX && !known_name(names, count, name))
                snprintf(names[count++], 64, "%s", name);
        }
    return count;
}

static bool known_name(char names[][64], size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* One chart of a sampled value; cpu, which only grows, as its growth: processors in use. */
static void draw_sample(FILE *stream, const struct result *result, const char *name, size_t number,
                        double *x, double *y)
{
    bool growth = strcmp(name, "cpu") == 0;
    double largest = 0, last = NAN, last_t = 0;
    char id[32];
    for (size_t i = 0; i < result->sample_count; i++) {
        double value = page_sample_value(&result->samples[i], name), t = result->samples[i].t;
        x[i] = t;
        y[i] = growth ? (value - last) / (t - last_t) : value;
        last = value;
        last_t = t;
        if (isfinite(y[i]))
            largest = fmax(largest, y[i]);
    }
    snprintf(id, sizeof id, "sample%zu", number);
    struct chart chart = {.id = id,
                          .title = name,
                          .description = "Over the run.",
                          .mark = NAN,
                          .x = chart_linear("seconds", 0, result->window),
                          .y = chart_linear(growth ? "processors in use" : "value", 0, largest),
                          .series_count = 1,
                          .series = {{.count = result->sample_count, .x = x, .y = y}}};
    draw_figure(stream, &chart);
}

static double page_sample_value(const struct result_sample *sample, const char *name)
{
    for (size_t i = 0; i < sample->value_count; i++)
        if (strncmp(sample->values[i].name, name, 63) == 0)
            return sample->values[i].value;
    return NAN;
}

static void print_bottom(FILE *stream)
{
    fputs("<p class=\"f\">Made by traffic-summary " TRAFFIC_VERSION ".</p>\n</body>\n</html>\n",
          stream);
}

int page_print_compare(FILE *stream, const struct compare *compare, struct error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *report = open_memstream(&text, &length);
    int made = report ? compare_print(report, compare, false) : -ENOMEM;
    if (report && fclose(report) == EOF)
        made = -ENOMEM;
    if (made < 0) {
        error_no_memory(error);
        free(text);
        return made;
    }
    print_top(stream, "traffic-summary: comparison");
    fputs("<h1>", stream);
    svg_text(stream, compare->verdict);
    fputs("</h1>\n", stream);
    print_sides(stream, compare);
    fputs("<h2>Cell by cell, packet by packet</h2>\n<div class=\"w\"><pre>", stream);
    svg_text(stream, text + strlen(compare->verdict) + 2);
    fputs("</pre></div>\n", stream);
    print_bottom(stream);
    free(text);
    return 0;
}

/* Both with one scale of colours. */
static void print_sides(FILE *stream, const struct compare *compare)
{
    double least = NAN, largest = NAN;
    for (size_t side = 0; side < COMPARE_SIDES; side++) {
        const struct grid *grid = &compare->grids[side];
        for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
            least = fmin(least, grid_mean(grid, &grid->cells[i]));
            largest = fmax(largest, grid_mean(grid, &grid->cells[i]));
        }
    }
    fputs("<h2>Both grids</h2>\n<div class=\"s\">\n", stream);
    print_side(stream, compare, COMPARE_A, least, largest);
    print_side(stream, compare, COMPARE_B, least, largest);
    fputs("</div>\n", stream);
}

static void print_side(FILE *stream, const struct compare *compare, enum compare_sides side,
                       double least, double largest)
{
    static const char *const ids[] = {"a", "b"};
    char title[TEXT_SIZE];
    snprintf(title, sizeof title, "%c: %.200s", side == COMPARE_A ? 'A' : 'B',
             compare->names[side]);
    fputs("<figure>", stream);
    print_map(
        stream, &compare->grids[side],
        &(struct heatmap){.id = ids[side], .title = title, .least = least, .largest = largest});
    fputs("</figure>\n", stream);
}

size_t page_knee(const double *load, const double *rate, size_t count)
{
    /* Not a knee: a hair above the line, or a rate that goes on growing behind it. */
    static const double bend = 0.1, reached = 0.75;
    double largest = 0, highest = 0, best = bend;
    size_t knee = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        highest = fmax(highest, rate[i]);
    if (count < 3 || !(load[count - 1] > load[0]) || !(highest > rate[0]))
        return SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, rate[i]);
        double along = (load[i] - load[0]) / (load[count - 1] - load[0]);
        double above = (largest - rate[0]) / (highest - rate[0]) - along;
        if (above > best && rate[i] == largest) {
            best = above;
            knee = i;
        }
    }
    return knee != SIZE_MAX && rate[knee] >= reached * highest ? knee : SIZE_MAX;
}
