/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of two simulated servers. */
#include "replay/sweep/search/race.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/lib/servers/simulated_server.h"

/* Rates of the candidates of both servers. */
struct pair {
    double rates[RACE_SIDES][RACE_CANDIDATES];
    double noise, drift; /* drift: relative change per run */
};

static struct race_verdict play_pair(const struct pair *pair, double precision, size_t blocks,
                                     uint64_t seed)
{
    struct race race = {.candidates = RACE_CANDIDATES, .precision = precision, .seed = seed};
    struct race_verdict verdict;
    size_t side, candidate;
    while (race_next(&race, &side, &candidate) &&
           race.played < blocks * RACE_SIDES * RACE_CANDIDATES) {
        double speed = exp(pair->drift * (double)race.played);
        double noise = exp(pair->noise * simulated_normal(seed, race.played));
        race_add(&race, side, candidate, pair->rates[side][candidate] * speed * noise, false);
    }
    race_judge(&race, &verdict);
    return verdict;
}

static void a_server_against_itself_is_not_different(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {{{700, 690, 300}, {700, 690, 300}}, 0.02, -0.002},
        {{{700, 700, 300}, {700, 700, 300}}, 0.1, 0.001},
        {{{700, 500, 300}, {700, 500, 300}}, 0.05, 0},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        unsigned wrong = 0, worst = 0;
        for (uint64_t group = 0; group < 10; group++) {
            unsigned different = 0;
            for (uint64_t trial = 0; trial < 40; trial++) {
                struct race_verdict verdict =
                    play_pair(&pairs[i], 0.05, 20, 1 + 40 * group + trial);
                different += verdict.low > 1 || verdict.high < 1;
            }
            wrong += different > 2; /* more than 5% of 40 trials */
            worst = different > worst ? different : worst;
        }
        printf("# pair %zu: more than 2 of 40 trials wrong in %u of 10 groups, at most %u\n", i,
               wrong, worst);
        assert_true(wrong == 0);
    }
}

/* However often the race is judged, and wherever it is stopped, the interval holds. */
static void the_interval_holds_at_every_stop(void **state)
{
    (void)state;
    static const struct pair pair = {{{700, 600, 300}, {840, 850, 300}}, 0.04, -0.001};
    unsigned wrong = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        bool ever = false;
        for (size_t blocks = RACE_BLOCKS_LEAST; blocks <= 25; blocks++) {
            struct race_verdict verdict = play_pair(&pair, 0, blocks, seed);
            /* Which of two nearly equal candidates is best is a matter of chance. */
            ever = ever || verdict.high < 840.0 / 700 || verdict.low > 850.0 / 700;
        }
        wrong += ever;
    }
    printf("# wrong at any stop: %u of 200\n", wrong);
    assert_true(wrong <= 10);
}

static void the_race_ends_when_the_interval_is_narrow(void **state)
{
    (void)state;
    static const struct pair pair = {{{700, 600, 300}, {1000, 900, 300}}, 0.02, 0};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct race_verdict verdict = play_pair(&pair, 0.1, RACE_BLOCKS_MAX, seed);
        assert_true(verdict.precise);
        assert_true(verdict.high - verdict.low <= 0.1);
        assert_true(verdict.low > 1.3 && verdict.high < 1.6);
        assert_true(verdict.blocks >= RACE_BLOCKS_LEAST && verdict.blocks < 20);
        assert_int_equal(verdict.best[0], 0);
        assert_int_equal(verdict.best[1], 0);
    }
}

static void candidates_that_miss_the_level_do_not_count(void **state)
{
    (void)state;
    struct race race = {.candidates = 2, .precision = 0.05, .seed = 1};
    struct race_verdict verdict;
    size_t side, candidate;
    while (race_next(&race, &side, &candidate) && race.played < 40)
        race_add(&race, side, candidate, candidate == 0 ? 500 : 400, side == 1 && candidate == 0);
    race_judge(&race, &verdict);
    assert_int_equal(verdict.best[0], 0);
    assert_int_equal(verdict.best[1], 1);
    assert_true(fabs(verdict.ratio - 0.8) < 1e-9);
}

static void each_block_plays_each_candidate_on_each_side_once(void **state)
{
    (void)state;
    struct race race = {.candidates = 3, .precision = 0, .seed = 9};
    size_t side, candidate, orders_that_begin_with_a = 0;
    for (size_t block = 0; block < 40; block++)
        for (size_t i = 0; i < 6; i++) {
            assert_true(race_next(&race, &side, &candidate));
            orders_that_begin_with_a += i == 0 && side == 0;
            race_add(&race, side, candidate, 1 + (double)(block * i % 3), false);
            assert_true(race.runs[side][candidate] == block + 1);
        }
    assert_true(orders_that_begin_with_a > 8 && orders_that_begin_with_a < 32);
}

static void failed_runs_leave_the_ratio_unknown(void **state)
{
    (void)state;
    struct race race = {.candidates = 1, .precision = 0.05, .seed = 9};
    struct race_verdict verdict;
    race_judge(&race, &verdict);
    assert_true(isnan(verdict.ratio) && !verdict.precise && verdict.blocks == 0);
    for (size_t i = 0; i < 20; i++)
        race_add(&race, i % 2, 0, i % 2 ? 0 : 10, false);
    race_judge(&race, &verdict);
    assert_true(isnan(verdict.ratio) && !verdict.precise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_against_itself_is_not_different),
        cmocka_unit_test(the_interval_holds_at_every_stop),
        cmocka_unit_test(the_race_ends_when_the_interval_is_narrow),
        cmocka_unit_test(candidates_that_miss_the_level_do_not_count),
        cmocka_unit_test(each_block_plays_each_candidate_on_each_side_once),
        cmocka_unit_test(failed_runs_leave_the_ratio_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
