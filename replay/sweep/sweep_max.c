/* SPDX-License-Identifier: Apache-2.0 */
/* --find-max: plays the cells that the search names, and prints what it found. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/sweep/search/race.h"
#include "replay/sweep/search/search.h"
#include "replay/sweep/search/tune.h"
#include "replay/sweep/sweep_private.h"

enum { USUAL_REPEATS = 3, PLACES = 3 };

static int sweep_by_value(const void *left, const void *right);
static enum step search_combination(struct sweep *sweep, size_t number);
static enum step play_search(struct sweep *sweep, struct search *search, struct sweep_cell *cell);
static enum step max_finish(struct sweep *sweep, struct search *search,
                            const struct sweep_cell *cell, enum step step);
static enum step no_memory(struct sweep *sweep);
static void print_found(struct sweep *sweep, struct search *search,
                        const struct search_maximum *maximum);
static void print_place(const struct sweep *sweep, const struct search *search, size_t cell,
                        double rate);
static void print_confidence(const struct sweep *sweep, const struct search *search,
                             const struct search_maximum *maximum);
static void print_cell(const struct sweep *sweep, size_t cell);

enum step sweep_find_max(struct sweep *sweep)
{
    struct sweep_options *options = sweep->options;
    struct search all = {.rows = options->r.count, .columns = options->S.count};
    size_t combinations = sweep_combinations(options);
    struct sweep_cells cells;
    if (all.rows * all.columns > SURFACE_CELLS_MAX)
        return sweep_end(sweep, EXIT_USAGE,
                         "--find-max: the grid has more than %d cells; give larger steps",
                         SURFACE_CELLS_MAX);
    sweep_search_prepare(options);
    all.repeats = (unsigned)options->repeat;
    enum step step = sweep_list_cells(sweep, &cells);
    sweep_cells_clear(&cells);
    sweep->progress.at_most = true;
    sweep->progress.total = combinations * search_run_budget(&all);
    for (size_t number = 0; step == STEP_NEXT && number < combinations; number++)
        step = search_combination(sweep, number);
    return step;
}

void sweep_search_prepare(struct sweep_options *options)
{
    qsort(options->r.items, options->r.count, sizeof *options->r.items, sweep_by_value);
    qsort(options->S.items, options->S.count, sizeof *options->S.items, sweep_by_value);
    options->repeat = options->repeat ? options->repeat : USUAL_REPEATS;
}

static int sweep_by_value(const void *left, const void *right)
{
    const struct sweep_number *a = left, *b = right;
    return a->value < b->value ? -1 : a->value > b->value;
}

static enum step search_combination(struct sweep *sweep, size_t number)
{
    const struct sweep_options *options = sweep->options;
    struct search search = {0};
    struct sweep_cell cell = {0};
    if (sweep_search_init(options, &search) < 0)
        return no_memory(sweep);
    sweep_combination(options, number, cell.value);
    enum step step = play_search(sweep, &search, &cell);
    step = max_finish(sweep, &search, &cell, step);
    if (step == STEP_NEXT)
        sweep_corners_print(&sweep->corners, number, stdout);
    search_clear(&search);
    return step;
}

size_t sweep_most_runs(const struct sweep_options *options)
{
    size_t combinations = sweep_combinations(options);
    const struct search search = {.rows = options->r.count,
                                  .columns = options->S.count,
                                  .repeats =
                                      options->repeat ? (unsigned)options->repeat : USUAL_REPEATS};
    struct tune_value value = {.search = search};
    const struct tune tune = {.count = combinations, .values = &value};
    if (options->versus)
        return 2 * (search_run_budget(&search) + RACE_CANDIDATES * RACE_BLOCKS_MAX);
    if (options->tune)
        return tune_run_budget(&tune);
    if (options->find_max)
        return combinations * search_run_budget(&search);
    return combinations * search.rows * search.columns * (options->repeat ? options->repeat : 1);
}

int sweep_search_init(const struct sweep_options *options, struct search *search)
{
    double *r = sweep_list_values(&options->r), *S = sweep_list_values(&options->S);
    int made = r && S ? search_init(search, options->r.count, options->S.count, r, S,
                                    (unsigned)options->repeat, options->slo.count > 0)
                      : -ENOMEM;
    free(r);
    free(S);
    return made;
}

static enum step no_memory(struct sweep *sweep)
{
    return sweep_end(sweep, EXIT_FAILED, "out of memory");
}

static enum step play_search(struct sweep *sweep, struct search *search, struct sweep_cell *cell)
{
    enum step step = STEP_NEXT;
    size_t next;
    while (step == STEP_NEXT) {
        if (search_next(search, &next) < 0)
            return no_memory(sweep);
        if (next == SEARCH_NONE)
            break;
        step = sweep_play_search_cell(sweep, search, next, cell);
    }
    return step;
}

enum step sweep_play_search_cell(struct sweep *sweep, struct search *search, size_t next,
                                 struct sweep_cell *cell)
{
    const struct search_cell *known = &search->cells[next];
    cell->r = next / search->columns;
    cell->S = next % search->columns;
    cell->repeat = known->runs + known->disturbed + 1;
    sweep->player.repeats_disturbed = search_repeats_disturbed(search, next);
    enum step step = sweep_run_cell(sweep, cell);
    sweep->player.repeats_disturbed = false;
    if (!sweep->measured)
        return step;
    const struct search_run run = {.rate = sweep->metrics[METRIC_OK],
                                   .missed =
                                       sweep->options->slo.count > 0 &&
                                       slo_judge(&sweep->options->slo, sweep->metrics) != SLO_KEPT,
                                   .disturbed = sweep->disturbed};
    return search_add(search, next, &run) < 0 ? no_memory(sweep) : step;
}

/* Prints what is known, also after an interruption. */
static enum step max_finish(struct sweep *sweep, struct search *search,
                            const struct sweep_cell *cell, enum step step)
{
    struct search_maximum maximum;
    double change;
    bool drifts;
    if (search->runs == 0)
        return step;
    if (search_maximum(search, &maximum) < 0 || search_drift(search, &drifts, &change) < 0)
        return no_memory(sweep);
    sweep_progress_hide(&sweep->progress);
    if (step == STEP_DONE)
        puts("So far, without the cells that were not played:");
    sweep_combination_print(sweep->options, cell->value, stdout);
    print_found(sweep, search, &maximum);
    if (drifts)
        printf("  the machine became %.0f%% %s during the search; the estimates are corrected for "
               "it\n",
               100 * fabs(change), change < 0 ? "slower" : "faster");
    return step;
}

