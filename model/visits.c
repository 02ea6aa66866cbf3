/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The visits of a chain, by the elimination of Grassmann, Taksar and Heyman. States are eliminated
 * one by one, and their traffic is rerouted past them. The method never subtracts, so each visit is
 * exact to a few roundings even if the probability of a loop is close to 1, where LU and iterations
 * lose digits. Chains of traffic are sparse: most histories have one or two successors. Eliminating
 * the state with the fewest reroutes first keeps them sparse.
 *
 * The core, the states that are left when the matrix is dense, is solved as a full matrix. A core
 * that is too large even for that is solved by Gauss-Seidel sweeps; no real traffic has one. Each
 * sweep is rescaled so that as much flows into the start as out of it, until only roundings
 * change.
 */
#include "model/visits.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"

/* States of a full matrix that takes one second, and of one that takes half a minute if all else
 * fails; the cells to which elimination may fill up a larger core; sweeps without progress. */
enum { DENSE_MAX = 1500, DENSE_LAST_RESORT = 5000, CELLS_MAX = 2000000, STAGNATION = 100 };

struct matrix_cell {
    uint32_t column;
    double value;
};

enum { ROW_SCANNED = 16 };
#define NO_COLUMN UINT32_MAX

/*
 * Where a state's traffic goes, by column; never to itself. A short row is a plain array. A long
 * one is a hash table whose free cells have NO_COLUMN: the start's row becomes long, and the cost
 * of eliminating a state must depend only on the cells that it touches. base/intern cannot remove
 * keys, so this table is separate.
 */
struct matrix_row {
    struct matrix_cell *cells;
    uint32_t count;
    uint32_t room; /* of the hash table */
    bool hashed;
};

/* The rows that lead to a state, including eliminated ones, which are skipped; live counts the
 * others. */
struct matrix_column {
    uint32_t *rows;
    uint32_t count;
    uint32_t live;
};

/* An eliminated state: visits[state] is the sum of visits[from] * share. */
struct inflow {
    uint32_t from;
    double share;
};
struct eliminated {
    uint32_t state;
    uint32_t count;
    size_t first;
};

struct candidate {
    double cost;
    uint32_t state;
};

struct visits_system {
    uint32_t count;
    struct matrix_row *rows;
    struct matrix_column *columns;
    bool *gone;
    uint32_t left;
    uint64_t cells_left, cells_allowed;
    struct eliminated *eliminated;
    uint32_t eliminated_count;
    struct inflow *inflows;
    size_t inflow_count;
    struct heap candidates; /* the cheapest first; those whose cost has changed are outdated */
    double *visits;
};

/* The core by column, for sweeps. */
struct visits_sweep {
    size_t n;
    size_t *first;
    struct inflow *inflows;
    double start_out;
};

static int build_system(struct visits_system *system, const uint32_t *first, const uint32_t *to,
                        const double *probability);
static int find_reached(uint32_t count, const uint32_t *first, const uint32_t *to, bool *reached);
static int build_row(struct visits_system *system, uint32_t state, const uint32_t *first,
                     const uint32_t *to, const double *probability);
static int add_cell(struct visits_system *system, uint32_t state, uint32_t column, double value);
static int row_reserve(struct matrix_row *row);
static int row_rehash(struct matrix_row *row);
static uint32_t row_extent(const struct matrix_row *row);
static struct matrix_cell *row_find(const struct matrix_row *row, uint32_t column);
static uint32_t hash_column(const struct matrix_row *row, uint32_t column);
static int add_to_column(struct matrix_column *column, uint32_t row);
static int eliminate_states(struct visits_system *system);
static int add_candidate(struct visits_system *system, uint32_t state);
static double elimination_cost(const struct visits_system *system, uint32_t state);
static bool is_dense(const struct visits_system *system);
static bool is_entangled(const struct visits_system *system);
static uint32_t take_cheapest(struct visits_system *system);
static bool is_cheaper(const void *left, const void *right);
static int eliminate_state(struct visits_system *system, uint32_t state);
static double row_sum(const struct matrix_row *row);
static int reroute(struct visits_system *system, uint32_t from, uint32_t state, double sum);
static void row_remove(struct matrix_row *row, uint32_t column);
static int add_inflow(struct visits_system *system, uint32_t from, double share);
static int solve_core(struct visits_system *system);
static uint32_t *number_core(const struct visits_system *system, uint32_t *states);
static int solve_dense(struct visits_system *system, const uint32_t *numbers,
                       const uint32_t *states, double *visits);
