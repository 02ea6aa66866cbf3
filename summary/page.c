/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTML page, from top to bottom: the answer, what speaks against it, what was
 * measured, the grid, cells, charts, failures, samples. A
 * cell's details are shown when its link is followed (:target), so no script is needed.
 */
#include "summary/page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary/heatmap.h"
#include "summary/page_private.h"
#include "summary/svg.h"

enum { TEXT_SIZE = 512 };

static void print_style(FILE *stream);
static int print_body(struct page *page);
static void print_answer(const struct page *page);
static void print_maps(const struct page *page);
static bool has_metric(const struct grid *grid, enum metric metric);
static int print_charts(const struct page *page);

int page_print(FILE *stream, const struct grid *grid, const struct readings *readings,
               struct error *error)
{
    struct page page = {.stream = stream,
                        .grid = grid,
                        .readings = readings,
                        .best = grid->largest_kept ? grid->largest_kept : grid->largest,
                        .error = error};
    page_print_top(stream, "traffic-summary: the load that the server can sustain");
    int made = print_body(&page);
    page_print_bottom(stream);
    detail_clear(&page.total);
    return made;
}

void page_print_top(FILE *stream, const char *title)
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
        ":root{color-scheme:light "
        "dark;--p:#fff;--t:#1b1f24;--f:#59636e;--l:#d5dae0;--a:#1f5fb4;--w:#b42318}\n"
        "@media(prefers-color-scheme:dark){:root{--p:#14171b;--t:#e6e9ed;--f:#9aa4af;"
        "--l:#343a42;--a:#7db1f5;--w:#ff8a75}}\n"
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
        ".cell{display:none}.cell:target{display:block}"
        ".warn{border-left:4px solid var(--w);padding-left:10px}ul.warn{list-style:none}"
        ".o td{white-space:normal;overflow-wrap:anywhere}.o{max-width:100%}"
        "td.u0{background:#1f6f3f;color:#fff}td.u1{background:#b9e3c6;color:#10301c}"
        "td.u2{background:#f6cfc4;color:#47140a}td.u3{background:#a5341b;color:#fff}"
        "td.u0 a,td.u1 a,td.u2 a,td.u3 a{color:inherit}"
        "@media print{.cell{display:block;break-inside:avoid}a{color:inherit}.w{overflow:visible}"
        "figure{break-inside:avoid}body{max-width:none}}\n",
        stream);
    svg_style(stream);
}

static int print_body(struct page *page)
{
    FILE *stream = page->stream;
    print_answer(page);
    if (page->grid->mixed)
        page_print_mixed(stream, page->grid->mixed, "");
    page_print_doubts(stream, page->readings);
    if (page_print_origin(stream, page->readings) < 0)
        return page_no_memory(page);
    fputs("<h2 id=\"top\">The grid</h2>\n<p class=\"f\">Follow a cell to its details below the "
          "grid.</p>\n",
          stream);
    print_maps(page);
    int made = page_print_cells(page);
    if (made == 0)
        made = print_charts(page);
    if (made == 0 &&
        page_print_failures(stream, &page->total, "<h2>Failures by cause, of all runs</h2>\n") < 0)
        made = page_no_memory(page);
    if (made == 0 && page->best)
        made = page_print_samples(page);
    return made;
}

static void print_answer(const struct page *page)
{
    const struct grid *grid = page->grid;
    FILE *stream = page->stream;
    char beyond[TEXT_SIZE];
    fputs("<h1>", stream);
    if (grid->largest) {
        fprintf(stream, "%s, largest: ", metric_forms[grid->metric].title);
        page_print_where(stream, grid, grid->largest);
    } else {
        fputs("No run has a value", stream);
    }
    fputs("</h1>\n", stream);
    if (grid->slo->count) {
        fputs("<p>Largest within the service level ", stream);
        svg_text(stream, grid->slo->text);
        fputs(": <b>", stream);
        if (grid->largest_kept)
            page_print_where(stream, grid, grid->largest_kept);
        else
            fputs("none", stream);
        fputs("</b></p>\n", stream);
    }
    if (grid_maximum_is_beyond(grid, beyond, sizeof beyond)) {
        fputs("<p class=\"warn\">", stream);
        svg_text(stream, beyond);
        fputs("</p>\n", stream);
    }
}

/* "119/s at r=4 S=5" */
void page_print_where(FILE *stream, const struct grid *grid, const struct grid_cell *cell)
{
    char value[METRIC_TEXT_SIZE];
    metric_text(value, grid->metric, grid_mean(grid, cell));
    fprintf(stream, "%s%s at r=%.12g S=%.12g", cell->mixed ? "~" : "", value,
            grid_cell_r(grid, cell), grid_cell_S(grid, cell));
    if (cell->mixed)
        fputs(" (mean of runs that differ)", stream);
}

/* The grid, and beside it what its figure was bought with. */
static void print_maps(const struct page *page)
{
    static const enum metric beside[] = {METRIC_SUCCESS_RATE, METRIC_P95};
    static const char *const ids[] = {"success", "slowest"};
    FILE *stream = page->stream;
    fputs("<div class=\"s\">\n<figure>", stream);
    page_print_map(stream, page->grid,
                   &(struct heatmap){.id = "grid", .links = "cell", .least = NAN, .largest = NAN});
    fputs("</figure>\n", stream);
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        struct grid grid = *page->grid;
        if (beside[i] == grid.metric || !has_metric(&grid, beside[i]))
            continue;
        grid.metric = beside[i];
        fputs("<figure>", stream);
        page_print_map(
            stream, &grid,
            &(struct heatmap){
                .id = ids[i], .links = "cell", .least = NAN, .largest = NAN, .plain = true});
        fputs("</figure>\n", stream);
    }
    fputs("</div>\n", stream);
}

static bool has_metric(const struct grid *grid, enum metric metric)
{
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++)
        if (grid->cells[i].values[metric].count)
            return true;
    return false;
}

/* A curve for each S, if they are few and each has several cells. */
static int print_charts(const struct page *page)
{
    const struct grid *grid = page->grid;
    struct page_curve curves[CHART_SERIES_MAX] = {{NULL, grid, PAGE_ALL_COLUMNS}};
    char names[CHART_SERIES_MAX][32];
    size_t count = 1;
    if (grid->row_count > 1 && grid->column_count > 1 && grid->column_count <= CHART_SERIES_MAX)
        for (count = 0; count < grid->column_count; count++) {
            snprintf(names[count], sizeof names[count], "S=%.6g", grid->S[count]);
            curves[count] = (struct page_curve){names[count], grid, count};
        }
    fputs("<h2>Load and response times</h2>\n<div class=\"s\">\n", page->stream);
    if (page_print_loads(page->stream, curves, count, grid) < 0)
        return page_no_memory(page);
    int made = page->best ? page_print_percentiles(page) : 0;
    fputs("</div>\n", page->stream);
    return made;
}

void page_print_map(FILE *stream, const struct grid *grid, const struct heatmap *map)
{
    fputs("<div class=\"w\">\n", stream);
    heatmap_draw(stream, grid, map);
    fputs("</div>\n", stream);
}

void page_print_bottom(FILE *stream)
{
    fputs("<p class=\"f\">Made by traffic-summary " TRAFFIC_VERSION ".</p>\n</body>\n</html>\n",
          stream);
}

int page_no_memory(const struct page *page)
{
    return error_no_memory(page->error);
}
