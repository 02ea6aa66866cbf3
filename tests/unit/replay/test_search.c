/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the maximum on simulated servers with noise, drift and stalls; disturbed runs, and
 * the progress line. */
#include "replay/sweep/search/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/sweep/sweep_disturbed.h"
#include "replay/sweep/sweep_progress.h"
#include "tests/lib/servers/simulated_server.h"

enum { SIDE_MAX = 24 };

struct grid {
    size_t rows, columns;
    double r[SIDE_MAX], S[SIDE_MAX];
};

struct found {
    double share; /* rate of the found cell in proportion to the largest one */
    bool covered; /* the interval contains the true rate */
    bool sure;
    size_t cells, runs; /* runs: all, disturbed ones too */
};

static struct grid make_grid(size_t rows, size_t columns)
{
    struct grid grid = {.rows = rows, .columns = columns};
    for (size_t i = 0; i < rows; i++)
        grid.r[i] = 4 + (double)i * 20 / (rows > 1 ? (double)rows - 1 : 1);
    for (size_t i = 0; i < columns; i++)
        grid.S[i] = 4 + (double)i * 7 / (columns > 1 ? (double)columns - 1 : 1);
    return grid;
}

static double true_maximum(const struct simulated_server *server, const struct grid *grid)
{
    double best = 0;
    for (size_t i = 0; i < grid->rows; i++)
        for (size_t j = 0; j < grid->columns; j++)
            if (server->level == 0 ||
                simulated_latency(server, grid->r[i], grid->S[j]) <= server->level)
                best = fmax(best, server->rate(grid->r[i], grid->S[j], server->strength));
    return best;
}

static struct found search_on(struct simulated_server server, const struct grid *grid,
                              unsigned repeats)
{
    struct search search;
    struct search_maximum maximum;
    size_t next;
    assert_int_equal(search_init(&search, grid->rows, grid->columns, grid->r, grid->S, repeats,
                                 server.level > 0),
                     0);
    while (search_next(&search, &next) == 0 && next != SEARCH_NONE) {
        struct simulated_run run =
            simulated_play(&server, grid->r[next / grid->columns], grid->S[next % grid->columns]);
        const struct search_run taken = {run.rate, run.missed,
                                         run.disturbed && search_repeats_disturbed(&search, next)};
        assert_int_equal(search_add(&search, next, &taken), 0);
        assert_true(search.runs <= search_run_budget(&search));
    }
    assert_int_equal(search_maximum(&search, &maximum), 0);
    struct found found = {
        .sure = maximum.sure, .cells = search.played, .runs = search.runs + search.disturbed};
    assert_true(search.played <= search_cell_budget(&search));
    if (maximum.cell != SEARCH_NONE) {
        double truth = server.rate(grid->r[maximum.cell / grid->columns],
                                   grid->S[maximum.cell % grid->columns], server.strength);
        found.share = truth / true_maximum(&server, grid);
        found.covered = maximum.low <= truth && truth <= maximum.high;
    }
    search_clear(&search);
    return found;
}

/* What was found with SEEDS seeds. */
struct tally {
    unsigned good, covered, sure, wrong_and_sure;
    size_t most_cells, most_runs;
};

enum { SEEDS = 8 };

static struct tally try_seeds(struct simulated_server server, const struct grid *grid,
                              unsigned repeats)
{
    struct tally tally = {0};
    uint64_t first = server.seed;
    for (uint64_t i = 0; i < SEEDS; i++) {
        server.seed = first + 1000 * i;
        struct found found = search_on(server, grid, repeats);
        tally.good += found.share >= 0.95;
        tally.covered += found.covered;
        tally.sure += found.sure;
        tally.wrong_and_sure += found.sure && found.share < 0.95;
        tally.most_cells = found.cells > tally.most_cells ? found.cells : tally.most_cells;
        tally.most_runs = found.runs > tally.most_runs ? found.runs : tally.most_runs;
    }
    printf("# %zu x %zu: %u good, %u covered, %u sure, %u of them wrong, at most %zu cells and %zu "
           "runs\n",
           grid->rows, grid->columns, tally.good, tally.covered, tally.sure, tally.wrong_and_sure,
           tally.most_cells, tally.most_runs);
    return tally;
}

