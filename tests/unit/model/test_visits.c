/* SPDX-License-Identifier: Apache-2.0 */
/* The linear system of a chain: known answers, loops close to 1, chains that stay sparse, chains
 * that become dense, and chains too dense to eliminate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "model/visits.h"

struct chain {
    uint32_t count;
    uint32_t *first, *to;
    double *probability, *visits;
};

static void chain_free(struct chain *chain)
{
    free(chain->first);
    free(chain->to);
    free(chain->probability);
    free(chain->visits);
}

/* The flow into each state, except from its own loop, is the flow out of it. Nothing is
 * subtracted, so this holds to a few roundings even if a loop is close to 1. */
static void expect_balance(const struct chain *chain, double tolerance)
{
    double *in = calloc(chain->count, sizeof *in);
    assert_non_null(in);
    for (uint32_t s = 0; s < chain->count; s++)
        for (uint32_t e = chain->first[s]; e < chain->first[s + 1]; e++)
            if (chain->to[e] != s)
                in[chain->to[e]] += chain->visits[s] * chain->probability[e];
    for (uint32_t s = 0; s < chain->count; s++) {
        double out = 0;
        for (uint32_t e = chain->first[s]; e < chain->first[s + 1]; e++)
            if (chain->to[e] != s)
                out += chain->visits[s] * chain->probability[e];
        assert_true(fabs(in[s] - out) <= tolerance * fmax(in[s], out));
    }
    free(in);
}

/* A random chain whose states lead to `degree` others, and to an end with the probability `end`.
 * near: the distance of successors; 0: any. */
static struct chain random_chain(uint32_t count, uint32_t degree, double end, uint32_t near)
{
    struct chain chain = {.count = count};
    struct random_stream random;
    random_seed(&random, 7, RANDOM_PLAN, count);
    chain.first = calloc(count + 1, sizeof *chain.first);
    chain.to = calloc((size_t)count * (degree + 1), sizeof *chain.to);
    chain.probability = calloc((size_t)count * (degree + 1), sizeof *chain.probability);
    chain.visits = calloc(count, sizeof *chain.visits);
    assert_true(chain.first && chain.to && chain.probability && chain.visits);
    for (uint32_t s = 0; s < count; s++) {
        uint32_t e = chain.first[s];
        double rest = s == 0 ? 1 : 1 - end;
        for (uint32_t d = 0; d < degree; d++) {
            uint32_t next = near ? (s + 1 + (uint32_t)random_below(&random, near)) % count
                                 : 1 + (uint32_t)random_below(&random, count - 1);
            chain.to[e] = next == 0 ? 1 : next;
            chain.probability[e++] = rest / degree;
        }
        if (s > 0) {
            chain.to[e] = 0;
            chain.probability[e++] = end;
        }
        chain.first[s + 1] = e;
    }
    return chain;
}

static void solve(struct chain *chain)
{
    assert_int_equal(
        visits_solve(chain->count, chain->first, chain->to, chain->probability, chain->visits), 0);
    assert_true(chain->visits[0] == 1);
}

static void known_chains_have_known_visits(void **state)
{
    (void)state;
    /* 0 -> 1; 1 -> 1 (p), 2; 2 -> 1 (1/2), end (1/2) */
    uint32_t first[] = {0, 1, 3, 5}, to[] = {1, 1, 2, 1, 0};
    for (int digits = 1; digits <= 15; digits++) {
        double leave = pow(10, -digits), visits[3];
        double probability[] = {1, 1 - leave, leave, 0.5, 0.5};
        assert_int_equal(visits_solve(3, first, to, probability, visits), 0);
        assert_true(fabs(visits[1] * leave / 2 - 1) < 1e-14);
        assert_true(fabs(visits[2] / 2 - 1) < 1e-14);
    }
}

/* A loop over two states that is left once in 10^12 times. */
static void a_long_loop_is_solved(void **state)
{
    (void)state;
    uint32_t first[] = {0, 1, 2, 4}, to[] = {1, 2, 1, 0};
    double probability[] = {1, 1, 1 - 1e-12, 1e-12}, visits[3];
    assert_int_equal(visits_solve(3, first, to, probability, visits), 0);
    assert_true(fabs(visits[1] * 1e-12 - 1) < 1e-13);
    assert_true(fabs(visits[2] * 1e-12 - 1) < 1e-13);
}

static void unreached_states_have_no_visits(void **state)
{
    (void)state;
    uint32_t first[] = {0, 1, 2, 4}, to[] = {1, 0, 1, 0};
    double probability[] = {1, 1, 0.5, 0.5}, visits[3];
    assert_int_equal(visits_solve(3, first, to, probability, visits), 0);
    assert_true(visits[1] == 1);
    assert_true(visits[2] == 0);
}

/* Long histories: nearly every state has one or two successors. */
static void sparse_chains_are_solved(void **state)
{
    (void)state;
    struct chain chain = random_chain(50000, 2, 0.001, 3);
    solve(&chain);
    expect_balance(&chain, 1e-11);
    chain_free(&chain);
}

static void dense_chains_are_solved(void **state)
{
    (void)state;
    struct chain chain = random_chain(600, 60, 1e-9, 0);
    solve(&chain);
    expect_balance(&chain, 1e-11);
    chain_free(&chain);
}

/* Unlike real traffic: 20,000 states that lead anywhere. */
static void entangled_chains_are_solved(void **state)
{
    (void)state;
    struct chain chain = random_chain(20000, 4, 0.0001, 0);
    solve(&chain);
    expect_balance(&chain, 1e-9);
    chain_free(&chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_chains_have_known_visits),
        cmocka_unit_test(a_long_loop_is_solved),
        cmocka_unit_test(unreached_states_have_no_visits),
        cmocka_unit_test(sparse_chains_are_solved),
        cmocka_unit_test(dense_chains_are_solved),
        cmocka_unit_test(entangled_chains_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
