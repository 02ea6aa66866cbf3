/* SPDX-License-Identifier: Apache-2.0 */
/* The r x S grid, and printing it as a table, CSV or JSON. */
#include "summary/grid.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/json_text.h"

enum { CELL_WIDTH = 9, LABEL_WIDTH = 3, TEXT_SIZE = 128 };

static const char *const verdict_names[] = {
    [SLO_KEPT] = "yes", [SLO_MISSED] = "no", [SLO_UNKNOWN] = "unknown"};

static int grid_make_axes(struct grid *grid, const struct readings *readings, bool full);
static int make_axis(struct grid *grid, const double *seen, size_t count, bool full, double **axis,
                     size_t *length);
static size_t remove_duplicates(double *values, size_t count);
static int grid_compare_doubles(const void *left, const void *right);
static void grid_add_value(struct grid_value *to, double value);
static void finish_cell(struct grid *grid, struct grid_cell *cell);
static void add_readings(struct grid *grid, const struct readings *readings);
static void find_largest(struct grid *grid);
static bool at_edge(const struct grid *grid, const struct grid_cell *cell);
static size_t index_of(const double *axis, size_t length, double value);
static int cell_width(const struct grid *grid, bool spread);
static void cell_text(char *out, const struct grid *grid, const struct grid_cell *cell,
                      bool spread);
static const char *cell_marks(const struct grid *grid, const struct grid_cell *cell);
static void label_text(char *out, double value);
static int row_label_width(const struct grid *grid);
static void grid_print_cell(FILE *stream, const struct grid *grid, const struct grid_cell *cell,
                            int width, struct grid_print_form form);
static void grid_print_number(FILE *stream, double value, int decimals);
static json_t *cell_to_json(const struct grid *grid, const struct grid_cell *cell);
static json_t *grid_number(double value);

bool grid_same(double left, double right)
{
    return fabs(left - right) <= 1e-9 * fmax(fabs(left), fabs(right));
}

int grid_make(struct grid *grid, const struct readings *readings, enum metric metric, bool full,
              const struct slo *slo)
{
    *grid = (struct grid){.metric = metric, .slo = slo, .full = full, .best_success = NAN};
    if (readings->count == 0)
        return 0;
    int made = grid_make_axes(grid, readings, full);
    if (made == 0) {
        grid->cells = calloc(grid->row_count * grid->column_count, sizeof *grid->cells);
        made = grid->cells ? 0 : -ENOMEM;
    }
    if (made < 0) {
        grid_clear(grid);
        return made;
    }
    add_readings(grid, readings);
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++)
        finish_cell(grid, &grid->cells[i]);
    find_largest(grid);
    return 0;
}

static int grid_make_axes(struct grid *grid, const struct readings *readings, bool full)
{
    double *r = reallocarray(NULL, readings->count, 2 * sizeof *r);
    if (!r)
        return -ENOMEM;
    double *S = r + readings->count;
    for (size_t i = 0; i < readings->count; i++) {
        r[i] = readings->items[i].r;
        S[i] = readings->items[i].S;
    }
    int made = make_axis(grid, r, readings->count, full, &grid->r, &grid->row_count);
    if (made == 0)
        made = make_axis(grid, S, readings->count, full, &grid->S, &grid->column_count);
    free(r);
    return made;
}

/* Makes the labels of an axis from count unsorted values. */
static int make_axis(struct grid *grid, const double *seen, size_t count, bool full, double **axis,
                     size_t *length)
{
    double *values = reallocarray(NULL, count + GRID_RANGE_MAX, sizeof *values);
    if (!values)
        return -ENOMEM;
    memcpy(values, seen, count * sizeof *values);
    count = remove_duplicates(values, count);
    double last = floor(values[count - 1]) + 1;
    grid->too_wide |= full && last > GRID_RANGE_MAX;
    if (full && last <= GRID_RANGE_MAX)
        for (double value = 1; value <= last; value++)
            values[count++] = value;
    *length = remove_duplicates(values, count);
    *axis = values;
    return 0;
}

/* Sorts values and removes duplicates. Returns how many remain. */
static size_t remove_duplicates(double *values, size_t count)
{
    size_t kept = 0;
    qsort(values, count, sizeof *values, grid_compare_doubles);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !grid_same(values[kept - 1], values[i]))
            values[kept++] = values[i];
    return kept;
}

