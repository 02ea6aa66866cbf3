/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML page of a comparison: verdict, ratios, curves, both grids, packet types and failures. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary/page_private.h"
#include "summary/svg.h"

enum { TEXT_SIZE = 256 };

/* The failures of one side, as rows of a table. */
struct failure_rows {
    FILE *stream;
    char side;
    bool begun; /* the table's head is printed */
};

static int print_sides_origin(FILE *stream, const struct compare *compare);
static int print_ratio_map(FILE *stream, const struct compare *compare);
static int print_ratio_cell(FILE *stream, const struct compare *compare, double r, double S);
static size_t page_runs_in(const struct grid *grid, double r, double S);
static int colour_of(const struct compare_ratio *ratio, enum metric metric);
static int print_both_curves(FILE *stream, const struct compare *compare);
static void print_sides(FILE *stream, const struct compare *compare);
static void print_side(FILE *stream, const struct compare *compare, enum compare_sides side,
                       double least, double largest);
static int print_cell_table(FILE *stream, const struct compare *compare);
static int print_cell_row(FILE *stream, const struct compare *compare, double r, double S);
static void print_type_table(FILE *stream, const struct compare *compare);
static void print_two_times(FILE *stream, const struct detail_type *a, const struct detail_type *b,
                            double fraction);
static void print_own_failures(FILE *stream, const struct compare *compare,
                               enum compare_sides side);
static void print_own_failure(const struct detail_type *type, const struct detail_cause *cause,
                              void *context);

int page_print_compare(FILE *stream, const struct compare *compare, struct error *error)
{
    page_print_top(stream, "traffic-summary: comparison");
    fputs("<h1>", stream);
    svg_text(stream, compare->verdict);
    fputs("</h1>\n", stream);
    int made = print_ratio_map(stream, compare);
    if (made == 0)
        made = print_both_curves(stream, compare);
    if (made == 0)
        made = print_sides_origin(stream, compare);
    if (made == 0) {
        print_sides(stream, compare);
        made = print_cell_table(stream, compare);
    }
    print_type_table(stream, compare);
    print_own_failures(stream, compare, COMPARE_A);
    print_own_failures(stream, compare, COMPARE_B);
    page_print_bottom(stream);
    return made < 0 ? error_no_memory(error) : 0;
}

/* The ratio of each cell, coloured by direction and certainty. */
static int print_ratio_map(FILE *stream, const struct compare *compare)
{
    struct grid both;
    int made = compare_make_axes(compare, &both);
    if (made < 0)
        return made;
    fprintf(stream,
            "<h2 id=\"top\">B/A by cell: %s</h2>\n<p class=\"f\">Green: B is better; red: B is "
            "worse; dark: beyond chance. A or B: only this one has runs. Follow a cell to its "
            "figures.</p>\n<div class=\"w\"><table>\n<tr><th>r\\S</th>",
            metric_forms[compare->grids[COMPARE_A].metric].title);
    for (size_t column = 0; column < both.column_count; column++)
        fprintf(stream, "<th>%.6g</th>", both.S[column]);
    fputs("</tr>\n", stream);
    for (size_t row = 0; made == 0 && row < both.row_count; row++) {
        fprintf(stream, "<tr><th>%.6g</th>", both.r[row]);
        for (size_t column = 0; made == 0 && column < both.column_count; column++)
            made = print_ratio_cell(stream, compare, both.r[row], both.S[column]);
        fputs("</tr>\n", stream);
    }
    fputs("</table></div>\n", stream);
    grid_clear(&both);
    return made;
}

static int print_ratio_cell(FILE *stream, const struct compare *compare, double r, double S)
{
    size_t a = page_runs_in(&compare->grids[COMPARE_A], r, S);
    size_t b = page_runs_in(&compare->grids[COMPARE_B], r, S);
    enum metric metric = compare->grids[COMPARE_A].metric;
    struct compare_ratio ratio;
    if (a == 0 || b == 0) {
        fprintf(stream, "<td class=\"f\">%s</td>", a ? "A" : b ? "B" : "");
        return 0;
    }
    int compared = compare_cell(compare, metric, r, S, &ratio);
    if (compared < 0)
        return compared;
    if (isnan(ratio.ratio))
        fputs("<td>-</td>", stream);
    else
        fprintf(stream, "<td class=\"u%d\"><a href=\"#cell-%.6g-%.6g\">%s%.2f</a></td>",
                colour_of(&ratio, metric), r, S, compare_mark(&ratio, metric), ratio.ratio);
    return 0;
}

