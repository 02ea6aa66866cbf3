/* SPDX-License-Identifier: Apache-2.0 */
/* The best setting of simulated servers, by successive halving. */
#include "replay/sweep/search/tune.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/lib/servers/simulated_server.h"

enum { ROWS = 6, COLUMNS = 4, CELLS = ROWS * COLUMNS, VALUES_MAX = 16, SEEDS = 40 };

static const double r[ROWS] = {4, 8, 12, 16, 20, 24}, S[COLUMNS] = {4, 6, 8, 11};

struct setting {
    size_t count;
    double strengths[VALUES_MAX];
};

static double maximum_of(double (*rate)(double, double, double), double strength)
{
    double best = 0;
    for (size_t i = 0; i < CELLS; i++)
        best = fmax(best, rate(r[i / COLUMNS], S[i % COLUMNS], strength));
    return best;
}

/* Returns the maximum with the chosen value in proportion to that with the best value. */
static double tune_once(double (*rate)(double, double, double), const struct setting *setting,
                        double noise, uint64_t seed)
{
    struct simulated_server servers[VALUES_MAX];
    struct tune tune;
    size_t value, cell, runs = 0, cells = 0;
    double best = 0;
    assert_int_equal(tune_init(&tune, setting->count, ROWS, COLUMNS, r, S, 3, false), 0);
    for (size_t i = 0; i < setting->count; i++) {
        servers[i] = (struct simulated_server){.rate = rate,
                                               .strength = setting->strengths[i],
                                               .noise = noise,
                                               .seed = seed * 100 + i};
        best = fmax(best, maximum_of(rate, setting->strengths[i]));
    }
    while (tune_next(&tune, &value, &cell) == 0 && cell != SEARCH_NONE) {
        struct simulated_run run =
            simulated_play(&servers[value], r[cell / COLUMNS], S[cell % COLUMNS]);
        assert_int_equal(
            search_add(&tune.values[value].search, cell, &(struct search_run){.rate = run.rate}),
            0);
        assert_true(++runs <= tune_run_budget(&tune));
    }
    for (size_t i = 0; i < setting->count; i++)
        cells += tune.values[i].search.played;
    assert_true(2 * cells < setting->count * CELLS);
    assert_int_equal(tune_rank(&tune), 0);
    double chosen = maximum_of(rate, setting->strengths[tune.ranking[0]]);
    tune_clear(&tune);
    return chosen / best;
}

static void try_setting(const char *name, double (*rate)(double, double, double),
                        const struct setting *setting, double noise)
{
    unsigned good = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        good += tune_once(rate, setting, noise, seed) >= 0.95;
    printf("# %s, noise %g: %u of %d\n", name, noise, good, SEEDS);
    assert_true(good * 100 >= SEEDS * 95);
}

static void the_best_value_is_found_in_half_of_the_cells(void **state)
{
    (void)state;
    static const struct setting peak = {8, {0.6, 0.8, 0.95, 1.1, 1.3, 1.1, 0.9, 0.7}},
                                rising = {5, {0.7, 0.8, 0.9, 1, 1.15}}, first = {3, {1.2, 1, 0.8}},
                                equal = {4, {1, 1, 1, 1}}, pair = {2, {1, 1.2}};
    try_setting("peak, saturates", simulated_saturates, &peak, 0.03);
    try_setting("peak, falls off", simulated_falls_off, &peak, 0.03);
    try_setting("rising, collapses", simulated_collapses, &rising, 0.03);
    try_setting("first, soft knee", simulated_soft_knee, &first, 0.03);
    try_setting("equal, ridge", simulated_ridge, &equal, 0.03);
    try_setting("pair, saturates", simulated_saturates, &pair, 0.03);
    try_setting("pair, saturates", simulated_saturates, &pair, 0.1);
    try_setting("peak, saturates", simulated_saturates, &peak, 0.1);
}

static void equal_values_are_not_called_different(void **state)
{
    (void)state;
    unsigned different = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct tune tune;
        size_t value, cell;
        double low, high;
        struct simulated_server server = {
            .rate = simulated_saturates, .strength = 1, .noise = 0.05, .seed = 77 * seed};
        assert_int_equal(tune_init(&tune, 4, ROWS, COLUMNS, r, S, 3, false), 0);
        while (tune_next(&tune, &value, &cell) == 0 && cell != SEARCH_NONE) {
            struct simulated_run run =
                simulated_play(&server, r[cell / COLUMNS], S[cell % COLUMNS]);
            assert_int_equal(search_add(&tune.values[value].search, cell,
                                        &(struct search_run){.rate = run.rate}),
                             0);
        }
        assert_int_equal(tune_rank(&tune), 0);
        tune_lead(&tune, 1, &low, &high);
        different += low > 1.02;
        tune_clear(&tune);
    }
    printf("# different: %u of %d\n", different, SEEDS);
    assert_true(different * 100 <= SEEDS * 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_value_is_found_in_half_of_the_cells),
        cmocka_unit_test(equal_values_are_not_called_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
