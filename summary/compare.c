/* SPDX-License-Identifier: Apache-2.0 */
/* --compare A B: ratios by cell, maxima, packet types, failures, and the verdict. */
#include "summary/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files/json_text.h"
#include "base/text.h"

enum { TEXT_SIZE = 128, LINE_SIZE = 512, CELL_WIDTH = 9, LABEL_WIDTH = 3 };

typedef char cell_text[TEXT_SIZE];

/* The failures of one side, as they are printed. */
struct failure_list {
    FILE *stream;
    char side;
    bool begun; /* the heading is printed */
};

static int compare_mark_mixed(struct compare *compare, enum compare_sides side);
static int make_verdict(struct compare *compare);
__attribute__((format(printf, 2, 3))) static void compare_say(struct compare *compare,
                                                              const char *format, ...);
static int compare_cells(const struct compare *compare, enum metric metric,
                         const double r[COMPARE_SIDES], const double S[COMPARE_SIDES],
                         struct compare_ratio *ratio);
static size_t gather_values(const struct readings *readings, enum metric metric, double r, double S,
                            double *values);
static double percent(double ratio);
static void say_certainty(struct compare *compare, const struct compare_ratio *ratio);
static int compare_add_details(struct compare *compare, enum compare_sides side,
                               struct error *error);
static size_t runs_in(const struct grid *grid, double r, double S);
static int print_ratios(FILE *stream, const struct compare *compare, bool spread);
static int make_texts(const struct compare *compare, const struct grid *both, bool spread,
                      cell_text *texts);
static int ratio_text(const struct compare *compare, double r, double S, bool spread, char *out);
static void print_texts(FILE *stream, const struct grid *both, const cell_text *texts);
static int widen_for(int width, const char *text, int space);
static void print_maxima(FILE *stream, const struct compare *compare);
static void print_maximum(FILE *stream, const struct compare *compare, const char *label,
                          bool kept);
static void print_types(FILE *stream, const struct compare *compare);
static void print_pair(FILE *stream, const struct histogram *a, const struct histogram *b,
                       double fraction);
static void compare_print_failures(FILE *stream, const struct compare *compare,
                                   enum compare_sides side);
static void compare_print_failure(const struct detail_type *type, const struct detail_cause *cause,
                                  void *context);
static int each_cell(const struct compare *compare,
                     int (*visit)(void *context, double r, double S,
                                  const struct compare_ratio *ratio),
                     void *context);
static int print_csv_cell(void *context, double r, double S, const struct compare_ratio *ratio);
static void compare_print_number(FILE *stream, double value);
static int add_json_cell(void *context, double r, double S, const struct compare_ratio *ratio);
static json_t *compare_number(double value);
static json_t *side_to_json(const struct compare *compare, enum compare_sides side);
static json_t *maximum_to_json(const struct grid *grid, const struct grid_cell *cell);

int compare_make(struct compare *compare, const struct readings *a, const struct readings *b,
                 const char *const names[COMPARE_SIDES], enum metric metric, const struct slo *slo,
                 struct error *error)
{
    *compare = (struct compare){.readings = {a, b}, .names = {names[0], names[1]}};
    int made = 0;
    error_no_memory(error);
    for (size_t side = 0; made == 0 && side < COMPARE_SIDES; side++) {
        const struct readings *readings = compare->readings[side];
        made = grid_make(&compare->grids[side], readings, metric, false, slo);
        if (made == 0)
            made = grid_make(&compare->maxima[side], readings, METRIC_OK, false, slo);
    }
    for (size_t side = 0; made == 0 && side < COMPARE_SIDES; side++)
        made = compare_mark_mixed(compare, side);
    if (made == 0)
        made = make_verdict(compare);
    for (size_t side = 0; made == 0 && side < COMPARE_SIDES; side++)
        made = compare_add_details(compare, side, error);
    if (made < 0)
        compare_clear(compare);
    return made;
}

static int compare_mark_mixed(struct compare *compare, enum compare_sides side)
{
    int made = mixed_find(&compare->mixed[side], compare->readings[side], NULL);
    if (made == 0) {
        grid_mark_mixed(&compare->grids[side], &compare->mixed[side]);
        grid_mark_mixed(&compare->maxima[side], &compare->mixed[side]);
    }
    return made;
}