static void dense_eliminate(double *a, size_t n, double *visits);
static int solve_sweeping(struct visits_system *system, const uint32_t *numbers,
                          const uint32_t *states, double *visits);
static int build_sweep(struct visits_sweep *sweep, const struct visits_system *system,
                       const uint32_t *numbers, const uint32_t *states);
static void sweep_add_row(struct visits_sweep *sweep, const struct matrix_row *row, uint32_t state,
                          const uint32_t *numbers, size_t *next, const double *out);
static int sweep_until_settled(const struct visits_sweep *sweep, double cells, double *visits);
static double sweep_once(const struct visits_sweep *sweep, double *visits);
static void fill_eliminated(struct visits_system *system);
static void visits_clear(struct visits_system *system);

int visits_solve(uint32_t count, const uint32_t *first, const uint32_t *to,
                 const double *probability, double *visits)
{
    struct visits_system system = {
        .count = count,
        .candidates = {.size = sizeof(struct candidate), .before = is_cheaper},
        .visits = visits,
    };
    int result = -ENOMEM;
    system.rows = calloc(count, sizeof *system.rows);
    system.columns = calloc(count, sizeof *system.columns);
    system.gone = calloc(count, sizeof *system.gone);
    system.eliminated = calloc(count, sizeof *system.eliminated);
    memset(visits, 0, count * sizeof *visits);
    if (!system.rows || !system.columns || !system.gone || !system.eliminated)
        goto cleanup;
    result = build_system(&system, first, to, probability);
    if (result == 0)
        result = eliminate_states(&system);
    if (result == 0)
        result = solve_core(&system);
    if (result == 0)
        fill_eliminated(&system);
cleanup:
    visits_clear(&system);
    return result;
}

static int build_system(struct visits_system *system, const uint32_t *first, const uint32_t *to,
                        const double *probability)
{
    int result = find_reached(system->count, first, to, system->gone);
    for (uint32_t state = 0; state < system->count && result == 0; state++) {
        system->gone[state] = !system->gone[state]; /* drop unreachable states */
        if (!system->gone[state]) {
            system->left++;
            result = build_row(system, state, first, to, probability);
        }
    }
    return result;
}

/* Marks the states that can be reached from the start. */
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

static int build_row(struct visits_system *system, uint32_t state, const uint32_t *first,
                     const uint32_t *to, const double *probability)
{
    for (uint32_t e = first[state]; e < first[state + 1]; e++)
        if (to[e] != state && add_cell(system, state, to[e], probability[e]) < 0)
            return -ENOMEM;
    return 0;
}

/* Adds value to row[column] and lists the row in the column. */
static int add_cell(struct visits_system *system, uint32_t state, uint32_t column, double value)
{
    struct matrix_row *row = &system->rows[state];
    if (row_reserve(row) < 0)
        return -ENOMEM;
    struct matrix_cell *cell = row_find(row, column);
    if (cell && cell->column == column) {
        cell->value += value;
        return 0;
    }
    cell = cell ? cell : &row->cells[row->count];
    *cell = (struct matrix_cell){column, value};
    row->count++;
    system->cells_left++;
    return add_to_column(&system->columns[column], state);
}

/* Makes room for one more cell. */
static int row_reserve(struct matrix_row *row)
{
    if (row->hashed && 2 * row->count < row->room)
        return 0;
    if (row->hashed || row->count >= ROW_SCANNED)
        return row_rehash(row);
    struct matrix_cell *cells = array_grow(row->cells, row->count, sizeof *cells);
    if (!cells)
        return -ENOMEM;
    row->cells = cells;
    return 0;
}

