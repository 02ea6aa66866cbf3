/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers and alias tables. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alias.h"
#include "base/random.h"

static void alias_tables_draw_by_weight(void **state)
{
    (void)state;
    static const uint64_t weights[] = {1, 1000000, 0, 500000, 3, UINT64_C(1) << 20, 7};
    struct alias_slot slots[7];
    double total = 0, counts[7] = {0};
    struct random_stream random;
    assert_int_equal(alias_build(slots, weights, 7), 0);
    for (size_t i = 0; i < 7; i++)
        total += (double)weights[i];
    random_seed(&random, 3, RANDOM_PLAY, 0);
    for (int i = 0; i < 4000000; i++)
        counts[alias_pick(slots, 7, random_next(&random))]++;
    assert_true(counts[2] == 0);
    for (size_t i = 0; i < 7; i++) {
        double wanted = 4e6 * (double)weights[i] / total;
        assert_true(fabs(counts[i] - wanted) <= 5 * sqrt(wanted) + 1e-9);
    }
}

/* The mass that all slots give to each choice is its weight, to 2^-60. */
static void alias_tables_are_exact(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    static struct alias_slot slots[COUNT];
    static uint64_t weights[COUNT];
    static long double mass[COUNT];
    long double total = 0;
    struct random_stream random;
    random_seed(&random, 4, RANDOM_PLAY, 0);
    for (size_t i = 0; i < COUNT; i++)
        total += weights[i] = random_next(&random) >> (14 + random_below(&random, 50));
    assert_int_equal(alias_build(slots, weights, COUNT), 0);
    for (size_t i = 0; i < COUNT; i++) {
        long double own = slots[i].alias == i ? 1 : slots[i].threshold * 0x1p-64L;
        mass[i] += own / COUNT;
        mass[slots[i].alias] += (1 - own) / COUNT;
    }
    for (size_t i = 0; i < COUNT; i++)
        assert_true(fabsl(mass[i] - weights[i] / total) < 0x1p-60L);
}

static void random_numbers_are_uniform(void **state)
{
    (void)state;
    struct random_stream random, again;
    double sum = 0;
    uint64_t counts[3] = {0};
    random_seed(&random, 42, RANDOM_PLAN, 7);
    again = random;
    for (int i = 0; i < 100000; i++) {
        double unit = random_unit(&random);
        assert_true(unit >= 0 && unit < 1);
        assert_true(unit == random_unit(&again));
        sum += unit;
        counts[random_below(&random, 3)]++;
        random_below(&again, 3);
    }
    assert_true(fabs(sum / 100000 - 0.5) < 0.005);
    for (int i = 0; i < 3; i++)
        assert_true(fabs((double)counts[i] / 100000 - 1.0 / 3) < 0.006);
    assert_int_equal(random_below(&random, 1), 0);
    assert_true(random_below(&random, UINT64_MAX) < UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alias_tables_draw_by_weight),
        cmocka_unit_test(alias_tables_are_exact),
        cmocka_unit_test(random_numbers_are_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