static int make_verdict(struct compare *compare)
{
    const struct grid *a = &compare->maxima[COMPARE_A], *b = &compare->maxima[COMPARE_B];
    struct compare_ratio ratio;
    if (!a->largest || !b->largest) {
        compare_say(compare, "There is no maximum to compare: %s has no runs.",
                    a->largest   ? "B"
                    : b->largest ? "A"
                                 : "neither A nor B");
        return 0;
    }
    const double r[] = {grid_cell_r(a, a->largest), grid_cell_r(b, b->largest)};
    const double S[] = {grid_cell_S(a, a->largest), grid_cell_S(b, b->largest)};
    int compared = compare_cells(compare, METRIC_OK, r, S, &ratio);
    if (compared < 0)
        return compared;
    double difference = percent(ratio.ratio);
    compare_say(compare, "B's maximum is ");
    if (isnan(difference))
        compare_say(compare, "not to be compared with A's");
    else if (fabs(difference) < 0.05)
        compare_say(compare, "equal to A's");
    else
        compare_say(compare, "%.1f%% %s A's", fabs(difference), difference > 0 ? "above" : "below");
    compare_say(compare, " (%.3f at r=%.12g S=%.12g against %.3f at r=%.12g S=%.12g)",
                grid_mean(b, b->largest), r[COMPARE_B], S[COMPARE_B], grid_mean(a, a->largest),
                r[COMPARE_A], S[COMPARE_A]);
    if (!isnan(difference))
        say_certainty(compare, &ratio);
    compare_say(compare, ".");
    return 0;
}

__attribute__((format(printf, 2, 3))) static void compare_say(struct compare *compare,
                                                              const char *format, ...)
{
    size_t used = strlen(compare->verdict);
    va_list args;
    va_start(args, format);
    vsnprintf(compare->verdict + used, sizeof compare->verdict - used, format, args);
    va_end(args);
}

/* The ratio between a cell of A and a cell of B. */
static int compare_cells(const struct compare *compare, enum metric metric,
                         const double r[COMPARE_SIDES], const double S[COMPARE_SIDES],
                         struct compare_ratio *ratio)
{
    const struct readings *a = compare->readings[COMPARE_A], *b = compare->readings[COMPARE_B];
    double *values = reallocarray(NULL, a->count + b->count + 1, sizeof *values);
    if (!values)
        return -ENOMEM;
    size_t a_count = gather_values(a, metric, r[COMPARE_A], S[COMPARE_A], values);
    size_t b_count = gather_values(b, metric, r[COMPARE_B], S[COMPARE_B], values + a_count);
    *ratio = compare_samples(values, a_count, values + a_count, b_count);
    free(values);
    return 0;
}

/* Collects a metric from the runs of a cell that have it. values has room for all readings. */
static size_t gather_values(const struct readings *readings, enum metric metric, double r, double S,
                            double *values)
{
    size_t count = 0;
    for (size_t i = 0; i < readings->count; i++) {
        const struct reading *reading = &readings->items[i];
        if (!isnan(reading->metrics[metric]) && grid_same(reading->r, r) &&
            grid_same(reading->S, S) && !reading->spoiled)
            values[count++] = reading->metrics[metric];
    }
    return count;
}

static double percent(double ratio)
{
    return 100 * (ratio - 1);
}

/* Compares the two maxima, as far as the number of runs allows. */
static void say_certainty(struct compare *compare, const struct compare_ratio *ratio)
{
    if (ratio->same)
        compare_say(compare, ": no difference");
    else if (ratio->interval && ratio->low <= 1 && ratio->high >= 1)
        compare_say(
            compare,
            ": that may be chance, the 95%% interval of the difference is %+.1f%% to %+.1f%%",
            percent(ratio->low), percent(ratio->high));
    else if (ratio->interval)
        compare_say(compare, ": B is %s, the 95%% interval of the difference is %+.1f%% to %+.1f%%",
                    ratio->low > 1 ? "faster" : "slower", percent(ratio->low),
                    percent(ratio->high));
    else if (ratio->runs[COMPARE_A] > 1 || ratio->runs[COMPARE_B] > 1)
        compare_say(compare, "; between single runs the difference ranges from %+.1f%% to %+.1f%%",
                    percent(ratio->low), percent(ratio->high));
    else
        compare_say(compare, "; one run each: the difference may be chance");
}

