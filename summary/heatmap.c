/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a heat map from top to bottom: labels, cells, marks, legend. */
#include "summary/heatmap.h"

#include <math.h>
#include <string.h>

enum { LEFT = 64, TOP = 62, BELOW = 56, CELL_HEIGHT = 26, MARGIN = 12, TEXT_SIZE = 512 };

struct drawing {
    FILE *stream;
    const struct grid *grid;
    const struct heatmap *map;
    double cell_width, width, height, least, largest;
};

static void find_limits(struct drawing *drawing);
static void value_text(char *out, size_t size, const struct grid *grid,
                       const struct grid_cell *cell);
static void heatmap_begin(const struct drawing *drawing);
static void draw_labels(const struct drawing *drawing);
static double left_of(const struct drawing *drawing, size_t column);
static double top_of(size_t row);
static void draw_cell(const struct drawing *drawing, size_t row, size_t column);
static void draw_cell_title(const struct drawing *drawing, const struct grid_cell *cell,
                            const char *value);
static void draw_edge(const struct drawing *drawing);
static bool heatmap_keeps(const struct grid *grid, size_t row, size_t column);
static void draw_line(FILE *stream, double x1, double y1, double x2, double y2);
static void draw_frame(const struct drawing *drawing, const struct grid_cell *cell, double inset);
static void heatmap_draw_legend(const struct drawing *drawing);

void heatmap_draw(FILE *stream, const struct grid *grid, const struct heatmap *map)
{
    struct drawing drawing = {.stream = stream, .grid = grid, .map = map};
    find_limits(&drawing);
    heatmap_begin(&drawing);
    draw_labels(&drawing);
    for (size_t row = 0; row < grid->row_count; row++)
        for (size_t column = 0; column < grid->column_count; column++)
            draw_cell(&drawing, row, column);
    if (grid->slo->count)
        draw_edge(&drawing);
    if (grid->largest)
        draw_frame(&drawing, grid->largest, 1);
    heatmap_draw_legend(&drawing);
    fputs("</svg>\n", stream);
}

static const double character = 7.2; /* width of a digit, in SVG units */

static void find_limits(struct drawing *drawing)
{
    const struct grid *grid = drawing->grid;
    char text[TEXT_SIZE];
    size_t longest = 5;
    drawing->least = drawing->map->least;
    drawing->largest = drawing->map->largest;
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
        double mean = grid_mean(grid, &grid->cells[i]);
        value_text(text, sizeof text, grid, &grid->cells[i]);
        longest = strlen(text) > longest ? strlen(text) : longest;
        if (isnan(drawing->map->least))
            drawing->least = fmin(drawing->least, mean); /* fmin() ignores NaN */
        if (isnan(drawing->map->largest))
            drawing->largest = fmax(drawing->largest, mean);
    }
    drawing->cell_width = (double)longest * character + 14;
    drawing->width = LEFT + drawing->cell_width * (double)grid->column_count + MARGIN;
    /* The last line of the legend names the service level, which may be long. */
    double legend =
        2 * MARGIN + character * (double)(grid->slo->count ? strlen(grid->slo->text) : 0);
    drawing->width = fmax(drawing->width, fmax(360, legend + 37 * character));
    drawing->height = TOP + CELL_HEIGHT * (double)grid->row_count + BELOW;
}

static void value_text(char *out, size_t size, const struct grid *grid,
                       const struct grid_cell *cell)
{
    double mean = grid_mean(grid, cell);
    if (cell->runs == 0)
        snprintf(out, size, "%s", "");
    else if (isnan(mean))
        snprintf(out, size, "-");
    else
        snprintf(out, size, "%.*f", metric_forms[grid->metric].decimals, mean);
}

