/* SPDX-License-Identifier: Apache-2.0 */
/* --by NAME: one grid per value of a label; its largest cells become a row. */
#include "summary/vary.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/json_text.h"

static int vary_by_value(const void *left, const void *right, void *name);
static int vary_by_name(const void *left, const void *right);
static int vary_add_row(struct vary *vary, const struct readings *group);
static struct vary_best best_of(const struct grid *grid, const struct grid_cell *cell,
                                const struct readings *readings);
static double cpu_of_cell(const struct readings *readings, double r, double S);
static int value_width(const struct vary *vary);
static void print_best(FILE *stream, const struct vary *vary, const struct vary_best *best);
static void vary_print_number(FILE *stream, double value, double factor, int decimals);
static const struct vary_best *chosen(const struct vary *vary, const struct vary_row *row);
static void print_field(FILE *stream, const char *text);
static void print_best_csv(FILE *stream, const struct vary_best *best);
static json_t *row_to_json(const struct vary *vary, const struct vary_row *row);
static json_t *best_to_json(const struct vary_best *best);
static json_t *vary_number(double value);

int vary_make(struct vary *vary, const struct readings *readings, const char *name,
              enum metric metric, const struct slo *slo)
{
    *vary = (struct vary){.name = name, .metric = metric, .slo = slo};
    size_t count = readings->count;
    /* A shallow copy for sorting; it owns nothing. */
    struct reading *sorted = reallocarray(NULL, count + 1, sizeof *sorted);
    vary->rows = reallocarray(NULL, count + 1, sizeof *vary->rows);
    int made = sorted && vary->rows ? 0 : -ENOMEM;
    if (made == 0 && count) {
        memcpy(sorted, readings->items, count * sizeof *sorted);
        qsort_r(sorted, count, sizeof *sorted, vary_by_value, (void *)name);
    }
    for (size_t from = 0, to; made == 0 && from < count; from = to) {
        for (to = from + 1; to < count; to++)
            if (strcmp(vary_value_of(&sorted[from], name), vary_value_of(&sorted[to], name)) != 0)
                break;
        made = vary_add_row(vary, &(struct readings){.items = sorted + from, .count = to - from});
    }
    free(sorted);
    if (made < 0)
        vary_clear(vary);
    return made;
}

static int vary_by_value(const void *left, const void *right, void *name)
{
    const struct reading *a = left, *b = right;
    int result = reading_compare_values(vary_value_of(a, name), vary_value_of(b, name));
    return result ? result : strcmp(a->path, b->path);
}

int vary_print_labels(FILE *stream, const struct readings *readings)
{
    size_t count = 0;
    for (size_t i = 0; i < readings->count; i++)
        count += readings->items[i].label_count;
    const char **names = reallocarray(NULL, count + 1, sizeof *names);
    if (!names)
        return -ENOMEM;
    count = 0;
    for (size_t i = 0; i < readings->count; i++)
        for (size_t label = 0; label < readings->items[i].label_count; label++)
            names[count++] = readings->items[i].labels[label].name;
    qsort(names, count, sizeof *names, vary_by_name);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(names[i - 1], names[i]) != 0)
            fprintf(stream, "%s\n", names[i]);
    free(names);
    return 0;
}

static int vary_by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static const char no_value[] = "none";

const char *vary_value_of(const struct reading *reading, const char *name)
{
    const char *value = reading_label(reading, name);
    return value ? value : no_value;
}

static int vary_add_row(struct vary *vary, const struct readings *group)
{
    struct grid grid;
    int made = grid_make(&grid, group, vary->metric, false, vary->slo);
    if (made < 0)
        return made;
    struct vary_row *row = &vary->rows[vary->count++];
    *row = (struct vary_row){.value = vary_value_of(&group->items[0], vary->name),
                             .runs = group->count};
    made = mixed_find(&row->mixed, group, vary->name);
    if (made == 0) {
        grid_mark_mixed(&grid, &row->mixed);
        row->largest = best_of(&grid, grid.largest, group);
        row->kept = best_of(&grid, grid.largest_kept, group);
    }
    grid_clear(&grid);
    return made;
}

static struct vary_best best_of(const struct grid *grid, const struct grid_cell *cell,
                                const struct readings *readings)
{
    if (!cell)
        return (struct vary_best){NAN, NAN, NAN, NAN, NAN, false};
    struct vary_best best = {.r = grid_cell_r(grid, cell),
                             .S = grid_cell_S(grid, cell),
                             .value = grid_mean(grid, cell),
                             .mixed = cell->mixed,
                             .p95 = cell->values[METRIC_P95].mean};
    best.cpu = cpu_of_cell(readings, best.r, best.S);
    return best;
}

/* Processor time of the server per successful operation, over the runs of a cell that have it. */
static double cpu_of_cell(const struct readings *readings, double r, double S)
{
    double cpu = 0;
    uint64_t ok = 0;
    for (size_t i = 0; i < readings->count; i++) {
        const struct reading *reading = &readings->items[i];
        if (isnan(reading->server_cpu) || reading->spoiled || !grid_same(reading->r, r) ||
            !grid_same(reading->S, S))
            continue;
        cpu += reading->server_cpu;
        ok += reading->ok;
    }
    return ok ? cpu / (double)ok : NAN;
}

