/* SPDX-License-Identifier: Apache-2.0 */
/* --versus: finds the maximum of each server, then plays both in turn until the ratio is known. */
#include "replay/sweep/sweep_versus.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/secret.h"
#include "replay/sweep/search/race.h"
#include "replay/sweep/sweep.h"
#include "replay/sweep/sweep_options_private.h"
#include "replay/sweep/sweep_private.h"
#include "summary/compare.h"

static const double common_share = 0.6; /* load of the common cell in proportion to the winners' */

static const char *const environment[] = {"TRAFFIC_REPLAY_USER", "TRAFFIC_REPLAY_PASSWORD"};
enum { ENVIRONMENT = sizeof environment / sizeof environment[0] };

/* One side of the comparison. */
struct side {
    struct sweep sweep;
    struct sweep_options options;
    struct search search;
    char **arguments;
    int argument_count;
    /* p95 and processor time per operation in the common cell, per block. */
    double p95[RACE_BLOCKS_MAX], cpu[RACE_BLOCKS_MAX];
};

struct versus {
    struct side sides[SWEEP_SIDES];
    struct race race;
    size_t cells[RACE_CANDIDATES]; /* of the candidates */
    size_t common;                 /* the candidate for equal load; SIZE_MAX: none */
    size_t disturbed[RACE_SIDES][RACE_CANDIDATES];
    int64_t end; /* CLOCK_MONOTONIC ns; 0: no limit */
    bool timed_out;
};

static enum step read_sides(struct versus *versus, int argc, char **argv, int *status);
static void keep_environment(char *kept[ENVIRONMENT]);
static void restore_environment(char *kept[ENVIRONMENT], bool again);
static enum step name_results(struct side *side, int number, int *status);
static enum step open_sides(struct versus *versus);
static enum step search_sides(struct versus *versus);
static enum step search_step(struct versus *versus, struct side *side, bool *over);
static bool budget_left(struct versus *versus);
static enum step choose_candidates(struct versus *versus);
static void add_common(struct versus *versus, size_t a, size_t b);
static enum step race_sides(struct versus *versus);
static enum step race_step(struct versus *versus, size_t number, size_t candidate);
static void print_versus(struct versus *versus, enum step step);
static void print_side(const struct versus *versus, const struct race_verdict *verdict, size_t n);
static void print_difference(const struct versus *versus, const struct race_verdict *verdict);
static void print_equal_load(const struct versus *versus);
static void print_ratio(const char *what, const double *a, const double *b, size_t count);
static void print_cell_of(const struct versus *versus, size_t candidate);
static const char *name_of(const struct versus *versus, size_t number);

int sweep_versus_run(int argc, char **argv)
{
    struct versus *versus = calloc(1, sizeof *versus);
    int status = EXIT_FAILED;
    if (!versus)
        return options_out_of_memory();
    enum step step = read_sides(versus, argc, argv, &status);
    for (int i = 0; step == STEP_NEXT && i < SWEEP_SIDES; i++)
        sweep_init(&versus->sides[i].sweep, &versus->sides[i].options);
    if (step == STEP_NEXT && versus->sides[0].options.dry_run) {
        status = sweep_dry_run(&versus->sides[0].sweep);
    } else if (step == STEP_NEXT) {
        step = open_sides(versus);
        if (step == STEP_NEXT)
            step = search_sides(versus);
        if (step == STEP_NEXT)
            step = race_sides(versus);
        print_versus(versus, step);
        struct sweep *first = &versus->sides[0].sweep, *second = &versus->sides[1].sweep;
        first->progress.done += second->progress.done;
        first->empty += second->empty;
        first->status = second->status ? second->status : first->status;
        status = sweep_finish(first, step);
        sweep_close(second);
        sweep_close(first);
    }
    for (int i = 0; i < SWEEP_SIDES; i++) {
        struct side *side = &versus->sides[i];
        if (side->search.cells)
            search_clear(&side->search);
        sweep_options_clear(&side->options);
        sweep_versus_free_arguments(i, side->argument_count, side->arguments);
    }
    free(versus);
    return status;
}

