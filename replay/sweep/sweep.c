/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conductor of a sweep: which cells, what is there already, one after another, the end. Steps
 * that can end it return an exit status, or -1 when the next may follow.
 */
#include "replay/sweep/sweep.h"
#include "model/model_load.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/message.h"
#include "model/model.h"
#include "replay/sweep/sweep_cell.h"
#include "replay/sweep/sweep_child.h"
#include "replay/sweep/sweep_player.h"
#include "replay/sweep/sweep_progress.h"
#include "replay/sweep/sweep_search.h"
#include "replay/sweep/sweep_store.h"
#include "summary/reading.h"
#include "summary/result/result.h"

enum { USUAL_REPEATS = 3, HEX_SIZE = 2 * MODEL_SHA256_SIZE + 1 };

/* Sums over the runs of one cell of a search. */
struct tally {
    double rates, squares, min, max;
    double metrics[METRICS];
};

struct sweep {
    struct sweep_options *options;
    struct sweep_watch watch;
    struct sweep_store store;
    struct sweep_player player;
    struct sweep_progress progress;
    struct sweep_identity identity;
    char sha256[HEX_SIZE];
    char *options_text;
    bool seed_known;             /* given, or learned from a finished cell */
    bool listed;                 /* what is there was looked at, and what is damaged was told */
    size_t empty;                /* cells without any success */
    char last[SWEEP_WHERE_SIZE]; /* the cell played before the one at hand */
    /* The cell at hand. */
    double metrics[METRICS];
    struct error error;
};

