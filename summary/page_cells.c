/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML page: tables of a cell's metrics, packet types and failures. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "summary/page_private.h"
#include "summary/svg.h"

enum { FAILURES_MAX = 50 };

static const double nanosecond = 1e-9;

struct failure {
    const struct detail_type *type;
    const struct detail_cause *cause;
};

static int page_print_cell(struct page *page, size_t place);
static void print_cell_metrics(FILE *stream, const struct grid_cell *cell);
static void print_cell_types(FILE *stream, const struct detail *detail);
static void page_print_time(FILE *stream, const struct histogram *histogram, double fraction);
static int by_count(const void *left, const void *right);
static void print_failure_rows(FILE *stream, const struct failure *failures, size_t count);

int page_print_cells(struct page *page)
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
    int made = page_cell_detail(page, cell, &detail);
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

/* Mean, smallest and largest run; one column is enough for a single run. */
static void print_cell_metrics(FILE *stream, const struct grid_cell *cell)
{
    bool several = cell->runs > 1;
    fprintf(stream, "<div class=\"w\"><table>\n<tr><th class=\"l\">Metric</th><th>%s</th>%s</tr>\n",
            several ? "Mean" : "Value",
            several ? "<th>Least</th><th>Largest</th><th>Runs</th>" : "");
    for (enum metric metric = 0; metric < METRICS; metric++) {
        const struct grid_value *value = &cell->values[metric];
        char mean[METRIC_TEXT_SIZE], least[METRIC_TEXT_SIZE], largest[METRIC_TEXT_SIZE];
        if (value->count == 0)
            continue;
        metric_text(mean, metric, value->mean);
        metric_text(least, metric, value->min);
        metric_text(largest, metric, value->max);
        fputs("<tr><td class=\"l\">", stream);
        svg_text(stream, metric_forms[metric].title);
        fprintf(stream, "</td><td>%s</td>", mean);
        if (several)
            fprintf(stream, "<td>%s</td><td>%s</td><td>%zu</td>", least, largest, value->count);
        fputs("</tr>\n", stream);
    }
    fputs("</table></div>\n", stream);
}

int page_cell_detail(const struct page *page, const struct grid_cell *cell, struct detail *detail)
{
    int added = 0;
    for (size_t i = 0; added == 0 && i < page->readings->count; i++)
        if (page_in_cell(page, &page->readings->items[i], cell))
            added = detail_add(detail, &page->readings->items[i], page->error);
    return added;
}

bool page_in_cell(const struct page *page, const struct reading *reading,
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
        "<th>Count</th><th>Failed</th><th>Median</th><th>95%</th><th>Max</th></tr>\n",
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
    char time[METRIC_TEXT_SIZE] = "none";
    if (ns >= 0)
        metric_text(time, METRIC_MEAN, (double)ns * nanosecond);
    fprintf(stream, "<td>%s</td>", time);
}

int page_print_failures(FILE *stream, const struct detail *detail, const char *heading)
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
