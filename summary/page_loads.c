/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML page: rate and response time over the load that was asked for, and the knee. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary/chart.h"
#include "summary/page_private.h"
#include "summary/svg.h"

enum { TIP_SIZE = 192, TEXT_SIZE = 256 };

static const double milli = 1e-3;

/* One cell. */
struct load_point {
    double load, rate, low, high;
    double p95, p95_low, p95_high; /* ms */
    bool kept_up;
    char tip[TIP_SIZE];
};

/* The points of all curves, and the same as columns for charts. */
struct load_points {
    enum metric axis; /* METRIC_PLANNED_RATE or METRIC_NOMINAL; METRICS: r x S */
    size_t count;
    struct load_point *points;
    const char **tips;
    double *load, *rate, *low, *high, *p95, *p95_low, *p95_high;
    bool *kept_up;
    size_t first[CHART_SERIES_MAX + 1]; /* of each curve's points */
};

static int make_points(const struct page_curve *curves, size_t count, struct load_points *points);
static size_t count_cells(const struct page_curve *curves, size_t count);
static enum metric find_axis(const struct page_curve *curves, size_t count);
static bool in_curve(const struct page_curve *curve, size_t place);
static void add_points(const struct page_curve *curve, struct load_points *points);
static struct load_point point_of(const struct page_curve *curve, const struct grid_cell *cell,
                                  enum metric axis);
static void write_tip(struct load_point *point, const struct page_curve *curve,
                      const struct grid_cell *cell);
static int by_load(const void *left, const void *right);
static void fill_columns(struct load_points *points);
static void clear_points(struct load_points *points);
static bool find_span(const double *values, size_t count, double *least, double *largest);
static void draw_rates(FILE *stream, const struct page_curve *curves, size_t count,
                       const struct load_points *points, struct chart *chart);
static void draw_times(FILE *stream, const struct page_curve *curves, size_t count,
                       const struct load_points *points, struct chart *chart);
static void find_limit(const struct slo *slo, struct chart *chart, char text[TEXT_SIZE]);
static int find_knee(const struct grid *grid, struct chart *chart, char text[TEXT_SIZE]);
static bool falls_behind(const bool *kept_up, size_t from, size_t count);

int page_print_loads(FILE *stream, const struct page_curve *curves, size_t count,
                     const struct grid *knee_of)
{
    static const char *const titles[METRICS + 1] = {
        [METRIC_PLANNED_RATE] = "planned operations per second",
        [METRIC_NOMINAL] = "operations per second asked for",
        [METRICS] = "offered load, r x S"};
    struct load_points points;
    char knee[TEXT_SIZE];
    double least, largest;
    int made = make_points(curves, count, &points);
    if (made < 0)
        return made;
    struct chart chart = {.description = "One point for each cell; bars from the smallest to the "
                                         "largest run.",
                          .mark = NAN,
                          .limit = NAN};
    if (knee_of)
        made = find_knee(knee_of, &chart, knee);
    if (made == 0 && find_span(points.load, points.count, &least, &largest)) {
        chart.x = chart_linear(titles[points.axis], 0, largest);
        draw_rates(stream, curves, count, &points, &chart);
        draw_times(stream, curves, count, &points, &chart);
    }
    clear_points(&points);
    return made;
}

static int make_points(const struct page_curve *curves, size_t count, struct load_points *points)
{
    enum { COLUMNS = 7 };
    size_t cells = count_cells(curves, count);
    *points = (struct load_points){.axis = find_axis(curves, count)};
    points->points = calloc(cells + 1, sizeof *points->points);
    points->tips = reallocarray(NULL, cells + 1, sizeof *points->tips);
    points->load = reallocarray(NULL, cells + 1, COLUMNS * sizeof(double));
    points->kept_up = calloc(cells + 1, sizeof *points->kept_up);
    if (!points->points || !points->tips || !points->load || !points->kept_up) {
        clear_points(points);
        return -ENOMEM;
    }
    double **columns[] = {&points->rate, &points->low,     &points->high,
                          &points->p95,  &points->p95_low, &points->p95_high};
    for (size_t i = 0; i < COLUMNS - 1; i++)
        *columns[i] = points->load + (i + 1) * (cells + 1);
    for (size_t i = 0; i < count; i++) {
        points->first[i] = points->count;
        add_points(&curves[i], points);
    }
    points->first[count] = points->count;
    fill_columns(points);
    return 0;
}

