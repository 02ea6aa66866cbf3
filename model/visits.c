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

struct cell {
    uint32_t column;
    double value;
};

enum { ROW_SCANNED = 16 };
#define NO_COLUMN UINT32_MAX

/*
 * Where a state's traffic goes, by column; never to itself. A short row is a plain array, a long
 * one a hash table whose free cells have NO_COLUMN: the start's row gets long, and taking a state
 * out must not cost more than the cells that it touches.
 */
struct row {
    struct cell *cells;
    uint32_t count, room;
    bool hashed;
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
    double *visits;
};

/* Cells by column, for sweeps. */
struct sweep {
    size_t n;
    size_t *first;
    struct inflow *inflows;
    double start_out;
};

static int build(struct system *system, const uint32_t *first, const uint32_t *to,
                 const double *probability);
static int find_reached(uint32_t count, const uint32_t *first, const uint32_t *to, bool *reached);
static int build_row(struct system *system, uint32_t state, const uint32_t *first,
                     const uint32_t *to, const double *probability);
static int add_cell(struct system *system, uint32_t state, uint32_t column, double value);
static bool row_reserve(struct row *row);
static bool row_rehash(struct row *row);
static uint32_t row_extent(const struct row *row);
static struct cell *row_find(const struct row *row, uint32_t column);
static uint32_t hash_column(const struct row *row, uint32_t column);
static bool add_to_column(struct column *column, uint32_t row);
static bool visits_grow(void *array, size_t count, size_t *room, size_t size);
static int eliminate(struct system *system);
static int heap_push(struct system *system, uint32_t state);
static double cost(const struct system *system, uint32_t state);
static bool is_dense(const struct system *system);
static bool is_entangled(const struct system *system);
static uint32_t cheapest(struct system *system);
static struct candidate heap_pop(struct system *system);
static int take_out(struct system *system, uint32_t state);
static double row_sum(const struct row *row);
static int reroute(struct system *system, uint32_t from, uint32_t state, double sum);
static void row_remove(struct row *row, uint32_t column);
static int visits_remember(struct system *system, uint32_t from, double share);
static int solve_core(struct system *system);
static uint32_t *number_core(const struct system *system, uint32_t *states);
static int solve_dense(struct system *system, const uint32_t *numbers, const uint32_t *states,
                       double *visits);
static void dense_eliminate(double *a, size_t n, double *visits);
static int solve_sweeping(struct system *system, const uint32_t *numbers, const uint32_t *states,
                          double *visits);
static int sweep_build(struct sweep *sweep, const struct system *system, const uint32_t *numbers,
                       const uint32_t *states);
static void sweep_add_row(struct sweep *sweep, const struct row *row, uint32_t state,
                          const uint32_t *numbers, size_t *next, const double *out);
static int sweep_until_settled(const struct sweep *sweep, double cells, double *visits);
static double sweep_once(const struct sweep *sweep, double *visits);
static void bring_back(struct system *system);
static void system_clear(struct system *system);