static void heatmap_begin(const struct drawing *drawing)
{
    const struct grid *grid = drawing->grid;
    const struct metric_form *form = &metric_forms[grid->metric];
    char title[TEXT_SIZE], description[TEXT_SIZE];
    snprintf(title, sizeof title, "%s%sr x S grid: %s",
             drawing->map->title ? drawing->map->title : "", drawing->map->title ? ": " : "",
             form->unit);
    if (grid->largest)
        snprintf(description, sizeof description,
                 "%zu rows for the replay rate r, %zu columns for the scale S. The largest is %.*f "
                 "at r=%.12g S=%.12g.",
                 grid->row_count, grid->column_count, form->decimals,
                 grid_mean(grid, grid->largest), grid_cell_r(grid, grid->largest),
                 grid_cell_S(grid, grid->largest));
    else
        snprintf(description, sizeof description, "No cell has a value.");
    svg_begin(drawing->stream, &(struct svg_frame){.standalone = drawing->map->standalone,
                                                   .links = drawing->map->links != NULL,
                                                   .id = drawing->map->id,
                                                   .title = title,
                                                   .description = description,
                                                   .width = drawing->width,
                                                   .height = drawing->height});
    fprintf(drawing->stream, "<text class=\"t b\" x=\"%d\" y=\"18\">", MARGIN);
    svg_text(drawing->stream, drawing->map->title ? drawing->map->title : form->unit);
    fputs("</text>\n", drawing->stream);
}

static void draw_labels(const struct drawing *drawing)
{
    const struct grid *grid = drawing->grid;
    fprintf(drawing->stream,
            "<text class=\"f\" x=\"%d\" y=\"38\">S (scale)</text>\n"
            "<text class=\"f r\" x=\"%d\" y=\"%d\">r</text>\n",
            LEFT, LEFT - 8, TOP - 8);
    for (size_t column = 0; column < grid->column_count; column++)
        fprintf(drawing->stream, "<text class=\"t c\" x=\"%.1f\" y=\"%d\">%.6g</text>\n",
                left_of(drawing, column) + drawing->cell_width / 2, TOP - 8, grid->S[column]);
    for (size_t row = 0; row < grid->row_count; row++)
        fprintf(drawing->stream, "<text class=\"t r\" x=\"%d\" y=\"%.1f\">%.6g</text>\n", LEFT - 8,
                top_of(row) + 17, grid->r[row]);
}

static double left_of(const struct drawing *drawing, size_t column)
{
    return LEFT + drawing->cell_width * (double)column;
}

static double top_of(size_t row)
{
    return TOP + CELL_HEIGHT * (double)row;
}

