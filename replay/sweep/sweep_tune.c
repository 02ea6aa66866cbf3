/* SPDX-License-Identifier: Apache-2.0 */
/* --tune: plays the cells that the successive halving names, and prints the ranking of the values.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/sweep/search/tune.h"
#include "replay/sweep/sweep_private.h"

static int make_tune(const struct sweep_options *options, struct tune *tune);
static enum step play_tune(struct sweep *sweep, struct tune *tune);
static enum step tune_finish(struct sweep *sweep, struct tune *tune, enum step step);
static void print_verdict(const struct sweep *sweep, const struct tune *tune);
static void print_lead(const struct sweep *sweep, const struct tune *tune);
static void print_ranking(const struct sweep *sweep, const struct tune *tune);
static void print_value(const struct sweep *sweep, size_t number);

enum step sweep_tune(struct sweep *sweep)
{
    struct sweep_options *options = sweep->options;
    struct sweep_cells cells;
    struct tune tune;
    size_t grid = options->r.count * options->S.count, values = sweep_combinations(options);
    if (values < 2)
        return sweep_end(sweep, EXIT_USAGE, "--tune: one value only; give at least two");
    if (grid > SURFACE_CELLS_MAX / values)
        return sweep_end(sweep, EXIT_USAGE,
                         "--tune: more than %d cells of all values; give fewer values or larger "
                         "steps",
                         SURFACE_CELLS_MAX);
    sweep_search_prepare(options);
    enum step step = sweep_list_cells(sweep, &cells);
    sweep_cells_clear(&cells);
    if (step == STEP_DONE)
        return step;
    if (make_tune(options, &tune) < 0)
        return sweep_end(sweep, EXIT_FAILED, "out of memory");
    sweep->progress.at_most = true;
    sweep->progress.total = tune_run_budget(&tune);
    step = play_tune(sweep, &tune);
    step = tune_finish(sweep, &tune, step);
    tune_clear(&tune);
    return step;
}

static int make_tune(const struct sweep_options *options, struct tune *tune)
{
    double *r = sweep_list_values(&options->r), *S = sweep_list_values(&options->S);
    int made =
        r && S ? tune_init(tune, sweep_combinations(options), options->r.count, options->S.count, r,
                           S, (unsigned)options->repeat, options->slo.count > 0)
               : -ENOMEM;
    free(r);
    free(S);
    return made;
}

static enum step play_tune(struct sweep *sweep, struct tune *tune)
{
    enum step step = STEP_NEXT;
    struct sweep_cell cell = {0};
    size_t value, next;
    while (step == STEP_NEXT) {
        if (tune_next(tune, &value, &next) < 0)
            return sweep_end(sweep, EXIT_FAILED, "out of memory");
        if (next == SEARCH_NONE)
            break;
        sweep_combination(sweep->options, value, cell.value);
        step = sweep_play_search_cell(sweep, &tune->values[value].search, next, &cell);
    }
    return step;
}

/* Prints what is known, also after an interruption. */
static enum step tune_finish(struct sweep *sweep, struct tune *tune, enum step step)
{
    if (sweep->progress.done == 0)
        return step;
    if (tune_rank(tune) < 0)
        return sweep_end(sweep, EXIT_FAILED, "out of memory");
    sweep_progress_hide(&sweep->progress);
    if (step == STEP_DONE)
        puts("So far, without the cells that were not played:");
    print_verdict(sweep, tune);
    print_ranking(sweep, tune);
    return step;
}

static void print_verdict(const struct sweep *sweep, const struct tune *tune)
{
    const struct sweep_options *options = sweep->options;
    const struct tune_value *best = &tune->values[tune->ranking[0]];
    const char *level = options->slo.text;
    if (isnan(best->rate)) {
        printf("no value %s%s in any cell that was played\n", level ? "keeps " : "had a success",
               level ? level : "");
        return;
    }
    fputs("best: ", stdout);
    print_value(sweep, tune->ranking[0]);
    printf(", %.3f/s%s%s at r=%s S=%s (95%% interval %.3f/s to %.3f/s)\n", best->rate,
           level ? " within " : "", level ? level : "",
           options->r.items[best->best / options->S.count].text,
           options->S.items[best->best % options->S.count].text, best->low, best->high);
    print_lead(sweep, tune);
}

static void print_lead(const struct sweep *sweep, const struct tune *tune)
{
    double low, high, ratio = tune_lead(tune, 1, &low, &high);
    if (isnan(ratio)) {
        puts("no other value has a cell that counts");
        return;
    }
    print_value(sweep, tune->ranking[0]);
    if (low > 1)
        printf(" sustains %.1f%% to %.1f%% more than ", 100 * (low - 1), 100 * (high - 1));
    else
        fputs(" is not proven to be better than ", stdout);
    print_value(sweep, tune->ranking[1]);
    if (low > 1)
        puts(" (95% interval)");
    else
        printf(" (95%% interval of the difference %+.1f%% to %+.1f%%)\n", 100 * (low - 1),
               100 * (high - 1));
}

static void print_ranking(const struct sweep *sweep, const struct tune *tune)
{
    const struct sweep_options *options = sweep->options;
    size_t cells = 0, all = tune->count * options->r.count * options->S.count;
    printf("\n     maximum   95%% interval            runs  at              value\n");
    for (size_t place = 0; place < tune->count; place++) {
        const struct tune_value *value = &tune->values[tune->ranking[place]];
        char at[80] = "-";
        if (value->best != SEARCH_NONE)
            snprintf(at, sizeof at, "r=%s S=%s",
                     options->r.items[value->best / options->S.count].text,
                     options->S.items[value->best % options->S.count].text);
        if (isnan(value->rate))
            printf("%12s  %-22s  %4zu  %-14s  ", "-", "-", value->search.runs, at);
        else
            printf("%12.3f  %9.3f to %9.3f  %4zu  %-14s  ", value->rate, value->low, value->high,
                   value->search.runs, at);
        print_value(sweep, tune->ranking[place]);
        if (value->dropped && place > 1) /* the second one stayed to the end */
            printf(" (dropped in round %u)", value->dropped);
        putchar('\n');
        cells += value->search.played;
    }
    printf("\n%zu of %zu cells were played, %zu runs; traffic-summary --by %s %s shows the cells\n",
           cells, all, sweep->progress.done, options->vary[0].name, options->results);
}

static void print_value(const struct sweep *sweep, size_t number)
{
    const struct sweep_options *options = sweep->options;
    size_t value[SWEEP_VARY_MAX];
    sweep_combination(options, number, value);
    for (size_t i = 0; i < options->vary_count; i++)
        printf("%s%s=%s", i ? " " : "", options->vary[i].name, options->vary[i].values[value[i]]);
}
