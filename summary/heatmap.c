/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a heat map from top to bottom: labels, cells, marks, legend. */
#include "summary/heatmap.h"

#include <math.h>
#include <string.h>

enum {
    LEFT = 64,
    TOP = 62,
    BELOW = 68,
    CELL_HEIGHT = 26,
    MARGIN = 12,
    TEXT_SIZE = 512,
    LOW_SUCCESS = 90,
    PLAIN_WIDTH = 320
};

struct drawing {
    FILE *stream;
    const struct grid *grid;
    const struct heatmap *map;
    double cell_width, width, height, least, largest;
};

static void find_limits(struct drawing *drawing);
static void value_text(char out[TEXT_SIZE], const struct grid *grid, const struct grid_cell *cell);
static void heatmap_begin(const struct drawing *drawing);
static void draw_labels(const struct drawing *drawing);
static double left_of(const struct drawing *drawing, size_t column);
static double top_of(size_t row);
static void draw_cell(const struct drawing *drawing, size_t row, size_t column);
static void draw_cell_title(const struct drawing *drawing, const struct grid_cell *cell,
                            const char *value);
static void draw_doubt(const struct drawing *drawing, const struct grid_cell *cell, double x,
                       double y);
static bool many_failed(const struct grid_cell *cell);
static bool any_failed(const struct grid *grid);
static void draw_borders(const struct drawing *drawing, size_t place);
static const struct grid_cell *next_with_runs(const struct grid *grid, size_t place, size_t step,
                                              size_t left);
static void draw_edge(const struct drawing *drawing);
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
    if (grid->slo->count && !map->plain)
        draw_edge(&drawing);
    if (grid->largest && !map->plain)
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
        value_text(text, grid, &grid->cells[i]);
        longest = strlen(text) > longest ? strlen(text) : longest;
        if (isnan(drawing->map->least))
            drawing->least = fmin(drawing->least, mean); /* fmin() ignores NaN */
        if (isnan(drawing->map->largest))
            drawing->largest = fmax(drawing->largest, mean);
    }
    drawing->cell_width = (double)longest * character + 14;
    drawing->width = LEFT + drawing->cell_width * (double)grid->column_count + MARGIN;
    /* The last line of the legend names the service level, which may be long. */
    double level = character * (double)(grid->slo->count ? 37 + strlen(grid->slo->text) : 37);
    drawing->width =
        fmax(drawing->width, drawing->map->plain ? PLAIN_WIDTH : fmax(360, level + 2 * MARGIN));
    drawing->height = TOP + CELL_HEIGHT * (double)grid->row_count + BELOW;
}

static void value_text(char out[TEXT_SIZE], const struct grid *grid, const struct grid_cell *cell)
{
    double mean = grid_mean(grid, cell);
    if (cell->runs == 0)
        out[0] = '\0';
    else if (isnan(mean))
        strcpy(out, "-");
    else
        metric_text(out, grid->metric, mean);
}

static void heatmap_begin(const struct drawing *drawing)
{
    const struct grid *grid = drawing->grid;
    const struct metric_form *form = &metric_forms[grid->metric];
    char title[TEXT_SIZE], description[TEXT_SIZE];
    snprintf(title, sizeof title, "%s%sr x S grid: %s",
             drawing->map->title ? drawing->map->title : "", drawing->map->title ? ": " : "",
             form->title);
    if (grid->largest) {
        char value[TEXT_SIZE];
        value_text(value, grid, grid->largest);
        snprintf(description, sizeof description,
                 "%zu rows for the replay rate r, %zu columns for the scale S. %s at r=%.12g "
                 "S=%.12g%s.",
                 grid->row_count, grid->column_count, value, grid_cell_r(grid, grid->largest),
                 grid_cell_S(grid, grid->largest), drawing->map->plain ? "" : ", the largest");
    } else
        snprintf(description, sizeof description, "No cell has a value.");
    svg_begin(drawing->stream, &(struct svg_frame){.standalone = drawing->map->standalone,
                                                   .links = drawing->map->links != NULL,
                                                   .id = drawing->map->id,
                                                   .title = title,
                                                   .description = description,
                                                   .width = drawing->width,
                                                   .height = drawing->height});
    fprintf(drawing->stream, "<text class=\"t b\" x=\"%d\" y=\"18\">", MARGIN);
    svg_text(drawing->stream, drawing->map->title ? drawing->map->title : form->title);
    fputs("</text>\n", drawing->stream);
}

static void draw_labels(const struct drawing *drawing)
{
    const struct grid *grid = drawing->grid;
    fprintf(drawing->stream,
            "<text class=\"f\" x=\"%d\" y=\"38\">columns: S (scale); rows: r (replay rate)</text>\n"
            "<text class=\"f r\" x=\"%d\" y=\"%d\">r\\S</text>\n",
            MARGIN, LEFT - 8, TOP - 8);
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
    value_text(value, grid, cell);
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
            "<text class=\"c x%d%s\" x=\"%.1f\" y=\"%.1f\">%s%s</text>",
            level, x + 1, y + 1, drawing->cell_width - 2, CELL_HEIGHT - 2, level,
            cell == grid->largest ? " b" : "", x + drawing->cell_width / 2, y + 17,
            cell->mixed ? "~" : "", value);
    draw_doubt(drawing, cell, x, y);
    fprintf(drawing->stream, "</g>%s\n", drawing->map->links ? "</a>" : "");
}

/* Marks a cell that is no good: a triangle in the corner if many operations failed, a cross if the
 * runs are spoiled. */
