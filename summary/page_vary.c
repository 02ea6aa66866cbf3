/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML page of a varied setting: its maxima, curves and grids by value. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary/page_private.h"
#include "summary/svg.h"

enum { TITLE_SIZE = 256 };

/* The runs and the grid of each value. */
struct vary_page {
    FILE *stream;
    const struct vary *vary;
    size_t count;
    struct grid *grids;
};

static int make_grids(struct vary_page *page, const struct readings *readings);
static void clear_grids(struct vary_page *page);
static void print_headline(const struct vary_page *page);
static void print_rows(const struct vary_page *page);
static void print_best_cells(const struct vary_page *page, const struct vary_best *best);
static void print_value(const struct vary_page *page, enum metric metric, double value);
static int print_curves(const struct vary_page *page);
static void print_grids(const struct vary_page *page);

int page_print_vary(FILE *stream, const struct vary *vary, const struct readings *readings,
                    struct error *error)
{
    struct vary_page page = {.stream = stream, .vary = vary};
    int made = make_grids(&page, readings);
    if (made == 0) {
        page_print_top(stream, "traffic-summary: a varied setting");
        print_headline(&page);
        page_print_doubts(stream, readings);
        for (size_t i = 0; i < vary->count; i++) {
            char prefix[TITLE_SIZE];
            snprintf(prefix, sizeof prefix, "%.80s=%.80s: ", vary->name, vary->rows[i].value);
            page_print_mixed(stream, &vary->rows[i].mixed, prefix);
        }
        print_rows(&page);
        made = page_print_origin(stream, readings);
    }
    if (made == 0)
        made = print_curves(&page);
    if (made == 0)
        print_grids(&page);
    page_print_bottom(stream);
    clear_grids(&page);
    return made < 0 ? error_no_memory(error) : 0;
}

static int make_grids(struct vary_page *page, const struct readings *readings)
{
    const struct vary *vary = page->vary;
    struct reading *items = reallocarray(NULL, readings->count + 1, sizeof *items);
    page->grids = calloc(vary->count + 1, sizeof *page->grids);
    int made = items && page->grids ? 0 : -ENOMEM;
    for (size_t i = 0; made == 0 && i < vary->count; i++) {
        struct readings group = {.items = items};
        for (size_t run = 0; run < readings->count; run++)
            if (strcmp(vary_value_of(&readings->items[run], vary->name), vary->rows[i].value) == 0)
                items[group.count++] = readings->items[run];
        made = grid_make(&page->grids[i], &group, vary->metric, false, vary->slo);
        if (made == 0)
            grid_mark_mixed(&page->grids[page->count++], &vary->rows[i].mixed);
    }
    free(items);
    return made;
}

static void clear_grids(struct vary_page *page)
{
    for (size_t i = 0; i < page->count; i++)
        grid_clear(&page->grids[i]);
    free(page->grids);
}

/* The value that reached the most, within the service level if there is one. */
static void print_headline(const struct vary_page *page)
{
    const struct vary *vary = page->vary;
    const struct vary_row *best = NULL;
    double largest = NAN;
    for (size_t i = 0; i < vary->count; i++) {
        const struct vary_row *row = &vary->rows[i];
        double value = vary->slo->count ? row->kept.value : row->largest.value;
        if (isnan(value) || value <= largest)
            continue;
        largest = value;
        best = row;
    }
    fputs("<h1>", page->stream);
    svg_text(page->stream, vary->name);
    if (best) {
        fputs(": largest at ", page->stream);
        svg_text(page->stream, best->value);
        fputs(", ", page->stream);
        print_value(page, vary->metric, largest);
        if (vary->slo->count) {
            fputs(" within ", page->stream);
            svg_text(page->stream, vary->slo->text);
        }
    }
    fputs("</h1>\n", page->stream);
}

static void print_value(const struct vary_page *page, enum metric metric, double value)
{
    char text[METRIC_TEXT_SIZE] = "none";
    if (!isnan(value))
        metric_text(text, metric, value);
    fputs(text, page->stream);
}

static void print_rows(const struct vary_page *page)
{
    FILE *stream = page->stream;
    const struct vary *vary = page->vary;
    bool slo = vary->slo->count > 0;
    fputs("<h2>By value</h2>\n<div class=\"w\"><table>\n<tr><th class=\"l\">", stream);
    svg_text(stream, vary->name);
    fprintf(stream,
            "</th><th>Runs</th><th>Largest</th><th>at</th>%s<th>95%% there</th>"
            "<th>Server CPU per operation</th></tr>\n",
            slo ? "<th>Largest within the level</th><th>at</th>" : "");
    for (size_t i = 0; i < vary->count; i++) {
        const struct vary_row *row = &vary->rows[i];
        const struct vary_best *chosen = slo ? &row->kept : &row->largest;
        fprintf(stream, "<tr><td class=\"l\"><a href=\"#value-%zu\">", i);
        svg_text(stream, row->value);
        fprintf(stream, "</a></td><td>%zu</td>", row->runs);
        print_best_cells(page, &row->largest);
        if (slo)
            print_best_cells(page, &row->kept);
        fputs("<td>", stream);
        print_value(page, METRIC_P95, chosen->p95);
        fputs("</td><td>", stream);
        print_value(page, METRIC_MEAN, chosen->cpu);
        fputs("</td></tr>\n", stream);
    }
    fputs("</table></div>\n", stream);
}

static void print_best_cells(const struct vary_page *page, const struct vary_best *best)
{
    fprintf(page->stream, "<td>%s", best->mixed ? "~" : "");
    print_value(page, page->vary->metric, best->value);
    if (isnan(best->value))
        fputs("</td><td></td>", page->stream);
    else
        fprintf(page->stream, "</td><td>r=%.6g S=%.6g</td>", best->r, best->S);
}

static int print_curves(const struct vary_page *page)
{
    struct page_curve curves[CHART_SERIES_MAX];
    char names[CHART_SERIES_MAX][24];
    size_t count = page->count < CHART_SERIES_MAX ? page->count : CHART_SERIES_MAX;
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "%s", page->vary->rows[i].value);
        curves[i] = (struct page_curve){names[i], &page->grids[i], PAGE_ALL_COLUMNS};
    }
    fputs("<h2>Load and response times</h2>\n<div class=\"s\">\n", page->stream);
    int made = page_print_loads(page->stream, curves, count, NULL);
    fputs("</div>\n", page->stream);
    if (page->count > count)
        fprintf(page->stream, "<p class=\"f\">The charts show the first %zu values.</p>\n", count);
    return made;
}

/* All grids with one colour scale. */
static void print_grids(const struct vary_page *page)
{
    double least = NAN, largest = NAN;
    for (size_t i = 0; i < page->count; i++)
        for (size_t at = 0; at < page->grids[i].row_count * page->grids[i].column_count; at++) {
            double mean = grid_mean(&page->grids[i], &page->grids[i].cells[at]);
            least = fmin(least, mean);
            largest = fmax(largest, mean);
        }
    fputs("<h2>The grids</h2>\n<div class=\"s\">\n", page->stream);
    for (size_t i = 0; i < page->count; i++) {
        char id[32], title[TITLE_SIZE];
        snprintf(id, sizeof id, "grid%zu", i);
        snprintf(title, sizeof title, "%.80s=%.80s", page->vary->name, page->vary->rows[i].value);
        fprintf(page->stream, "<figure id=\"value-%zu\">", i);
        page_print_map(
            page->stream, &page->grids[i],
            &(struct heatmap){.id = id, .title = title, .least = least, .largest = largest});
        fputs("</figure>\n", page->stream);
    }
    fputs("</div>\n", page->stream);
}
