/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the maximum. */
#include "replay/sweep/search/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { DISTURBED_MAX = 2, DISTURBED_FREE = 4 };
/* Runs after which a cell's own majority decides on the service level. */
enum { DECIDING_RUNS = 9 };

static const double run_error = 0.1; /* probability that a run misjudges the service level */
static const double doubtful_ratio = 1.4;
static const double confidence = 2.0; /* standard errors of a comparison */

static size_t next_coarse(const struct search *search);
static size_t coarse_count(size_t values);
static size_t coarse_value(size_t values, size_t i);
static int search_fit(struct search *search);
static double level_evidence(const struct search *search, size_t cell);
static bool has_more(const struct search *search, size_t a, size_t b);
static size_t choose_next(struct search *search);
static size_t least_missed(const struct search *search);
static size_t best_cell(struct search *search);
static bool keeps_level(const struct search *search, size_t cell);
static size_t least_excluded(const struct search *search);
static bool is_excluded(const struct search *search, size_t cell);
static size_t next_reference(struct search *search, size_t best);
static size_t next_doubtful(const struct search *search);
static bool more_serves_better(const struct search *search, size_t cell);
static double served_share(const struct search *search, size_t cell);
static size_t next_neighbour(const struct search *search, size_t best);
static bool is_undecided(const struct search *search, size_t cell);
static size_t strongest_rival(struct search *search, size_t best, double *risk);
static int note_order(struct search *search, size_t cell, bool missed);

int search_init(struct search *search, size_t rows, size_t columns, const double *r,
                const double *S, unsigned repeats, bool has_level)
{
    *search = (struct search){.rows = rows,
                              .columns = columns,
                              .repeats = repeats ? repeats : 1,
                              .has_level = has_level,
                              .reference = SEARCH_NONE,
                              .suggested = SEARCH_NONE,
                              .cells = calloc(rows * columns, sizeof *search->cells),
                              .surface = surface_new(rows, columns, r, S)};
    if (search->surface && search->cells)
        return 0;
    search_clear(search);
    return -ENOMEM;
}

void search_clear(struct search *search)
{
    surface_free(search->surface);
    free(search->cells);
    free(search->order);
    free(search->missed);
    *search = (struct search){0};
}

size_t search_cell_budget(const struct search *search)
{
    size_t all = search->rows * search->columns;
    if (search->cell_limit > 0)
        return search->cell_limit < all ? search->cell_limit : all;
    return all <= SEARCH_SMALL ? all : all / 2;
}

size_t search_run_budget(const struct search *search)
{
    enum { RIVALS = 3, ENOUGH = 80 };
    size_t all = search->rows * search->columns, budget = all * search->repeats / 2;
    size_t small = all + RIVALS * (size_t)(search->repeats - 1);
    if (all == 1)
        return search->repeats;
    if (all <= SEARCH_SMALL)
        return budget < small ? small : budget;
    if (budget > ENOUGH)
        budget = all / 2 < ENOUGH ? ENOUGH : all / 2;
    return budget < SURFACE_RUNS_MAX ? budget : SURFACE_RUNS_MAX;
}

void search_suggest(struct search *search, size_t cell)
{
    search->suggested = cell;
}

int search_next(struct search *search, size_t *next)
{
    *next = SEARCH_NONE;
    if (search->runs >= search_run_budget(search))
        return 0;
    *next = next_coarse(search);
    if (*next != SEARCH_NONE)
        return 0;
    if (search_fit(search) < 0)
        return -ENOMEM;
    *next = choose_next(search);
    return 0;
}

static size_t next_coarse(const struct search *search)
{
    size_t rows = coarse_count(search->rows), columns = coarse_count(search->columns);
    if (search->played >= search_cell_budget(search))
        return SEARCH_NONE;
    if (search->suggested != SEARCH_NONE)
        return search->cells[search->suggested].runs == 0 ? search->suggested : SEARCH_NONE;
    for (size_t i = 0; i < rows * columns; i++) {
        size_t cell = coarse_value(search->rows, i / columns) * search->columns +
                      coarse_value(search->columns, i % columns);
        if (search->cells[cell].runs == 0 && level_evidence(search, cell) >= 0)
            return cell;
    }
    return SEARCH_NONE;
}

