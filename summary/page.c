/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTML page, from top to bottom: the answer, the grid, cells, charts, failures, samples. A
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

enum { TEXT_SIZE = 256 };

static void print_top(FILE *stream, const char *title);
static void print_style(FILE *stream);
static int print_body(struct page *page);
static void print_answer(const struct page *page);
static void print_where(FILE *stream, const struct grid *grid, const struct grid_cell *cell);
static void print_map(FILE *stream, const struct grid *grid, const struct heatmap *map);
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
    int made = page_print_cells(page);
    if (made == 0)
        made = page_print_charts(page);
    if (made == 0 && page_print_failures(page->stream, &page->total,
                                         "<h2>Failures by cause, of all runs</h2>\n") < 0)
        made = page_no_memory(page);
    if (made == 0 && page->best)
        made = page_print_samples(page);
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

/* Prints both grids with a common colour scale. */
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

int page_no_memory(const struct page *page)
{
    return error_no_memory(page->error);
}
