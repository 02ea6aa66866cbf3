/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/sweep/sweep_corner.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static const double kept_up = 0.98; /* share of the planned operations that must succeed */

struct sweep_corner {
    double ok, planned, failed; /* operations/s, sums over the runs */
};

static bool is_largest(const struct sweep_list *list, size_t index);
static size_t combination_number(const struct sweep_options *options, const size_t *value);

int sweep_corners_init(struct sweep_corners *corners, const struct sweep_options *options)
{
    corners->options = options;
    corners->items = calloc(sweep_combinations(options), sizeof *corners->items);
    return corners->items ? 0 : -ENOMEM;
}

void sweep_corners_clear(struct sweep_corners *corners)
{
    free(corners->items);
    corners->items = NULL;
}

void sweep_corners_note(struct sweep_corners *corners, const struct sweep_cell *cell,
                        const double metrics[METRICS])
{
    const struct sweep_options *options = corners->options;
    if (!is_largest(&options->r, cell->r) || !is_largest(&options->S, cell->S))
        return;
    struct sweep_corner *corner = &corners->items[combination_number(options, cell->value)];
    corner->ok += metrics[METRIC_OK];
    corner->planned += metrics[METRIC_PLANNED_RATE];
    corner->failed += metrics[METRIC_FAILED];
}

static bool is_largest(const struct sweep_list *list, size_t index)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].value > list->items[index].value)
            return false;
    return true;
}

/* The inverse of sweep_combination(). */
static size_t combination_number(const struct sweep_options *options, const size_t *value)
{
    size_t number = 0;
    for (size_t i = 0; i < options->vary_count; i++)
        number = number * options->vary[i].count + value[i];
    return number;
}

void sweep_corners_print(const struct sweep_corners *corners, size_t number, FILE *out)
{
    const struct sweep_corner *corner = &corners->items[number];
    size_t value[SWEEP_VARY_MAX];
    /* False for NaN, too. */
    if (!(corner->planned > 0 && corner->failed <= 0 && corner->ok >= kept_up * corner->planned))
        return;
    sweep_combination(corners->options, number, value);
    sweep_combination_print(corners->options, value, out);
    fprintf(out,
            "the server kept up with the largest load (%.0f%% of planned): the maximum lies beyond "
            "this grid; give larger -r or -S\n",
            100 * corner->ok / corner->planned);
}

void sweep_combination_print(const struct sweep_options *options, const size_t *value, FILE *out)
{
    for (size_t i = 0; i < options->vary_count; i++)
        fprintf(out, "%s=%s: ", options->vary[i].name, options->vary[i].values[value[i]]);
}