static int grid_compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void add_readings(struct grid *grid, const struct readings *readings)
{
    for (size_t i = 0; i < readings->count; i++) {
        const struct reading *reading = &readings->items[i];
        struct grid_cell *cell = grid_find(grid, reading->r, reading->S);
        cell->runs++;
        cell->spoiled += reading->spoiled;
    }
    for (size_t i = 0; i < readings->count; i++) {
        const struct reading *reading = &readings->items[i];
        struct grid_cell *cell = grid_find(grid, reading->r, reading->S);
        if (reading->spoiled && !grid_spoiled(cell))
            continue;
        for (enum metric other = 0; other < METRICS; other++)
            grid_add_value(&cell->values[other], reading->metrics[other]);
    }
}

bool grid_spoiled(const struct grid_cell *cell)
{
    return cell->runs > 0 && cell->spoiled == cell->runs;
}

static void grid_add_value(struct grid_value *to, double value)
{
    if (isnan(value))
        return;
    to->mean = to->count ? to->mean + value : value; /* the sum, until finish_cell() */
    to->min = to->count ? fmin(to->min, value) : value;
    to->max = to->count ? fmax(to->max, value) : value;
    to->count++;
}

static void finish_cell(struct grid *grid, struct grid_cell *cell)
{
    double means[METRICS];
    for (enum metric metric = 0; metric < METRICS; metric++) {
        struct grid_value *value = &cell->values[metric];
        if (value->count)
            value->mean /= (double)value->count;
        else
            value->mean = value->min = value->max = NAN;
        means[metric] = value->mean;
    }
    cell->verdict = slo_judge(grid->slo, means);
}

/* The first cell with the largest mean; NaN is never larger. */
static void find_largest(struct grid *grid)
{
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
        const struct grid_cell *cell = &grid->cells[i];
        double mean = grid_mean(grid, cell);
        if (isnan(mean) || grid_spoiled(cell))
            continue;
        grid->best_success = fmax(grid->best_success, cell->values[METRIC_SUCCESS_RATE].mean);
        if (!grid->largest || mean > grid_mean(grid, grid->largest))
            grid->largest = cell;
        if (cell->verdict == SLO_KEPT &&
            (!grid->largest_kept || mean > grid_mean(grid, grid->largest_kept)))
            grid->largest_kept = cell;
    }
}

void grid_clear(struct grid *grid)
{
    free(grid->r);
    free(grid->S);
    free(grid->cells);
    *grid = (struct grid){.metric = grid->metric, .slo = grid->slo};
}

void grid_mark_mixed(struct grid *grid, const struct mixed *mixed)
{
    grid->mixed = mixed;
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
        struct grid_cell *cell = &grid->cells[i];
        cell->mixed = cell->runs > 1 &&
                      mixed_in_cell(mixed, grid_cell_r(grid, cell), grid_cell_S(grid, cell));
    }
}

bool grid_kept_up(const struct grid *grid, const struct grid_cell *cell)
{
    return !grid_spoiled(cell) &&
           reading_kept_up(cell->values[METRIC_ACHIEVED].mean,
                           cell->values[METRIC_SUCCESS_RATE].mean, grid->best_success);
}

bool grid_maximum_is_beyond(const struct grid *grid, char *out, size_t size)
{
    const struct grid_cell *cell = grid->largest;
    if (grid->metric != METRIC_OK || !cell || cell->mixed || !grid_kept_up(grid, cell) ||
        !at_edge(grid, cell))
        return false;
    snprintf(
        out, size,
        "the maximum lies beyond this grid: the server kept up with r=%.12g S=%.12g (%.0f%% of "
        "planned); give larger -r or -S",
        grid_cell_r(grid, cell), grid_cell_S(grid, cell), cell->values[METRIC_ACHIEVED].mean);
    return true;
}

/* Whether no cell with runs has a larger r, or none has a larger S, and the server kept up with all
 * cells of at least this r and S. */
static bool at_edge(const struct grid *grid, const struct grid_cell *cell)
{
    double r = grid_cell_r(grid, cell), S = grid_cell_S(grid, cell);
    bool last_row = true, last_column = true, kept_up = true;
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
        const struct grid_cell *other = &grid->cells[i];
        double other_r = grid_cell_r(grid, other), other_S = grid_cell_S(grid, other);
        if (other->runs == 0)
            continue;
        last_row &= other_r <= r;
        last_column &= other_S <= S;
        kept_up &= other_r < r || other_S < S || grid_kept_up(grid, other);
    }
    return kept_up && (last_row || last_column);
}

struct grid_cell *grid_find(const struct grid *grid, double r, double S)
{
    if (grid->row_count == 0 || grid->column_count == 0)
        return NULL;
    size_t row = index_of(grid->r, grid->row_count, r);
    size_t column = index_of(grid->S, grid->column_count, S);
    if (!grid_same(grid->r[row], r) || !grid_same(grid->S[column], S))
        return NULL;
    return &grid->cells[row * grid->column_count + column];
}

