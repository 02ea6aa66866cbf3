/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memberships are distributed in three steps: the number of groups of each user (by Pareto
 * weights), the groups themselves (drawn with weight 1/rank^1.3, without repetition), and the
 * inversion of the list, group by group. Memberships that find only full groups go to any group
 * with room.
 */
#include "replay/accounts/memberships.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

struct memberships_work {
    const struct memberships_wish *wish;
    struct random_stream random;
    double *weights; /* of the groups; 0 once a group is full */
    double *sums;    /* a Fenwick tree over them, from 1 */
    double total;    /* of all weights */
    uint32_t *room;  /* by group: free places */
    uint32_t *quota; /* by user: memberships to give */
    uint32_t *mark;  /* by group: the user added last, to avoid repetition */
    uint32_t *pairs; /* user, group; user, group; ... */
    uint64_t count;  /* of pairs */
};

struct key {
    double key;
    uint32_t group;
};

static int memberships_allocate(struct memberships_work *work);
static void change_weight(struct memberships_work *work, uint32_t group, double by);
static int give_all(struct memberships_work *work);
static void set_quotas(struct memberships_work *work, const double *weights, double sum);
static double find_factor(const double *weights, uint32_t users, double groups, double wanted,
                          double sum);
static double draw_weights(struct memberships_work *work, double *weights);
static double pareto_shape(uint64_t memberships);
static int give_user(struct memberships_work *work, uint32_t user);
static uint32_t draw_group(struct memberships_work *work);
static bool can_join(const struct memberships_work *work, uint32_t user, uint32_t group);
static void give_membership(struct memberships_work *work, uint32_t user, uint32_t group);
static int give_by_keys(struct memberships_work *work, uint32_t user, uint32_t wanted);
static int memberships_compare_keys(const void *one, const void *other);
static void place_remaining(struct memberships_work *work);
static int compare_pairs(const void *one, const void *other);
static int list_by_group(struct memberships_work *work, struct memberships *out);

uint64_t memberships_most(const struct memberships_wish *wish)
{
    uint32_t each = wish->users;
    if (wish->max_members && wish->max_members < each)
        each = wish->max_members;
    return (uint64_t)each * wish->groups;
}

int memberships_make(const struct memberships_wish *wish, struct memberships *out)
{
    *out = (struct memberships){0};
    if (wish->memberships > memberships_most(wish))
        return -ERANGE;
    if (wish->memberships == 0) {
        out->groups = wish->groups;
        out->first = calloc((size_t)wish->groups + 1, sizeof *out->first);
        return out->first ? 0 : -ENOMEM;
    }
    struct memberships_work work = {.wish = wish};
    random_seed(&work.random, wish->instance, RANDOM_ACCOUNTS, 0);
    int error = memberships_allocate(&work);
    if (!error)
        error = give_all(&work);
    if (!error)
        error = list_by_group(&work, out);
    free(work.weights);
    free(work.sums);
    free(work.room);
    free(work.mark);
    free(work.quota);
    free(work.pairs);
    return error;
}

static const double group_exponent = 1.3;

static int memberships_allocate(struct memberships_work *work)
{
    const struct memberships_wish *wish = work->wish;
    work->weights = calloc(wish->groups, sizeof *work->weights);
    work->sums = calloc((size_t)wish->groups + 1, sizeof *work->sums);
    work->room = malloc(wish->groups * sizeof *work->room);
    work->mark = calloc(wish->groups, sizeof *work->mark);
    work->quota = calloc(wish->users, sizeof *work->quota);
    work->pairs = reallocarray(NULL, wish->memberships, 2 * sizeof *work->pairs);
    if (!work->weights || !work->sums || !work->room || !work->mark || !work->quota || !work->pairs)
        return -ENOMEM;
    for (uint32_t g = 0; g < wish->groups; g++) {
        change_weight(work, g, pow(g + 1, -group_exponent));
        work->room[g] = wish->max_members ? wish->max_members : wish->users;
    }
    return 0;
}

