/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a chart as SVG: axes with ticks, series, a mark and a legend. */
#include "summary/chart.h"

#include <math.h>
#include <string.h>

#include "summary/svg.h"

enum { WIDTH = 376, HEIGHT = 264, LEFT = 62, RIGHT = 22, TOP = 34, BOTTOM = 46, LINE_HEIGHT = 16 };

static void add_tick(struct chart_axis *axis, double at, const char *format, double value);
static double legend_height(const struct chart *chart);
static void draw_axes(FILE *stream, const struct chart *chart);
static double place_y(const struct chart *chart, double value);
static double chart_place(const struct chart_axis *axis, double value);
static double place_x(const struct chart *chart, double value);
static void draw_points(FILE *stream, const struct chart *chart, size_t number);
static bool is_drawable(const struct chart *chart, double x, double y);
static void draw_curve(FILE *stream, const struct chart *chart, size_t number);
static void draw_bars(FILE *stream, const struct chart *chart, const struct chart_series *series);
static void draw_diagonal(FILE *stream, const struct chart *chart);
static void draw_limit(FILE *stream, const struct chart *chart);
static void draw_entry(FILE *stream, size_t place, const char *kind, const char *name);
static void draw_mark(FILE *stream, const struct chart *chart);
static void chart_draw_legend(FILE *stream, const struct chart *chart);

struct chart_axis chart_linear(const char *title, double least, double largest)
{
    struct chart_axis axis = {.title = title};
    double step = svg_step(largest - least, 6);
    axis.least = floor(least / step) * step;
    axis.largest = ceil(largest / step) * step;
    if (!(axis.largest > axis.least))
        axis.largest = axis.least + step;
    for (double at = axis.least; at <= axis.largest + step / 2; at += step)
        add_tick(&axis, at, "%.6g", fabs(at) < step / 2 ? 0 : at);
    return axis;
}

static void add_tick(struct chart_axis *axis, double at, const char *format, double value)
{
    if (axis->tick_count == CHART_TICKS_MAX)
        return;
    struct chart_tick *tick = &axis->ticks[axis->tick_count++];
    tick->at = at;
    snprintf(tick->label, sizeof tick->label, format, value);
}

struct chart_axis chart_logarithmic(const char *title, double least, double largest)
{
    struct chart_axis axis = {.title = title, .logarithmic = true};
    double first = floor(log10(least)), last = ceil(log10(largest));
    if (!(last > first))
        last = first + 1;
    axis.least = pow(10, first);
    axis.largest = pow(10, last);
    for (double power = first; power <= last; power++)
        add_tick(&axis, pow(10, power), "%.6g", pow(10, power));
    return axis;
}

struct chart_axis chart_percentiles(const char *title)
{
    static const double percents[] = {0, 50, 90, 95, 99, 99.9};
    struct chart_axis axis = {.title = title, .largest = 3};
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++)
        add_tick(&axis, chart_percentile_x(percents[i] / 100), "%.6g", percents[i]);
    return axis;
}

double chart_percentile_x(double fraction)
{
    return -log10(1 - fraction);
}

void chart_draw(FILE *stream, const struct chart *chart)
{
    svg_begin(stream, &(struct svg_frame){.id = chart->id,
                                          .title = chart->title,
                                          .description = chart->description,
                                          .width = WIDTH,
                                          .height = HEIGHT + legend_height(chart)});
    draw_axes(stream, chart);
    if (chart->diagonal)
        draw_diagonal(stream, chart);
    for (size_t i = 0; i < chart->series_count; i++) {
        if (chart->series[i].lines)
            draw_curve(stream, chart, i);
        if (chart->series[i].points)
            draw_points(stream, chart, i);
    }
    if (isfinite(chart->limit))
        draw_limit(stream, chart);
    if (isfinite(chart->mark))
        draw_mark(stream, chart);
    chart_draw_legend(stream, chart);
    fputs("</svg>\n", stream);
}

static double legend_height(const struct chart *chart)
{
    size_t named = chart->diagonal != NULL;
    for (size_t i = 0; i < chart->series_count; i++)
        named += chart->series[i].name != NULL;
    return named ? LINE_HEIGHT * (double)((named + 1) / 2) : 0;
}

static void draw_axes(FILE *stream, const struct chart *chart)
{
    for (size_t i = 0; i < chart->y.tick_count; i++) {
        double y = place_y(chart, chart->y.ticks[i].at);
        fprintf(stream,
                "<path class=\"g\" d=\"M%d %.1fH%d\"/><text class=\"f r\" x=\"%d\" "
                "y=\"%.1f\">%s</text>\n",
                LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4, chart->y.ticks[i].label);
    }
    for (size_t i = 0; i < chart->x.tick_count; i++) {
        double x = place_x(chart, chart->x.ticks[i].at);
        fprintf(stream,
                "<path class=\"a\" d=\"M%.1f %dv4\"/><text class=\"f c\" x=\"%.1f\" "
                "y=\"%d\">%s</text>\n",
                x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 17, chart->x.ticks[i].label);
    }
    fprintf(stream,
            "<path class=\"a\" d=\"M%d %dV%dH%d\"/>\n<text class=\"f c\" x=\"%d\" y=\"%d\">", LEFT,
            TOP, HEIGHT - BOTTOM, WIDTH - RIGHT, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12);
    svg_text(stream, chart->x.title);
    fprintf(stream, "</text>\n<text class=\"f\" x=\"4\" y=\"%d\">", TOP - 10);
    svg_text(stream, chart->y.title);
    fputs("</text>\n", stream);
}

