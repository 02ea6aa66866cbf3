/* SPDX-License-Identifier: Apache-2.0 */
/* The search of --find-max. */
#include "replay/sweep/sweep_search.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* More load, less load, then equal load: a server's maximum can be a ridge along equal load. */
static const struct {
    int row, column;
} directions[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, -1}, {-1, 1}};

static size_t next_coarse(const struct sweep_search *search);
static size_t coarse_count(size_t values);
static size_t coarse_value(size_t values, size_t i);
static bool will_miss(const struct sweep_search *search, size_t index);
static bool has_more(const struct sweep_search *search, size_t a, size_t b);
static size_t next_around(const struct sweep_search *search);
static size_t first_step(size_t values);
static size_t neighbour_of(const struct sweep_search *search, size_t index, size_t direction,
                           size_t row_step, size_t column_step);
static size_t half_step(size_t step);
static size_t next_on_edge(const struct sweep_search *search);
static size_t next_repeat(const struct sweep_search *search);
static bool search_is_better(const struct sweep_search *search, size_t a, size_t b);
static size_t search_place_of(const struct sweep_search *search, size_t index);

int sweep_search_init(struct sweep_search *search, size_t rows, size_t columns, const double *load,
                      unsigned repeats)
{
    *search = (struct sweep_search){
        .rows = rows, .columns = columns, .load = load, .repeats = repeats ? repeats : 1};
    search->cells = calloc(rows * columns, sizeof *search->cells);
    return search->cells ? 0 : -ENOMEM;
}

void sweep_search_clear(struct sweep_search *search)
{
    free(search->cells);
    search->cells = NULL;
}

size_t sweep_search_budget(const struct sweep_search *search)
{
    size_t all = search->rows * search->columns;
    return all <= SWEEP_SEARCH_SMALL ? all : all / 2;
}

size_t sweep_search_played(const struct sweep_search *search)
{
    size_t count = 0;
    for (size_t i = 0; i < search->rows * search->columns; i++)
        count += search->cells[i].runs > 0;
    return count;
}

size_t sweep_search_next(const struct sweep_search *search)
{
    size_t next = SIZE_MAX;
    if (sweep_search_played(search) < sweep_search_budget(search)) {
        next = next_coarse(search);
        if (next == SIZE_MAX)
            next = next_around(search);
        if (next == SIZE_MAX)
            next = next_on_edge(search);
    }
    return next == SIZE_MAX ? next_repeat(search) : next;
}

static size_t next_coarse(const struct sweep_search *search)
{
    size_t rows = coarse_count(search->rows), columns = coarse_count(search->columns);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            size_t index =
                coarse_value(search->rows, i) * search->columns + coarse_value(search->columns, j);
            if (search->cells[index].runs == 0 && !will_miss(search, index))
                return index;
        }
    return SIZE_MAX;
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

/* A cell is expected to miss the level if a played cell with at most its r and S misses it. A miss
 * is considered chance and ignored if a cell with more load keeps the level. */
static bool will_miss(const struct sweep_search *search, size_t index)
{
    for (size_t i = 0; i < search->rows * search->columns; i++) {
        bool valid = search->cells[i].runs > 0 && search->cells[i].missed;
        if (!valid || !has_more(search, index, i))
            continue;
        for (size_t k = 0; valid && k < search->rows * search->columns; k++)
            valid =
                search->cells[k].runs == 0 || search->cells[k].missed || !has_more(search, k, i);
        if (valid)
            return true;
    }
    return false;
}

static bool has_more(const struct sweep_search *search, size_t a, size_t b)
{
    return a / search->columns >= b / search->columns && a % search->columns >= b % search->columns;
}

enum { DIRECTIONS = sizeof directions / sizeof directions[0] };

static size_t next_around(const struct sweep_search *search)
{
    size_t row_step = first_step(search->rows), column_step = first_step(search->columns);
    size_t best = sweep_search_best(search);
    for (;;) {
        for (size_t d = 0; d < DIRECTIONS; d++) {
            size_t index = neighbour_of(search, best, d, row_step, column_step);
            if (index != SIZE_MAX && search->cells[index].runs == 0 && !will_miss(search, index))
                return index;
        }
        if (row_step == 1 && column_step == 1)
            return SIZE_MAX;
        row_step = half_step(row_step);
        column_step = half_step(column_step);
    }
}

static size_t first_step(size_t values)
{
    size_t distance = values / coarse_count(values);
    return distance < 2 ? 1 : distance / 2;
}

static size_t neighbour_of(const struct sweep_search *search, size_t index, size_t direction,
                           size_t row_step, size_t column_step)
{
    int64_t row =
        (int64_t)(index / search->columns) + directions[direction].row * (int64_t)row_step;
    int64_t column =
        (int64_t)(index % search->columns) + directions[direction].column * (int64_t)column_step;
    if (row < 0 || column < 0 || row >= (int64_t)search->rows || column >= (int64_t)search->columns)
        return SIZE_MAX;
    return (size_t)row * search->columns + (size_t)column;
}