/* Adds up the details of one side over the cells in which both sides have runs. */
static int compare_add_details(struct compare *compare, enum compare_sides side,
                               struct error *error)
{
    const struct readings *readings = compare->readings[side];
    const struct grid *other = &compare->grids[!side];
    int added = 0;
    for (size_t i = 0; added == 0 && i < readings->count; i++)
        if (!readings->items[i].spoiled &&
            runs_in(other, readings->items[i].r, readings->items[i].S) > 0)
            added = detail_add(&compare->details[side], &readings->items[i], error);
    return added;
}

static size_t runs_in(const struct grid *grid, double r, double S)
{
    const struct grid_cell *cell = grid_find(grid, r, S);
    return cell ? cell->runs : 0;
}

void compare_clear(struct compare *compare)
{
    for (size_t side = 0; side < COMPARE_SIDES; side++) {
        grid_clear(&compare->grids[side]);
        grid_clear(&compare->maxima[side]);
        detail_clear(&compare->details[side]);
        mixed_clear(&compare->mixed[side]);
    }
}

int compare_cell(const struct compare *compare, enum metric metric, double r, double S,
                 struct compare_ratio *ratio)
{
    return compare_cells(compare, metric, (double[]){r, r}, (double[]){S, S}, ratio);
}

int compare_print(FILE *stream, const struct compare *compare, bool spread)
{
    fprintf(stream, "%s\n\n", compare->verdict);
    for (size_t side = 0; side < COMPARE_SIDES; side++) {
        fprintf(stream, "%c: ", side == COMPARE_A ? 'A' : 'B');
        text_print_clean(stream, compare->names[side]);
        fprintf(stream, ", %zu run%s\n", compare->readings[side]->count,
                compare->readings[side]->count == 1 ? "" : "s");
    }
    int printed = print_ratios(stream, compare, spread);
    if (printed < 0)
        return printed;
    print_maxima(stream, compare);
    print_types(stream, compare);
    compare_print_failures(stream, compare, COMPARE_A);
    compare_print_failures(stream, compare, COMPARE_B);
    return 0;
}

static int print_ratios(FILE *stream, const struct compare *compare, bool spread)
{
    struct grid both;
    enum metric metric = compare->grids[COMPARE_A].metric;
    int printed = compare_make_axes(compare, &both);
    if (printed < 0)
        return printed;
    cell_text *texts = calloc(both.row_count * both.column_count + 1, sizeof *texts);
    printed = texts ? make_texts(compare, &both, spread, texts) : -ENOMEM;
    if (printed == 0) {
        fprintf(
            stream,
            "\nB/A, %s (A, B: only this one has runs; + B faster, - B slower, beyond chance):\n",
            metric_forms[metric].unit);
        print_texts(stream, &both, texts);
    }
    free(texts);
    grid_clear(&both);
    return printed;
}

int compare_make_axes(const struct compare *compare, struct grid *both)
{
    const struct readings *a = compare->readings[COMPARE_A], *b = compare->readings[COMPARE_B];
    struct reading *items = reallocarray(NULL, a->count + b->count + 1, sizeof *items);
    if (!items)
        return -ENOMEM;
    if (a->count)
        memcpy(items, a->items, a->count * sizeof *items);
    if (b->count)
        memcpy(items + a->count, b->items, b->count * sizeof *items);
    const struct grid *grid = &compare->grids[COMPARE_A];
    int made = grid_make(both, &(struct readings){.items = items, .count = a->count + b->count},
                         grid->metric, false, grid->slo);
    free(items);
    return made;
}

static int make_texts(const struct compare *compare, const struct grid *both, bool spread,
                      cell_text *texts)
{
    int made = 0;
    for (size_t i = 0; made == 0 && i < both->row_count * both->column_count; i++)
        made = ratio_text(compare, both->r[i / both->column_count], both->S[i % both->column_count],
                          spread, texts[i]);
    return made;
}