static void draw_doubt(const struct drawing *drawing, const struct grid_cell *cell, double x,
                       double y)
{
    double right = x + drawing->cell_width - 1;
    if (grid_spoiled(cell))
        fprintf(drawing->stream,
                "<path class=\"i\" d=\"M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1f\"/>", x + 1, y + 1,
                right, y + CELL_HEIGHT - 1, x + 1, y + CELL_HEIGHT - 1, right, y + 1);
    else if (many_failed(cell))
        fprintf(drawing->stream, "<path class=\"y\" d=\"M%.1f %.1fh-9l9 9z\"/>", right, y + 1);
}

static bool many_failed(const struct grid_cell *cell)
{
    return cell->values[METRIC_SUCCESS_RATE].mean < LOW_SUCCESS;
}

/* Writes the text that pointing devices and screen readers show for a cell. */
static void draw_cell_title(const struct drawing *drawing, const struct grid_cell *cell,
                            const char *value)
{
    static const char *const verdicts[] = {[SLO_KEPT] = ", keeps the service level",
                                           [SLO_MISSED] = ", misses the service level",
                                           [SLO_UNKNOWN] = ", service level unknown"};
    const struct grid *grid = drawing->grid;
    const struct grid_value *spread = &cell->values[grid->metric];
    char low[TEXT_SIZE], high[TEXT_SIZE];
    fprintf(drawing->stream, "<title>r=%.12g S=%.12g: %s, %s", grid_cell_r(grid, cell),
            grid_cell_S(grid, cell), value, metric_forms[grid->metric].title);
    if (spread->count > 1) {
        metric_text(low, grid->metric, spread->min);
        metric_text(high, grid->metric, spread->max);
        fprintf(drawing->stream, ", mean of %zu runs from %s to %s", spread->count, low, high);
    }
    fprintf(drawing->stream, "%s%s%s%s%s</title>", cell == grid->largest ? ", the largest" : "",
            grid->slo->count ? verdicts[cell->verdict] : "",
            cell->mixed ? ", mean of runs that differ" : "", grid_spoiled(cell) ? ", spoiled" : "",
            many_failed(cell) ? ", many operations failed" : "");
}

/* Draws the border between cells that keep the service level and cells that miss it. Cells without
 * runs in between do not interrupt it. */
static void draw_edge(const struct drawing *drawing)
{
    for (size_t place = 0; place < drawing->grid->row_count * drawing->grid->column_count; place++)
        if (drawing->grid->cells[place].runs)
            draw_borders(drawing, place);
}

/* Draws the right and the lower border of a cell if the next cell there has another verdict. */
static void draw_borders(const struct drawing *drawing, size_t place)
{
    const struct grid *grid = drawing->grid;
    size_t row = place / grid->column_count, column = place % grid->column_count;
    double x = left_of(drawing, column), y = top_of(row);
    bool here = grid->cells[place].verdict == SLO_KEPT;
    const struct grid_cell *right = next_with_runs(grid, place, 1, grid->column_count - column - 1);
    const struct grid_cell *below =
        next_with_runs(grid, place, grid->column_count, grid->row_count - row - 1);
    if (right && here != (right->verdict == SLO_KEPT))
        draw_line(drawing->stream, x + drawing->cell_width, y, x + drawing->cell_width,
                  y + CELL_HEIGHT);
    if (below && here != (below->verdict == SLO_KEPT))
        draw_line(drawing->stream, x, y + CELL_HEIGHT, x + drawing->cell_width, y + CELL_HEIGHT);
}

static const struct grid_cell *next_with_runs(const struct grid *grid, size_t place, size_t step,
                                              size_t left)
{
    for (; left > 0; left--) {
        place += step;
        if (grid->cells[place].runs)
            return &grid->cells[place];
    }
    return NULL;
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
    char low[TEXT_SIZE], high[TEXT_SIZE];
    double y = top_of(grid->row_count) + 14, x = MARGIN;
    if (!grid->largest || isnan(drawing->least))
        return;
    for (int level = 0; level < SVG_LEVELS; level++)
        fprintf(drawing->stream,
                "<rect class=\"h%d\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"10\"/>", level,
                x + 14.0 * level, y);
    metric_text(low, grid->metric, drawing->least);
    metric_text(high, grid->metric, drawing->largest);
    fprintf(drawing->stream, "<text class=\"f\" x=\"%.1f\" y=\"%.1f\">%s to %s</text>\n",
            x + 14.0 * SVG_LEVELS + 8, y + 10, low, high);
    if (!drawing->map->plain) {
        fprintf(drawing->stream, "<text class=\"f\" x=\"%.1f\" y=\"%.1f\">framed: the largest", x,
                y + 28);
        if (grid->slo->count) {
            fputs("; line: the edge of ", drawing->stream);
            svg_text(drawing->stream, grid->slo->text);
        }
        fputs("</text>\n", drawing->stream);
    }
    if (any_failed(grid))
        fprintf(drawing->stream,
                "<path class=\"y\" d=\"M%.1f %.1fh-9l9 9z\"/>"
                "<text class=\"f\" x=\"%.1f\" y=\"%.1f\">fewer than %d%% succeeded</text>\n",
                x + 9, y + (drawing->map->plain ? 19 : 37), x + 16,
                y + (drawing->map->plain ? 28 : 46), LOW_SUCCESS);
}

static bool any_failed(const struct grid *grid)
{
    bool any = false;
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++)
        any |= many_failed(&grid->cells[i]);
    return any;
}
