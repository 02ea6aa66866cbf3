/* SPDX-License-Identifier: Apache-2.0 */
/* Charts: points and lines over two axes, drawn as SVG. */
#ifndef SUMMARY_CHART_H
#define SUMMARY_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CHART_TICKS_MAX = 16, CHART_SERIES_MAX = 8 };

struct chart_tick {
    double at;
    char label[16];
};

struct chart_axis {
    const char *title; /* with its unit */
    bool logarithmic;
    double least, largest;
    size_t tick_count;
    struct chart_tick ticks[CHART_TICKS_MAX];
};

/* NaN values are skipped. */
struct chart_series {
    const char *name;   /* in the legend; NULL: no legend entry */
    bool points, lines; /* draw points, a line through them, or both */
    size_t count;
    const double *x, *y;
    const double *low, *high; /* ends of an error bar for each point; NULL: none */
    const char *const *tips;  /* shown for each point; NULL: none */
};

struct chart {
    const char *id, *title, *description;
    struct chart_axis x, y;
    size_t series_count;
    struct chart_series series[CHART_SERIES_MAX];
    double mark; /* vertical line at this x; NaN: none */
    const char *mark_text;
    double limit; /* horizontal line at this y; NaN: none */
    const char *limit_text;
    const char *diagonal; /* draw the line y = x, with this legend entry; NULL: no line */
};

/* Axes that cover both values, with ticks at round numbers. A logarithmic axis needs positive
 * values. */
struct chart_axis chart_linear(const char *title, double least, double largest);
struct chart_axis chart_logarithmic(const char *title, double least, double largest);
/* An axis of percentiles: x is -log10(1 - fraction), so 0 to 3 cover 0% to 99.9%. */
struct chart_axis chart_percentiles(const char *title);
double chart_percentile_x(double fraction);

/* Draws the chart as one <svg> element. Errors are left in the stream. */
void chart_draw(FILE *stream, const struct chart *chart);

#endif
