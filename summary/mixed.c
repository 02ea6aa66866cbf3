/* SPDX-License-Identifier: Apache-2.0 */
/* Compares each aspect of all runs: sorts the runs by cell and value, then looks for neighbours. */
#include "summary/mixed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "summary/command_text.h"
#include "summary/result/result.h"

enum { VALUE_SIZE = 256, VALUES_SHOWN = 4 };

/* What is compared between runs. */
struct aspect {
    const char *name;
    /* Writes a run's value. false: the file does not contain it. */
    bool (*read)(const struct reading *reading, const char *key, char *out);
    const char *key; /* name of a label or an option */
    bool is_label;
};

struct entry {
    double r, S;
    char value[VALUE_SIZE];
};

static int find_in_aspect(struct mixed *mixed, const struct readings *readings,
                          const struct aspect *aspect, struct entry *entries);
static bool known_differs(const struct readings *readings, const struct aspect *aspect,
                          struct entry *entries, size_t *count);
static int add_kind(struct mixed *mixed, const struct aspect *aspect, struct entry *entries,
                    size_t count);
static int mixed_by_cell(const void *left, const void *right);
static int mixed_by_value(const void *left, const void *right);
static int order_numbers(double left, double right);
static int add_cell(struct mixed *mixed, struct mixed_kind *kind, const struct entry *entry);
static void list_values(char *out, const struct entry *entries, size_t count);
static int find_in_labels(struct mixed *mixed, const struct readings *readings, const char *except,
                          struct entry *entries);
static bool label_is_new(const struct readings *readings, size_t run, const char *name);
static bool compared_label(const char *name, const char *except);
static bool read_program(const struct reading *reading, const char *key, char *out);
static bool read_server(const struct reading *reading, const char *key, char *out);
static bool read_model(const struct reading *reading, const char *key, char *out);
static bool read_window(const struct reading *reading, const char *key, char *out);
static bool read_label(const struct reading *reading, const char *key, char *out);
static bool read_option(const struct reading *reading, const char *key, char *out);

static const struct aspect aspects[] = {
    {"server", read_server, NULL, false},
    {"model", read_model, NULL, false},
    {"program", read_program, NULL, false},
    {"window", read_window, NULL, false},
};

int mixed_find(struct mixed *mixed, const struct readings *readings, const char *except)
{
    *mixed = (struct mixed){0};
    if (readings->count < 2)
        return 0;
    struct entry *entries = reallocarray(NULL, readings->count, sizeof *entries);
    int found = entries ? 0 : -ENOMEM;
    for (size_t i = 0; found == 0 && i < sizeof aspects / sizeof aspects[0]; i++)
        found = find_in_aspect(mixed, readings, &aspects[i], entries);
    for (size_t i = 0; found == 0 && i < command_option_count; i++)
        found = find_in_aspect(
            mixed, readings,
            &(struct aspect){"option --", read_option, command_options[i].name, false}, entries);
    if (found == 0)
        found = find_in_labels(mixed, readings, except, entries);
    free(entries);
    if (found < 0)
        mixed_clear(mixed);
    return found;
}

static int find_in_aspect(struct mixed *mixed, const struct readings *readings,
                          const struct aspect *aspect, struct entry *entries)
{
    size_t count;
    if (!known_differs(readings, aspect, entries, &count))
        return 0;
    return add_kind(mixed, aspect, entries, count);
}

/* Collects the values that are known. Returns whether two of them differ. */
static bool known_differs(const struct readings *readings, const struct aspect *aspect,
                          struct entry *entries, size_t *count)
{
    bool differs = false;
    *count = 0;
    for (size_t i = 0; i < readings->count; i++) {
        const struct reading *reading = &readings->items[i];
        struct entry *entry = &entries[*count];
        *entry = (struct entry){.r = reading->r, .S = reading->S};
        if (!aspect->read(reading, aspect->key, entry->value))
            continue;
        differs = differs || strcmp(entry->value, entries[0].value) != 0;
        ++*count;
    }
    return differs;
}

static int add_kind(struct mixed *mixed, const struct aspect *aspect, struct entry *entries,
                    size_t count)
{
    struct mixed_kind *kinds = array_grow(mixed->kinds, mixed->count, sizeof *kinds);
    if (!kinds)
        return -ENOMEM;
    mixed->kinds = kinds;
    struct mixed_kind *kind = &kinds[mixed->count++];
    *kind = (struct mixed_kind){0};
    snprintf(kind->name, sizeof kind->name, "%s%.100s", aspect->name,
             aspect->key ? aspect->key : "");
    if (aspect->is_label)
        snprintf(kind->label, sizeof kind->label, "%.150s", aspect->key);
    qsort(entries, count, sizeof *entries, mixed_by_cell);
    for (size_t i = 1; i < count; i++) {
        int added = 0;
        if (entries[i].r == entries[i - 1].r && entries[i].S == entries[i - 1].S &&
            strcmp(entries[i].value, entries[i - 1].value) != 0)
            added = add_cell(mixed, kind, &entries[i]);
        if (added < 0)
            return added;
    }
    qsort(entries, count, sizeof *entries, mixed_by_value);
    list_values(kind->values, entries, count);
    return 0;
}

static int mixed_by_cell(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int result = order_numbers(a->r, b->r);
    if (result == 0)
        result = order_numbers(a->S, b->S);
    return result ? result : strcmp(a->value, b->value);
}

static int mixed_by_value(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    return reading_compare_values(a->value, b->value);
}

static int order_numbers(double left, double right)
{
    return left < right ? -1 : left > right;
}