/* Moves a row into a hash table of which at least half is free. */
static int row_rehash(struct matrix_row *row)
{
    struct matrix_row larger = {.count = row->count, .room = ROW_SCANNED * 2, .hashed = true};
    while (larger.room < 4 * row->count)
        larger.room *= 2;
    larger.cells = malloc(larger.room * sizeof *larger.cells);
    if (!larger.cells)
        return -ENOMEM;
    for (uint32_t i = 0; i < larger.room; i++)
        larger.cells[i].column = NO_COLUMN;
    for (uint32_t i = 0; i < row_extent(row); i++)
        if (row->cells[i].column != NO_COLUMN)
            *row_find(&larger, row->cells[i].column) = row->cells[i];
    free(row->cells);
    *row = larger;
    return 0;
}

/* How many cells of a row may be in use; those with NO_COLUMN are free. */
static uint32_t row_extent(const struct matrix_row *row)
{
    return row->hashed ? row->room : row->count;
}

/* The cell of a column. If the row does not have it: the free cell of the hash table where it
 * belongs, or NULL for a plain array. */
static struct matrix_cell *row_find(const struct matrix_row *row, uint32_t column)
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

static uint32_t hash_column(const struct matrix_row *row, uint32_t column)
{
    return (column * 2654435761u >> 7) & (row->room - 1);
}

static int add_to_column(struct matrix_column *column, uint32_t row)
{
    uint32_t *rows = array_grow(column->rows, column->count, sizeof *rows);
    if (!rows)
        return -ENOMEM;
    column->rows = rows;
    rows[column->count++] = row;
    column->live++;
    return 0;
}

static int eliminate_states(struct visits_system *system)
{
    int result = 0;
    for (uint32_t state = 1; state < system->count && result == 0; state++)
        if (!system->gone[state])
            result = add_candidate(system, state);
    system->cells_allowed = system->cells_left > CELLS_MAX / 2 ? 2 * system->cells_left : CELLS_MAX;
    while (result == 0 && !is_dense(system) && !is_entangled(system)) {
        uint32_t state = take_cheapest(system);
        if (state == 0)
            break;
        result = eliminate_state(system, state);
    }
    return result;
}

static int add_candidate(struct visits_system *system, uint32_t state)
{
    if (state == 0)
        return 0;
    struct candidate candidate = {elimination_cost(system, state), state};
    void *items = array_grow(system->candidates.items, system->candidates.count, sizeof candidate);
    if (!items)
        return -ENOMEM;
    system->candidates.items = items;
    heap_push(&system->candidates, &candidate);
    return 0;
}

static double elimination_cost(const struct visits_system *system, uint32_t state)
{
    return (double)system->rows[state].count * system->columns[state].live;
}

static bool is_dense(const struct visits_system *system)
{
    return system->left <= DENSE_MAX && system->left > 32 &&
           (double)system->cells_left * 5 > (double)system->left * system->left;
}

static bool is_entangled(const struct visits_system *system)
{
    return system->left > DENSE_MAX && system->cells_left > system->cells_allowed;
}

/* The cheapest state that is left, or 0 if only the start is left. */
static uint32_t take_cheapest(struct visits_system *system)
{
    while (system->candidates.count > 0) {
        struct candidate top;
        heap_pop(&system->candidates, &top);
        if (!system->gone[top.state] && top.cost == elimination_cost(system, top.state))
            return top.state;
    }
    return 0;
}

static bool is_cheaper(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return a->cost < b->cost;
}

static int eliminate_state(struct visits_system *system, uint32_t state)
{
    struct matrix_row *row = &system->rows[state];
    struct matrix_column *column = &system->columns[state];
    double sum = row_sum(row);
    int result = 0;
    system->gone[state] = true;
    system->left--;
    system->eliminated[system->eliminated_count++] =
        (struct eliminated){state, 0, system->inflow_count};
    for (uint32_t i = 0; i < row_extent(row); i++)
        if (row->cells[i].column != NO_COLUMN)
            system->columns[row->cells[i].column].live--;
    for (uint32_t i = 0; i < column->count && result == 0; i++)
        if (!system->gone[column->rows[i]])
            result = reroute(system, column->rows[i], state, sum);
    for (uint32_t i = 0; i < column->count && result == 0; i++)
        if (!system->gone[column->rows[i]])
            result = add_candidate(system, column->rows[i]);
    for (uint32_t i = 0; i < row_extent(row) && result == 0; i++)
        if (row->cells[i].column != NO_COLUMN)
            result = add_candidate(system, row->cells[i].column);
    system->cells_left -= row->count;
    free(row->cells);
    free(column->rows);
    *row = (struct matrix_row){0};
    *column = (struct matrix_column){0};
    return result;
}