static size_t count_cells(const struct page_curve *curves, size_t count)
{
    size_t cells = 0;
    for (size_t i = 0; i < count; i++)
        cells += curves[i].grid->row_count * curves[i].grid->column_count;
    return cells;
}

/* What all files contain: the load that the plans held, the nominal load, or only r and S. */
static enum metric find_axis(const struct page_curve *curves, size_t count)
{
    static const enum metric axes[] = {METRIC_PLANNED_RATE, METRIC_NOMINAL};
    for (size_t axis = 0; axis < sizeof axes / sizeof axes[0]; axis++) {
        bool known = true;
        for (size_t i = 0; i < count; i++)
            for (size_t at = 0; at < curves[i].grid->row_count * curves[i].grid->column_count; at++)
                known &= !in_curve(&curves[i], at) ||
                         !isnan(curves[i].grid->cells[at].values[axes[axis]].mean);
        if (known)
            return axes[axis];
    }
    return METRICS;
}

/* Whether a cell of the grid belongs to a curve. Spoiled cells say nothing about the server. */
static bool in_curve(const struct page_curve *curve, size_t place)
{
    const struct grid_cell *cell = &curve->grid->cells[place];
    return cell->runs && !grid_spoiled(cell) && !isnan(cell->values[METRIC_OK].mean) &&
           (curve->column == PAGE_ALL_COLUMNS ||
            place % curve->grid->column_count == curve->column);
}

static void add_points(const struct page_curve *curve, struct load_points *points)
{
    size_t begin = points->count;
    for (size_t i = 0; i < curve->grid->row_count * curve->grid->column_count; i++)
        if (in_curve(curve, i))
            points->points[points->count++] = point_of(curve, &curve->grid->cells[i], points->axis);
    qsort(points->points + begin, points->count - begin, sizeof *points->points, by_load);
}

static struct load_point point_of(const struct page_curve *curve, const struct grid_cell *cell,
                                  enum metric axis)
{
    const struct grid_value *rate = &cell->values[METRIC_OK], *p95 = &cell->values[METRIC_P95];
    struct load_point point = {.rate = rate->mean,
                               .low = rate->min,
                               .high = rate->max,
                               .p95 = p95->mean / milli,
                               .p95_low = p95->min / milli,
                               .p95_high = p95->max / milli,
                               .kept_up = grid_kept_up(curve->grid, cell)};
    point.load = axis == METRICS ? grid_cell_r(curve->grid, cell) * grid_cell_S(curve->grid, cell)
                                 : cell->values[axis].mean;
    write_tip(&point, curve, cell);
    return point;
}

static void write_tip(struct load_point *point, const struct page_curve *curve,
                      const struct grid_cell *cell)
{
    const struct grid_value *rate = &cell->values[METRIC_OK];
    char mean[METRIC_TEXT_SIZE], low[METRIC_TEXT_SIZE], high[METRIC_TEXT_SIZE];
    char p95[METRIC_TEXT_SIZE], load[SVG_NUMBER_SIZE];
    metric_text(mean, METRIC_OK, rate->mean);
    metric_text(low, METRIC_OK, rate->min);
    metric_text(high, METRIC_OK, rate->max);
    metric_text(p95, METRIC_P95, cell->values[METRIC_P95].mean);
    svg_number(load, point->load);
    int used = snprintf(point->tip, TIP_SIZE, "r=%.6g S=%.6g: %s of %s",
                        grid_cell_r(curve->grid, cell), grid_cell_S(curve->grid, cell), mean, load);
    if (rate->count > 1)
        used += snprintf(point->tip + used, (size_t)(TIP_SIZE - used), ", %zu runs from %s to %s",
                         rate->count, low, high);
    if (!isnan(point->p95))
        snprintf(point->tip + used, (size_t)(TIP_SIZE - used), ", p95 %s", p95);
}

static int by_load(const void *left, const void *right)
{
    const struct load_point *a = left, *b = right;
    return a->load < b->load ? -1 : a->load > b->load;
}

static void fill_columns(struct load_points *points)
{
    for (size_t i = 0; i < points->count; i++) {
        const struct load_point *point = &points->points[i];
        points->tips[i] = point->tip;
        points->load[i] = point->load;
        points->rate[i] = point->rate;
        points->low[i] = point->low;
        points->high[i] = point->high;
        points->p95[i] = point->p95;
        points->p95_low[i] = point->p95_low;
        points->p95_high[i] = point->p95_high;
        points->kept_up[i] = point->kept_up;
    }
}