static void print_found(struct sweep *sweep, struct search *search,
                        const struct search_maximum *maximum)
{
    const char *level = sweep->options->slo.text;
    size_t cell;
    double rate;
    if (maximum->cell == SEARCH_NONE) {
        printf("none of %zu played cells %s%s; the least loaded one: ", search->played,
               level ? "keeps " : "had a success", level ? level : "");
        print_place(sweep, search, maximum->least,
                    search->cells[maximum->least].sum / search->cells[maximum->least].runs);
        putchar('\n');
        return;
    }
    printf("maximum%s%s: ", level ? " within " : "", level ? level : "");
    print_place(sweep, search, maximum->cell, maximum->rate);
    for (size_t place = 1; place < PLACES; place++) {
        cell = search_ranked(search, place, &rate);
        if (cell == SEARCH_NONE)
            break;
        fputs(place == 1 ? "\n  next: " : ", ", stdout);
        print_place(sweep, search, cell, rate);
    }
    printf("\n  %zu of %zu cells were played; ", search->played, search->rows * search->columns);
    print_confidence(sweep, search, maximum);
    putchar('\n');
}

static void print_place(const struct sweep *sweep, const struct search *search, size_t cell,
                        double rate)
{
    const struct search_cell *known = &search->cells[cell];
    printf("%.3f/s at ", rate);
    print_cell(sweep, cell);
    if (known->runs > 1)
        printf(" (%u runs, %.3f to %.3f)", known->runs, known->min, known->max);
}

static void print_cell(const struct sweep *sweep, size_t cell)
{
    const struct sweep_options *options = sweep->options;
    printf("r=%s S=%s", options->r.items[cell / options->S.count].text,
           options->S.items[cell % options->S.count].text);
}

static void print_confidence(const struct sweep *sweep, const struct search *search,
                             const struct search_maximum *maximum)
{
    printf("95%% interval of the maximum: %.3f/s to %.3f/s\n  ", maximum->low, maximum->high);
    if (maximum->rival == SEARCH_NONE) {
        fputs("every cell of the grid was played or misses the level", stdout);
        return;
    }
    fputs(maximum->sure ? "sure: " : "not sure: ", stdout);
    print_cell(sweep, maximum->rival);
    printf(" is more than %.0f%% better with a probability of %.1f%%", 100 * SEARCH_TOLERANCE,
           100 * maximum->risk);
    if (!maximum->sure && search->runs >= search_run_budget(search))
        printf("; the budget of %zu runs is used up", search_run_budget(search));
}