/* Noise of 10%, a drift of 15%, stalls in 5% of the runs, half of which nobody notices. */
static struct simulated_server unquiet(double (*rate)(double, double, double), uint64_t seed)
{
    return (struct simulated_server){.rate = rate,
                                     .strength = 1,
                                     .noise = 0.1,
                                     .drift = -0.15,
                                     .stalls = 0.05,
                                     .noticed = 0.5,
                                     .seed = seed};
}

static void noise_drift_and_stalls_do_not_fool_the_search(void **state)
{
    (void)state;
    static double (*const rates[])(double, double, double) = {
        simulated_saturates, simulated_collapses,  simulated_falls_off,
        simulated_ridge,     simulated_two_limits, simulated_dislikes_clients};
    enum { RATES = sizeof rates / sizeof rates[0] };
    const struct grid grid = make_grid(12, 8);
    unsigned all = 0;
    for (size_t i = 0; i < RATES; i++) {
        struct tally tally = try_seeds(unquiet(rates[i], 7000000 + i), &grid, 3);
        all += tally.good;
        assert_true(tally.most_cells <= 48);
        /* Half of the runs of the full grid: 96 cells, three times. */
        assert_true(tally.most_runs <= 96 * 3 / 2);
    }
    /* 115 of 120 with 20 seeds each; few seeds leave room for chance. */
    assert_true(all * 100 >= RATES * SEEDS * 90);
}

/* Runs are all that is counted here: half as many as there are cells. */
static void a_large_grid_costs_at_most_half_as_many_runs_as_cells(void **state)
{
    (void)state;
    const struct grid grid = make_grid(21, 8);
    struct simulated_server server = unquiet(simulated_collapses, 3);
    server.stalls = 0;
    struct tally tally = try_seeds(server, &grid, 3);
    assert_true(tally.good * 100 >= SEEDS * 90);
    assert_true(tally.most_runs <= 84);
}

static void a_calm_server_ends_the_search_early(void **state)
{
    (void)state;
    const struct grid grid = make_grid(12, 8);
    struct simulated_server server = {
        .rate = simulated_falls_off, .strength = 1, .noise = 0.01, .seed = 5};
    struct tally tally = try_seeds(server, &grid, 3);
    assert_true(tally.good * 100 >= SEEDS * 95);
    assert_true(tally.sure * 100 >= SEEDS * 95);
    assert_true(tally.most_runs <= 60);
}

static void the_maximum_within_a_level_is_found(void **state)
{
    (void)state;
    const struct grid grid = make_grid(12, 8);
    struct simulated_server server = unquiet(simulated_saturates, 11);
    server.level = 4; /* kept up to three quarters of the capacity */
    server.drift = 0;
    struct tally tally = try_seeds(server, &grid, 3);
    assert_true(tally.good * 100 >= SEEDS * 90);
    assert_true(tally.most_cells <= 48);
}

/* Plays all cells that the search names, by a rule; returns the number of runs. */
static size_t play_all(struct search *search,
                       struct search_run (*play)(const struct search *search, size_t cell))
{
    size_t next, runs = 0;
    while (search_next(search, &next) == 0 && next != SEARCH_NONE) {
        assert_true(next < search->rows * search->columns);
        assert_true(runs++ < 1000);
        struct search_run run = play(search, next);
        assert_int_equal(search_add(search, next, &run), 0);
    }
    return runs;
}

/* Serves r x S; one run at low load misses the level. */
static struct search_run miss_once(const struct search *search, size_t cell)
{
    double load = (double)(cell / 4 + 1) * (double)(cell % 4 + 1);
    bool unlucky = search->runs == 0;
    return (struct search_run){.rate = unlucky ? 0.1 * load : load, .missed = unlucky};
}

static void one_missed_run_at_low_load_excludes_nothing(void **state)
{
    (void)state;
    static const double r[] = {1, 2, 3, 4, 5, 6}, S[] = {1, 2, 3, 4};
    struct search search;
    struct search_maximum maximum;
    size_t first;
    assert_int_equal(search_init(&search, 6, 4, r, S, 3, true), 0);
    assert_int_equal(search_next(&search, &first), 0);
    assert_int_equal(first, 5); /* the least loaded cell of the coarse grid */
    play_all(&search, miss_once);
    assert_int_equal(search_maximum(&search, &maximum), 0);
    assert_int_equal(maximum.cell, 23);
    assert_true(search.cells[23].runs >= 3);
    search_clear(&search);
}