static double row_sum(const struct matrix_row *row)
{
    double sum = 0;
    for (uint32_t i = 0; i < row_extent(row); i++)
        if (row->cells[i].column != NO_COLUMN)
            sum += row->cells[i].value;
    return sum;
}

/* Redirects the traffic from `from` to the eliminated state: it goes directly to that state's
 * successors. */
static int reroute(struct visits_system *system, uint32_t from, uint32_t state, double sum)
{
    const struct matrix_row *row = &system->rows[state];
    double share = row_find(&system->rows[from], state)->value / sum;
    row_remove(&system->rows[from], state);
    system->cells_left--;
    int result = add_inflow(system, from, share);
    for (uint32_t i = 0; i < row_extent(row) && result == 0; i++)
        if (row->cells[i].column != NO_COLUMN && row->cells[i].column != from)
            result = add_cell(system, from, row->cells[i].column, share * row->cells[i].value);
    return result;
}

/* Removes a cell. Cells after it in the hash table move up to where they can be found. */
static void row_remove(struct matrix_row *row, uint32_t column)
{
    struct matrix_cell *cell = row_find(row, column);
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

static int add_inflow(struct visits_system *system, uint32_t from, double share)
{
    struct inflow *inflows = array_grow(system->inflows, system->inflow_count, sizeof *inflows);
    if (!inflows)
        return -ENOMEM;
    system->inflows = inflows;
    inflows[system->inflow_count++] = (struct inflow){from, share};
    system->eliminated[system->eliminated_count - 1].count++;
    return 0;
}

static int solve_core(struct visits_system *system)
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

static uint32_t *number_core(const struct visits_system *system, uint32_t *states)
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

static int solve_dense(struct visits_system *system, const uint32_t *numbers,
                       const uint32_t *states, double *visits)
{
    size_t n = system->left;
    double *a = calloc(n * n, sizeof *a);
    if (!a)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct matrix_row *row = &system->rows[states[i]];
        for (uint32_t c = 0; c < row_extent(row); c++)
            if (row->cells[c].column != NO_COLUMN)
                a[i * n + numbers[row->cells[c].column]] = row->cells[c].value;
    }
    dense_eliminate(a, n, visits);
    free(a);
    return 0;
}

/* The elimination on a full matrix, from the last state to the first. */
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

static int solve_sweeping(struct visits_system *system, const uint32_t *numbers,
                          const uint32_t *states, double *visits)
{
    struct visits_sweep sweep = {0};
    int result = build_sweep(&sweep, system, numbers, states);
    for (size_t k = 0; k < system->left; k++)
        visits[k] = 1;
    if (result == 0)
        result = sweep_until_settled(&sweep, (double)system->cells_left, visits);
    free(sweep.first);
    free(sweep.inflows);
    return result;
}

static int build_sweep(struct visits_sweep *sweep, const struct visits_system *system,
                       const uint32_t *numbers, const uint32_t *states)
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

/* Adds a row's cells to their columns; next has the next free place of each column. */
static void sweep_add_row(struct visits_sweep *sweep, const struct matrix_row *row, uint32_t state,
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

/* Sweeps until only roundings change, or until there is no more progress below 1e-12. */
static int sweep_until_settled(const struct visits_sweep *sweep, double cells, double *visits)
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
static double sweep_once(const struct visits_sweep *sweep, double *visits)
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

static void fill_eliminated(struct visits_system *system)
{
    for (uint32_t t = system->eliminated_count; t-- > 0;) {
        const struct eliminated *taken = &system->eliminated[t];
        double sum = 0;
        for (uint32_t i = 0; i < taken->count; i++) {
            const struct inflow *inflow = &system->inflows[taken->first + i];
            sum += system->visits[inflow->from] * inflow->share;
        }
        system->visits[taken->state] = sum;
    }
}

static void visits_clear(struct visits_system *system)
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
    free(system->eliminated);
    free(system->inflows);
    free(system->candidates.items);
}