static void draw_cell(const struct drawing *drawing, size_t row, size_t column)
{
    const struct grid *grid = drawing->grid;
    const struct grid_cell *cell = &grid->cells[row * grid->column_count + column];
    double x = left_of(drawing, column), y = top_of(row), mean = grid_mean(grid, cell);
    char value[TEXT_SIZE];
    value_text(value, sizeof value, grid, cell);
    if (cell->runs == 0 || isnan(mean)) {
        fprintf(drawing->stream,
                "<rect class=\"n\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>", x + 1,
                y + 1, drawing->cell_width - 2, CELL_HEIGHT - 2);
        fprintf(drawing->stream, "<text class=\"f c\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                x + drawing->cell_width / 2, y + 17, value);
        return;
    }
    int level = svg_level(mean, drawing->least, drawing->largest);
    if (drawing->map->links)
        fprintf(drawing->stream, "<a href=\"#%s-%zu-%zu\">", drawing->map->links, row, column);
    fputs("<g>", drawing->stream);
    draw_cell_title(drawing, cell, value);
    fprintf(drawing->stream,
            "<rect class=\"o h%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>"
            "<text class=\"c x%d%s\" x=\"%.1f\" y=\"%.1f\">%s</text></g>%s\n",
            level, x + 1, y + 1, drawing->cell_width - 2, CELL_HEIGHT - 2, level,
            cell == grid->largest ? " b" : "", x + drawing->cell_width / 2, y + 17, value,
            drawing->map->links ? "</a>" : "");
}

/* Writes the text that pointing devices and screen readers show for a cell. */
static void draw_cell_title(const struct drawing *drawing, const struct grid_cell *cell,
                            const char *value)
{
    static const char *const verdicts[] = {[SLO_KEPT] = ", keeps the service level",
                                           [SLO_MISSED] = ", misses the service level",
                                           [SLO_UNKNOWN] = ", service level unknown"};
    const struct grid *grid = drawing->grid;
    fprintf(drawing->stream, "<title>r=%.12g S=%.12g: %s %s, %zu run%s%s%s</title>",
            grid_cell_r(grid, cell), grid_cell_S(grid, cell), value,
            metric_forms[grid->metric].unit, cell->runs, cell->runs == 1 ? "" : "s",
            cell == grid->largest ? ", the largest" : "",
            grid->slo->count ? verdicts[cell->verdict] : "");
}

/* Draws the border between cells that keep the service level and cells that miss it. */
static void draw_edge(const struct drawing *drawing)
{
    const struct grid *grid = drawing->grid;
    for (size_t row = 0; row < grid->row_count; row++)
        for (size_t column = 0; column < grid->column_count; column++) {
            double x = left_of(drawing, column), y = top_of(row);
            bool here = heatmap_keeps(grid, row, column);
            size_t place = row * grid->column_count + column;
            if (column + 1 < grid->column_count && here != heatmap_keeps(grid, row, column + 1) &&
                grid->cells[place].runs && grid->cells[place + 1].runs)
                draw_line(drawing->stream, x + drawing->cell_width, y, x + drawing->cell_width,
                          y + CELL_HEIGHT);
            if (row + 1 < grid->row_count && here != heatmap_keeps(grid, row + 1, column) &&
                grid->cells[place].runs && grid->cells[place + grid->column_count].runs)
                draw_line(drawing->stream, x, y + CELL_HEIGHT, x + drawing->cell_width,
                          y + CELL_HEIGHT);
        }
}

static bool heatmap_keeps(const struct grid *grid, size_t row, size_t column)
{
    if (row >= grid->row_count || column >= grid->column_count)
        return false;
    const struct grid_cell *cell = &grid->cells[row * grid->column_count + column];
    return cell->runs > 0 && cell->verdict == SLO_KEPT;
}

static void draw_line(FILE *stream, double x1, double y1, double x2, double y2)
{
    fprintf(stream, "<path class=\"e\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x1, y1, x2, y2);
}

static void draw_frame(const struct drawing *drawing, const struct grid_cell *cell, double inset)
{
    size_t place = (size_t)(cell - drawing->grid->cells);
    fprintf(drawing->stream,
            "<rect class=\"m\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
            left_of(drawing, place % drawing->grid->column_count) + inset,
            top_of(place / drawing->grid->column_count) + inset, drawing->cell_width - 2 * inset,
            CELL_HEIGHT - 2 * inset);
}

static void heatmap_draw_legend(const struct drawing *drawing)
{
    const struct grid *grid = drawing->grid;
    int decimals = metric_forms[grid->metric].decimals;
    double y = top_of(grid->row_count) + 14, x = MARGIN;
    if (!grid->largest)
        return;
    for (int level = 0; level < SVG_LEVELS; level++)
        fprintf(drawing->stream,
                "<rect class=\"h%d\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"10\"/>", level,
                x + 14.0 * level, y);
    fprintf(drawing->stream, "<text class=\"f\" x=\"%.1f\" y=\"%.1f\">%.*f to %.*f</text>\n",
            x + 14.0 * SVG_LEVELS + 8, y + 10, decimals, drawing->least, decimals,
            drawing->largest);
    fprintf(drawing->stream, "<text class=\"f\" x=\"%.1f\" y=\"%.1f\">framed: the largest", x,
            y + 28);
    if (grid->slo->count) {
        fputs("; line: the edge of ", drawing->stream);
        svg_text(drawing->stream, grid->slo->text);
    }
    fputs("</text>\n", drawing->stream);
}
