/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML page: response times by protocol as curves of percentiles. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary/chart.h"
#include "summary/page_private.h"
#include "summary/svg.h"

enum { TEXT_SIZE = 256, CURVE_POINTS = 31 };

static const double nanosecond = 1e-9, milli = 1e-3;

/* One curve of a protocol's response times. */
struct curve {
    const char *protocol;
    struct histogram response;
    double x[CURVE_POINTS], y[CURVE_POINTS];
};

static int make_curves(const struct detail *detail, struct curve *curves, size_t *count);
static int join_rare(struct curve *curves, size_t *count);
static int by_response_count(const void *left, const void *right);
static void draw_curves(FILE *stream, struct curve *curves, size_t count, const char *title);
static size_t known_points(const struct histogram *histogram);

int page_print_percentiles(const struct page *page)
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
                          .limit = NAN,
                          .series_count = count};
    for (size_t i = 0; i < count; i++) {
        size_t points = known_points(&curves[i].response);
        for (size_t point = 0; point < points; point++) {
            double x = 3.0 * (double)point / (CURVE_POINTS - 1);
            int64_t ns = histogram_quantile(&curves[i].response, 1 - pow(10, -x));
            curves[i].x[point] = x;
            curves[i].y[point] = fmax((double)ns, 1000) * nanosecond / milli;
            least = fmin(least, curves[i].y[point]);
            largest = fmax(largest, curves[i].y[point]);
        }
        chart.series[i] = (struct chart_series){.name = curves[i].protocol,
                                                .lines = true,
                                                .count = points,
                                                .x = curves[i].x,
                                                .y = curves[i].y};
    }
    chart.x = chart_percentiles("percent of operations");
    chart.y = chart_logarithmic("milliseconds", least, largest);
    page_draw_figure(stream, &chart);
}

/* A percentile of few operations is but one of them, so a curve ends where its operations do. */
static size_t known_points(const struct histogram *histogram)
{
    double end = log10((double)histogram->count + 1) / 3.0;
    size_t points = 1 + (size_t)(fmin(end, 1) * (CURVE_POINTS - 1));
    return points < 2 ? 2 : points;
}

void page_draw_figure(FILE *stream, const struct chart *chart)
{
    fputs("<figure><figcaption>", stream);
    svg_text(stream, chart->title);
    fputs("</figcaption>\n", stream);
    chart_draw(stream, chart);
    fputs("</figure>\n", stream);
}
