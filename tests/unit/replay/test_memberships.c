/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memberships: exact numbers, no duplicates, limits, reproducibility, and the shape of the
 * distribution: few users in many groups, few groups with many members.
 */
#include "replay/accounts/memberships.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct memberships_wish wishes[] = {
    {.users = 1, .groups = 1, .memberships = 1},
    {.users = 1, .groups = 1, .memberships = 0},
    {.users = 5, .groups = 3, .memberships = 15}, /* every user in every group */
    {.users = 49, .groups = 4, .memberships = 196},
    {.users = 49, .groups = 4, .memberships = 195},
    {.users = 1000, .groups = 100, .memberships = 5000},
    {.users = 1000, .groups = 100, .memberships = 5000, .max_members = 50}, /* all full */
    {.users = 1000, .groups = 100, .memberships = 4999, .max_members = 50},
    {.users = 10, .groups = 1000, .memberships = 5000},
    {.users = 20000, .groups = 2000, .memberships = 100000, .max_members = 3000},
    {.users = 20000, .groups = 2000, .memberships = 101990, .max_members = 51}, /* nearly full */
    {.users = 0, .groups = 5, .memberships = 0},
    {.users = 5, .groups = 0, .memberships = 0},
    {.instance = 7, .users = 100, .groups = 10, .memberships = 300},
};

static void make(const struct memberships_wish *wish, struct memberships *made)
{
    assert_int_equal(memberships_make(wish, made), 0);
}

static void check_lists(const struct memberships_wish *wish, const struct memberships *made)
{
    assert_int_equal(made->groups, wish->groups);
    assert_int_equal(made->first[0], 0);
    assert_int_equal(made->first[wish->groups], wish->memberships);
    for (uint32_t g = 0; g < wish->groups; g++) {
        assert_true(made->first[g] <= made->first[g + 1]);
        uint64_t members = made->first[g + 1] - made->first[g];
        assert_true(!wish->max_members || members <= wish->max_members);
        for (uint64_t i = made->first[g]; i < made->first[g + 1]; i++) {
            assert_true(made->members[i] >= 1 && made->members[i] <= wish->users);
            /* Ascending, so there are no duplicates. */
            assert_true(i == made->first[g] || made->members[i - 1] < made->members[i]);
        }
    }
}

static void numbers_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        struct memberships made;
        make(&wishes[i], &made);
        check_lists(&wishes[i], &made);
        memberships_clear(&made);
    }
}

static void the_same_input_repeats(void **state)
{
    (void)state;
    const struct memberships_wish wish = {.users = 300, .groups = 30, .memberships = 1500};
    struct memberships_wish other = wish;
    struct memberships one, same, different;
    other.instance = 1;
    make(&wish, &one);
    make(&wish, &same);
    make(&other, &different);
    assert_memory_equal(one.members, same.members, wish.memberships * sizeof *one.members);
    assert_memory_equal(one.first, same.first, (wish.groups + 1) * sizeof *one.first);
    assert_memory_not_equal(one.members, different.members, wish.memberships * sizeof *one.members);
    memberships_clear(&one);
    memberships_clear(&same);
    memberships_clear(&different);
}

static void too_many_are_refused(void **state)
{
    (void)state;
    static const struct memberships_wish too_many[] = {
        {.users = 5, .groups = 3, .memberships = 16},
        {.users = 5, .groups = 3, .memberships = 7, .max_members = 2},
        {.users = 0, .groups = 3, .memberships = 1},
        {.users = 3, .groups = 0, .memberships = 1},
    };
    for (size_t i = 0; i < sizeof too_many / sizeof too_many[0]; i++) {
        struct memberships made;
        assert_int_equal(memberships_make(&too_many[i], &made), -ERANGE);
        assert_null(made.members);
    }
    assert_int_equal(memberships_most(&(struct memberships_wish){
                         .users = 4000000, .groups = 1000000, .max_members = 5000000}),
                     4000000000000ULL);
}

static int descending(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a < b) - (a > b);
}

/* With Pareto weights of shape 1.75, the largest tenth is expected to have 10^-(1 - 1/1.75) = 37%.
 */
static void users_follow_pareto(void **state)
{
    (void)state;
    const struct memberships_wish wish = {.users = 20000, .groups = 5000, .memberships = 200000};
    struct memberships made;
    make(&wish, &made);
    uint32_t *degree = calloc(wish.users + 1, sizeof *degree);
    for (uint64_t i = 0; i < wish.memberships; i++)
        degree[made.members[i] - 1]++;
    qsort(degree, wish.users, sizeof *degree, descending);
    uint64_t top = 0;
    for (uint32_t i = 0; i < wish.users / 10; i++)
        top += degree[i];
    double share = (double)top / (double)wish.memberships;
    if (share < 0.33 || share > 0.41)
        fail_msg("the busiest tenth of the users has %.3f of the memberships", share);
    assert_true(degree[wish.users - 1] >= 1);
    free(degree);
    memberships_clear(&made);
}

/* With weights 1/rank^1.3 and few groups per user, the second group has 2^-1.3 times the members of
 * the first. */
static void groups_follow_their_rank(void **state)
{
    (void)state;
    const struct memberships_wish wish = {.users = 100000, .groups = 1000, .memberships = 100000};
    struct memberships made;
    make(&wish, &made);
    double first = (double)(made.first[1] - made.first[0]);
    double second = (double)(made.first[2] - made.first[1]);
    double tenth = (double)(made.first[10] - made.first[9]);
    if (second / first < 0.38 || second / first > 0.52)
        fail_msg("second group to first: %.3f", second / first);
    if (tenth / first < 0.04 || tenth / first > 0.08)
        fail_msg("tenth group to first: %.3f", tenth / first);
    memberships_clear(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_exact),        cmocka_unit_test(the_same_input_repeats),
        cmocka_unit_test(too_many_are_refused),     cmocka_unit_test(users_follow_pareto),
        cmocka_unit_test(groups_follow_their_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