static enum step read_sides(struct versus *versus, int argc, char **argv, int *status)
{
    struct error error;
    enum step step = STEP_NEXT;
    /* The second side first: it copies what the first one overwrites. */
    for (int i = SWEEP_SIDES; step == STEP_NEXT && i-- > 0;) {
        struct side *side = &versus->sides[i];
        int made =
            sweep_versus_arguments(argc, argv, i, &side->argument_count, &side->arguments, &error);
        if (made < 0) {
            message_print("%s", error.text);
            return step_done(status, made == -EINVAL ? EXIT_USAGE : EXIT_FAILED);
        }
    }
    char *kept[ENVIRONMENT] = {NULL};
    keep_environment(kept);
    for (int i = 0; step == STEP_NEXT && i < SWEEP_SIDES; i++) {
        struct side *side = &versus->sides[i];
        step = sweep_options_read(&side->options, side->argument_count, side->arguments, status);
        if (step == STEP_NEXT)
            step = name_results(side, i, status);
        restore_environment(kept, step == STEP_NEXT && i + 1 < SWEEP_SIDES);
    }
    return step;
}

/* Reading the options removes the credentials from the environment. */
static void keep_environment(char *kept[ENVIRONMENT])
{
    for (size_t i = 0; i < ENVIRONMENT; i++) {
        const char *value = getenv(environment[i]);
        kept[i] = value ? strdup(value) : NULL;
    }
}

static void restore_environment(char *kept[ENVIRONMENT], bool again)
{
    for (size_t i = 0; i < ENVIRONMENT; i++) {
        if (again && kept[i])
            setenv(environment[i], kept[i], 1);
        if (!again)
            secret_free(kept[i]);
    }
}

/* The results of the sides are in the sub-folders A-NAME and B-NAME. */
static enum step name_results(struct side *side, int number, int *status)
{
    const char *dc = side->options.replay.dc;
    char *path = NULL;
    if (asprintf(&path, "%s/%c-%.*s", side->options.results, 'A' + number, (int)strcspn(dc, "="),
                 dc) < 0)
        return step_done(status, options_out_of_memory());
    for (char *at = path + strlen(side->options.results) + 1; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("+-.:@_", *at))
            *at = '_';
    side->options.results = sweep_options_keep(&side->options, path);
    free(path);
    return side->options.results ? STEP_NEXT : step_done(status, options_out_of_memory());
}

static enum step open_sides(struct versus *versus)
{
    enum step step = STEP_NEXT;
    for (int i = 0; step == STEP_NEXT && i < SWEEP_SIDES; i++) {
        struct side *side = &versus->sides[i];
        struct sweep_options *options = &side->options;
        struct sweep_cells cells;
        if (options->r.count * options->S.count > SURFACE_CELLS_MAX)
            return sweep_end(&side->sweep, EXIT_USAGE,
                             "--versus: the grid has more than %d cells; give larger steps",
                             SURFACE_CELLS_MAX);
        sweep_search_prepare(options);
        step = sweep_open(&side->sweep, i == 0 ? NULL : &versus->sides[0].sweep);
        if (step == STEP_NEXT) {
            step = sweep_list_cells(&side->sweep, &cells);
            sweep_cells_clear(&cells);
        }
        if (step == STEP_NEXT && sweep_search_init(options, &side->search) < 0)
            step = sweep_end(&side->sweep, EXIT_FAILED, "out of memory");
        side->sweep.progress.at_most = true;
        side->sweep.progress.total = step == STEP_NEXT ? search_run_budget(&side->search) : 0;
    }
    if (step == STEP_DONE && versus->sides[0].sweep.watching == NULL)
        versus->sides[0].sweep.watching = &versus->sides[0].sweep.watch;
    if (versus->sides[0].options.budget > 0)
        versus->end = clock_now() + (int64_t)(versus->sides[0].options.budget * 1e9);
    return step;
}

/* One run of each server in turn, until both searches are over. */
static enum step search_sides(struct versus *versus)
{
    bool over[SWEEP_SIDES] = {false, false};
    enum step step = STEP_NEXT;
    while (step == STEP_NEXT && !(over[0] && over[1]) && budget_left(versus))
        for (int i = 0; step == STEP_NEXT && i < SWEEP_SIDES; i++)
            if (!over[i])
                step = search_step(versus, &versus->sides[i], &over[i]);
    return step == STEP_NEXT ? choose_candidates(versus) : step;
}

static enum step search_step(struct versus *versus, struct side *side, bool *over)
{
    struct sweep_cell cell = {0};
    size_t next;
    (void)versus;
    if (search_next(&side->search, &next) < 0)
        return sweep_end(&side->sweep, EXIT_FAILED, "out of memory");
    *over = next == SEARCH_NONE;
    return *over ? STEP_NEXT : sweep_play_search_cell(&side->sweep, &side->search, next, &cell);
}

static bool budget_left(struct versus *versus)
{
    versus->timed_out = versus->end > 0 && clock_now() >= versus->end;
    return !versus->timed_out;
}

