/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The visits of a chain, by the elimination of Grassmann, Taksar and Heyman: states are taken out
 * one by one, their traffic being rerouted past them. It never subtracts, so every visit is exact
 * to a few roundings however close to 1 a loop's probability is (where LU and iterations lose
 * digits). Chains of traffic are sparse, most histories having one or two successors: taking the
 * state with the fewest reroutes first keeps them so, and tens of thousands are done in a moment.
 *
 * What is left when that gets dense is finished as a full matrix; a core too large even for that
 * (no real traffic has one) by Gauss-Seidel sweeps, each of them rescaled so that as much flows
 * into the start as out of it, until only roundings move.
 */
#include "model/visits.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* States of a full matrix that takes a second; that takes half a minute, when all else failed.
 * Cells to which elimination may fill up a larger core, and that sweeps may touch. */
enum { DENSE_MAX = 1500, DENSE_LAST_RESORT = 5000, CELLS_MAX = 2000000, STAGNATION = 100 };
#define SWEEP_BUDGET 3e9

struct cell {
    uint32_t column;
    double value;
};

/* Where a state's traffic goes, by column; never to itself. */
struct row {
    struct cell *cells;
    uint32_t count, room;
};

/* Which rows lead to a state; those taken out since are skipped. */
struct column {
    uint32_t *rows;
    uint32_t count, room;
    uint32_t live;
};

/* A state that was taken out: visits[state] = sum of visits[from] * share. */
struct inflow {
    uint32_t from;
    double share;
};
struct taken {
    uint32_t state;
    uint32_t count;
    size_t first;
};

struct candidate {
    double cost;
    uint32_t state;
};

struct system {
    uint32_t count;
    struct row *rows;
    struct column *columns;
    bool *gone;
    uint32_t left;
    uint64_t cells_left, cells_allowed;
    struct taken *taken;
    uint32_t taken_count;
    struct inflow *inflows;
    size_t inflow_count, inflow_room;
    struct candidate *heap;
    size_t heap_count, heap_room;
    struct cell *scratch;
    double *visits;
};

/* Makes room for one more element; false when there is no memory. */
static bool grow(void *array, size_t count, size_t *room, size_t size)
{
    void **pointer = array;
    if (count < *room)
        return true;
    size_t larger = *room ? 2 * *room : 8;
    void *moved = reallocarray(*pointer, larger, size);
    if (!moved)
        return false;
    *pointer = moved;
    *room = larger;
    return true;
}

static bool add_to_column(struct column *column, uint32_t row)
{
    size_t room = column->room;
    if (!grow(&column->rows, column->count, &room, sizeof *column->rows))
        return false;
    column->room = (uint32_t)room;
    column->rows[column->count++] = row;
    column->live++;
    return true;
}

/* ---- Building ---- */

static int compare_cells(const void *a, const void *b)
{
    uint32_t left = ((const struct cell *)a)->column, right = ((const struct cell *)b)->column;
    return left < right ? -1 : left > right;
}

/* Marks what the start leads to. */
static int find_reached(uint32_t count, const uint32_t *first, const uint32_t *to, bool *reached)
{
    uint32_t *queue = malloc(count * sizeof *queue);
    if (!queue)
        return -ENOMEM;
    uint32_t head = 0, tail = 0;
    reached[0] = true;
    queue[tail++] = 0;
    while (head < tail) {
        uint32_t state = queue[head++];
        for (uint32_t e = first[state]; e < first[state + 1]; e++) {
            if (!reached[to[e]]) {
                reached[to[e]] = true;
                queue[tail++] = to[e];
            }
        }
    }
    free(queue);
    return 0;
}

/* Sorts a row's cells, joins those of one column, drops the loop to itself. */
static void tidy_row(struct row *row, uint32_t state)
{
    uint32_t kept = 0;
    qsort(row->cells, row->count, sizeof *row->cells, compare_cells);
    for (uint32_t i = 0; i < row->count; i++) {
        if (row->cells[i].column == state)
            continue;
        if (kept > 0 && row->cells[kept - 1].column == row->cells[i].column)
            row->cells[kept - 1].value += row->cells[i].value;
        else
            row->cells[kept++] = row->cells[i];
    }
    row->count = kept;
}

static int build_row(struct system *system, uint32_t state, const uint32_t *first,
                     const uint32_t *to, const double *probability)
{
    struct row *row = &system->rows[state];
    uint32_t edges = first[state + 1] - first[state];
    row->cells = malloc((edges + 1) * sizeof *row->cells);
    if (!row->cells)
        return -ENOMEM;
    row->room = edges + 1;
    for (uint32_t e = first[state]; e < first[state + 1]; e++)
        row->cells[row->count++] = (struct cell){to[e], probability[e]};
    tidy_row(row, state);
    for (uint32_t i = 0; i < row->count; i++)
        if (!add_to_column(&system->columns[row->cells[i].column], state))
            return -ENOMEM;
    system->cells_left += row->count;
    return 0;
}