static struct search_run miss_always(const struct search *search, size_t cell)
{
    (void)search;
    (void)cell;
    return (struct search_run){.rate = 5, .missed = true};
}

static void a_server_that_never_keeps_the_level_is_left_soon(void **state)
{
    (void)state;
    static const double r[] = {1, 2, 3, 4, 5, 6}, S[] = {1, 2, 3, 4};
    struct search search;
    struct search_maximum maximum;
    assert_int_equal(search_init(&search, 6, 4, r, S, 3, true), 0);
    assert_true(play_all(&search, miss_always) <= 8);
    assert_int_equal(search_maximum(&search, &maximum), 0);
    assert_int_equal(maximum.cell, SEARCH_NONE);
    assert_int_equal(maximum.least, 0);
    assert_true(search.cells[0].runs >= 2);
    search_clear(&search);
}

static struct search_run fail_always(const struct search *search, size_t cell)
{
    (void)search;
    (void)cell;
    return (struct search_run){0};
}

static void a_server_that_serves_nothing_ends_the_search(void **state)
{
    (void)state;
    const struct grid grid = make_grid(12, 8);
    struct search search;
    struct search_maximum maximum;
    assert_int_equal(search_init(&search, 12, 8, grid.r, grid.S, 3, false), 0);
    assert_true(play_all(&search, fail_always) <= 8);
    assert_int_equal(search_maximum(&search, &maximum), 0);
    assert_int_equal(maximum.cell, SEARCH_NONE);
    search_clear(&search);
}

/* Every run is disturbed. */
static struct search_run disturb_always(const struct search *search, size_t cell)
{
    return (struct search_run){.rate = 10, .disturbed = search_repeats_disturbed(search, cell)};
}

static void a_machine_that_is_never_calm_costs_a_bounded_number_of_repeats(void **state)
{
    (void)state;
    const struct grid grid = make_grid(6, 4);
    struct search search;
    assert_int_equal(search_init(&search, 6, 4, grid.r, grid.S, 3, false), 0);
    size_t runs = play_all(&search, disturb_always);
    assert_true(search.disturbed >= 4);
    assert_true(runs - search.disturbed == search.runs);
    assert_true(search.disturbed <= 5 + search.runs / 4);
    search_clear(&search);
}

static struct search_run count_runs(const struct search *search, size_t cell)
{
    (void)cell;
    return (struct search_run){.rate = 100 + (double)search->runs};
}

static void grids_of_one_cell_and_one_row_work(void **state)
{
    (void)state;
    const struct grid one = make_grid(1, 1), row = make_grid(1, 12), column = make_grid(12, 1);
    const struct grid *const grids[] = {&one, &row, &column};
    struct search search;
    struct search_maximum maximum;
    for (size_t i = 0; i < 3; i++)
        for (unsigned repeats = 1; repeats <= 3; repeats += 2) {
            assert_int_equal(search_init(&search, grids[i]->rows, grids[i]->columns, grids[i]->r,
                                         grids[i]->S, repeats, false),
                             0);
            size_t runs = play_all(&search, count_runs);
            assert_true(runs <= search_run_budget(&search));
            assert_true(i > 0 || runs == repeats);
            assert_int_equal(search_maximum(&search, &maximum), 0);
            assert_true(maximum.cell != SEARCH_NONE);
            assert_true(maximum.low <= maximum.rate && maximum.rate <= maximum.high);
            search_clear(&search);
        }
}

static void a_drift_of_the_machine_is_reported(void **state)
{
    (void)state;
    const struct grid grid = make_grid(12, 8);
    unsigned found[2] = {0};
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int drifts = 0; drifts < 2; drifts++) {
            struct simulated_server server = {.rate = simulated_saturates,
                                              .strength = 1,
                                              .noise = 0.03,
                                              .drift = drifts ? -0.3 : 0,
                                              .seed = 400 + 10 * seed};
            struct search search;
            size_t next;
            bool reported;
            double change;
            assert_int_equal(search_init(&search, 12, 8, grid.r, grid.S, 9, false), 0);
            while (search_next(&search, &next) == 0 && next != SEARCH_NONE) {
                struct simulated_run run =
                    simulated_play(&server, grid.r[next / 8], grid.S[next % 8]);
                assert_int_equal(search_add(&search, next, &(struct search_run){.rate = run.rate}),
                                 0);
            }
            assert_int_equal(search_drift(&search, &reported, &change), 0);
            found[drifts] += reported && (!drifts || change < 0);
            search_clear(&search);
        }
    printf("# drift reported: %u of 20 with, %u of 20 without\n", found[1], found[0]);
    assert_true(found[0] <= 2);
    assert_true(found[1] >= 15);
}