static double place_y(const struct chart *chart, double value)
{
    return HEIGHT - BOTTOM - chart_place(&chart->y, value) * (HEIGHT - TOP - BOTTOM);
}

/* Position of a value between the ends of an axis, 0 to 1. */
static double chart_place(const struct chart_axis *axis, double value)
{
    if (axis->logarithmic)
        return log(value / axis->least) / log(axis->largest / axis->least);
    return (value - axis->least) / (axis->largest - axis->least);
}

static double place_x(const struct chart *chart, double value)
{
    return LEFT + chart_place(&chart->x, value) * (WIDTH - LEFT - RIGHT);
}

static void draw_points(FILE *stream, const struct chart *chart, size_t number)
{
    const struct chart_series *series = &chart->series[number];
    draw_bars(stream, chart, series);
    for (size_t i = 0; i < series->count; i++) {
        if (!is_drawable(chart, series->x[i], series->y[i]))
            continue;
        fprintf(stream, "<circle class=\"d%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\">",
                number % SVG_SERIES, place_x(chart, series->x[i]), place_y(chart, series->y[i]));
        if (series->tips) {
            fputs("<title>", stream);
            svg_text(stream, series->tips[i]);
            fputs("</title>", stream);
        }
        fputs("</circle>\n", stream);
    }
}

static void draw_bars(FILE *stream, const struct chart *chart, const struct chart_series *series)
{
    for (size_t i = 0; series->low && i < series->count; i++)
        if (is_drawable(chart, series->x[i], series->low[i]) &&
            is_drawable(chart, series->x[i], series->high[i]) && series->high[i] > series->low[i])
            fprintf(stream, "<path class=\"v\" d=\"M%.1f %.1fV%.1f\"/>\n",
                    place_x(chart, series->x[i]), place_y(chart, series->low[i]),
                    place_y(chart, series->high[i]));
}

/* The line that the points would follow if all operations succeeded. */
static void draw_diagonal(FILE *stream, const struct chart *chart)
{
    double end = fmin(chart->x.largest, chart->y.largest);
    fprintf(stream, "<path class=\"q\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", place_x(chart, 0),
            place_y(chart, 0), place_x(chart, end), place_y(chart, end));
}

static void draw_limit(FILE *stream, const struct chart *chart)
{
    if (chart->limit < chart->y.least || chart->limit > chart->y.largest)
        return;
    double y = place_y(chart, chart->limit);
    fprintf(stream, "<path class=\"k\" d=\"M%d %.1fH%d\"/><text class=\"t\" x=\"%d\" y=\"%.1f\">",
            LEFT, y, WIDTH - RIGHT, LEFT + 6, y < TOP + 34 ? y + 14 : y - 5);
    svg_text(stream, chart->limit_text);
    fputs("</text>\n", stream);
}

static bool is_drawable(const struct chart *chart, double x, double y)
{
    return isfinite(x) && isfinite(y) && (!chart->y.logarithmic || y > 0) &&
           (!chart->x.logarithmic || x > 0);
}

static void draw_curve(FILE *stream, const struct chart *chart, size_t number)
{
    const struct chart_series *series = &chart->series[number];
    bool begun = false;
    for (size_t i = 0; i < series->count; i++) {
        if (!is_drawable(chart, series->x[i], series->y[i]))
            continue;
        if (!begun)
            fprintf(stream, "<path class=\"s%zu\" d=\"", number % SVG_SERIES);
        fprintf(stream, "%c%.1f %.1f", begun ? 'L' : 'M', place_x(chart, series->x[i]),
                place_y(chart, series->y[i]));
        begun = true;
    }
    if (begun)
        fputs("\"/>\n", stream);
}

static void draw_mark(FILE *stream, const struct chart *chart)
{
    double x = place_x(chart, chart->mark);
    bool right = x > (LEFT + WIDTH) / 2.0;
    fprintf(stream, "<path class=\"k\" d=\"M%.1f %dV%d\"/><text class=\"t%s\" x=\"%.1f\" y=\"%d\">",
            x, TOP, HEIGHT - BOTTOM, right ? " r" : "", x + (right ? -5 : 5), TOP + 12);
    svg_text(stream, chart->mark_text);
    fputs("</text>\n", stream);
}

/* Draws the legend below the chart, two entries per line. */
static void chart_draw_legend(FILE *stream, const struct chart *chart)
{
    size_t named = 0;
    for (size_t i = 0; i < chart->series_count; i++) {
        char kind[32];
        if (!chart->series[i].name)
            continue;
        snprintf(kind, sizeof kind, "%s%zu", chart->series[i].lines ? "s" : "d", i % SVG_SERIES);
        draw_entry(stream, named++, kind, chart->series[i].name);
    }
    if (chart->diagonal)
        draw_entry(stream, named, "q", chart->diagonal);
}

static void draw_entry(FILE *stream, size_t place, const char *kind, const char *name)
{
    double x = LEFT + (place % 2 ? (WIDTH - LEFT - RIGHT) / 2.0 : 0);
    double y = HEIGHT + LINE_HEIGHT * (double)(place / 2) + 8;
    if (*kind == 'd')
        fprintf(stream, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", kind, x + 12,
                y - 4);
    else
        fprintf(stream, "<path class=\"%s\" d=\"M%.1f %.1fh24\"/>", kind, x, y - 4);
    fprintf(stream, "<text class=\"t\" x=\"%.1f\" y=\"%.1f\">", x + 29, y);
    svg_text(stream, name);
    fputs("</text>\n", stream);
}