static int read_model(struct sweep *sweep);
static void sweep_warn_of_model(void *context, const char *line);
static int sweep_tell(struct sweep *sweep, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void expect_recording(struct sweep *sweep, const struct model *model);
static int open_store(struct sweep *sweep);
static int open_player(struct sweep *sweep);
static void hide_progress(void *context);
static void on_interrupt(void *context, unsigned interrupts);
static void on_tick(void *context);
static int find_max(struct sweep *sweep);
static int sweep_by_value(const void *left, const void *right);
static int list_cells(struct sweep *sweep, struct sweep_cells *cells);
static int look_up_all(struct sweep *sweep, const struct sweep_cells *cells);
static int look_up(struct sweep *sweep, const struct sweep_cell *cell,
                   const struct sweep_files *files, bool *there);
static int search_combination(struct sweep *sweep, size_t number);
static int do_cell(struct sweep *sweep, const struct sweep_cell *cell);
static int sweep_judge(struct sweep *sweep, const char *name, int result);
static int read_metrics(struct sweep *sweep, const struct sweep_files *files);
static void note_run(const struct sweep *sweep, struct sweep_search_cell *cell,
                     struct tally *tally);
static void print_found(struct sweep *sweep, const struct sweep_search *search,
                        const struct sweep_cell *cell);
static void print_combination(const struct sweep *sweep, const struct sweep_cell *cell);
static void print_place(const struct sweep *sweep, const struct sweep_search *search, size_t index);
static int play_grid(struct sweep *sweep);
static int sweep_finish(struct sweep *sweep, int status);

int sweep_run(struct sweep_options *options)
{
    static int (*const steps[])(struct sweep *) = {read_model, open_store, open_player};
    struct sweep sweep = {.options = options, .store = {.lock = -1}, .player = {.secrets = -1}};
    const struct settings *replay = &options->replay;
    sweep.watch = (struct sweep_watch){
        .fd = -1, .interrupted = on_interrupt, .tick = on_tick, .context = &sweep};
    sweep_progress_init(&sweep.progress);
    int status = -1;
    int error = sweep_watch_open(&sweep.watch);
    if (error)
        status = sweep_tell(&sweep, EXIT_FAILED, "signals cannot be taken: %s", strerror(-error));
    for (size_t i = 0; status < 0 && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](&sweep);
    sweep.progress.expected =
        options->settle + replay->warmup + replay->duration + replay->latency_timeout;
    if (status < 0)
        status = options->find_max ? find_max(&sweep) : play_grid(&sweep);
    status = sweep_finish(&sweep, status);
    sweep_player_close(&sweep.player);
    sweep_store_close(&sweep.store);
    sweep_watch_close(&sweep.watch);
    free(sweep.options_text);
    return status;
}

/* Loaded for its checks, and for the SHA-256 that finished cells must have. */
static int read_model(struct sweep *sweep)
{
    struct model *model = NULL;
    int error =
        model_load(sweep->options->replay.model, &model, &sweep->error, sweep_warn_of_model, sweep);
    if (error)
        return sweep_tell(sweep, error == -ENOMEM ? EXIT_FAILED : EXIT_USAGE, "%s",
                          sweep->error.text);
    for (size_t i = 0; i < MODEL_SHA256_SIZE; i++)
        snprintf(sweep->sha256 + 2 * i, 3, "%02x", model_sha256(model)[i]);
    expect_recording(sweep, model);
    model_free(model);
    return -1;
}

static void sweep_warn_of_model(void *context, const char *line)
{
    sweep_tell(context, 0, "%s", line);
}

static int sweep_tell(struct sweep *sweep, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sweep_progress_hide(&sweep->progress);
    message_print_args(format, args);
    va_end(args);
    return status;
}

/* A recording is as long as it is unless -D says otherwise; it is longest at the smallest rate. The
 * runs find out by themselves: this is for their time limit and for the time left. */
static void expect_recording(struct sweep *sweep, const struct model *model)
{
    struct settings *replay = &sweep->options->replay;
    const struct sweep_list *r = &sweep->options->r;
    double least = r->items[0].value;
    if (!model_is_recording(model) || replay->duration_given)
        return;
    for (size_t i = 1; i < r->count; i++)
        least = fmin(least, r->items[i].value);
    replay->duration = model_recording_seconds(model, least);
}

static int open_store(struct sweep *sweep)
{
    if (sweep_cell_check_names(sweep->options, &sweep->error) < 0)
        return sweep_tell(sweep, EXIT_USAGE, "%s", sweep->error.text);
    int error = sweep_store_open(&sweep->store, sweep->options->results, &sweep->error);
    return error ? sweep_tell(sweep, EXIT_FAILED, "%s", sweep->error.text) : -1;
}

static int open_player(struct sweep *sweep)
{
    sweep->options_text = sweep_options_text(sweep->options);
    if (!sweep->options_text)
        return sweep_tell(sweep, EXIT_FAILED, "out of memory");
    sweep->player = (struct sweep_player){.options = sweep->options,
                                          .watch = &sweep->watch,
                                          .identity = &sweep->identity,
                                          .before_telling = hide_progress,
                                          .context = sweep};
    int error = sweep_player_open(&sweep->player, &sweep->error);
    if (error == -EINTR)
        return EXIT_INTERRUPTED;
    if (error)
        return sweep_tell(sweep, EXIT_FAILED, "%s", sweep->error.text);
    const struct settings *replay = &sweep->options->replay;
    sweep->seed_known = settings_given(replay, "random-seed");
    sweep->identity = (struct sweep_identity){.model_sha256 = sweep->sha256,
                                              .version = sweep->player.version,
                                              .options = sweep->options_text,
                                              .dc = replay->dc,
                                              .seed = replay->random_seed};
    return -1;
}

static void hide_progress(void *context)
{
    struct sweep *sweep = context;
    sweep_progress_hide(&sweep->progress);
}

static void on_interrupt(void *context, unsigned interrupts)
{
    struct sweep *sweep = context;
    if (interrupts == 1)
        sweep_tell(sweep, 0,
                   "interrupted: the running cell is played to its end; once more to end at "
                   "once");
}

static void on_tick(void *context)
{
    struct sweep *sweep = context;
    sweep_player_tick(&sweep->player);
    if (sweep->progress.started)
        sweep_progress_show(&sweep->progress);
}

static int find_max(struct sweep *sweep)
{
    struct sweep_options *options = sweep->options;
    const struct sweep_search all = {.rows = options->r.count, .columns = options->S.count};
    size_t combinations = sweep_combinations(options);
    unsigned repeats = options->repeat ? (unsigned)options->repeat : USUAL_REPEATS;
    struct sweep_cells cells;
    /* Neighbours in the grid are neighbours in value. */
    qsort(options->r.items, options->r.count, sizeof *options->r.items, sweep_by_value);
    qsort(options->S.items, options->S.count, sizeof *options->S.items, sweep_by_value);
    options->repeat = repeats;
    int status = list_cells(sweep, &cells);
    sweep_cells_clear(&cells);
    sweep->progress.at_most = true;
    sweep->progress.total =
        combinations * (sweep_search_budget(&all) + SWEEP_SEARCH_RIVALS * (size_t)(repeats - 1));
    for (size_t number = 0; status < 0 && number < combinations; number++)
        status = search_combination(sweep, number);
    return status;
}

static int sweep_by_value(const void *left, const void *right)
{
    const struct sweep_number *a = left, *b = right;
    return a->value < b->value ? -1 : a->value > b->value;
}

/* The seed may be learned from what is there: a random order is that of then. */
static int list_cells(struct sweep *sweep, struct sweep_cells *cells)
{
    int status = -1;
    if (sweep_cells_make(sweep->options, sweep->identity.seed, cells) == 0)
        status = look_up_all(sweep, cells);
    sweep->listed = true;
    sweep_cells_clear(cells);
    if (status < 0 && sweep_cells_make(sweep->options, sweep->identity.seed, cells) < 0)
        status = sweep_tell(sweep, EXIT_FAILED, "out of memory");
    return status;
}

/* All that are there are looked at before the first is played: a mistake is told at once. */
static int look_up_all(struct sweep *sweep, const struct sweep_cells *cells)
{
    int status = -1;
    for (size_t i = 0; status < 0 && i < cells->count; i++) {
        struct sweep_files files = {0};
        bool there;
        char *name = sweep_cell_name(sweep->options, &cells->items[i]);
        if (!name || sweep_files_name(&sweep->store, name, &files) < 0)
            status = sweep_tell(sweep, EXIT_FAILED, "out of memory");
        else
            status = look_up(sweep, &cells->items[i], &files, &there);
        sweep_files_clear(&files);
        free(name);
    }
    return status;
}

/* A cell that an earlier call has finished, checked; *there tells whether there is one. Without
 * --random-seed, its seed is the sweep's. */
static int look_up(struct sweep *sweep, const struct sweep_cell *cell,
                   const struct sweep_files *files, bool *there)
{
    struct result result;
    result_init(&result);
    int status = -1;
    int error = result_read(&result, files->json, &sweep->error);
    *there = error == 0;
    if (error && error != -ENOENT && sweep->options->resume && !sweep->listed)
        sweep_tell(sweep, 0, "%s; this cell is played again", sweep->error.text);
    else if (error != -ENOENT && !sweep->options->resume)
        status = sweep_tell(sweep, EXIT_USAGE,
                            "%s is there already: go on with --resume, or give another --results",
                            files->json);
    if (*there && status < 0) {
        if (!sweep->seed_known && result.seed >= cell->repeat - 1)
            sweep->identity.seed = result.seed - (cell->repeat - 1);
        sweep->seed_known = true;
        if (sweep_identity_check(&sweep->identity, &result, cell->repeat, files->json,
                                 &sweep->error) < 0)
            status = sweep_tell(sweep, EXIT_USAGE,
                                "%s: give what it was played with, or another --results",
                                sweep->error.text);
    }
    result_clear(&result);
    return status;
}

static int search_combination(struct sweep *sweep, size_t number)
{
    const struct sweep_options *options = sweep->options;
    size_t rows = options->r.count, columns = options->S.count, next;
    struct sweep_search search = {0};
    struct sweep_cell cell = {0};
    double *load = calloc(rows * columns, sizeof *load);
    struct tally *tallies = calloc(rows * columns, sizeof *tallies);
    int status = -1;
    if (!load || !tallies ||
        sweep_search_init(&search, rows, columns, load, (unsigned)options->repeat) < 0) {
        status = sweep_tell(sweep, EXIT_FAILED, "out of memory");
        goto cleanup;
    }
    for (size_t i = 0; i < rows * columns; i++)
        load[i] = options->r.items[i / columns].value * options->S.items[i % columns].value;
    sweep_combination(options, number, cell.value);
    while (status < 0 && (next = sweep_search_next(&search)) != SIZE_MAX) {
        cell.r = next / columns;
        cell.S = next % columns;
        cell.repeat = search.cells[next].runs + 1;
        status = do_cell(sweep, &cell);
        if (status < 0)
            note_run(sweep, &search.cells[next], &tallies[next]);
    }
    if (status < 0)
        print_found(sweep, &search, &cell);
cleanup:
    sweep_search_clear(&search);
    free(tallies);
    free(load);
    return status;
}

/* Plays it, unless it is there. Leaves its metrics. */
static int do_cell(struct sweep *sweep, const struct sweep_cell *cell)
{
    struct sweep_files files = {0};
    bool there = false;
    char *name = sweep_cell_name(sweep->options, cell);
    int status = -1;
    if (!name || sweep_files_name(&sweep->store, name, &files) < 0) {
        status = sweep_tell(sweep, EXIT_FAILED, "out of memory");
        goto cleanup;
    }
    status = look_up(sweep, cell, &files, &there);
    if (status >= 0)
        goto cleanup;
    if (!there) {
        sweep_progress_begin(&sweep->progress, name);
        status = sweep_judge(sweep, name,
                             sweep_player_play(&sweep->player, cell, &files, &sweep->error));
        if (status < 0)
            snprintf(sweep->last, sizeof sweep->last, "%s", name);
    }
    if (status < 0)
        status = read_metrics(sweep, &files);
    if (status < 0) {
        sweep->empty += !(sweep->metrics[METRIC_OK] > 0);
        sweep_progress_end(&sweep->progress, name, sweep->metrics[METRIC_OK], !there);
    }
cleanup:
    sweep_files_clear(&files);
    free(name);
    if (status < 0 && sweep->watch.interrupts > 0)
        return EXIT_INTERRUPTED;
    return status;
}

static int sweep_judge(struct sweep *sweep, const char *name, int result)
{
    if (result == 0)
        return -1;
    sweep_progress_fail(&sweep->progress);
    if (result == -EINTR)
        return EXIT_INTERRUPTED;
    sweep_tell(sweep, 0, "%s: %s", name, sweep->error.text);
    sweep_player_show_tail(&sweep->player);
    if (sweep->last[0])
        sweep_tell(sweep, 0,
                   "if the server has failed before, the last cell (%s) may be spoiled: look "
                   "at it before you go on",
                   sweep->last);
    return EXIT_FAILED;
}

/* What grids show of a finished cell, into sweep->metrics. */
static int read_metrics(struct sweep *sweep, const struct sweep_files *files)
{
    struct reading reading = {0};
    char *bytes = NULL;
    size_t length = 0;
    int error = result_load(files->json, &bytes, &length, &sweep->error);
    if (error == 0) {
        error = reading_parse(&reading, bytes, length, files->json, &sweep->error);
        memcpy(sweep->metrics, reading.metrics, sizeof sweep->metrics);
        reading.path = NULL; /* not its own */
        reading_clear(&reading);
    }
    free(bytes);
    return error ? sweep_tell(sweep, EXIT_FAILED, "%s", sweep->error.text) : -1;
}

static void note_run(const struct sweep *sweep, struct sweep_search_cell *cell, struct tally *tally)
{
    double rate = sweep->metrics[METRIC_OK], means[METRICS];
    if (cell->runs == 0)
        tally->min = tally->max = rate;
    tally->min = fmin(tally->min, rate);
    tally->max = fmax(tally->max, rate);
    tally->rates += rate;
    tally->squares += rate * rate;
    cell->runs++;
    cell->mean = tally->rates / cell->runs;
    cell->min = tally->min;
    cell->max = tally->max;
    if (cell->runs > 1)
        cell->variance = fmax(0, (tally->squares - tally->rates * cell->mean) / (cell->runs - 1));
    for (size_t i = 0; i < METRICS; i++) {
        tally->metrics[i] += sweep->metrics[i];
        means[i] = tally->metrics[i] / cell->runs;
    }
    cell->missed =
        sweep->options->slo.count > 0 && slo_judge(&sweep->options->slo, means) != SLO_KEPT;
}

static void print_found(struct sweep *sweep, const struct sweep_search *search,
                        const struct sweep_cell *cell)
{
    size_t best = sweep_search_ranked(search, 0);
    sweep_progress_hide(&sweep->progress);
    print_combination(sweep, cell);
    if (best == SIZE_MAX) {
        printf("no cell of %zu played keeps %s; the least loaded: ", sweep_search_played(search),
               sweep->options->slo.text);
        print_place(sweep, search, sweep_search_best(search));
        putchar('\n');
        return;
    }
    fputs("maximum", stdout);
    if (sweep->options->slo.text)
        printf(" within %s", sweep->options->slo.text);
    fputs(": ", stdout);
    print_place(sweep, search, best);
    for (size_t place = 1; place < SWEEP_SEARCH_RIVALS; place++) {
        size_t index = sweep_search_ranked(search, place);
        if (index == SIZE_MAX)
            break;
        fputs(place == 1 ? "\n  next: " : ", ", stdout);
        print_place(sweep, search, index);
    }
    printf("\n  %zu of %zu cells were played; ", sweep_search_played(search),
           search->rows * search->columns);
    sweep_search_sureness(search, stdout);
    putchar('\n');
}

static void print_combination(const struct sweep *sweep, const struct sweep_cell *cell)
{
    for (size_t i = 0; i < sweep->options->vary_count; i++)
        printf("%s=%s: ", sweep->options->vary[i].name,
               sweep->options->vary[i].values[cell->value[i]]);
}

static void print_place(const struct sweep *sweep, const struct sweep_search *search, size_t index)
{
    const struct sweep_search_cell *cell = &search->cells[index];
    printf("%.3f/s at r=%s S=%s", cell->mean, sweep->options->r.items[index / search->columns].text,
           sweep->options->S.items[index % search->columns].text);
    if (cell->runs > 1)
        printf(" (%u runs, %.3f to %.3f)", cell->runs, cell->min, cell->max);
}

static int play_grid(struct sweep *sweep)
{
    struct sweep_cells cells;
    int status = list_cells(sweep, &cells);
    sweep->progress.total = cells.count;
    for (size_t i = 0; status < 0 && i < cells.count; i++)
        status = do_cell(sweep, &cells.items[i]);
    sweep_cells_clear(&cells);
    if (status >= 0)
        return status;
    sweep_progress_hide(&sweep->progress);
    printf("%zu cells are in %s; the largest: %.3f successful operations/s in %s\n"
           "traffic-summary %s shows them\n",
           sweep->progress.done, sweep->options->results, sweep->progress.best_rate,
           sweep->progress.best, sweep->options->results);
    return -1;
}

static int sweep_finish(struct sweep *sweep, int status)
{
    sweep_progress_hide(&sweep->progress);
    if (status == EXIT_INTERRUPTED)
        return sweep_tell(sweep, status, "interrupted with %zu cells done; --resume goes on",
                          sweep->progress.done);
    if (status == EXIT_FAILED && sweep->progress.done > 0)
        return sweep_tell(sweep, status, "%zu cells are done; --resume goes on",
                          sweep->progress.done);
    if (status >= 0)
        return status;
    if (sweep->empty > 0)
        sweep_tell(sweep, 0, "nothing succeeded in %zu cells", sweep->empty);
    if (program_flush_output() < 0)
        return EXIT_FAILED;
    return sweep->empty == sweep->progress.done ? EXIT_FAILED : EXIT_OK;
}