static size_t index_of(const double *axis, size_t length, double value)
{
    size_t low = 0, high = length;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (axis[middle] <= value || grid_same(axis[middle], value))
            low = middle;
        else
            high = middle;
    }
    return low;
}

double grid_mean(const struct grid *grid, const struct grid_cell *cell)
{
    return cell->values[grid->metric].mean;
}

double grid_cell_r(const struct grid *grid, const struct grid_cell *cell)
{
    return grid->r[(size_t)(cell - grid->cells) / grid->column_count];
}

double grid_cell_S(const struct grid *grid, const struct grid_cell *cell)
{
    return grid->S[(size_t)(cell - grid->cells) % grid->column_count];
}

void grid_print(FILE *stream, const struct grid *grid, struct grid_print_form form)
{
    int width = cell_width(grid, form.spread), label = row_label_width(grid);
    char text[TEXT_SIZE];
    fprintf(stream, "%*s ", label + 1, "r\\S");
    for (size_t column = 0; column < grid->column_count; column++) {
        label_text(text, grid->S[column]);
        fprintf(stream, "%*s", width, text);
    }
    fputc('\n', stream);
    for (size_t row = 0; row < grid->row_count; row++) {
        label_text(text, grid->r[row]);
        fprintf(stream, "%*s  ", label, text);
        for (size_t column = 0; column < grid->column_count; column++)
            grid_print_cell(stream, grid, &grid->cells[row * grid->column_count + column], width,
                            form);
        fputc('\n', stream);
    }
    int decimals = metric_forms[grid->metric].decimals;
    if (grid->largest)
        fprintf(stream, "\nmax: %.*f%s\n", decimals, grid_mean(grid, grid->largest),
                grid->largest->mixed ? " (~ mean of runs that differ)" : "");
    else
        fputs("\nmax: none\n", stream);
    if (grid->slo->count == 0)
        return;
    fprintf(stream, "max within %s: ", grid->slo->text);
    const struct grid_cell *kept = grid->largest_kept;
    if (kept)
        fprintf(stream, "%.*f at r=%.12g S=%.12g%s\n", decimals, grid_mean(grid, kept),
                grid_cell_r(grid, kept), grid_cell_S(grid, kept),
                kept->mixed ? " (~ mean of runs that differ)" : "");
    else
        fputs("none\n", stream);
}

/* Every column is as wide as the widest cell and one space. */
static int cell_width(const struct grid *grid, bool spread)
{
    int width = CELL_WIDTH;
    char text[TEXT_SIZE];
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
        cell_text(text, grid, &grid->cells[i], spread);
        if ((int)strlen(text) + 1 > width)
            width = (int)strlen(text) + 1;
    }
    for (size_t i = 0; i < grid->column_count; i++) {
        label_text(text, grid->S[i]);
        if ((int)strlen(text) + 1 > width)
            width = (int)strlen(text) + 1;
    }
    return width;
}

static void cell_text(char *out, const struct grid *grid, const struct grid_cell *cell, bool spread)
{
    int decimals = metric_forms[grid->metric].decimals;
    const struct grid_value *value = &cell->values[grid->metric];
    if (cell->runs == 0 || value->count == 0) {
        strcpy(out, cell->runs ? "-" : grid->full ? "0" : "");
        return;
    }
    int used =
        snprintf(out, TEXT_SIZE, "%s%s%s%.*f", cell_marks(grid, cell),
                 grid_spoiled(cell) ? "x" : "", cell->mixed ? "~" : "", decimals, value->mean);
    if (spread && value->count > 1 && used > 0 && used < TEXT_SIZE)
        snprintf(out + used, (size_t)(TEXT_SIZE - used), " (%.*f..%.*f)", decimals, value->min,
                 decimals, value->max);
}

/* The mark before a value: "*" for the largest, "!" and "?" by the service level. */
static const char *cell_marks(const struct grid *grid, const struct grid_cell *cell)
{
    static const char *const marks[][2] = {
        [SLO_KEPT] = {"", "*"}, [SLO_MISSED] = {"!", "*!"}, [SLO_UNKNOWN] = {"?", "*?"}};
    return marks[cell->verdict][cell == grid->largest];
}

/* Prints an axis label: 4 or 0.5. */
static void label_text(char *out, double value)
{
    snprintf(out, TEXT_SIZE, "%.12g", value);
}

static int row_label_width(const struct grid *grid)
{
    int width = LABEL_WIDTH;
    char text[TEXT_SIZE];
    for (size_t i = 0; i < grid->row_count; i++) {
        label_text(text, grid->r[i]);
        if ((int)strlen(text) > width)
            width = (int)strlen(text);
    }
    return width;
}