static size_t half_step(size_t step)
{
    return step < 2 ? 1 : step / 2;
}

/*
 * A service level limits the grid along a line of equal load. A distant cell on that line can have
 * slightly more load than the best one and still keep the level, so neighbours are not enough.
 * Returns the cell in the middle, by load, between the best cell and the least loaded miss.
 */
static size_t next_on_edge(const struct sweep_search *search)
{
    size_t best = sweep_search_ranked(search, 0), next = SIZE_MAX;
    double most = INFINITY, nearest = INFINITY;
    for (size_t i = 0; i < search->rows * search->columns; i++)
        if (search->cells[i].runs > 0 && search->cells[i].missed && search->load[i] < most)
            most = search->load[i];
    if (best == SIZE_MAX || isinf(most))
        return SIZE_MAX;
    double least = search->load[best], middle = sqrt(least * most);
    for (size_t i = 0; i < search->rows * search->columns; i++) {
        double off = fabs(search->load[i] - middle);
        if (search->cells[i].runs > 0 || search->load[i] <= least || search->load[i] >= most ||
            off >= nearest)
            continue;
        nearest = off;
        next = i;
    }
    return next;
}

/* The first of the best cells with fewer runs than repeats. Cells that miss the level need none. */
static size_t next_repeat(const struct sweep_search *search)
{
    for (size_t place = 0; place < SWEEP_SEARCH_RIVALS; place++) {
        size_t index = sweep_search_ranked(search, place);
        if (index != SIZE_MAX && search->cells[index].runs < search->repeats)
            return index;
    }
    return SIZE_MAX;
}

size_t sweep_search_best(const struct sweep_search *search)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < search->rows * search->columns; i++)
        if (search->cells[i].runs > 0 && (best == SIZE_MAX || search_is_better(search, i, best)))
            best = i;
    return best;
}

/* Whether cell a is better than b; both are played. A cell that misses the level is worse than any
 * that keeps it. More load makes it worse, so the search returns to where the level is kept. */
static bool search_is_better(const struct sweep_search *search, size_t a, size_t b)
{
    const struct sweep_search_cell *left = &search->cells[a], *right = &search->cells[b];
    if (left->missed != right->missed)
        return right->missed;
    if (left->missed && search->load[a] != search->load[b])
        return search->load[a] < search->load[b];
    return left->mean > right->mean;
}

size_t sweep_search_ranked(const struct sweep_search *search, size_t place)
{
    for (size_t i = 0; i < search->rows * search->columns; i++)
        if (search->cells[i].runs > 0 && !search->cells[i].missed &&
            search_place_of(search, i) == place)
            return i;
    return SIZE_MAX;
}

/* The number of played cells that are better. */
static size_t search_place_of(const struct sweep_search *search, size_t index)
{
    size_t place = 0;
    for (size_t i = 0; i < search->rows * search->columns; i++)
        if (i != index && search->cells[i].runs > 0 &&
            (search_is_better(search, i, index) ||
             (!search_is_better(search, index, i) && i < index)))
            place++;
    return place;
}

double sweep_search_uncertainty(const struct sweep_search_cell *cell)
{
    /* Student's t, 0.975, for 1 to 10 degrees of freedom. */
    static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571,
                               2.447,  2.365, 2.306, 2.262, 2.228};
    enum { KNOWN = sizeof t / sizeof t[0] };
    if (cell->runs < 2)
        return NAN;
    unsigned freedom = cell->runs - 1;
    double factor = freedom <= KNOWN ? t[freedom - 1] : 1.96 + 2.7 / freedom;
    return factor * sqrt(cell->variance / cell->runs);
}

void sweep_search_print_confidence(const struct sweep_search *search, FILE *out)
{
    size_t best = sweep_search_ranked(search, 0), close = 0, weak = 0;
    const struct sweep_search_cell *top = best == SIZE_MAX ? NULL : &search->cells[best];
    if (!top || top->runs < 2) {
        fputs("each cell was played once, so the variation between runs is unknown", out);
        return;
    }
    for (size_t i = 0; i < search->rows * search->columns; i++) {
        const struct sweep_search_cell *cell = &search->cells[i];
        if (i == best || cell->runs == 0 || cell->missed || cell->max < top->min)
            continue;
        close++;
        weak += cell->runs < 2;
    }
    fprintf(out, "the mean of %u runs is accurate to within %.1f%% (95%% confidence); ", top->runs,
            top->mean > 0 ? 100 * sweep_search_uncertainty(top) / top->mean : 0);
    if (close == 0)
        fputs("no run of another cell reached its worst run", out);
    else
        fprintf(out, "%zu other cell%s as good within the accuracy of these runs", close,
                close == 1 ? " is" : "s are");
    if (weak > 0)
        fprintf(out, " (%zu of them played once)", weak);
}