/* Adds to a group's weight. */
static void change_weight(struct memberships_work *work, uint32_t group, double by)
{
    work->weights[group] += by;
    work->total += by;
    for (uint64_t i = (uint64_t)group + 1; i <= work->wish->groups; i += i & -i)
        work->sums[i] += by;
}

static int give_all(struct memberships_work *work)
{
    double *weights = malloc(work->wish->users * sizeof *weights);
    if (!weights)
        return -ENOMEM;
    set_quotas(work, weights, draw_weights(work, weights));
    free(weights);
    int error = 0;
    for (uint32_t user = 1; !error && user <= work->wish->users; user++)
        error = give_user(work, user);
    if (!error)
        place_remaining(work);
    return error;
}

/* Gives each user an integer number of memberships; the remainder of rounding carries over to the
 * next user. */
static void set_quotas(struct memberships_work *work, const double *weights, double sum)
{
    const struct memberships_wish *wish = work->wish;
    double factor = find_factor(weights, wish->users, wish->groups, (double)wish->memberships, sum);
    double carried = 0.5;
    uint64_t left = wish->memberships;
    for (uint32_t i = 0; i < wish->users; i++) {
        carried += fmin(weights[i] * factor, wish->groups);
        uint64_t whole = carried < 0 ? 0 : (uint64_t)carried;
        if (whole > wish->groups)
            whole = wish->groups;
        if (whole > left)
            whole = left;
        work->quota[i] = (uint32_t)whole;
        carried -= (double)whole;
        left -= whole;
    }
}

/* The factor that turns weights, each at least 1, into numbers of memberships with the wanted sum
 * and none above the number of groups. */