/* The coarse grid has about the square root of the number of values, spread evenly. */
static size_t coarse_count(size_t values)
{
    return (size_t)ceil(sqrt((double)values));
}

static size_t coarse_value(size_t values, size_t i)
{
    return values * (2 * i + 1) / (2 * coarse_count(values));
}

static int search_fit(struct search *search)
{
    if (!search->fitted && surface_runs(search->surface) > 0 && surface_fit(search->surface) < 0)
        return -ENOMEM;
    search->fitted = true;
    return 0;
}

/* Logarithm of the odds that a cell keeps the level. */
static double level_evidence(const struct search *search, size_t cell)
{
    const double weight = log((1 - run_error) / run_error);
    double sum = 0;
    for (size_t i = 0; i < search->runs; i++) {
        size_t other = search->order[i];
        if (search->missed[i] && has_more(search, cell, other))
            sum -= weight;
        else if (!search->missed[i] && has_more(search, other, cell))
            sum += weight;
    }
    return sum;
}

/* Whether cell a has at least the r and the S of b. */
static bool has_more(const struct search *search, size_t a, size_t b)
{
    return a / search->columns >= b / search->columns && a % search->columns >= b % search->columns;
}

static size_t choose_next(struct search *search)
{
    size_t best = best_cell(search), blocking = least_missed(search);
    double risk;
    if (blocking != SEARCH_NONE && is_undecided(search, blocking))
        return blocking;
    if (best == SEARCH_NONE)
        return least_excluded(search);
    size_t reference = next_reference(search, best);
    if (reference != SEARCH_NONE)
        return reference;
    size_t doubtful = next_doubtful(search);
    if (doubtful != SEARCH_NONE)
        return doubtful;
    const struct search_cell *own = &search->cells[best];
    if (own->kept < own->runs && is_undecided(search, best))
        return best;
    size_t neighbour = next_neighbour(search, best);
    if (neighbour != SEARCH_NONE)
        return neighbour;
    size_t rival = strongest_rival(search, best, &risk);
    if (rival == SEARCH_NONE || risk <= SEARCH_RISK)
        return own->runs < search->repeats || is_undecided(search, best) ? best : SEARCH_NONE;
    return surface_at(search->surface, best).error > surface_at(search->surface, rival).error
               ? best
               : rival;
}

/* The cell with the least load that missed the level: it speaks against the most cells. */
static size_t least_missed(const struct search *search)
{
    size_t least = SEARCH_NONE;
    for (size_t cell = 0; cell < search->rows * search->columns; cell++) {
        const struct search_cell *own = &search->cells[cell];
        if (own->runs > 0 && 2 * own->kept <= own->runs &&
            (least == SEARCH_NONE ||
             surface_load(search->surface, cell) < surface_load(search->surface, least)))
            least = cell;
    }
    return least;
}

/* The played cell with the largest rate among those that keep the level. */
static size_t best_cell(struct search *search)
{
    size_t best = SEARCH_NONE;
    double most = 0;
    for (size_t cell = 0; cell < search->rows * search->columns; cell++) {
        if (search->cells[cell].runs == 0 || !keeps_level(search, cell))
            continue;
        double rate = surface_at(search->surface, cell).mean;
        if (best == SEARCH_NONE || rate > most) {
            best = cell;
            most = rate;
        }
    }
    return best;
}

/* Whether a played cell keeps the level, as far as is known. */
static bool keeps_level(const struct search *search, size_t cell)
{
    const struct search_cell *own = &search->cells[cell];
    if (own->runs >= DECIDING_RUNS || own->kept == own->runs || own->kept == 0)
        return 2 * own->kept > own->runs;
    return level_evidence(search, cell) > 0;
}

/* While no cell keeps the level: the one that most likely does, with the least load. */
static size_t least_excluded(const struct search *search)
{
    size_t next = SEARCH_NONE;
    double most = 0, least = 0;
    for (size_t cell = 0; cell < search->rows * search->columns; cell++) {
        double evidence = level_evidence(search, cell), load = surface_load(search->surface, cell);
        if (is_excluded(search, cell) ||
            (next != SEARCH_NONE && (evidence < most || (evidence <= most && load >= least))))
            continue;
        next = cell;
        most = evidence;
        least = load;
    }
    return next;
}