static size_t page_runs_in(const struct grid *grid, double r, double S)
{
    const struct grid_cell *cell = grid_find(grid, r, S);
    return cell ? cell->runs : 0;
}

/* 0 and 1: B is better, 2 and 3: worse; 0 and 3 beyond chance; 4: neither. */
static int colour_of(const struct compare_ratio *ratio, enum metric metric)
{
    bool certain = *compare_mark(ratio, metric) != '\0';
    bool better = (ratio->ratio > 1) != compare_less_is_better(metric);
    if (fabs(ratio->ratio - 1) < 0.005 && !certain)
        return 4;
    return better ? (certain ? 0 : 1) : (certain ? 3 : 2);
}

static int print_both_curves(FILE *stream, const struct compare *compare)
{
    const struct page_curve curves[] = {{"A", &compare->maxima[COMPARE_A], PAGE_ALL_COLUMNS},
                                        {"B", &compare->maxima[COMPARE_B], PAGE_ALL_COLUMNS}};
    fputs("<h2>Load and response times</h2>\n<div class=\"s\">\n", stream);
    int made = page_print_loads(stream, curves, COMPARE_SIDES, NULL);
    fputs("</div>\n", stream);
    return made;
}

static int print_sides_origin(FILE *stream, const struct compare *compare)
{
    int made = 0;
    for (size_t side = 0; made == 0 && side < COMPARE_SIDES; side++) {
        fprintf(stream, "<h2>%c: ", side == COMPARE_A ? 'A' : 'B');
        svg_text(stream, compare->names[side]);
        fputs("</h2>\n", stream);
        page_print_mixed(stream, &compare->mixed[side], "");
        page_print_doubts(stream, compare->readings[side]);
        made = page_print_origin(stream, compare->readings[side]);
    }
    return made;
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
    snprintf(title, sizeof title, "%c: %s", side == COMPARE_A ? 'A' : 'B',
             metric_forms[compare->grids[side].metric].title);
    fputs("<figure>", stream);
    page_print_map(
        stream, &compare->grids[side],
        &(struct heatmap){.id = ids[side], .title = title, .least = least, .largest = largest});
    fputs("</figure>\n", stream);
}

static int print_cell_table(FILE *stream, const struct compare *compare)
{
    const struct grid *a = &compare->grids[COMPARE_A];
    int made = 0;
    fputs("<h2>Cell by cell</h2>\n<div class=\"w\"><table>\n<tr><th>r</th><th>S</th><th>A</th>"
          "<th>Runs</th><th>B</th><th>Runs</th><th>B/A</th><th>from</th><th>to</th>"
          "<th class=\"l\">limits</th></tr>\n",
          stream);
    for (size_t i = 0; made == 0 && i < a->row_count * a->column_count; i++) {
        double r = a->r[i / a->column_count], S = a->S[i % a->column_count];
        if (a->cells[i].runs && page_runs_in(&compare->grids[COMPARE_B], r, S))
            made = print_cell_row(stream, compare, r, S);
    }
    fputs("</table></div>\n", stream);
    return made;
}