void vary_clear(struct vary *vary)
{
    for (size_t i = 0; i < vary->count; i++)
        mixed_clear(&vary->rows[i].mixed);
    free(vary->rows);
    vary->rows = NULL;
    vary->count = 0;
}

void vary_print(FILE *stream, const struct vary *vary)
{
    int width = value_width(vary);
    bool slo = vary->slo->count > 0;
    if (slo)
        fprintf(stream, "service level: %s\n\n", vary->slo->text);
    fprintf(stream, "%*s%6s%12s  %-16s", width, vary->name, "runs", "max", "at");
    if (slo)
        fprintf(stream, "%12s  %-16s", "max within", "at");
    fprintf(stream, "%12s%12s\n", "p95 there", "DC CPU/op");
    for (size_t i = 0; i < vary->count; i++) {
        const struct vary_row *row = &vary->rows[i];
        fprintf(stream, "%*s%6zu", width, row->value, row->runs);
        print_best(stream, vary, &row->largest);
        if (slo)
            print_best(stream, vary, &row->kept);
        vary_print_number(stream, chosen(vary, row)->p95, 1, 6);
        vary_print_number(stream, chosen(vary, row)->cpu, 1, 6);
        fputc('\n', stream);
    }
}

static int value_width(const struct vary *vary)
{
    size_t width = strlen(vary->name);
    for (size_t i = 0; i < vary->count; i++)
        if (strlen(vary->rows[i].value) > width)
            width = strlen(vary->rows[i].value);
    return width > 60 ? 60 : (int)width;
}

static void print_best(FILE *stream, const struct vary *vary, const struct vary_best *best)
{
    char where[64] = "-";
    if (!isnan(best->value))
        snprintf(where, sizeof where, "r=%.6g S=%.6g%s", best->r, best->S, best->mixed ? " ~" : "");
    vary_print_number(stream, best->value, 1, metric_forms[vary->metric].decimals);
    fprintf(stream, "  %-16s", where);
}

/* Prints a number in 12 columns; "-" for NaN. */
static void vary_print_number(FILE *stream, double value, double factor, int decimals)
{
    if (isnan(value))
        fprintf(stream, "%12s", "-");
    else
        fprintf(stream, "%12.*f", decimals, value * factor);
}

/* p95 and CPU are those of the cell within the service level, if there is one. */
static const struct vary_best *chosen(const struct vary *vary, const struct vary_row *row)
{
    return vary->slo->count ? &row->kept : &row->largest;
}

void vary_print_csv(FILE *stream, const struct vary *vary)
{
    print_field(stream, vary->name);
    fputs(",metric,runs,max,r,S,p95,cpu_per_operation", stream);
    if (vary->slo->count)
        fputs(",max_kept,r_kept,S_kept,p95_kept,cpu_per_operation_kept", stream);
    fputs(",mixed\n", stream);
    for (size_t i = 0; i < vary->count; i++) {
        const struct vary_row *row = &vary->rows[i];
        print_field(stream, row->value);
        fprintf(stream, ",%s,%zu", metric_forms[vary->metric].name, row->runs);
        print_best_csv(stream, &row->largest);
        if (vary->slo->count)
            print_best_csv(stream, &row->kept);
        fprintf(stream, ",%s\n", row->mixed.count > 0 ? "true" : "false");
    }
}

/* Prints a CSV field, quoted if necessary. */
static void print_field(FILE *stream, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

static void print_best_csv(FILE *stream, const struct vary_best *best)
{
    const double values[] = {best->value, best->r, best->S, best->p95, best->cpu};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        fputc(',', stream);
        if (!isnan(values[i]))
            fprintf(stream, "%.9g", values[i]);
    }
}

int vary_print_json(FILE *stream, const struct vary *vary)
{
    json_t *rows = json_array(), *root = NULL;
    int result = -ENOMEM;
    for (size_t i = 0; rows && i < vary->count; i++)
        if (json_array_append_new(rows, row_to_json(vary, &vary->rows[i])) < 0)
            goto cleanup;
    root = json_pack("{s:s, s:s, s:O}", "by", vary->name, "metric", metric_forms[vary->metric].name,
                     "rows", rows);
    if (!root ||
        (vary->slo->count && json_object_set_new(root, "slo", json_string(vary->slo->text)) < 0))
        goto cleanup;
    result = json_text_write(stream, root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
cleanup:
    json_decref(root);
    json_decref(rows);
    return result;
}

static json_t *row_to_json(const struct vary *vary, const struct vary_row *row)
{
    json_t *json =
        json_pack("{s:s, s:I, s:o, s:o}", "value", row->value, "runs", (json_int_t)row->runs, "max",
                  best_to_json(&row->largest), "mixed", mixed_to_json(&row->mixed));
    if (json && vary->slo->count &&
        json_object_set_new(json, "max_kept", best_to_json(&row->kept)) < 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

static json_t *best_to_json(const struct vary_best *best)
{
    if (isnan(best->value))
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:o, s:o}", "r", best->r, "S", best->S, "value", best->value,
                     "p95", vary_number(best->p95), "cpu_per_operation", vary_number(best->cpu));
}

static json_t *vary_number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}
