/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML page: charts over offered load, of response times by protocol, and of samples. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary/chart.h"
#include "summary/page_private.h"
#include "summary/result/result.h"
#include "summary/svg.h"

enum { SAMPLES_MAX = 8, TEXT_SIZE = 256, CURVE_POINTS = 31 };

static const double nanosecond = 1e-9, milli = 1e-3;

struct load_points {
    bool nominal; /* load is in operations per second; otherwise r x S */
    size_t count;
    double *load, *rate, *p95; /* sorted by load; p95 in ms */
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
static int draw_samples(const struct page *page, const struct result *result);
static size_t sample_names(const struct result *result, char names[][64]);
static bool known_name(char names[][64], size_t count, const char *name);
static void draw_sample(FILE *stream, const struct result *result, const char *name, size_t number,
                        double *x, double *y);
static double page_sample_value(const struct result_sample *sample, const char *name);

int page_print_charts(const struct page *page)
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

/* The offered load of a cell; r x S if the files do not contain it. */
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

size_t page_knee(const double *load, const double *rate, size_t count)
{
    /* How far a knee is above the line, and which share of the largest rate it has reached. */
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

/* Finds the smallest and largest of the finite positive values. false: there are none. */
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
    int made = page_cell_detail(page, page->best, &detail);
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

/* Adds up the packet types of each protocol. curves has room for one per type. */
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

/* Colours are limited, so the rarest protocols share one curve. */
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

int page_print_samples(const struct page *page)
{
    bool found = false;
    int read = 0;
    for (size_t i = 0; read == 0 && !found && i < page->readings->count; i++) {
        const struct reading *reading = &page->readings->items[i];
        struct result result;
        if (reading->form != READING_JSON || !page_in_cell(page, reading, page->best))
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

/* Draws one chart of a sampled value. cpu is cumulative, so its growth is shown: processors in
 * use. */
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