static int ratio_text(const struct compare *compare, double r, double S, bool spread, char *out)
{
    size_t a = runs_in(&compare->grids[COMPARE_A], r, S);
    size_t b = runs_in(&compare->grids[COMPARE_B], r, S);
    enum metric metric = compare->grids[COMPARE_A].metric;
    struct compare_ratio ratio;
    if (a == 0 || b == 0) {
        strcpy(out, a ? "A" : b ? "B" : "");
        return 0;
    }
    int compared = compare_cell(compare, metric, r, S, &ratio);
    if (compared < 0)
        return compared;
    if (isnan(ratio.ratio))
        strcpy(out, "-");
    else if (spread && (ratio.runs[COMPARE_A] > 1 || ratio.runs[COMPARE_B] > 1))
        snprintf(out, TEXT_SIZE, "%s%.3f (%.3f..%.3f)", compare_mark(&ratio, metric), ratio.ratio,
                 ratio.low, ratio.high);
    else
        snprintf(out, TEXT_SIZE, "%s%.3f", compare_mark(&ratio, metric), ratio.ratio);
    return 0;
}

const char *compare_mark(const struct compare_ratio *ratio, enum metric metric)
{
    if (!ratio->interval || (ratio->low <= 1 && ratio->high >= 1))
        return "";
    return (ratio->low > 1) != compare_less_is_better(metric) ? "+" : "-";
}

bool compare_less_is_better(enum metric metric)
{
    return metric == METRIC_FAILED || metric == METRIC_MEAN || metric == METRIC_P50 ||
           metric == METRIC_P95 || metric == METRIC_P99;
}

static void print_texts(FILE *stream, const struct grid *both, const cell_text *texts)
{
    int width = CELL_WIDTH, label = LABEL_WIDTH;
    char text[TEXT_SIZE];
    for (size_t i = 0; i < both->row_count * both->column_count; i++)
        width = widen_for(width, texts[i], 1);
    for (size_t row = 0; row < both->row_count; row++) {
        snprintf(text, sizeof text, "%.12g", both->r[row]);
        label = widen_for(label, text, 0);
    }
    fprintf(stream, "%*s ", label + 1, "r\\S");
    for (size_t column = 0; column < both->column_count; column++)
        fprintf(stream, "%*.12g", width, both->S[column]);
    fputc('\n', stream);
    for (size_t row = 0; row < both->row_count; row++) {
        fprintf(stream, "%*.12g  ", label, both->r[row]);
        for (size_t column = 0; column < both->column_count; column++)
            fprintf(stream, "%*s", width, texts[row * both->column_count + column]);
        fputc('\n', stream);
    }
}

static int widen_for(int width, const char *text, int space)
{
    int wanted = (int)strlen(text) + space;
    return wanted > width ? wanted : width;
}

static void print_maxima(FILE *stream, const struct compare *compare)
{
    const struct slo *slo = compare->maxima[COMPARE_A].slo;
    char label[LINE_SIZE];
    fputc('\n', stream);
    print_maximum(stream, compare, "max", false);
    if (slo->count == 0)
        return;
    snprintf(label, sizeof label, "max within %s", slo->text);
    print_maximum(stream, compare, label, true);
}

static void print_maximum(FILE *stream, const struct compare *compare, const char *label, bool kept)
{
    double values[COMPARE_SIDES] = {NAN, NAN};
    fprintf(stream, "%s:", label);
    for (size_t side = 0; side < COMPARE_SIDES; side++) {
        const struct grid *grid = &compare->maxima[side];
        const struct grid_cell *cell = kept ? grid->largest_kept : grid->largest;
        fprintf(stream, "%s %c ", side ? "," : "", side ? 'B' : 'A');
        if (!cell) {
            fputs("none", stream);
            continue;
        }
        values[side] = grid_mean(grid, cell);
        fprintf(stream, "%.3f at r=%.12g S=%.12g", values[side], grid_cell_r(grid, cell),
                grid_cell_S(grid, cell));
    }
    if (values[COMPARE_A] > 0 && !isnan(values[COMPARE_B]))
        fprintf(stream, ", B/A %.3f", values[COMPARE_B] / values[COMPARE_A]);
    fputc('\n', stream);
}

