/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTML page: what traffic-sweep sampled on the server. Processor time and bytes are totals
 * since a process began, so their growth is shown; processes are one chart with a curve per
 * service.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary/chart.h"
#include "summary/page_private.h"
#include "summary/result/result.h"
#include "summary/svg.h"

enum { NAME_SIZE = 64, OTHERS_MAX = 8, NAMES_MAX = 256 };

/* How a sampled value is shown. */
struct sample_form {
    const char *name, *title, *unit;
    double factor;
    bool growth;
};

struct sample_set {
    const struct result *result;
    size_t count;
    char (*names)[NAME_SIZE];
    double *x, *y; /* y has room for CHART_SERIES_MAX curves */
};

struct varied {
    const char *name;
    double span; /* largest - smallest value */
};

static int page_draw_samples(const struct page *page, const struct result *result);
static int make_set(struct sample_set *set, const struct result *result);
static size_t find_name(const struct sample_set *set, const char *name);
static const struct sample_form *find_form(const char *name);
static void draw_values(FILE *stream, const struct sample_set *set);
static void draw_value(FILE *stream, const struct sample_set *set, const struct sample_form *form,
                       size_t number);
static double fill(const struct sample_set *set, const char *name, double factor, bool growth,
                   double *y);
static double page_sample_value(const struct result_sample *sample, const char *name);
static double cores_of(const struct result *result);
static void draw_processes(FILE *stream, const struct sample_set *set);
static size_t services_by_span(const struct sample_set *set, struct varied *services);
static int by_span(const void *left, const void *right);
static void clear_set(struct sample_set *set);

static const char process_prefix[] = "processes.", cores_name[] = "cores";

static const struct sample_form forms[] = {
    {"cpu", "Processors in use", "processors", 1, true},
    {"memory", "Memory", "GiB", 1.0 / (1 << 30), false},
    {"read", "Read from disk", "MiB per second", 1.0 / (1 << 20), true},
    {"written", "Written to disk", "MiB per second", 1.0 / (1 << 20), true},
    {"processes", "Processes", "processes", 1, false},
};

int page_print_samples(const struct page *page)
{
    bool found = false;
    int read = 0;
    for (size_t i = 0; read == 0 && !found && i < page->readings->count; i++) {
        const struct reading *reading = &page->readings->items[i];
        struct result result;
        if (reading->form != READING_JSON || !page_in_cell(page, reading, page->best))
            continue;
        result_init(&result);
        read = result_read(&result, reading->path, page->error);
        found = read == 0 && result.sample_count > 0;
        if (found)
            read = page_draw_samples(page, &result);
        result_clear(&result);
    }
    return read;
}

static int page_draw_samples(const struct page *page, const struct result *result)
{
    struct sample_set set;
    if (make_set(&set, result) < 0)
        return page_no_memory(page);
    fprintf(page->stream, "<h2>The server at r=%.6g S=%.6g</h2>\n<div class=\"s\">\n", result->r,
            result->S);
    draw_values(page->stream, &set);
    draw_processes(page->stream, &set);
    fputs("</div>\n", page->stream);
    clear_set(&set);
    return 0;
}

/* Lists the names of all values, in the order of their first samples. */
static int make_set(struct sample_set *set, const struct result *result)
{
    size_t length = result->sample_count;
    *set = (struct sample_set){
        .result = result,
        .names = calloc(NAMES_MAX, sizeof *set->names),
        .x = reallocarray(NULL, length, (CHART_SERIES_MAX + 1) * sizeof(double))};
    if (!set->names || !set->x) {
        clear_set(set);
        return -ENOMEM;
    }
    set->y = set->x + length;
    for (size_t i = 0; i < length; i++) {
        set->x[i] = result->samples[i].t;
        for (size_t value = 0; value < result->samples[i].value_count; value++) {
            const char *name = result->samples[i].values[value].name;
            if (set->count < NAMES_MAX && find_name(set, name) == set->count)
                snprintf(set->names[set->count++], NAME_SIZE, "%s", name);
        }
    }
    return 0;
}

/* Index of a name; the number of names: it is new. */
static size_t find_name(const struct sample_set *set, const char *name)
{
    size_t i = 0;
    while (i < set->count && strncmp(set->names[i], name, NAME_SIZE - 1) != 0)
        i++;
    return i;
}

static void clear_set(struct sample_set *set)
{
    free(set->names);
    free(set->x);
}

/* Known values in their order, then those of --sample, of which only the first are shown. */
static void draw_values(FILE *stream, const struct sample_set *set)
{
    size_t number = 0, others = 0;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (find_name(set, forms[i].name) < set->count)
            draw_value(stream, set, &forms[i], number++);
    for (size_t i = 0; i < set->count; i++) {
        const char *name = set->names[i];
        if (find_form(name) || strcmp(name, cores_name) == 0 ||
            strncmp(name, process_prefix, strlen(process_prefix)) == 0)
            continue;
        if (others++ < OTHERS_MAX)
            draw_value(stream, set, &(struct sample_form){name, name, "value", 1, false}, number++);
    }
    if (others > OTHERS_MAX)
        fprintf(stream, "<p class=\"f\">%zu more sampled values are not shown.</p>\n",
                others - OTHERS_MAX);
}