static bool is_excluded(const struct search *search, size_t cell)
{
    const struct search_cell *own = &search->cells[cell];
    if (own->runs >= DECIDING_RUNS)
        return 2 * own->kept <= own->runs;
    return level_evidence(search, cell) <= -log(SEARCH_ODDS);
}

/* The reference cell, when it is due: the best cell at the end of the coarse grid. */
static size_t next_reference(struct search *search, size_t best)
{
    if (search->suggested != SEARCH_NONE)
        return SEARCH_NONE;
    if (search->reference == SEARCH_NONE) {
        search->reference = best;
        search->since_reference = 0;
    }
    return search->since_reference >= SEARCH_WATCH ? search->reference : SEARCH_NONE;
}

/* A cell that needs another run because a stall may have hit it: its two runs differ, or it was
 * played once and served a clearly smaller share of its load than a cell with more load. */
static size_t next_doubtful(const struct search *search)
{
    for (size_t cell = 0; cell < search->rows * search->columns; cell++) {
        const struct search_cell *own = &search->cells[cell];
        if ((own->runs == 2 && own->max > doubtful_ratio * own->min) ||
            (own->runs == 1 && more_serves_better(search, cell)))
            return cell;
    }
    return SEARCH_NONE;
}

static bool more_serves_better(const struct search *search, size_t cell)
{
    for (size_t other = 0; other < search->rows * search->columns; other++)
        if (other != cell && search->cells[other].runs > 0 && has_more(search, other, cell) &&
            served_share(search, other) > doubtful_ratio * served_share(search, cell))
            return true;
    return false;
}

/* The rate in proportion to the load that is asked for. */
static double served_share(const struct search *search, size_t cell)
{
    return search->cells[cell].sum / search->cells[cell].runs / surface_load(search->surface, cell);
}

/* An adjacent cell with fewer runs than it should have: whatever the model says, the best cell has
 * to be better than its neighbours, and one stall must not decide on them. */
static size_t next_neighbour(const struct search *search, size_t best)
{
    static const struct {
        int row, column;
    } directions[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, -1}, {-1, 1}};
    enum { DIRECTIONS = sizeof directions / sizeof directions[0], ENOUGH = 2 };
    size_t rows = search->rows, columns = search->columns;
    bool full = search->played >= search_cell_budget(search);
    if (search->suggested != SEARCH_NONE)
        return SEARCH_NONE;
    for (unsigned runs = 0; runs < ENOUGH && runs + 1 < search->cells[best].runs; runs++)
        for (size_t d = 0; d < DIRECTIONS; d++) {
            /* Beyond the first row or column, the unsigned sum is too large. */
            size_t row = best / columns + (size_t)directions[d].row;
            size_t column = best % columns + (size_t)directions[d].column;
            size_t cell = row * columns + column;
            if (row < rows && column < columns && search->cells[cell].runs <= runs &&
                (search->cells[cell].runs > 0 || !full) && level_evidence(search, cell) >= 0)
                return cell;
        }
    return SEARCH_NONE;
}

/* Whether more runs of a cell may still decide on its level. */
static bool is_undecided(const struct search *search, size_t cell)
{
    return search->has_level && search->cells[cell].runs < DECIDING_RUNS &&
           fabs(level_evidence(search, cell)) < log(SEARCH_ODDS);
}

/* The cell that promises the largest gain over the best one. *risk: the largest probability that a
 * cell is better by more than the tolerance. */
static size_t strongest_rival(struct search *search, size_t best, double *risk)
{
    size_t rival = SEARCH_NONE;
    bool full = search->played >= search_cell_budget(search);
    double most = 0, gain;
    *risk = 0;
    for (size_t cell = 0; cell < search->rows * search->columns; cell++) {
        if (cell == best || (full && search->cells[cell].runs == 0) || is_excluded(search, cell))
            continue;
        double better =
            surface_probability(search->surface, cell, best, 1 + SEARCH_TOLERANCE, &gain);
        *risk = fmax(*risk, better);
        gain /= 1 + exp(-level_evidence(search, cell));
        if (gain > most) {
            most = gain;
            rival = cell;
        }
    }
    return rival;
}