static void print_types(FILE *stream, const struct compare *compare)
{
    const struct detail *a = &compare->details[COMPARE_A], *b = &compare->details[COMPARE_B];
    if (a->without + b->without)
        fprintf(stream,
                "\nPacket types and failures are those of JSON results alone: %zu runs of A and "
                "%zu of B have none\n",
                a->without, b->without);
    if (a->runs == 0 || b->runs == 0)
        return;
    fprintf(stream, "\nService times in seconds, of the cells that both have:\n");
    fprintf(stream, "%-12s%7s  %-32s%12s%12s%8s%12s%12s%8s\n", "Protocol", "Op Code", "Description",
            "A median", "B median", "B/A", "A 95%", "B 95%", "B/A");
    for (size_t i = 0; i < a->type_count; i++) {
        const struct detail_type *left = &a->types[i];
        const struct detail_type *right = detail_find(b, left->protocol, left->opcode);
        if (!right)
            continue;
        fprintf(stream, "%-12s%7s  %-32s", left->protocol, left->opcode, left->description);
        print_pair(stream, &left->service, &right->service, 0.5);
        print_pair(stream, &left->service, &right->service, 0.95);
        fputc('\n', stream);
    }
}

static void print_pair(FILE *stream, const struct histogram *a, const struct histogram *b,
                       double fraction)
{
    int64_t left = histogram_quantile(a, fraction), right = histogram_quantile(b, fraction);
    if (left < 0)
        fprintf(stream, "%12s", "none");
    else
        fprintf(stream, "%12.6f", (double)left * 1e-9);
    if (right < 0)
        fprintf(stream, "%12s", "none");
    else
        fprintf(stream, "%12.6f", (double)right * 1e-9);
    if (left > 0 && right >= 0)
        fprintf(stream, "%8.3f", (double)right / (double)left);
    else
        fprintf(stream, "%8s", "-");
}

/* Prints failures of one side whose cause the other side does not have. */
static void compare_print_failures(FILE *stream, const struct compare *compare,
                                   enum compare_sides side)
{
    struct failure_list list = {.stream = stream, .side = side == COMPARE_A ? 'A' : 'B'};
    compare_own_failures(compare, side, compare_print_failure, &list);
}

static void compare_print_failure(const struct detail_type *type, const struct detail_cause *cause,
                                  void *context)
{
    struct failure_list *list = context;
    if (!list->begun)
        fprintf(list->stream, "\nFailures that only %c has:\n", list->side);
    list->begun = true;
    fprintf(list->stream, "%10" PRIu64 "  %s:%s  %s\n", cause->count, type->protocol, type->opcode,
            cause->text);
}

void compare_own_failures(const struct compare *compare, enum compare_sides side,
                          void (*visit)(const struct detail_type *type,
                                        const struct detail_cause *cause, void *context),
                          void *context)
{
    const struct detail *own = &compare->details[side], *other = &compare->details[!side];
    if (own->runs == 0 || other->runs == 0)
        return;
    for (size_t i = 0; i < own->type_count; i++) {
        const struct detail_type *type = &own->types[i];
        const struct detail_type *same = detail_find(other, type->protocol, type->opcode);
        for (size_t cause = 0; cause < type->cause_count; cause++)
            if (!same || !detail_cause(same, type->causes[cause].text))
                visit(type, &type->causes[cause], context);
    }
}

int compare_print_csv(FILE *stream, const struct compare *compare)
{
    fputs("r,S,runs_a,runs_b,a,b,ratio,low,high,limits,mixed_a,mixed_b\n", stream);
    return each_cell(compare, print_csv_cell, stream);
}