/* The best cells of both servers, and a cell with less load. */
static enum step choose_candidates(struct versus *versus)
{
    size_t best[SWEEP_SIDES];
    for (int i = 0; i < SWEEP_SIDES; i++) {
        struct search_maximum maximum;
        if (search_maximum(&versus->sides[i].search, &maximum) < 0)
            return sweep_end(&versus->sides[i].sweep, EXIT_FAILED, "out of memory");
        best[i] = maximum.cell;
    }
    versus->race = (struct race){.precision = versus->sides[0].options.precision / 100,
                                 .seed = versus->sides[0].sweep.identity.seed};
    versus->common = SIZE_MAX;
    for (int i = 0; i < SWEEP_SIDES; i++)
        if (best[i] != SEARCH_NONE && (i == 0 || best[i] != best[0]))
            versus->cells[versus->race.candidates++] = best[i];
    if (best[0] != SEARCH_NONE && best[1] != SEARCH_NONE)
        add_common(versus, best[0], best[1]);
    return STEP_NEXT;
}

static void add_common(struct versus *versus, size_t a, size_t b)
{
    const struct search *search = &versus->sides[0].search;
    double load = fmin(surface_load(search->surface, a), surface_load(search->surface, b));
    double nearest = INFINITY;
    size_t cell = SEARCH_NONE;
    for (size_t i = 0; i < search->rows * search->columns; i++) {
        double off = fabs(log(surface_load(search->surface, i) / (common_share * load)));
        if (i != a && i != b && off < nearest && surface_load(search->surface, i) < load) {
            nearest = off;
            cell = i;
        }
    }
    if (cell == SEARCH_NONE)
        return;
    versus->common = versus->race.candidates;
    versus->cells[versus->race.candidates++] = cell;
}

static enum step race_sides(struct versus *versus)
{
    enum step step = STEP_NEXT;
    size_t number, candidate;
    for (int i = 0; i < SWEEP_SIDES; i++)
        versus->sides[i].sweep.progress.total =
            versus->sides[i].sweep.progress.done + RACE_BLOCKS_MAX * versus->race.candidates;
    while (step == STEP_NEXT && versus->race.candidates > 0 && budget_left(versus) &&
           race_next(&versus->race, &number, &candidate))
        step = race_step(versus, number, candidate);
    return step;
}

static enum step race_step(struct versus *versus, size_t number, size_t candidate)
{
    enum { DISTURBED_MAX = 2 };
    struct side *side = &versus->sides[number];
    struct sweep *sweep = &side->sweep;
    const struct search *search = &side->search;
    size_t place = versus->cells[candidate], *disturbed = &versus->disturbed[number][candidate];
    size_t block = versus->race.runs[number][candidate];
    struct sweep_cell cell = {.r = place / search->columns, .S = place % search->columns};
    cell.repeat = search->cells[place].runs + search->cells[place].disturbed +
                  (unsigned)(block + *disturbed) + 1;
    sweep->player.repeats_disturbed = *disturbed < DISTURBED_MAX;
    enum step step = sweep_run_cell(sweep, &cell);
    sweep->player.repeats_disturbed = false;
    if (!sweep->measured)
        return step;
    if (sweep->disturbed) {
        ++*disturbed;
        return step;
    }
    bool missed = !(sweep->metrics[METRIC_OK] > 0) ||
                  (sweep->options->slo.count > 0 &&
                   slo_judge(&sweep->options->slo, sweep->metrics) != SLO_KEPT);
    if (candidate == versus->common) {
        side->p95[block] = sweep->metrics[METRIC_P95];
        side->cpu[block] = sweep->cpu_per_operation;
    }
    race_add(&versus->race, number, candidate, sweep->metrics[METRIC_OK], missed);
    return step;
}

/* Prints what is known, also after an interruption. */
static void print_versus(struct versus *versus, enum step step)
{
    struct race_verdict verdict;
    if (versus->sides[0].sweep.progress.done + versus->sides[1].sweep.progress.done == 0)
        return;
    for (int i = 0; i < SWEEP_SIDES; i++)
        sweep_progress_hide(&versus->sides[i].sweep.progress);
    if (step == STEP_DONE)
        puts("So far, without the cells that were not played:");
    if (versus->race.candidates == 0 && step == STEP_NEXT && !versus->timed_out) {
        const char *level = versus->sides[0].options.slo.text;
        printf("neither server %s%s in any cell that was played\n",
               level ? "keeps " : "had a success", level ? level : "");
        return;
    }
    if (versus->race.candidates == 0) {
        puts("no verdict: the search for the maxima did not end");
        return;
    }
    race_judge(&versus->race, &verdict);
    print_difference(versus, &verdict);
    for (size_t i = 0; i < SWEEP_SIDES; i++)
        print_side(versus, &verdict, i);
    if (versus->common != SIZE_MAX && verdict.blocks >= COMPARE_RUNS)
        print_equal_load(versus);
    printf("  traffic-summary --compare %s %s shows response times by packet, and failures that "
           "only one has\n",
           versus->sides[0].options.results, versus->sides[1].options.results);
}