static int build(struct system *system, const uint32_t *first, const uint32_t *to,
                 const double *probability)
{
    int result = find_reached(system->count, first, to, system->gone);
    for (uint32_t state = 0; state < system->count && result == 0; state++) {
        system->gone[state] = !system->gone[state]; /* what is not reached is not there */
        if (!system->gone[state]) {
            system->left++;
            result = build_row(system, state, first, to, probability);
        }
    }
    return result;
}

/* ---- Which state is taken out next: a heap with stale entries ---- */

static double cost(const struct system *system, uint32_t state)
{
    return (double)system->rows[state].count * system->columns[state].live;
}

static int heap_push(struct system *system, uint32_t state)
{
    if (state == 0)
        return 0;
    if (!grow(&system->heap, system->heap_count, &system->heap_room, sizeof *system->heap))
        return -ENOMEM;
    struct candidate *heap = system->heap, item = {cost(system, state), state};
    size_t at = system->heap_count++;
    for (; at > 0 && heap[(at - 1) / 2].cost > item.cost; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
    return 0;
}

static struct candidate heap_pop(struct system *system)
{
    struct candidate *heap = system->heap, top = heap[0], item = heap[--system->heap_count];
    size_t at = 0, child;
    for (; (child = 2 * at + 1) < system->heap_count; at = child) {
        if (child + 1 < system->heap_count && heap[child + 1].cost < heap[child].cost)
            child++;
        if (heap[child].cost >= item.cost)
            break;
        heap[at] = heap[child];
    }
    heap[at] = item;
    return top;
}

/* The cheapest state that is still there, or 0 when only the start is. */
static uint32_t cheapest(struct system *system)
{
    while (system->heap_count > 0) {
        struct candidate top = heap_pop(system);
        if (!system->gone[top.state] && top.cost == cost(system, top.state))
            return top.state;
    }
    return 0;
}

/* ---- Elimination ---- */

/* row += factor * added, both sorted; without cells of `dropped` and of the row itself. */
static int add_row(struct system *system, uint32_t target, const struct row *added, double factor,
                   uint32_t dropped)
{
    struct row *row = &system->rows[target];
    struct cell *out = system->scratch;
    uint32_t i = 0, j = 0, count = 0;
    while (i < row->count || j < added->count) {
        uint32_t left = i < row->count ? row->cells[i].column : UINT32_MAX;
        uint32_t right = j < added->count ? added->cells[j].column : UINT32_MAX;
        struct cell cell = {left < right ? left : right, 0};
        if (left <= right)
            cell.value += row->cells[i++].value;
        if (right <= left)
            cell.value += factor * added->cells[j++].value;
        if (cell.column == dropped || cell.column == target)
            continue;
        if (right < left && !add_to_column(&system->columns[right], target))
            return -ENOMEM;
        out[count++] = cell;
    }
    if (count > row->room) {
        struct cell *cells = reallocarray(row->cells, count + count / 2, sizeof *cells);
        if (!cells)
            return -ENOMEM;
        row->cells = cells;
        row->room = count + count / 2;
    }
    memcpy(row->cells, out, count * sizeof *out);
    system->cells_left += count;
    system->cells_left -= row->count;
    row->count = count;
    return 0;
}

static double row_sum(const struct row *row)
{
    double sum = 0;
    for (uint32_t i = 0; i < row->count; i++)
        sum += row->cells[i].value;
    return sum;
}

/* The value of a cell that is there. */
static double cell_value(const struct row *row, uint32_t column)
{
    struct cell key = {column, 0};
    const struct cell *cell = bsearch(&key, row->cells, row->count, sizeof key, compare_cells);
    return cell ? cell->value : 0;
}

static int remember(struct system *system, uint32_t from, double share)
{
    if (!grow(&system->inflows, system->inflow_count, &system->inflow_room,
              sizeof *system->inflows))
        return -ENOMEM;
    system->inflows[system->inflow_count++] = (struct inflow){from, share};
    system->taken[system->taken_count - 1].count++;
    return 0;
}

static int reroute(struct system *system, uint32_t state, double sum)
{
    const struct row *row = &system->rows[state];
    const struct column *column = &system->columns[state];
    for (uint32_t i = 0; i < column->count; i++) {
        uint32_t from = column->rows[i];
        if (system->gone[from])
            continue;
        double share = cell_value(&system->rows[from], state) / sum;
        if (remember(system, from, share) < 0 || add_row(system, from, row, share, state) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int take_out(struct system *system, uint32_t state)
{
    struct row *row = &system->rows[state];
    struct column *column = &system->columns[state];
    system->gone[state] = true;
    system->left--;
    system->taken[system->taken_count++] = (struct taken){state, 0, system->inflow_count};
    for (uint32_t i = 0; i < row->count; i++)
        system->columns[row->cells[i].column].live--;
    int result = reroute(system, state, row_sum(row));
    for (uint32_t i = 0; i < column->count && result == 0; i++)
        if (!system->gone[column->rows[i]])
            result = heap_push(system, column->rows[i]);
    for (uint32_t i = 0; i < row->count && result == 0; i++)
        result = heap_push(system, row->cells[i].column);
    system->cells_left -= row->count;
    free(row->cells);
    free(column->rows);
    *row = (struct row){0};
    *column = (struct column){0};
    return result;
}

static bool is_dense(const struct system *system)
{
    return system->left <= DENSE_MAX && system->left > 32 &&
           (double)system->cells_left * 5 > (double)system->left * system->left;
}

static bool is_entangled(const struct system *system)
{
    return system->left > DENSE_MAX && system->cells_left > system->cells_allowed;
}

static int eliminate(struct system *system)
{
    int result = 0;
    for (uint32_t state = 1; state < system->count && result == 0; state++)
        if (!system->gone[state])
            result = heap_push(system, state);
    system->cells_allowed = system->cells_left > CELLS_MAX / 2 ? 2 * system->cells_left : CELLS_MAX;
    while (result == 0 && !is_dense(system) && !is_entangled(system)) {
        uint32_t state = cheapest(system);
        if (state == 0)
            break;
        result = take_out(system, state);
    }
    return result;
}

/* ---- The core: what is left, its states renumbered with the start first ---- */

static uint32_t *number_core(const struct system *system, uint32_t *states)
{
    uint32_t *numbers = calloc(system->count, sizeof *numbers), count = 0;
    for (uint32_t state = 0; numbers && state < system->count; state++) {
        if (!system->gone[state]) {
            numbers[state] = count;
            states[count++] = state;
        }
    }
    return numbers;
}

/* The same elimination on a full matrix, from the last state to the first. */
static void dense_eliminate(double *a, size_t n, double *visits)
{
    for (size_t k = n - 1; k > 0; k--) {
        double sum = 0;
        for (size_t j = 0; j < k; j++)
            sum += a[k * n + j];
        for (size_t i = 0; i < k; i++) {
            double share = a[i * n + k] /= sum;
            for (size_t j = 0; share > 0 && j < k; j++)
                a[i * n + j] += share * a[k * n + j];
        }
    }
    visits[0] = 1;
    for (size_t k = 1; k < n; k++) {
        visits[k] = 0;
        for (size_t i = 0; i < k; i++)
            visits[k] += visits[i] * a[i * n + k];
    }
}

static int solve_dense(struct system *system, const uint32_t *numbers, const uint32_t *states,
                       double *visits)
{
    size_t n = system->left;
    double *a = calloc(n * n, sizeof *a);
    if (!a)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct row *row = &system->rows[states[i]];
        for (uint32_t c = 0; c < row->count; c++)
            a[i * n + numbers[row->cells[c].column]] = row->cells[c].value;
    }
    dense_eliminate(a, n, visits);
    free(a);
    return 0;
}

/* Cells by column, for sweeps. */
struct sweep {
    size_t n;
    size_t *first;
    struct inflow *inflows;
    double start_out;
};

static int sweep_build(struct sweep *sweep, const struct system *system, const uint32_t *numbers,
                       const uint32_t *states)
{
    size_t n = sweep->n = system->left;
    size_t *next = calloc(n + 1, sizeof *next);
    sweep->first = calloc(n + 2, sizeof *sweep->first);
    sweep->inflows = calloc(system->cells_left + 1, sizeof *sweep->inflows);
    if (!sweep->first || !sweep->inflows || !next) {
        free(next);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < system->rows[states[i]].count; c++)
            sweep->first[numbers[system->rows[states[i]].cells[c].column] + 1]++;
    for (size_t i = 0; i < n; i++)
        next[i + 1] = sweep->first[i + 1] += sweep->first[i];
    for (size_t i = 0; i < n; i++) {
        const struct row *row = &system->rows[states[i]];
        for (uint32_t c = 0; c < row->count; c++) {
            uint32_t column = numbers[row->cells[c].column];
            double out = row_sum(&system->rows[row->cells[c].column]);
            sweep->inflows[next[column]++] =
                (struct inflow){(uint32_t)i, row->cells[c].value / (column ? out : 1)};
        }
    }
    sweep->start_out = row_sum(&system->rows[0]);
    free(next);
    return 0;
}

/* One sweep; returns the largest relative change. */
static double sweep_once(const struct sweep *sweep, double *visits)
{
    double change = 0, back = 0;
    for (size_t k = 1; k < sweep->n; k++) {
        double sum = 0;
        for (size_t e = sweep->first[k]; e < sweep->first[k + 1]; e++)
            sum += visits[sweep->inflows[e].from] * sweep->inflows[e].share;
        if (sum > 0)
            change = fmax(change, fabs(sum - visits[k]) / sum);
        visits[k] = sum;
    }
    for (size_t e = sweep->first[0]; e < sweep->first[1]; e++)
        back += visits[sweep->inflows[e].from] * sweep->inflows[e].share;
    for (size_t k = 1; k < sweep->n && back > 0; k++)
        visits[k] *= sweep->start_out / back;
    return fmax(change, fabs(back - sweep->start_out) / sweep->start_out);
}

/* Sweeps until only roundings move, or nothing gets better any more below 1e-12. */
static int sweep_until_settled(const struct sweep *sweep, double cells, double *visits)
{
    double best = INFINITY;
    int idle = 0;
    for (double work = 0; work < SWEEP_BUDGET; work += cells) {
        double change = sweep_once(sweep, visits);
        idle = change < 0.9 * best ? 0 : idle + 1;
        best = fmin(best, change);
        if (best <= 2e-15 || (best <= 1e-12 && idle == STAGNATION))
            return 0;
    }
    return -ERANGE;
}

static int solve_sweeping(struct system *system, const uint32_t *numbers, const uint32_t *states,
                          double *visits)
{
    struct sweep sweep = {0};
    int result = sweep_build(&sweep, system, numbers, states);
    for (size_t k = 0; k < system->left; k++)
        visits[k] = 1;
    if (result == 0)
        result = sweep_until_settled(&sweep, (double)system->cells_left, visits);
    free(sweep.first);
    free(sweep.inflows);
    return result;
}

static int solve_core(struct system *system)
{
    uint32_t *states = calloc(system->left, sizeof *states);
    double *core = calloc(system->left, sizeof *core);
    uint32_t *numbers = states ? number_core(system, states) : NULL;
    int result = -ENOMEM;
    if (states && core && numbers)
        result = system->left <= DENSE_MAX ? solve_dense(system, numbers, states, core)
                                           : solve_sweeping(system, numbers, states, core);
    if (result == -ERANGE && system->left <= DENSE_LAST_RESORT)
        result = solve_dense(system, numbers, states, core);
    for (uint32_t i = 0; i < system->left && result == 0; i++)
        system->visits[states[i]] = core[i];
    free(numbers);
    free(core);
    free(states);
    return result;
}

static void bring_back(struct system *system)
{
    for (uint32_t t = system->taken_count; t-- > 0;) {
        const struct taken *taken = &system->taken[t];
        double sum = 0;
        for (uint32_t i = 0; i < taken->count; i++) {
            const struct inflow *inflow = &system->inflows[taken->first + i];
            sum += system->visits[inflow->from] * inflow->share;
        }
        system->visits[taken->state] = sum;
    }
}

static void system_clear(struct system *system)
{
    for (uint32_t i = 0; i < system->count; i++) {
        if (system->rows)
            free(system->rows[i].cells);
        if (system->columns)
            free(system->columns[i].rows);
    }
    free(system->rows);
    free(system->columns);
    free(system->gone);
    free(system->taken);
    free(system->inflows);
    free(system->heap);
    free(system->scratch);
}

int visits_solve(uint32_t count, const uint32_t *first, const uint32_t *to,
                 const double *probability, double *visits)
{
    struct system system = {.count = count, .visits = visits};
    int result = -ENOMEM;
    system.rows = calloc(count, sizeof *system.rows);
    system.columns = calloc(count, sizeof *system.columns);
    system.gone = calloc(count, sizeof *system.gone);
    system.taken = calloc(count, sizeof *system.taken);
    system.scratch = calloc(count, sizeof *system.scratch);
    memset(visits, 0, count * sizeof *visits);
    if (!system.rows || !system.columns || !system.gone || !system.taken || !system.scratch)
        goto cleanup;
    result = build(&system, first, to, probability);
    if (result == 0)
        result = eliminate(&system);
    if (result == 0)
        result = solve_core(&system);
    if (result == 0)
        bring_back(&system);
cleanup:
    system_clear(&system);
    return result;
}