static void steal_time_late_timers_and_a_slow_generator_disturb_a_run(void **state)
{
    (void)state;
    struct sweep_stolen before, after;
    char why[SWEEP_DISTURBED_SIZE];
    struct result result;
    result_init(&result);
    result.timer_p99 = 0.0002;
    result.busy = 0.5;
    assert_true(sweep_stolen_parse("cpu  100 0 100 800 0 0 0 10 0 0\n", &before));
    assert_int_equal(before.all, 1010);
    assert_int_equal(before.stolen, 10);
    assert_true(sweep_stolen_parse("cpu  150 0 150 890 0 0 0 15 0 0\n", &after));
    assert_false(sweep_disturbed_between(&result, &before, &after, why));
    assert_true(sweep_stolen_parse("cpu  150 0 150 890 0 0 0 30 0 0\n", &after));
    assert_true(sweep_disturbed_between(&result, &before, &after, why));
    assert_string_equal(why, "steal time 10%");
    assert_true(sweep_stolen_parse("cpu  100 0 100 860 0 0 0 40 0 0\n", &after));
    assert_false(sweep_disturbed_between(&result, &before, &after, why)); /* 0.9 s */
    result.timer_p99 = 0.025;
    assert_true(sweep_disturbed_between(&result, &before, &before, why));
    assert_string_equal(why, "timers were late by 25 ms");
    result.timer_p99 = NAN;
    result.busy = 0.99; /* but nothing was late */
    assert_false(sweep_disturbed_between(&result, &before, &before, why));
    assert_false(sweep_stolen_parse("", &before));
    assert_false(sweep_stolen_parse("cpu 1 2 3", &before));
    assert_false(sweep_disturbed_between(&result, &before, &after, why));
    result_clear(&result);
}

static void progress_estimates_the_time_left(void **state)
{
    (void)state;
    char text[32];
    struct sweep_progress progress = {.total = 10, .expected = 20, .best_rate = -1};
    assert_string_equal(sweep_progress_time(0, text), "0:00");
    assert_string_equal(sweep_progress_time(61.4, text), "1:01");
    assert_string_equal(sweep_progress_time(3723, text), "1:02:03");
    assert_true(sweep_progress_left(&progress, 0) == 200);
    progress.done = 4; /* two of them in an earlier call */
    progress.played = 2;
    progress.spent = 60;
    assert_true(sweep_progress_left(&progress, 0) == 180);
    progress.started = 1000000000;
    assert_true(sweep_progress_left(&progress, 11000000000) == 170);
    assert_true(sweep_progress_left(&progress, 99000000000) == 150);
    progress.done = 10;
    assert_true(sweep_progress_left(&progress, 99000000000) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_drift_and_stalls_do_not_fool_the_search),
        cmocka_unit_test(a_large_grid_costs_at_most_half_as_many_runs_as_cells),
        cmocka_unit_test(a_calm_server_ends_the_search_early),
        cmocka_unit_test(the_maximum_within_a_level_is_found),
        cmocka_unit_test(one_missed_run_at_low_load_excludes_nothing),
        cmocka_unit_test(a_server_that_never_keeps_the_level_is_left_soon),
        cmocka_unit_test(a_server_that_serves_nothing_ends_the_search),
        cmocka_unit_test(a_machine_that_is_never_calm_costs_a_bounded_number_of_repeats),
        cmocka_unit_test(grids_of_one_cell_and_one_row_work),
        cmocka_unit_test(a_drift_of_the_machine_is_reported),
        cmocka_unit_test(steal_time_late_timers_and_a_slow_generator_disturb_a_run),
        cmocka_unit_test(progress_estimates_the_time_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