/* The verdict in one sentence. */
static void print_difference(const struct versus *versus, const struct race_verdict *verdict)
{
    const char *a = name_of(versus, 0), *b = name_of(versus, 1);
    const char *level = versus->sides[0].options.slo.text;
    double low = verdict->low, high = verdict->high;
    if (verdict->best[0] == SIZE_MAX && verdict->best[1] == SIZE_MAX) {
        puts(verdict->blocks == 0
                 ? "no verdict: no complete comparison was played"
                 : "neither server served anything that counts in the cells compared");
        return;
    }
    if (verdict->best[0] == SIZE_MAX || verdict->best[1] == SIZE_MAX) {
        printf("only %s %s%s\n", verdict->best[0] == SIZE_MAX ? b : a,
               level ? "keeps " : "had successes", level ? level : "");
        return;
    }
    if (isnan(low))
        printf("no verdict: %zu of at least %d comparisons were played", verdict->blocks,
               RACE_BLOCKS_LEAST);
    else if (low > 1)
        printf("%s sustains %.1f%% to %.1f%% more than %s", b, 100 * (low - 1), 100 * (high - 1),
               a);
    else if (high < 1)
        printf("%s sustains %.1f%% to %.1f%% more than %s", a, 100 * (1 / high - 1),
               100 * (1 / low - 1), b);
    else
        printf("no difference: %s sustains %.1f%% less to %.1f%% more than %s", b, 100 * (1 - low),
               100 * (high - 1), a);
    printf("%s%s%s\n", level ? " within " : "", level ? level : "",
           isnan(low)          ? ""
           : verdict->precise  ? " (95% interval)"
           : versus->timed_out ? " (95% interval; the budget is used up)"
                               : " (95% interval; not as precise as asked)");
}

static void print_side(const struct versus *versus, const struct race_verdict *verdict, size_t n)
{
    if (verdict->best[n] == SIZE_MAX)
        return;
    printf("  %s: %.3f/s at ", name_of(versus, n), verdict->rate[n]);
    print_cell_of(versus, verdict->best[n]);
    printf(" (mean of %zu runs)\n", verdict->blocks);
}

static void print_cell_of(const struct versus *versus, size_t candidate)
{
    const struct sweep_options *options = &versus->sides[0].options;
    size_t cell = versus->cells[candidate];
    printf("r=%s S=%s", options->r.items[cell / options->S.count].text,
           options->S.items[cell % options->S.count].text);
}

static void print_equal_load(const struct versus *versus)
{
    const struct side *a = &versus->sides[0], *b = &versus->sides[1];
    size_t runs = versus->race.runs[0][versus->common];
    if (runs > versus->race.runs[1][versus->common])
        runs = versus->race.runs[1][versus->common];
    printf("  at equal load (");
    print_cell_of(versus, versus->common);
    printf("), %s in proportion to %s:", name_of(versus, 1), name_of(versus, 0));
    print_ratio(" p95", a->p95, b->p95, runs);
    print_ratio(", processor time per operation", a->cpu, b->cpu, runs);
    putchar('\n');
}

static void print_ratio(const char *what, const double *a, const double *b, size_t count)
{
    struct compare_ratio ratio = compare_samples(a, count, b, count);
    fputs(what, stdout);
    if (isnan(ratio.ratio))
        fputs(" unknown", stdout);
    else if (ratio.interval)
        printf(" %+.1f%% to %+.1f%%", 100 * (ratio.low - 1), 100 * (ratio.high - 1));
    else
        printf(" %+.1f%%", 100 * (ratio.ratio - 1));
}

/* The names that the command line gives, which can be the same. */
static const char *name_of(const struct versus *versus, size_t number)
{
    static char names[SWEEP_SIDES][300];
    const char *a = versus->sides[0].options.replay.dc, *b = versus->sides[1].options.replay.dc;
    const char *own = number == 0 ? a : b;
    bool same = strcspn(a, "=") == strcspn(b, "=") && strncmp(a, b, strcspn(a, "=")) == 0;
    snprintf(names[number], sizeof names[number], "%.*s%s", (int)strcspn(own, "="), own,
             !same         ? ""
             : number == 0 ? " (A)"
                           : " (B)");
    return names[number];
}
