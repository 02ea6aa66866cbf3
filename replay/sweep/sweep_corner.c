/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/sweep/sweep_corner.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct sweep_corner {
    double achieved, success; /* percent, sums over the runs of the largest cell */
    double best_success;      /* of any run */
    size_t runs;
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
    struct sweep_corner *corner = &corners->items[combination_number(options, cell->value)];
    corner->best_success = fmax(corner->best_success, metrics[METRIC_SUCCESS_RATE]);
    if (!is_largest(&options->r, cell->r) || !is_largest(&options->S, cell->S))
        return;
    corner->runs++;
    corner->achieved += metrics[METRIC_ACHIEVED];
    corner->success += metrics[METRIC_SUCCESS_RATE];
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
    double runs = (double)corner->runs, achieved = corner->achieved / runs;
    if (runs == 0 || !reading_kept_up(achieved, corner->success / runs, corner->best_success))
        return;
    sweep_combination(corners->options, number, value);
    sweep_combination_print(corners->options, value, out);
    fprintf(out,
            "the server kept up with the largest load (%.0f%% of planned): the maximum lies beyond "
            "this grid; give larger -r or -S\n",
            achieved);
}

void sweep_combination_print(const struct sweep_options *options, const size_t *value, FILE *out)
{
    for (size_t i = 0; i < options->vary_count; i++)
        fprintf(out, "%s=%s: ", options->vary[i].name, options->vary[i].values[value[i]]);
}
