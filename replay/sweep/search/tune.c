/* SPDX-License-Identifier: Apache-2.0 */
/* Successive halving over the values of a setting. */
#include "replay/sweep/search/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { FIRST_RUNS = 3 };

static size_t scout_of(const struct tune *tune);
static size_t all_played(const struct tune *tune);
static int next_of_scout(struct tune *tune, size_t *cell);
static int next_of_round(struct tune *tune, size_t *value, size_t *cell);
static size_t least_played(const struct tune *tune);
static bool is_decided(struct tune *tune);
static int end_round(struct tune *tune);
static void begin_round(struct tune *tune);
static void allow_cells(struct tune *tune);
static size_t alive_count(const struct tune *tune);
static bool ranks_before(const struct tune_value *a, const struct tune_value *b);
static double standard_error(const struct tune_value *value);

int tune_init(struct tune *tune, size_t count, size_t rows, size_t columns, const double *r,
              const double *S, unsigned repeats, bool has_level)
{
    *tune = (struct tune){.count = count,
                          .values = calloc(count, sizeof *tune->values),
                          .ranking = calloc(count, sizeof *tune->ranking)};
    int made = tune->values && tune->ranking ? 0 : -ENOMEM;
    for (size_t i = 0; made == 0 && i < count; i++) {
        made = search_init(&tune->values[i].search, rows, columns, r, S, repeats, has_level);
        tune->ranking[i] = i;
    }
    if (made < 0)
        tune_clear(tune);
    return made;
}

void tune_clear(struct tune *tune)
{
    for (size_t i = 0; tune->values && i < tune->count; i++)
        if (tune->values[i].search.cells)
            search_clear(&tune->values[i].search);
    free(tune->values);
    free(tune->ranking);
    *tune = (struct tune){0};
}

static size_t scout_of(const struct tune *tune)
{
    return tune->count / 2;
}

size_t tune_cell_budget(const struct tune *tune)
{
    const struct search *any = &tune->values[0].search;
    return (tune->count * any->rows * any->columns - 1) / 2;
}

size_t tune_run_budget(const struct tune *tune)
{
    const struct search *any = &tune->values[0].search;
    size_t runs = search_run_budget(any), left = tune->count;
    for (unsigned round = 1; left > 1; round++, left = (left + 1) / 2)
        runs += left * (FIRST_RUNS << (round - 1)) * (left == 2 ? 2 : 1);
    return runs;
}

int tune_next(struct tune *tune, size_t *value, size_t *cell)
{
    *value = scout_of(tune);
    *cell = SEARCH_NONE;
    if (tune->round == 0) {
        int named = next_of_scout(tune, cell);
        if (named < 0 || *cell != SEARCH_NONE)
            return named;
        tune->round = 1;
        begin_round(tune);
    }
    while (alive_count(tune) > 1) {
        int named = next_of_round(tune, value, cell);
        if (named < 0 || *cell != SEARCH_NONE)
            return named;
        if ((named = end_round(tune)) < 0)
            return named;
    }
    return 0;
}

/* The scout may use a quarter of all cells, so that every other value can play some. */
static int next_of_scout(struct tune *tune, size_t *cell)
{
    struct search *scout = &tune->values[scout_of(tune)].search;
    size_t share = tune_cell_budget(tune) / 2;
    scout->cell_limit = share > 1 ? share : 1;
    return search_next(scout, cell);
}

/* The value with the fewest runs of those that have runs left, and its next cell. */
static int next_of_round(struct tune *tune, size_t *value, size_t *cell)
{
    for (;;) {
        *value = least_played(tune);
        if (*value == SEARCH_NONE || (alive_count(tune) == 2 && is_decided(tune)))
            return 0;
        struct tune_value *next = &tune->values[*value];
        int named = search_next(&next->search, cell);
        if (named < 0 || *cell != SEARCH_NONE)
            return named;
        next->over = true;
    }
}

static size_t least_played(const struct tune *tune)
{
    size_t least = SEARCH_NONE;
    for (size_t i = 0; i < tune->count; i++) {
        const struct tune_value *value = &tune->values[i];
        if (!value->dropped && !value->over && value->search.runs < value->quota &&
            (least == SEARCH_NONE ||
             value->quota - value->search.runs >
                 tune->values[least].quota - tune->values[least].search.runs))
            least = i;
    }
    return least;
}

