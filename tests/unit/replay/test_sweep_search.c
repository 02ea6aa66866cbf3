/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the maximum on simulated servers, and the progress line. */
#include "replay/sweep/sweep_search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/sweep/sweep_progress.h"

/* A simulated server: successful operations per second at a load, and whether it keeps the level.
 */
struct server {
    double (*rate)(double r, double S);
    double noise; /* relative, per run */
    double level; /* the largest load that keeps the service level; 0: any */
};

static double knee(double r, double S) /* serves all requests up to 240/s, then slightly fewer */
{
    double asked = 10 * r * S;
    return asked < 240 ? asked : 240 - 0.02 * (asked - 240);
}

static double ridge(double r, double S) /* the peak is at r = 9, S = 5 */
{
    return 300 * exp(-pow(log(r * S / 45), 2)) * exp(-pow(log(r / S / 1.8), 2) / 4);
}

static double plateau(double r, double S)
{
    double asked = 10 * r * S;
    return asked < 200 ? asked : 200;
}

static double rising(double r, double S) /* the last cell is the best */
{
    return r * S;
}

static double falling(double r,
                      double S) /* the first cell is the best: the server is overloaded at once */
{
    return 100 / (r * S);
}

static const struct server servers[] = {
    {knee, 0, 0},    {ridge, 0, 0},   {plateau, 0, 0},     {rising, 0, 0},
    {falling, 0, 0}, {knee, 0.02, 0}, {plateau, 0.02, 0},  {ridge, 0.01, 0},
    {rising, 0, 24}, {knee, 0, 12},   {plateau, 0.02, 30},
};

/* Noise from -1 to 1, the same for each repetition of a run. */
static double noise_of(size_t index, unsigned run)
{
    uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u + run * 0xbf58476d1ce4e5b9u;
    x ^= x >> 29;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 32;
    return 2 * ((double)(x >> 11) / 9007199254740992.0) - 1;
}

static void measure(const struct server *server, struct sweep_search *search, size_t index,
                    const double *r, const double *S, double *sum, double *squares)
{
    struct sweep_search_cell *cell = &search->cells[index];
    double rate = server->rate(r[index / search->columns], S[index % search->columns]) *
                  (1 + server->noise * noise_of(index, cell->runs));
    cell->min = cell->runs == 0 ? rate : fmin(cell->min, rate);
    cell->max = cell->runs == 0 ? rate : fmax(cell->max, rate);
    *sum += rate;
    *squares += rate * rate;
    cell->runs++;
    cell->mean = *sum / cell->runs;
    if (cell->runs > 1)
        cell->variance = fmax(0, (*squares - *sum * cell->mean) / (cell->runs - 1));
    cell->missed = server->level > 0 && search->load[index] > server->level;
}

/* The largest rate of all cells that keep the level. */
static double true_maximum(const struct server *server, const struct sweep_search *search,
                           const double *r, const double *S)
{
    double best = 0;
    for (size_t i = 0; i < search->rows * search->columns; i++)
        if (server->level == 0 || search->load[i] <= server->level)
            best = fmax(best, server->rate(r[i / search->columns], S[i % search->columns]));
    return best;
}

enum { CELLS_MAX = 252 };

static void search_on(const struct server *server, size_t rows, size_t columns, unsigned repeats)
{
    double r[21] = {0}, S[12] = {0}, load[CELLS_MAX], sums[CELLS_MAX] = {0},
           squares[CELLS_MAX] = {0};
    struct sweep_search search;
    size_t next, runs = 0;
    for (size_t i = 0; i < rows; i++)
        r[i] = (double)(i + 4) * (rows < 10 ? 2 : 1) - 3;
    for (size_t i = 0; i < columns; i++)
        S[i] = (double)(i + 1) * (columns < 10 ? 2 : 1);
    for (size_t i = 0; i < rows * columns; i++)
        load[i] = r[i / columns] * S[i % columns];
    assert_int_equal(sweep_search_init(&search, rows, columns, load, repeats), 0);
    while ((next = sweep_search_next(&search)) != SIZE_MAX) {
        assert_true(next < rows * columns);
        assert_true(++runs <= rows * columns + SWEEP_SEARCH_RIVALS * repeats);
        measure(server, &search, next, r, S, &sums[next], &squares[next]);
    }
    assert_true(sweep_search_played(&search) <= sweep_search_budget(&search));
    size_t best = sweep_search_ranked(&search, 0);
    assert_true(best != SIZE_MAX);
    assert_false(search.cells[best].missed);
    assert_int_equal(search.cells[best].runs, repeats);
    double found = server->rate(r[best / columns], S[best % columns]);
    double truth = true_maximum(server, &search, r, S);
    if (found < 0.95 * truth)
        fail_msg("server %zu, %zu x %zu: found %.1f at r=%g S=%g, the maximum is %.1f",
                 (size_t)(server - servers), rows, columns, found, r[best / columns],
                 S[best % columns], truth);
    sweep_search_clear(&search);
}