/* Prints one cell. Escape sequences enclose the text but not its padding. */
static void grid_print_cell(FILE *stream, const struct grid *grid, const struct grid_cell *cell,
                            int width, struct grid_print_form form)
{
    /* Terminal colours (of 256) from cold to hot, readable on light and dark backgrounds. */
    static const int colours[] = {32, 37, 36, 35, 34, 70, 106, 142, 172, 166, 160};
    enum { COLOURS = sizeof colours / sizeof colours[0] };
    char text[TEXT_SIZE];
    cell_text(text, grid, cell, form.spread);
    double mean = grid_mean(grid, cell),
           largest = grid->largest ? grid_mean(grid, grid->largest) : 0;
    if (!form.colour || isnan(mean) || cell->runs == 0 || !(largest > 0)) {
        fprintf(stream, "%*s", width, text);
        return;
    }
    int colour = colours[(size_t)(fmax(mean, 0) / largest * (COLOURS - 1))];
    fprintf(stream, "%*s\033[%s38;5;%dm%s\033[0m", width - (int)strlen(text), "",
            cell == grid->largest ? "1;" : "", colour, text);
}

void grid_print_csv(FILE *stream, const struct grid *grid)
{
    const struct metric_form *form = &metric_forms[grid->metric];
    fprintf(stream, "r,S,metric,runs,mean,min,max%s,mixed,spoiled\n",
            grid->slo->count ? ",kept" : "");
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
        const struct grid_cell *cell = &grid->cells[i];
        const struct grid_value *value = &cell->values[grid->metric];
        if (cell->runs == 0)
            continue;
        fprintf(stream, "%.12g,%.12g,%s,%zu,", grid_cell_r(grid, cell), grid_cell_S(grid, cell),
                form->name, cell->runs);
        grid_print_number(stream, value->mean, form->decimals);
        fputc(',', stream);
        grid_print_number(stream, value->min, form->decimals);
        fputc(',', stream);
        grid_print_number(stream, value->max, form->decimals);
        if (grid->slo->count)
            fprintf(stream, ",%s", verdict_names[cell->verdict]);
        fprintf(stream, ",%s,%zu\n", cell->mixed ? "true" : "false", cell->spoiled);
    }
}

/* Prints a number that programs read; nothing for NaN. */
static void grid_print_number(FILE *stream, double value, int decimals)
{
    if (!isnan(value))
        fprintf(stream, "%.*f", decimals, value);
}

int grid_print_json(FILE *stream, const struct grid *grid)
{
    const struct metric_form *form = &metric_forms[grid->metric];
    json_t *cells = json_array(), *root = NULL;
    int result = -ENOMEM;
    for (size_t i = 0; cells && i < grid->row_count * grid->column_count; i++)
        if (grid->cells[i].runs &&
            json_array_append_new(cells, cell_to_json(grid, &grid->cells[i])) < 0)
            goto cleanup;
    root = json_pack("{s:s, s:s, s:o, s:O}", "metric", form->name, "unit", form->unit, "max",
                     cell_to_json(grid, grid->largest), "cells", cells);
    if (!root ||
        (grid->mixed && json_object_set_new(root, "mixed", mixed_to_json(grid->mixed)) < 0))
        goto cleanup;
    if (grid->slo->count &&
        (json_object_set_new(root, "slo", json_string(grid->slo->text)) < 0 ||
         json_object_set_new(root, "max_kept", cell_to_json(grid, grid->largest_kept)) < 0))
        goto cleanup;
    result = json_text_write(stream, root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
cleanup:
    json_decref(root);
    json_decref(cells);
    return result;
}

static json_t *cell_to_json(const struct grid *grid, const struct grid_cell *cell)
{
    if (!cell)
        return json_null();
    const struct grid_value *value = &cell->values[grid->metric];
    json_t *json = json_pack("{s:f, s:f, s:I, s:o, s:o, s:o}", "r", grid_cell_r(grid, cell), "S",
                             grid_cell_S(grid, cell), "runs", (json_int_t)cell->runs, "mean",
                             grid_number(value->mean), "min", grid_number(value->min), "max",
                             grid_number(value->max));
    if (json &&
        ((grid->slo->count &&
          json_object_set_new(json, "kept", json_string(verdict_names[cell->verdict])) < 0) ||
         (cell->mixed && json_object_set_new(json, "mixed", json_true()) < 0) ||
         (cell->spoiled &&
          json_object_set_new(json, "spoiled", json_integer((json_int_t)cell->spoiled)) < 0))) {
        json_decref(json);
        return NULL;
    }
    return json;
}

static json_t *grid_number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}