int visits_solve(uint32_t count, const uint32_t *first, const uint32_t *to,
                 const double *probability, double *visits)
{
    struct system system = {.count = count, .visits = visits};
    int result = -ENOMEM;
    system.rows = calloc(count, sizeof *system.rows);
    system.columns = calloc(count, sizeof *system.columns);
    system.gone = calloc(count, sizeof *system.gone);
    system.taken = calloc(count, sizeof *system.taken);
    memset(visits, 0, count * sizeof *visits);
    if (!system.rows || !system.columns || !system.gone || !system.taken)
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

static int build_row(struct system *system, uint32_t state, const uint32_t *first,
                     const uint32_t *to, const double *probability)
{
    for (uint32_t e = first[state]; e < first[state + 1]; e++)
        if (to[e] != state && add_cell(system, state, to[e], probability[e]) < 0)
            return -ENOMEM;
    return 0;
}

/* row[column] += value, and the column knows of the row. */
static int add_cell(struct system *system, uint32_t state, uint32_t column, double value)
{
    struct row *row = &system->rows[state];
    if (!row_reserve(row))
        return -ENOMEM;
    struct cell *cell = row_find(row, column);
    if (cell && cell->column == column) {
        cell->value += value;
        return 0;
    }
    cell = cell ? cell : &row->cells[row->count];
    *cell = (struct cell){column, value};
    row->count++;
    system->cells_left++;
    return add_to_column(&system->columns[column], state) ? 0 : -ENOMEM;
}

/* Makes room for one more cell. */
static bool row_reserve(struct row *row)
{
    if (row->hashed ? 2 * row->count < row->room : row->count < row->room)
        return true;
    if (row->hashed || row->count >= ROW_SCANNED)
        return row_rehash(row);
    uint32_t room = row->room ? 2 * row->room : 2;
    struct cell *cells = reallocarray(row->cells, room, sizeof *cells);
    if (!cells)
        return false;
    row->cells = cells;
    row->room = room;
    return true;
}

/* Moves a row into a hash table at least half free. */
static bool row_rehash(struct row *row)
{
    struct row larger = {.count = row->count, .room = ROW_SCANNED * 2, .hashed = true};
    while (larger.room < 4 * row->count)
        larger.room *= 2;
    larger.cells = malloc(larger.room * sizeof *larger.cells);
    if (!larger.cells)
        return false;
    for (uint32_t i = 0; i < larger.room; i++)
        larger.cells[i].column = NO_COLUMN;
    for (uint32_t i = 0; i < row_extent(row); i++)
        if (row->cells[i].column != NO_COLUMN)
            *row_find(&larger, row->cells[i].column) = row->cells[i];
    free(row->cells);
    *row = larger;
    return true;
}

/* Cells of a row that may be in use; those with NO_COLUMN are not. */
static uint32_t row_extent(const struct row *row)
{
    return row->hashed ? row->room : row->count;
}

/* The cell of a column, or the free one where it belongs; NULL: not there, in a plain array. */
static struct cell *row_find(const struct row *row, uint32_t column)
{
    if (row->hashed) {
        uint32_t at = hash_column(row, column);
        while (row->cells[at].column != NO_COLUMN && row->cells[at].column != column)
            at = (at + 1) & (row->room - 1);
        return &row->cells[at];
    }
    for (uint32_t i = 0; i < row->count; i++)
        if (row->cells[i].column == column)
            return &row->cells[i];
    return NULL;
}

static uint32_t hash_column(const struct row *row, uint32_t column)
{
    return (column * 2654435761u >> 7) & (row->room - 1);
}

static bool add_to_column(struct column *column, uint32_t row)
{
    size_t room = column->room;
    if (!visits_grow(&column->rows, column->count, &room, sizeof *column->rows))
        return false;
    column->room = (uint32_t)room;
    column->rows[column->count++] = row;
    column->live++;
    return true;
}

/* Makes room for one more element; false when there is no memory. */
static bool visits_grow(void *array, size_t count, size_t *room, size_t size)
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

static int heap_push(struct system *system, uint32_t state)
{
    if (state == 0)
        return 0;
    if (!visits_grow(&system->heap, system->heap_count, &system->heap_room, sizeof *system->heap))
        return -ENOMEM;
    struct candidate *heap = system->heap, item = {cost(system, state), state};
    size_t at = system->heap_count++;
    for (; at > 0 && heap[(at - 1) / 2].cost > item.cost; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
    return 0;
}

static double cost(const struct system *system, uint32_t state)
{
    return (double)system->rows[state].count * system->columns[state].live;
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

static int take_out(struct system *system, uint32_t state)
{
    struct row *row = &system->rows[state];
    struct column *column = &system->columns[state];
    double sum = row_sum(row);
    int result = 0;
    system->gone[state] = true;
    system->left--;
    system->taken[system->taken_count++] = (struct taken){state, 0, system->inflow_count};
    for (uint32_t i = 0; i < row_extent(row); i++)
        if (row->cells[i].column != NO_COLUMN)
            system->columns[row->cells[i].column].live--;
    for (uint32_t i = 0; i < column->count && result == 0; i++)
        if (!system->gone[column->rows[i]])
            result = reroute(system, column->rows[i], state, sum);
    for (uint32_t i = 0; i < column->count && result == 0; i++)
        if (!system->gone[column->rows[i]])
            result = heap_push(system, column->rows[i]);
    for (uint32_t i = 0; i < row_extent(row) && result == 0; i++)
        if (row->cells[i].column != NO_COLUMN)
            result = heap_push(system, row->cells[i].column);
    system->cells_left -= row->count;
    free(row->cells);
    free(column->rows);
    *row = (struct row){0};
    *column = (struct column){0};
    return result;
}

static double row_sum(const struct row *row)
{
    double sum = 0;
    for (uint32_t i = 0; i < row_extent(row); i++)
        if (row->cells[i].column != NO_COLUMN)
            sum += row->cells[i].value;
    return sum;
}

/* What went from `from` through the state goes on directly. */
static int reroute(struct system *system, uint32_t from, uint32_t state, double sum)
{
    const struct row *row = &system->rows[state];
    double share = row_find(&system->rows[from], state)->value / sum;
    row_remove(&system->rows[from], state);
    system->cells_left--;
    int result = visits_remember(system, from, share);
    for (uint32_t i = 0; i < row_extent(row) && result == 0; i++)
        if (row->cells[i].column != NO_COLUMN && row->cells[i].column != from)
            result = add_cell(system, from, row->cells[i].column, share * row->cells[i].value);
    return result;
}

/* Takes a cell out; those behind it in the table move up to where they are found. */
static void row_remove(struct row *row, uint32_t column)
{
    struct cell *cell = row_find(row, column);
    row->count--;
    if (!row->hashed) {
        *cell = row->cells[row->count];
        return;
    }
    uint32_t mask = row->room - 1, hole = (uint32_t)(cell - row->cells);
    for (uint32_t at = (hole + 1) & mask; row->cells[at].column != NO_COLUMN;
         at = (at + 1) & mask) {
        uint32_t home = hash_column(row, row->cells[at].column);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            row->cells[hole] = row->cells[at];
            hole = at;
        }
    }
    row->cells[hole].column = NO_COLUMN;
}

static int visits_remember(struct system *system, uint32_t from, double share)
{
    if (!visits_grow(&system->inflows, system->inflow_count, &system->inflow_room,
                     sizeof *system->inflows))
        return -ENOMEM;
    system->inflows[system->inflow_count++] = (struct inflow){from, share};
    system->taken[system->taken_count - 1].count++;
    return 0;
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

static int solve_dense(struct system *system, const uint32_t *numbers, const uint32_t *states,
                       double *visits)
{
    size_t n = system->left;
    double *a = calloc(n * n, sizeof *a);
    if (!a)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct row *row = &system->rows[states[i]];
        for (uint32_t c = 0; c < row_extent(row); c++)
            if (row->cells[c].column != NO_COLUMN)
                a[i * n + numbers[row->cells[c].column]] = row->cells[c].value;
    }
    dense_eliminate(a, n, visits);
    free(a);
    return 0;
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

static int sweep_build(struct sweep *sweep, const struct system *system, const uint32_t *numbers,
                       const uint32_t *states)
{
    size_t n = sweep->n = system->left;
    size_t *next = calloc(n + 1, sizeof *next);
    double *out = calloc(n, sizeof *out);
    sweep->first = calloc(n + 1, sizeof *sweep->first);
    sweep->inflows = calloc(system->cells_left + 1, sizeof *sweep->inflows);
    int result = sweep->first && sweep->inflows && next && out ? 0 : -ENOMEM;
    for (size_t i = 0; i < n && result == 0; i++) {
        out[i] = row_sum(&system->rows[states[i]]);
        sweep->first[i + 1] = sweep->first[i] + system->columns[states[i]].live;
        next[i] = sweep->first[i];
    }
    for (size_t i = 0; i < n && result == 0; i++)
        sweep_add_row(sweep, &system->rows[states[i]], (uint32_t)i, numbers, next, out);
    sweep->start_out = result == 0 ? out[0] : 0;
    free(out);
    free(next);
    return result;
}

/* Puts a core state's cells into their columns; next says where each column goes on. */
static void sweep_add_row(struct sweep *sweep, const struct row *row, uint32_t state,
                          const uint32_t *numbers, size_t *next, const double *out)
{
    for (uint32_t c = 0; c < row_extent(row); c++) {
        if (row->cells[c].column == NO_COLUMN)
            continue;
        uint32_t column = numbers[row->cells[c].column];
        double share = row->cells[c].value / (column ? out[column] : 1);
        sweep->inflows[next[column]++] = (struct inflow){state, share};
    }
}

#define SWEEP_BUDGET 3e9

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
}