/* Calls visit for each cell in which both sides have runs. */
static int each_cell(const struct compare *compare,
                     int (*visit)(void *context, double r, double S,
                                  const struct compare_ratio *ratio),
                     void *context)
{
    const struct grid *a = &compare->grids[COMPARE_A];
    int result = 0;
    for (size_t i = 0; result == 0 && i < a->row_count * a->column_count; i++) {
        double r = a->r[i / a->column_count], S = a->S[i % a->column_count];
        struct compare_ratio ratio;
        if (a->cells[i].runs == 0 || runs_in(&compare->grids[COMPARE_B], r, S) == 0)
            continue;
        result = compare_cell(compare, a->metric, r, S, &ratio);
        ratio.mixed[COMPARE_A] = a->cells[i].mixed;
        ratio.mixed[COMPARE_B] = grid_find(&compare->grids[COMPARE_B], r, S)->mixed;
        if (result == 0)
            result = visit(context, r, S, &ratio);
    }
    return result;
}

static int print_csv_cell(void *context, double r, double S, const struct compare_ratio *ratio)
{
    FILE *stream = context;
    fprintf(stream, "%.12g,%.12g,%zu,%zu", r, S, ratio->runs[COMPARE_A], ratio->runs[COMPARE_B]);
    compare_print_number(stream, ratio->mean[COMPARE_A]);
    compare_print_number(stream, ratio->mean[COMPARE_B]);
    compare_print_number(stream, ratio->ratio);
    compare_print_number(stream, ratio->low);
    compare_print_number(stream, ratio->high);
    fprintf(stream, ",%s,%s,%s\n", ratio->interval ? "interval" : "range",
            ratio->mixed[COMPARE_A] ? "true" : "false", ratio->mixed[COMPARE_B] ? "true" : "false");
    return 0;
}

static void compare_print_number(FILE *stream, double value)
{
    fputc(',', stream);
    if (isfinite(value))
        fprintf(stream, "%.6g", value);
}

int compare_print_json(FILE *stream, const struct compare *compare)
{
    json_t *cells = json_array(), *root = NULL;
    int result = cells ? each_cell(compare, add_json_cell, cells) : -ENOMEM;
    if (result == 0) {
        root = json_pack("{s:s, s:s, s:o, s:o, s:O}", "verdict", compare->verdict, "metric",
                         metric_forms[compare->grids[COMPARE_A].metric].name, "a",
                         side_to_json(compare, COMPARE_A), "b", side_to_json(compare, COMPARE_B),
                         "cells", cells);
        result = root ? 0 : -ENOMEM;
    }
    if (result == 0)
        result = json_text_write(stream, root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    json_decref(root);
    json_decref(cells);
    return result;
}

static int add_json_cell(void *context, double r, double S, const struct compare_ratio *ratio)
{
    json_t *cell = json_pack(
        "{s:f, s:f, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:b}", "r", r, "S", S, "runs_a",
        (json_int_t)ratio->runs[COMPARE_A], "runs_b", (json_int_t)ratio->runs[COMPARE_B], "a",
        compare_number(ratio->mean[COMPARE_A]), "b", compare_number(ratio->mean[COMPARE_B]),
        "ratio", compare_number(ratio->ratio), "low", compare_number(ratio->low), "high",
        compare_number(ratio->high), "limits", ratio->interval ? "interval" : "range", "mixed_a",
        ratio->mixed[COMPARE_A], "mixed_b", ratio->mixed[COMPARE_B]);
    return json_array_append_new(context, cell) < 0 ? -ENOMEM : 0;
}

static json_t *compare_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *side_to_json(const struct compare *compare, enum compare_sides side)
{
    const struct grid *grid = &compare->maxima[side];
    return json_pack("{s:s, s:I, s:o, s:o, s:o}", "name", compare->names[side], "runs",
                     (json_int_t)compare->readings[side]->count, "max",
                     maximum_to_json(grid, grid->largest), "max_kept",
                     grid->slo->count ? maximum_to_json(grid, grid->largest_kept) : json_null(),
                     "mixed", mixed_to_json(&compare->mixed[side]));
}

static json_t *maximum_to_json(const struct grid *grid, const struct grid_cell *cell)
{
    if (!cell)
        return json_null();
    return json_pack("{s:f, s:f, s:f}", "r", grid_cell_r(grid, cell), "S", grid_cell_S(grid, cell),
                     "ok", grid_mean(grid, cell));
}