static int print_cell_row(FILE *stream, const struct compare *compare, double r, double S)
{
    enum metric metric = compare->grids[COMPARE_A].metric;
    char a[METRIC_TEXT_SIZE] = "none", b[METRIC_TEXT_SIZE] = "none";
    struct compare_ratio ratio;
    int compared = compare_cell(compare, metric, r, S, &ratio);
    if (compared < 0)
        return compared;
    if (!isnan(ratio.mean[COMPARE_A]))
        metric_text(a, metric, ratio.mean[COMPARE_A]);
    if (!isnan(ratio.mean[COMPARE_B]))
        metric_text(b, metric, ratio.mean[COMPARE_B]);
    fprintf(stream,
            "<tr id=\"cell-%.6g-%.6g\"><td>%.6g</td><td>%.6g</td><td>%s</td><td>%zu</td><td>%s</td>"
            "<td>%zu</td>",
            r, S, r, S, a, ratio.runs[COMPARE_A], b, ratio.runs[COMPARE_B]);
    if (isnan(ratio.ratio))
        fputs("<td>-</td><td></td><td></td><td></td></tr>\n", stream);
    else
        fprintf(stream, "<td>%s%.3f</td><td>%.3f</td><td>%.3f</td><td class=\"l\">%s</td></tr>\n",
                compare_mark(&ratio, metric), ratio.ratio, ratio.low,
                isfinite(ratio.high) ? ratio.high : 0,
                ratio.interval ? "95% interval" : "single runs");
    return 0;
}

static void print_type_table(FILE *stream, const struct compare *compare)
{
    const struct detail *a = &compare->details[COMPARE_A], *b = &compare->details[COMPARE_B];
    if (a->runs == 0 || b->runs == 0)
        return;
    fputs("<h2>Service times of the cells that both have</h2>\n<div class=\"w\"><table>\n"
          "<tr><th class=\"l\">Packet</th><th class=\"l\">Description</th><th>A median</th>"
          "<th>B median</th><th>B/A</th><th>A 95%</th><th>B 95%</th><th>B/A</th></tr>\n",
          stream);
    for (size_t i = 0; i < a->type_count; i++) {
        const struct detail_type *left = &a->types[i];
        const struct detail_type *right = detail_find(b, left->protocol, left->opcode);
        if (!right)
            continue;
        fputs("<tr><td class=\"l\">", stream);
        svg_text(stream, left->protocol);
        fputc(':', stream);
        svg_text(stream, left->opcode);
        fputs("</td><td class=\"l\">", stream);
        svg_text(stream, left->description);
        fputs("</td>", stream);
        print_two_times(stream, left, right, 0.5);
        print_two_times(stream, left, right, 0.95);
        fputs("</tr>\n", stream);
    }
    fputs("</table></div>\n", stream);
}

static void print_two_times(FILE *stream, const struct detail_type *a, const struct detail_type *b,
                            double fraction)
{
    int64_t left = histogram_quantile(&a->service, fraction);
    int64_t right = histogram_quantile(&b->service, fraction);
    char texts[COMPARE_SIDES][METRIC_TEXT_SIZE] = {"none", "none"};
    if (left >= 0)
        metric_text(texts[COMPARE_A], METRIC_MEAN, (double)left * 1e-9);
    if (right >= 0)
        metric_text(texts[COMPARE_B], METRIC_MEAN, (double)right * 1e-9);
    fprintf(stream, "<td>%s</td><td>%s</td>", texts[COMPARE_A], texts[COMPARE_B]);
    if (left > 0 && right >= 0)
        fprintf(stream, "<td>%.2f</td>", (double)right / (double)left);
    else
        fputs("<td>-</td>", stream);
}

static void print_own_failures(FILE *stream, const struct compare *compare, enum compare_sides side)
{
    struct failure_rows rows = {.stream = stream, .side = side == COMPARE_A ? 'A' : 'B'};
    compare_own_failures(compare, side, print_own_failure, &rows);
    if (rows.begun)
        fputs("</table></div>\n", stream);
}

static void print_own_failure(const struct detail_type *type, const struct detail_cause *cause,
                              void *context)
{
    struct failure_rows *rows = context;
    if (!rows->begun)
        fprintf(rows->stream,
                "<h2>Failures that only %c has</h2>\n<div class=\"w\"><table>\n"
                "<tr><th>Count</th><th class=\"l\">Packet</th><th class=\"l\">Cause</th>"
                "</tr>\n",
                rows->side);
    rows->begun = true;
    fprintf(rows->stream, "<tr><td>%" PRIu64 "</td><td class=\"l\">", cause->count);
    svg_text(rows->stream, type->protocol);
    fputc(':', rows->stream);
    svg_text(rows->stream, type->opcode);
    fputs("</td><td class=\"l\">", rows->stream);
    svg_text(rows->stream, cause->text);
    fputs("</td></tr>\n", rows->stream);
}