static const struct sample_form *find_form(const char *name)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

static void draw_value(FILE *stream, const struct sample_set *set, const struct sample_form *form,
                       size_t number)
{
    struct sample_form shown = *form;
    char id[32], text[64];
    double largest = fill(set, form->name, form->factor, form->growth, set->y);
    if (strcmp(form->name, "memory") == 0 && largest < 1) {
        shown.unit = "MiB";
        largest = fill(set, form->name, 1.0 / (1 << 20), false, set->y);
    }
    struct chart chart = {.id = id,
                          .title = shown.title,
                          .description = "Over the run.",
                          .mark = NAN,
                          .limit = strcmp(form->name, "cpu") == 0 ? cores_of(set->result) : NAN,
                          .limit_text = text,
                          .series_count = 1};
    snprintf(id, sizeof id, "sample%zu", number);
    snprintf(text, sizeof text, "%.0f processors", chart.limit);
    if (isfinite(chart.limit))
        largest = fmax(largest, chart.limit);
    chart.x = chart_linear("seconds", 0, set->result->window);
    chart.y = chart_linear(shown.unit, 0, largest);
    chart.series[0] = (struct chart_series){.lines = true,
                                            .points = true,
                                            .count = set->result->sample_count,
                                            .x = set->x,
                                            .y = set->y};
    page_draw_figure(stream, &chart);
}

/* Writes the values, or their growth per second, to y. Returns the largest. */
static double fill(const struct sample_set *set, const char *name, double factor, bool growth,
                   double *y)
{
    double largest = 0, last = NAN, last_t = 0;
    for (size_t i = 0; i < set->result->sample_count; i++) {
        double value = factor * page_sample_value(&set->result->samples[i], name);
        double t = set->result->samples[i].t;
        y[i] = growth ? fmax(0, value - last) / (t - last_t) : value;
        if (growth && (isnan(value) || isnan(last)))
            y[i] = NAN;
        last = value;
        last_t = t;
        if (isfinite(y[i]))
            largest = fmax(largest, y[i]);
    }
    return largest;
}

static double page_sample_value(const struct result_sample *sample, const char *name)
{
    for (size_t i = 0; i < sample->value_count; i++)
        if (strncmp(sample->values[i].name, name, NAME_SIZE - 1) == 0)
            return sample->values[i].value;
    return NAN;
}

/* The server's number of processors, if a sample tells; NaN otherwise. */
static double cores_of(const struct result *result)
{
    double cores = NAN;
    for (size_t i = 0; i < result->sample_count; i++)
        cores = fmax(cores, page_sample_value(&result->samples[i], cores_name));
    return cores;
}

/* One chart with the services whose number of processes varies most. */
static void draw_processes(FILE *stream, const struct sample_set *set)
{
    struct varied services[NAMES_MAX];
    size_t count = services_by_span(set, services), length = set->result->sample_count;
    double largest = 0;
    struct chart chart = {.id = "services",
                          .title = "Processes by service",
                          .description = "The services whose number of processes varies most.",
                          .mark = NAN,
                          .limit = NAN,
                          .x = chart_linear("seconds", 0, set->result->window)};
    if (count == 0)
        return;
    for (size_t i = 0; i < count && i < CHART_SERIES_MAX; i++) {
        double *y = set->y + i * length;
        largest = fmax(largest, fill(set, services[i].name, 1, false, y));
        chart.series[chart.series_count++] =
            (struct chart_series){.name = services[i].name + strlen(process_prefix),
                                  .lines = true,
                                  .count = length,
                                  .x = set->x,
                                  .y = y};
    }
    chart.y = chart_linear("processes", 0, largest);
    page_draw_figure(stream, &chart);
    if (count > CHART_SERIES_MAX)
        fprintf(stream, "<p class=\"f\">%zu services with steadier numbers are not shown.</p>\n",
                count - CHART_SERIES_MAX);
}

/* Samba's tfork processes only wait for others, so they are left out. */
static size_t services_by_span(const struct sample_set *set, struct varied *services)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        double least = NAN, largest = NAN;
        if (strncmp(set->names[i], process_prefix, strlen(process_prefix)) != 0 ||
            strcmp(set->names[i] + strlen(process_prefix), "tfork") == 0)
            continue;
        for (size_t row = 0; row < set->result->sample_count; row++) {
            double value = page_sample_value(&set->result->samples[row], set->names[i]);
            least = fmin(least, value);
            largest = fmax(largest, value);
        }
        services[count++] = (struct varied){set->names[i], largest - least};
    }
    qsort(services, count, sizeof *services, by_span);
    return count;
}

static int by_span(const void *left, const void *right)
{
    const struct varied *a = left, *b = right;
    if (a->span != b->span)
        return a->span > b->span ? -1 : 1;
    return strcmp(a->name, b->name);
}
