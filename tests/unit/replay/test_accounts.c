/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of accounts, groups and memberships, from the settings and the number of clients. */
#include "replay/accounts/accounts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

enum { NOT_GIVEN = -1 };

static const struct {
    const char *name;
    uint32_t clients;
    /* Settings; NOT_GIVEN: omitted. */
    bool generate;
    int64_t users, groups, memberships, max_members;
    double average;
    /* The expected numbers. */
    struct accounts_wanted wanted;
} cases[] = {
    {"a run", 49, false, 0, NOT_GIVEN, NOT_GIVEN, 0, 0, {49, 49, 0, 4, 196, 0}},
    {"one client", 1, false, 0, NOT_GIVEN, NOT_GIVEN, 0, 0, {1, 1, 0, 1, 1, 0}},
    {"room for five each", 200, false, 0, NOT_GIVEN, NOT_GIVEN, 0, 0, {200, 200, 0, 20, 1000, 0}},
    {"more users", 49, false, 500, NOT_GIVEN, NOT_GIVEN, 0, 0, {500, 49, 0, 50, 2500, 0}},
    {"no groups", 49, false, 0, 0, NOT_GIVEN, 0, 0, {49, 49, 0, 0, 0, 0}},
    {"groups without members", 49, false, 0, 7, 0, 0, 0, {49, 49, 0, 7, 0, 0}},
    {"a mean", 40, false, 0, 10, NOT_GIVEN, 0, 2.5, {40, 40, 0, 10, 100, 0}},
    {"a mean above the usual groups",
     40,
     false,
     0,
     NOT_GIVEN,
     NOT_GIVEN,
     0,
     6,
     {40, 40, 0, 6, 240, 0}},
    {"a total", 40, false, 0, 10, 123, 0, 0, {40, 40, 0, 10, 123, 0}},
    {"small groups", 40, false, 0, 4, NOT_GIVEN, 3, 0, {40, 40, 0, 4, 12, 3}},
    {"-G", 0, true, 8, NOT_GIVEN, NOT_GIVEN, 0, 0, {8, 0, 10, 1, 8, 0}},
    {"-G, a fraction of a machine", 0, true, 7, NOT_GIVEN, NOT_GIVEN, 0, 0, {7, 0, 8, 1, 7, 0}},
    {"-G, groups only", 0, true, 0, 3, NOT_GIVEN, 0, 0, {0, 0, 0, 3, 0, 0}},
};

static struct settings settings_of(size_t i)
{
    return (struct settings){
        .generate_users_only = cases[i].generate,
        .number_of_users = (uint64_t)cases[i].users,
        .number_of_groups_given = cases[i].groups != NOT_GIVEN,
        .number_of_groups = cases[i].groups == NOT_GIVEN ? 0 : (uint64_t)cases[i].groups,
        .group_memberships_given = cases[i].memberships != NOT_GIVEN,
        .group_memberships = cases[i].memberships == NOT_GIVEN ? 0 : (uint64_t)cases[i].memberships,
        .max_members = (uint64_t)cases[i].max_members,
        .average_groups_per_user = cases[i].average};
}

static void numbers_follow_from_settings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct settings settings = settings_of(i);
        struct accounts_wanted wanted;
        struct error error = {0};
        if (accounts_wanted(&settings, cases[i].clients, &wanted, &error) != 0)
            fail_msg("%s: %s", cases[i].name, error.text);
        const struct accounts_wanted *right = &cases[i].wanted;
        if (wanted.users != right->users || wanted.machines != right->machines ||
            wanted.fillers != right->fillers || wanted.groups != right->groups ||
            wanted.memberships != right->memberships || wanted.max_members != right->max_members)
            fail_msg("%s: %u users, %u machines, %u fillers, %u groups, %llu memberships, max %u",
                     cases[i].name, wanted.users, wanted.machines, wanted.fillers, wanted.groups,
                     (unsigned long long)wanted.memberships, wanted.max_members);
    }
}

static void expect_refused(const struct settings *settings, uint32_t clients, const char *message)
{
    struct accounts_wanted wanted;
    struct error error = {0};
    assert_int_equal(accounts_wanted(settings, clients, &wanted, &error), -EINVAL);
    assert_int_equal(error.code, -EINVAL);
    assert_string_equal(error.text, message);
}

static void impossible_numbers_are_refused(void **state)
{
    (void)state;
    expect_refused(&(struct settings){.number_of_users = 10}, 49,
                   "-n: 10 users are too few for the 49 clients of this run; give at least as "
                   "many, or omit -n");
    expect_refused(&(struct settings){.number_of_groups_given = true,
                                      .number_of_groups = 2,
                                      .group_memberships_given = true,
                                      .group_memberships = 21},
                   10,
                   "--group-memberships: 21 memberships are more than 10 users in 2 groups can "
                   "have (20)");
    expect_refused(&(struct settings){.number_of_groups_given = true,
                                      .number_of_groups = 2,
                                      .average_groups_per_user = 2,
                                      .max_members = 9},
                   10,
                   "--average-groups-per-user: 20 memberships are more than 10 users in 2 groups "
                   "of --max-members can have (18)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_follow_from_settings),
                                       cmocka_unit_test(impossible_numbers_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