static void the_search_finds_the_largest_load(void **state)
{
    (void)state;
    static const struct {
        size_t rows, columns;
    } grids[] = {{6, 4}, {21, 12}, {8, 8}, {2, 2}, {1, 1}, {12, 1}, {1, 12}, {3, 3}};
    for (size_t s = 0; s < sizeof servers / sizeof servers[0]; s++)
        for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
            /* The next test has a level that even the smallest load misses. */
            if (servers[s].level > 0 && grids[g].rows * grids[g].columns < 24)
                continue;
            search_on(&servers[s], grids[g].rows, grids[g].columns, 3);
            search_on(&servers[s], grids[g].rows, grids[g].columns, 1);
        }
}

static void the_search_keeps_its_budget(void **state)
{
    (void)state;
    static const double load[24] = {0};
    struct sweep_search search;
    assert_int_equal(sweep_search_init(&search, 6, 4, load, 1), 0);
    assert_int_equal(sweep_search_budget(&search), 12);
    assert_int_equal(sweep_search_best(&search), SIZE_MAX);
    assert_int_equal(sweep_search_ranked(&search, 0), SIZE_MAX);
    /* The coarse grid has about half of each axis. */
    static const size_t coarse[] = {5, 7, 13, 15, 21, 23};
    for (size_t i = 0; i < sizeof coarse / sizeof coarse[0]; i++) {
        assert_int_equal(sweep_search_next(&search), coarse[i]);
        search.cells[coarse[i]] = (struct sweep_search_cell){.runs = 1, .mean = 1};
    }
    sweep_search_clear(&search);
    assert_int_equal(sweep_search_init(&search, 2, 4, load, 1), 0);
    assert_int_equal(sweep_search_budget(&search), 8);
    sweep_search_clear(&search);
}

/* When no cell keeps the level, the search ends at the smallest load and reports it. */
static void the_smallest_load_is_reported_at_least(void **state)
{
    (void)state;
    double load[24];
    struct sweep_search search;
    size_t next, played = 0;
    for (size_t i = 0; i < 24; i++)
        load[i] = (double)((i / 4 + 1) * (i % 4 + 1));
    assert_int_equal(sweep_search_init(&search, 6, 4, load, 3), 0);
    while ((next = sweep_search_next(&search)) != SIZE_MAX && ++played <= 24)
        search.cells[next] = (struct sweep_search_cell){.runs = 1, .mean = 5, .missed = true};
    assert_int_equal(played, 3); /* only less load: more would miss it, too */
    assert_int_equal(sweep_search_best(&search), 0);
    assert_int_equal(sweep_search_ranked(&search, 0), SIZE_MAX);
    sweep_search_clear(&search);
}

static void sureness(const struct sweep_search *search, const char *wanted)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    sweep_search_print_confidence(search, stream);
    fclose(stream);
    assert_string_equal(text, wanted);
    free(text);
}

static void confidence_decides_on_repetitions(void **state)
{
    (void)state;
    static const double load[4] = {1, 2, 3, 4};
    struct sweep_search search;
    assert_int_equal(sweep_search_init(&search, 2, 2, load, 3), 0);
    search.cells[0] = (struct sweep_search_cell){.runs = 1, .mean = 50, .min = 50, .max = 50};
    sureness(&search, "each cell was played once, so the variation between runs is unknown");
    assert_true(isnan(sweep_search_uncertainty(&search.cells[0])));
    /* 98, 100, 102: s = 2, t = 4.303, 4.303 x 2 / sqrt(3) = 4.969 */
    search.cells[1] =
        (struct sweep_search_cell){.runs = 3, .mean = 100, .min = 98, .max = 102, .variance = 4};
    assert_true(fabs(sweep_search_uncertainty(&search.cells[1]) - 4.969) < 0.001);
    sureness(&search, "the mean of 3 runs is accurate to within 5.0% (95% confidence); no run of "
                      "another cell reached its worst run");
    search.cells[2] = (struct sweep_search_cell){.runs = 1, .mean = 99, .min = 99, .max = 99};
    sureness(&search,
             "the mean of 3 runs is accurate to within 5.0% (95% confidence); 1 other cell "
             "is as good within the accuracy of these runs (1 of them played once)");
    sweep_search_clear(&search);
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
        cmocka_unit_test(the_search_finds_the_largest_load),
        cmocka_unit_test(the_search_keeps_its_budget),
        cmocka_unit_test(the_smallest_load_is_reported_at_least),
        cmocka_unit_test(confidence_decides_on_repetitions),
        cmocka_unit_test(progress_estimates_the_time_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