/* Whether the better one of the last two values is known. */
static bool is_decided(struct tune *tune)
{
    enum { LEAST = 6 };
    double low, high;
    for (size_t i = 0; i < tune->count; i++)
        if (!tune->values[i].dropped && tune->values[i].search.runs < LEAST)
            return false;
    return tune_rank(tune) == 0 && tune_lead(tune, 1, &low, &high) > 1 && low > 1;
}

/* Drops the worse half of the values. */
static int end_round(struct tune *tune)
{
    size_t keep = (alive_count(tune) + 1) / 2;
    int ranked = tune_rank(tune);
    if (ranked < 0)
        return ranked;
    for (size_t place = 0; place < tune->count; place++) {
        struct tune_value *value = &tune->values[tune->ranking[place]];
        if (value->dropped)
            continue;
        if (keep > 0)
            keep--;
        else
            value->dropped = tune->round;
    }
    tune->round++;
    begin_round(tune);
    return 0;
}

static void begin_round(struct tune *tune)
{
    size_t left = alive_count(tune), runs = FIRST_RUNS << (tune->round - 1);
    struct search_maximum found;
    size_t start = SEARCH_NONE;
    if (tune->round == 1 && search_maximum(&tune->values[scout_of(tune)].search, &found) == 0)
        start = found.cell == SEARCH_NONE ? found.least : found.cell;
    for (size_t i = 0; i < tune->count; i++) {
        struct tune_value *value = &tune->values[i];
        value->over = false;
        value->quota = value->search.runs + (left == 2 ? 2 * runs : runs);
        if (tune->round == 1 && i != scout_of(tune))
            search_suggest(&value->search, start);
    }
    allow_cells(tune);
}

/* Each value that is left gets an equal part of the cells that this round may use. */
static void allow_cells(struct tune *tune)
{
    size_t played = all_played(tune), left = alive_count(tune), rounds = 1;
    size_t budget = tune_cell_budget(tune);
    for (size_t i = left; i > 2; i = (i + 1) / 2)
        rounds++;
    size_t share = budget > played ? (budget - played) / (rounds * left) : 0;
    for (size_t i = 0; i < tune->count; i++) {
        struct tune_value *value = &tune->values[i];
        size_t limit = value->search.played + share;
        value->search.cell_limit = limit > 1 ? limit : 1;
    }
}

static size_t all_played(const struct tune *tune)
{
    size_t sum = 0;
    for (size_t i = 0; i < tune->count; i++)
        sum += tune->values[i].search.played;
    return sum;
}

static size_t alive_count(const struct tune *tune)
{
    size_t count = 0;
    for (size_t i = 0; i < tune->count; i++)
        count += tune->values[i].dropped == 0;
    return count;
}

int tune_rank(struct tune *tune)
{
    for (size_t i = 0; i < tune->count; i++) {
        struct tune_value *value = &tune->values[i];
        struct search_maximum maximum;
        if (search_maximum(&value->search, &maximum) < 0)
            return -ENOMEM;
        value->best = maximum.cell;
        value->rate = maximum.cell == SEARCH_NONE ? NAN : maximum.rate;
        value->low = maximum.low;
        value->high = maximum.high;
    }
    for (size_t i = 1; i < tune->count; i++) {
        size_t at = i, moved = tune->ranking[i];
        for (; at > 0 && ranks_before(&tune->values[moved], &tune->values[tune->ranking[at - 1]]);
             at--)
            tune->ranking[at] = tune->ranking[at - 1];
        tune->ranking[at] = moved;
    }
    return 0;
}

/* Values that stayed longer come first: the others have fewer runs. */
static bool ranks_before(const struct tune_value *a, const struct tune_value *b)
{
    if (a->dropped != b->dropped)
        return a->dropped == 0 || (b->dropped != 0 && a->dropped > b->dropped);
    if (isnan(a->rate) || isnan(b->rate))
        return !isnan(a->rate);
    return a->rate > b->rate;
}

double tune_lead(const struct tune *tune, size_t place, double *low, double *high)
{
    const struct tune_value *best = &tune->values[tune->ranking[0]];
    const struct tune_value *other = &tune->values[tune->ranking[place]];
    double width = 2 * hypot(standard_error(best), standard_error(other));
    double ratio = best->rate / other->rate;
    *low = ratio * exp(-width);
    *high = ratio * exp(width);
    return ratio;
}

/* Of the logarithm of the rate; the interval is two of them wide on each side. */
static double standard_error(const struct tune_value *value)
{
    return log(value->high / value->low) / 4;
}