bool search_repeats_disturbed(const struct search *search, size_t cell)
{
    return search->cells[cell].disturbed < DISTURBED_MAX &&
           search->disturbed < DISTURBED_FREE + search->runs / 4;
}

int search_add(struct search *search, size_t cell, const struct search_run *run)
{
    struct search_cell *own = &search->cells[cell];
    search->fitted = false;
    if (run->disturbed) {
        own->disturbed++;
        search->disturbed++;
        surface_skip(search->surface);
        return 0;
    }
    /* Without a success, there is no rate. */
    bool missed = run->missed || run->rate <= 0;
    search->has_level = search->has_level || missed;
    if (note_order(search, cell, missed) < 0 || surface_add(search->surface, cell, run->rate) < 0)
        return -ENOMEM;
    own->min = own->runs == 0 ? run->rate : fmin(own->min, run->rate);
    own->max = own->runs == 0 ? run->rate : fmax(own->max, run->rate);
    own->sum += run->rate;
    search->played += own->runs == 0;
    search->since_reference = cell == search->reference ? 0 : search->since_reference + 1;
    own->runs++;
    own->kept += !missed;
    return 0;
}

static int note_order(struct search *search, size_t cell, bool missed)
{
    size_t *order = array_grow(search->order, search->runs, sizeof *order);
    search->order = order ? order : search->order;
    bool *misses = array_grow(search->missed, search->runs, sizeof *misses);
    search->missed = misses ? misses : search->missed;
    if (!order || !misses)
        return -ENOMEM;
    order[search->runs] = cell;
    misses[search->runs++] = missed;
    return 0;
}

int search_maximum(struct search *search, struct search_maximum *maximum)
{
    *maximum = (struct search_maximum){
        .cell = SEARCH_NONE, .least = SEARCH_NONE, .rival = SEARCH_NONE, .rate = NAN};
    if (search_fit(search) < 0)
        return -ENOMEM;
    for (size_t cell = 0; cell < search->rows * search->columns; cell++)
        if (search->cells[cell].runs > 0 &&
            (maximum->least == SEARCH_NONE ||
             surface_load(search->surface, cell) < surface_load(search->surface, maximum->least)))
            maximum->least = cell;
    size_t best = search->runs > 0 ? best_cell(search) : SEARCH_NONE;
    maximum->cell = best;
    if (best == SEARCH_NONE)
        return 0;
    struct surface_estimate at = surface_at(search->surface, best);
    maximum->rate = exp(at.mean);
    maximum->low = exp(at.mean - confidence * at.error);
    maximum->high = exp(at.mean + confidence * at.error);
    maximum->rival = strongest_rival(search, best, &maximum->risk);
    maximum->sure = maximum->risk <= SEARCH_RISK && !is_undecided(search, best);
    return 0;
}

size_t search_ranked(struct search *search, size_t place, double *rate)
{
    double below = INFINITY;
    size_t cell = SEARCH_NONE;
    for (size_t at = 0; at <= place; at++) {
        cell = SEARCH_NONE;
        for (size_t i = 0; i < search->rows * search->columns; i++) {
            if (search->cells[i].runs == 0 || !keeps_level(search, i))
                continue;
            double mean = surface_at(search->surface, i).mean;
            if (mean < below && (cell == SEARCH_NONE || mean > *rate)) {
                cell = i;
                *rate = mean;
            }
        }
        below = *rate;
    }
    *rate = exp(*rate);
    return cell;
}

int search_drift(struct search *search, bool *drifts, double *change)
{
    static const double worth_a_line = 0.03;
    *drifts = false;
    *change = 0;
    if (search->runs == 0)
        return 0;
    if (search_fit(search) < 0)
        return -ENOMEM;
    struct surface_estimate drift = surface_drift(search->surface);
    *change = expm1(drift.mean);
    *drifts = fabs(drift.mean) > confidence * drift.error && fabs(*change) > worth_a_line;
    return 0;
}