static double find_factor(const double *weights, uint32_t users, double groups, double wanted,
                          double sum)
{
    double low = wanted / sum, high = fmax(low, groups);
    while (high - low > 1e-12 * high) {
        double middle = low + (high - low) / 2, total = 0;
        for (uint32_t i = 0; i < users; i++)
            total += fmin(weights[i] * middle, groups);
        if (total < wanted)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Draws the users' weights and returns their sum. */
static double draw_weights(struct memberships_work *work, double *weights)
{
    double shape = pareto_shape(work->wish->memberships), sum = 0;
    for (uint32_t i = 0; i < work->wish->users; i++) {
        weights[i] = pow(1 - random_unit(&work->random), -1 / shape);
        sum += weights[i];
    }
    return sum;
}

/* The heavier the tail, the more memberships a few users have. Large sets get a lighter tail. */
static const struct {
    uint64_t above;
    double shape;
} shapes[] = {{5000000, 3.0}, {2000000, 2.5}, {300000, 2.25}, {0, 1.75}};

static double pareto_shape(uint64_t memberships)
{
    size_t i = 0;
    while (memberships <= shapes[i].above && shapes[i].above > 0)
        i++;
    return shapes[i].shape;
}

static int give_user(struct memberships_work *work, uint32_t user)
{
    uint32_t wanted = work->quota[user - 1];
    for (uint64_t tries = 0; wanted > 0 && tries < 8 * (uint64_t)work->quota[user - 1]; tries++) {
        uint32_t group = draw_group(work);
        if (!can_join(work, user, group))
            continue;
        give_membership(work, user, group);
        wanted--;
    }
    return wanted > 0 ? give_by_keys(work, user, wanted) : 0;
}

/* Draws a group by weight: the first one whose running sum is above the draw. */
static uint32_t draw_group(struct memberships_work *work)
{
    uint32_t groups = work->wish->groups, before = 0, step = 1;
    double draw = random_unit(&work->random) * work->total;
    while (step <= groups / 2)
        step *= 2;
    for (; step > 0; step /= 2)
        if (step <= groups - before && work->sums[before + step] <= draw) {
            before += step;
            draw -= work->sums[before];
        }
    return before < groups ? before : groups - 1;
}

static bool can_join(const struct memberships_work *work, uint32_t user, uint32_t group)
{
    return work->room[group] > 0 && work->mark[group] != user;
}

/* A full group gets weight 0, so it is not drawn again. */
static void give_membership(struct memberships_work *work, uint32_t user, uint32_t group)
{
    work->mark[group] = user;
    if (--work->room[group] == 0)
        change_weight(work, group, -work->weights[group]);
    work->pairs[2 * work->count] = user;
    work->pairs[2 * work->count + 1] = group;
    work->count++;
}

/* Draws without repetition: takes the smallest of exponential times whose rates are the weights
 * (Efraimidis and Spirakis). For users with so many groups that repeated draws would take too long.
 */
static int give_by_keys(struct memberships_work *work, uint32_t user, uint32_t wanted)
{
    uint32_t groups = work->wish->groups, count = 0;
    struct key *keys = malloc(groups * sizeof *keys);
    if (!keys)
        return -ENOMEM;
    for (uint32_t g = 0; g < groups; g++) {
        double key = -log(1 - random_unit(&work->random)) / work->weights[g];
        if (can_join(work, user, g))
            keys[count++] = (struct key){.key = key, .group = g};
    }
    qsort(keys, count, sizeof *keys, memberships_compare_keys);
    for (uint32_t i = 0; i < wanted && i < count; i++)
        give_membership(work, user, keys[i].group);
    free(keys);
    return 0;
}

static int memberships_compare_keys(const void *one, const void *other)
{
    double a = ((const struct key *)one)->key, b = ((const struct key *)other)->key;
    return (a > b) - (a < b);
}

/* Gives the memberships that found only full groups: each user takes any group that has room and
 * does not have the user yet. memberships_most() guarantees that there is one. */
static void place_remaining(struct memberships_work *work)
{
    const struct memberships_wish *wish = work->wish;
    uint64_t known = work->count, at = 0;
    if (known < wish->memberships)
        qsort(work->pairs, known, 2 * sizeof *work->pairs, compare_pairs);
    memset(work->mark, 0, wish->groups * sizeof *work->mark);
    for (uint32_t user = 1; user <= wish->users && work->count < wish->memberships; user++) {
        for (; at < known && work->pairs[2 * at] == user; at++)
            work->mark[work->pairs[2 * at + 1]] = user;
        for (uint32_t g = 0; g < wish->groups && work->count < wish->memberships; g++)
            if (can_join(work, user, g))
                give_membership(work, user, g);
    }
}

static int compare_pairs(const void *one, const void *other)
{
    const uint32_t *a = one, *b = other;
    if (a[0] != b[0])
        return (a[0] > b[0]) - (a[0] < b[0]);
    return (a[1] > b[1]) - (a[1] < b[1]);
}

/* Turns the pairs into a list of users per group. */
static int list_by_group(struct memberships_work *work, struct memberships *out)
{
    uint32_t groups = work->wish->groups;
    qsort(work->pairs, work->count, 2 * sizeof *work->pairs, compare_pairs);
    out->groups = groups;
    out->first = calloc((size_t)groups + 2, sizeof *out->first);
    out->members = malloc((work->count + 1) * sizeof *out->members);
    if (!out->first || !out->members) {
        memberships_clear(out);
        return -ENOMEM;
    }
    for (uint64_t i = 0; i < work->count; i++)
        out->first[work->pairs[2 * i + 1] + 2]++;
    for (uint32_t g = 0; g < groups; g++)
        out->first[g + 2] += out->first[g + 1];
    /* first[g + 1] advances to the end of group g, which is the beginning of group g + 1. */
    for (uint64_t i = 0; i < work->count; i++)
        out->members[out->first[work->pairs[2 * i + 1] + 1]++] = work->pairs[2 * i];
    return 0;
}

void memberships_clear(struct memberships *memberships)
{
    free(memberships->first);
    free(memberships->members);
    *memberships = (struct memberships){0};
}