static void clear_points(struct load_points *points)
{
    free(points->points);
    free(points->tips);
    free(points->load);
    free(points->kept_up);
    *points = (struct load_points){0};
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

static void draw_rates(FILE *stream, const struct page_curve *curves, size_t count,
                       const struct load_points *points, struct chart *chart)
{
    double least, largest;
    if (!find_span(points->high, points->count, &least, &largest))
        return;
    chart->id = "rate";
    chart->title = "Successful operations per second over load";
    chart->y = chart_linear("per second", 0, largest);
    chart->diagonal = points->axis == METRICS ? NULL : "all succeed";
    chart->series_count = count;
    for (size_t i = 0; i < count; i++) {
        size_t first = points->first[i];
        chart->series[i] = (struct chart_series){.name = curves[i].name,
                                                 .points = true,
                                                 .lines = count > 1,
                                                 .count = points->first[i + 1] - first,
                                                 .x = points->load + first,
                                                 .y = points->rate + first,
                                                 .low = points->low + first,
                                                 .high = points->high + first,
                                                 .tips = points->tips + first};
    }
    page_draw_figure(stream, chart);
}

static void draw_times(FILE *stream, const struct page_curve *curves, size_t count,
                       const struct load_points *points, struct chart *chart)
{
    double least, largest, smallest, largest_mean;
    char limit[TEXT_SIZE];
    if (!find_span(points->p95_high, points->count, &smallest, &largest) ||
        !find_span(points->p95_low, points->count, &least, &largest_mean))
        return;
    find_limit(curves[0].grid->slo, chart, limit);
    if (isfinite(chart->limit)) {
        least = fmin(least, chart->limit);
        largest = fmax(largest, chart->limit);
    }
    chart->id = "p95";
    chart->title = "Response time of 95% over load";
    chart->y = chart_logarithmic("milliseconds", least, largest);
    chart->diagonal = NULL;
    for (size_t i = 0; i < count; i++) {
        chart->series[i].y = points->p95 + points->first[i];
        chart->series[i].low = points->p95_low + points->first[i];
        chart->series[i].high = points->p95_high + points->first[i];
    }
    page_draw_figure(stream, chart);
}

/* The largest 95% response time of the service level. */
static void find_limit(const struct slo *slo, struct chart *chart, char text[TEXT_SIZE])
{
    char limit[METRIC_TEXT_SIZE];
    for (size_t i = 0; i < slo->count; i++) {
        const struct slo_condition *condition = &slo->conditions[i];
        if (condition->metric != METRIC_P95 || condition->relation == SLO_AT_LEAST ||
            condition->relation == SLO_MORE || !(condition->limit > 0))
            continue;
        metric_text(limit, METRIC_P95, condition->limit);
        snprintf(text, TEXT_SIZE, "service level: %s", limit);
        chart->limit = condition->limit / milli;
        chart->limit_text = text;
    }
}

/* Marks the knee. Rates beyond what was planned (operations of the warm-up) do not count. */
static int find_knee(const struct grid *grid, struct chart *chart, char text[TEXT_SIZE])
{
    struct page_curve curve = {.grid = grid, .column = PAGE_ALL_COLUMNS};
    struct load_points points;
    char load[SVG_NUMBER_SIZE], rate[SVG_NUMBER_SIZE];
    int made = make_points(&curve, 1, &points);
    if (made < 0)
        return made;
    if (points.axis == METRIC_PLANNED_RATE)
        for (size_t i = 0; i < points.count; i++)
            points.rate[i] = fmin(points.rate[i], points.load[i]);
    size_t knee =
        page_knee(points.load, points.rate,
                  points.axis == METRIC_PLANNED_RATE ? points.kept_up : NULL, points.count);
    if (knee != SIZE_MAX) {
        svg_number(load, points.load[knee]);
        svg_number(rate, points.rate[knee]);
        snprintf(text, TEXT_SIZE, "knee: %s/s at %s%s", rate, load,
                 points.axis == METRICS ? "" : "/s");
        chart->mark = points.load[knee];
        chart->mark_text = text;
    }
    clear_points(&points);
    return 0;
}

size_t page_knee(const double *load, const double *rate, const bool *kept_up, size_t count)
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
    if (knee == SIZE_MAX || (kept_up && !falls_behind(kept_up, knee, count)))
        return SIZE_MAX;
    return rate[knee] >= reached * highest ? knee : SIZE_MAX;
}

static bool falls_behind(const bool *kept_up, size_t from, size_t count)
{
    for (size_t i = from; i < count; i++)
        if (!kept_up[i])
            return true;
    return false;
}