/* Counts a cell once per kind, however many values it has. Entries must be sorted by cell. */
static int add_cell(struct mixed *mixed, struct mixed_kind *kind, const struct entry *entry)
{
    const struct mixed_cell *last = mixed->cell_count ? &mixed->cells[mixed->cell_count - 1] : NULL;
    if (kind->cells && last->r == entry->r && last->S == entry->S)
        return 0;
    struct mixed_cell *cells = array_grow(mixed->cells, mixed->cell_count, sizeof *cells);
    if (!cells)
        return -ENOMEM;
    mixed->cells = cells;
    cells[mixed->cell_count++] = (struct mixed_cell){entry->r, entry->S};
    kind->cells++;
    return 0;
}

/* Lists the distinct values of sorted entries. */
static void list_values(char *out, const struct entry *entries, size_t count)
{
    size_t used = 0, distinct = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(entries[i].value, entries[i - 1].value) == 0)
            continue;
        if (distinct++ < VALUES_SHOWN)
            used += (size_t)snprintf(out + used, MIXED_TEXT_SIZE - used, "%s%.80s",
                                     used ? ", " : "", entries[i].value);
    }
    if (distinct > VALUES_SHOWN)
        snprintf(out + used, MIXED_TEXT_SIZE - used, " and %zu more", distinct - VALUES_SHOWN);
}

/* traffic-sweep stores all options in a label, which says nothing new if another kind differs. */
static const char options_label[] = "options";

static int find_in_labels(struct mixed *mixed, const struct readings *readings, const char *except,
                          struct entry *entries)
{
    bool options = mixed->count == 0;
    int found = 0;
    for (size_t run = 0; run < readings->count; run++) {
        const struct reading *reading = &readings->items[run];
        for (size_t i = 0; found == 0 && i < reading->label_count; i++) {
            const char *name = reading->labels[i].name;
            if (!compared_label(name, except) || !label_is_new(readings, run, name) ||
                (!options && strcmp(name, options_label) == 0))
                continue;
            found = find_in_aspect(mixed, readings,
                                   &(struct aspect){"label ", read_label, name, true}, entries);
        }
    }
    return found;
}

/* Whether no earlier run has a label of this name. Runs of a sweep have the same labels, so the
 * search almost always ends at the run just before. */
static bool label_is_new(const struct readings *readings, size_t run, const char *name)
{
    while (run-- > 0)
        if (reading_label(&readings->items[run], name))
            return false;
    return true;
}

/* The number of a repeat tells runs apart, but says nothing about what was measured. */
static bool compared_label(const char *name, const char *except)
{
    return strcmp(name, "repeat") != 0 && strcmp(name, RESULT_SPOILED) != 0 &&
           (!except || strcmp(name, except) != 0);
}

static bool read_program(const struct reading *reading, const char *key, char *out)
{
    (void)key;
    if (reading->form == READING_PYTHON)
        snprintf(out, VALUE_SIZE, "Samba's script");
    else
        snprintf(out, VALUE_SIZE, "traffic-replay %.80s", reading->version);
    return true;
}

static bool read_server(const struct reading *reading, const char *key, char *out)
{
    (void)key;
    snprintf(out, VALUE_SIZE, "%.*s", VALUE_SIZE - 1, reading->dc ? reading->dc : "");
    return *out != '\0';
}

/* Two models can have one name, so the name is followed by the beginning of the SHA-256. */
static bool read_model(const struct reading *reading, const char *key, char *out)
{
    (void)key;
    if (!reading->model_name)
        return false;
    if (*reading->model)
        snprintf(out, VALUE_SIZE, "%.150s %.8s", reading->model_name, reading->model);
    else
        snprintf(out, VALUE_SIZE, "%.150s", reading->model_name);
    return *out != '\0';
}

/* In whole seconds: clocks are not exact. Runs that ended early have another warning. */
static bool read_window(const struct reading *reading, const char *key, char *out)
{
    (void)key;
    if (reading->interrupted || !(reading->window > 0))
        return false;
    snprintf(out, VALUE_SIZE, "%.0f s", fmax(1, reading->window));
    return true;
}

static bool read_label(const struct reading *reading, const char *key, char *out)
{
    const char *value = reading_label(reading, key);
    snprintf(out, VALUE_SIZE, "%.*s", VALUE_SIZE - 1, value ? value : "none");
    return reading->form != READING_PYTHON;
}

static bool read_option(const struct reading *reading, const char *key, char *out)
{
    return reading->command && command_text_option(reading->command, key, out, VALUE_SIZE);
}

void mixed_clear(struct mixed *mixed)
{
    free(mixed->kinds);
    free(mixed->cells);
    *mixed = (struct mixed){0};
}

bool mixed_in_cell(const struct mixed *mixed, double r, double S)
{
    for (size_t i = 0; i < mixed->cell_count; i++)
        if (mixed->cells[i].r == r && mixed->cells[i].S == S)
            return true;
    return false;
}

void mixed_text(char *out, size_t size, const struct mixed_kind *kind)
{
    char within[64] = "";
    if (kind->cells)
        snprintf(within, sizeof within, ", also within %zu cell%s", kind->cells,
                 kind->cells == 1 ? "" : "s");
    if (*kind->label)
        snprintf(out, size, "runs differ in %s (%s)%s: use --by %s", kind->name, kind->values,
                 within, kind->label);
    else
        snprintf(out, size, "runs differ in %s (%s)%s: give only files that agree", kind->name,
                 kind->values, within);
}

json_t *mixed_to_json(const struct mixed *mixed)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < mixed->count; i++) {
        const struct mixed_kind *kind = &mixed->kinds[i];
        if (json_array_append_new(array,
                                  json_pack("{s:s, s:s, s:I}", "name", kind->name, "values",
                                            kind->values, "cells", (json_int_t)kind->cells)) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}
