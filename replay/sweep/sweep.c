/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a sweep: lists the cells, checks existing results, plays the other cells one by one. */
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
#include "base/text.h"
#include "model/model.h"
#include "replay/sweep/sweep_cell.h"
#include "replay/sweep/sweep_child.h"
#include "replay/sweep/sweep_corner.h"
#include "replay/sweep/sweep_player.h"
#include "replay/sweep/sweep_private.h"
#include "replay/sweep/sweep_progress.h"
#include "replay/sweep/sweep_store.h"
#include "summary/reading.h"
#include "summary/result/result.h"

static enum step read_model(struct sweep *sweep);
static void sweep_warn_of_model(void *context, const char *line);
static void expect_recording(struct sweep *sweep, const struct model *model);
static enum step open_store(struct sweep *sweep);
static enum step open_player(struct sweep *sweep);
static void hide_progress(void *context);
static void on_interrupt(void *context, unsigned interrupts);
static void on_tick(void *context);
static enum step check_results(struct sweep *sweep, const struct sweep_cells *cells);
static enum step find_result(struct sweep *sweep, const struct sweep_cell *cell,
                             const struct sweep_files *files, bool *found);
static enum step check_played(struct sweep *sweep, const char *name, int result);
static enum step read_metrics(struct sweep *sweep, const struct sweep_files *files);
static enum step play_grid(struct sweep *sweep);
static void print_next_step(const struct sweep_options *options);

int sweep_run(struct sweep_options *options)
{
    struct sweep sweep;
    sweep_init(&sweep, options);
    if (options->dry_run)
        return sweep_dry_run(&sweep);
    enum step step = sweep_open(&sweep, NULL);
    if (step == STEP_NEXT)
        step = options->tune       ? sweep_tune(&sweep)
               : options->find_max ? sweep_find_max(&sweep)
                                   : play_grid(&sweep);
    int status = sweep_finish(&sweep, step);
    sweep_close(&sweep);
    return status;
}

int sweep_dry_run(struct sweep *sweep)
{
    const struct sweep_options *options = sweep->options;
    char time[32];
    if (read_model(sweep) == STEP_DONE)
        return sweep->status;
    const struct settings *replay = &options->replay;
    double each = options->settle + replay->warmup + replay->duration;
    size_t cells = options->r.count * options->S.count * sweep_combinations(options);
    size_t runs = sweep_most_runs(options);
    printf("%s%zu runs of %zu cells%s, %s in total: %.12g s each, and the time for start-up%s\n",
           options->find_max ? "at most " : "", runs, cells, options->versus ? " per server" : "",
           sweep_progress_time((double)runs * each, time), each,
           options->before || options->after ? " and commands" : "");
    return program_flush_output() < 0 ? EXIT_FAILED : EXIT_OK;
}

void sweep_init(struct sweep *sweep, struct sweep_options *options)
{
    *sweep = (struct sweep){.options = options, .store = {.lock = -1}, .player = {.secrets = -1}};
    sweep->watch = (struct sweep_watch){
        .fd = -1, .interrupted = on_interrupt, .tick = on_tick, .context = sweep};
    sweep_progress_init(&sweep->progress);
}

enum step sweep_open(struct sweep *sweep, struct sweep *first)
{
    static enum step (*const steps[])(struct sweep *) = {read_model, open_store, open_player};
    const struct settings *replay = &sweep->options->replay;
    enum step step = STEP_NEXT;
    sweep->watching = first ? &first->watch : &sweep->watch;
    if (first)
        first->second = sweep;
    int error = first ? 0 : sweep_watch_open(&sweep->watch);
    if (error)
        return sweep_end(sweep, EXIT_FAILED, "cannot install signal handlers: %s",
                         strerror(-error));
    for (size_t i = 0; step == STEP_NEXT && i < sizeof steps / sizeof steps[0]; i++)
        step = steps[i](sweep);
    sweep->progress.expected =
        sweep->options->settle + replay->warmup + replay->duration + replay->latency_timeout;
    return step;
}

void sweep_close(struct sweep *sweep)
{
    sweep_player_close(&sweep->player);
    sweep_store_close(&sweep->store);
    if (sweep->watching == &sweep->watch)
        sweep_watch_close(&sweep->watch);
    sweep_corners_clear(&sweep->corners);
    free(sweep->options_text);
}

/* Checks the model and computes the SHA-256 that existing cells must have. */
static enum step read_model(struct sweep *sweep)
{
    struct model *model = NULL;
    int error =
        model_load(sweep->options->replay.model, &model, &sweep->error, sweep_warn_of_model, sweep);
    if (error)
        return sweep_end(sweep, error == -ENOMEM ? EXIT_FAILED : EXIT_USAGE, "%s",
                         sweep->error.text);
    text_hex(sweep->sha256, model_sha256(model), MODEL_SHA256_SIZE);
    expect_recording(sweep, model);
    model_free(model);
    return STEP_NEXT;
}

static void sweep_warn_of_model(void *context, const char *line)
{
    sweep_print(context, "%s", line);
}

enum step sweep_end(struct sweep *sweep, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sweep_progress_hide(&sweep->progress);
    message_print_args(format, args);
    va_end(args);
    return step_done(&sweep->status, status);
}

void sweep_print(struct sweep *sweep, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sweep_progress_hide(&sweep->progress);
    message_print_args(format, args);
    va_end(args);
}

/* The duration of a recording, unless -D is given, at the smallest rate. traffic-replay computes
 * its own; this one is for the time limit of a run and for the remaining time. */
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

static enum step open_store(struct sweep *sweep)
{
    if (sweep_cell_check_names(sweep->options, &sweep->error) < 0)
        return sweep_end(sweep, EXIT_USAGE, "%s", sweep->error.text);
    int error = sweep_store_open(&sweep->store, sweep->options->results, &sweep->error);
    return error ? sweep_end(sweep, EXIT_FAILED, "%s", sweep->error.text) : STEP_NEXT;
}

static enum step open_player(struct sweep *sweep)
{
    sweep->options_text = sweep_options_text(sweep->options);
    if (!sweep->options_text || sweep_corners_init(&sweep->corners, sweep->options) < 0)
        return sweep_end(sweep, EXIT_FAILED, "out of memory");
    sweep->player = (struct sweep_player){.options = sweep->options,
                                          .watch = sweep->watching,
                                          .identity = &sweep->identity,
                                          .before_message = hide_progress,
                                          .context = sweep};
    int error = sweep_player_open(&sweep->player, &sweep->error);
    if (error == -EINTR)
        return step_done(&sweep->status, EXIT_INTERRUPTED);
    if (error)
        return sweep_end(sweep, EXIT_FAILED, "%s", sweep->error.text);
    const struct settings *replay = &sweep->options->replay;
    sweep->seed_known = settings_given(replay, "random-seed");
    sweep->identity = (struct sweep_identity){.model_sha256 = sweep->sha256,
                                              .version = sweep->player.version,
                                              .options = sweep->options_text,
                                              .dc = replay->dc,
                                              .seed = replay->random_seed};
    return STEP_NEXT;
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
        sweep_print(sweep,
                    "interrupted: finishing the current cell; interrupt again to stop at once");
}

static void on_tick(void *context)
{
    struct sweep *sweep = context;
    for (; sweep; sweep = sweep->second) {
        sweep_player_tick(&sweep->player);
        if (sweep->progress.started)
            sweep_progress_show(&sweep->progress);
    }
}

/* Makes the list again after the check of existing cells: their seed determines a random order. */
enum step sweep_list_cells(struct sweep *sweep, struct sweep_cells *cells)
{
    enum step step = STEP_NEXT;
    if (sweep_cells_make(sweep->options, sweep->identity.seed, cells) == 0)
        step = check_results(sweep, cells);
    sweep->checked = true;
    sweep_cells_clear(cells);
    if (step == STEP_NEXT && sweep_cells_make(sweep->options, sweep->identity.seed, cells) < 0)
        step = sweep_end(sweep, EXIT_FAILED, "out of memory");
    return step;
}

/* Checks all existing cells before the first one is played, so that errors appear at once. */
static enum step check_results(struct sweep *sweep, const struct sweep_cells *cells)
{
    enum step step = STEP_NEXT;
    for (size_t i = 0; step == STEP_NEXT && i < cells->count; i++) {
        struct sweep_files files = {0};
        bool found;
        char *name = sweep_cell_name(sweep->options, &cells->items[i]);
        if (!name || sweep_files_name(&sweep->store, name, &files) < 0)
            step = sweep_end(sweep, EXIT_FAILED, "out of memory");
        else
            step = find_result(sweep, &cells->items[i], &files, &found);
        sweep_files_clear(&files);
        free(name);
    }
    return step;
}

/* Reads and checks the result that an earlier call wrote for a cell; *found: there is one, and it
 * need not be played again. Without --random-seed, its seed becomes the sweep's. */
static enum step find_result(struct sweep *sweep, const struct sweep_cell *cell,
                             const struct sweep_files *files, bool *found)
{
    struct result result;
    result_init(&result);
    enum step step = STEP_NEXT;
    int error = result_read(&result, files->json, &sweep->error);
    *found = error == 0;
    if (error && error != -ENOENT && sweep->options->resume && !sweep->checked)
        sweep_print(sweep, "%s; playing this cell again", sweep->error.text);
    else if (error != -ENOENT && !sweep->options->resume)
        step = sweep_end(sweep, EXIT_USAGE,
                         "%s exists; give --resume to continue, or another --results folder",
                         files->json);
    if (*found && step == STEP_NEXT) {
        if (!sweep->seed_known && result.seed >= cell->repeat - 1)
            sweep->identity.seed = result.seed - (cell->repeat - 1);
        sweep->seed_known = true;
        if (sweep_identity_check(&sweep->identity, &result, cell->repeat, files->json,
                                 &sweep->error) < 0)
            step = sweep_end(sweep, EXIT_USAGE,
                             "%s; give the same options, or another --results folder",
                             sweep->error.text);
    }
    const char *spoiled = *found ? sweep_label(&result, RESULT_SPOILED) : NULL;
    /* A search repeats disturbed cells by itself. */
    bool server = spoiled && strcmp(spoiled, SWEEP_SPOILED_BY_SERVER) == 0;
    bool machine = spoiled && strcmp(spoiled, SWEEP_SPOILED_BY_MACHINE) == 0;
    if (step == STEP_NEXT && (server || (machine && !sweep->options->find_max))) {
        if (!sweep->checked)
            sweep_print(sweep, "%s: %s while it was played; playing this cell again", files->json,
                        server ? "the server ended" : "the machine was disturbed");
        *found = false;
    }
    result_clear(&result);
    return step;
}

enum step sweep_run_cell(struct sweep *sweep, const struct sweep_cell *cell)
{
    struct sweep_files files = {0};
    bool found = false;
    char *name = sweep_cell_name(sweep->options, cell);
    enum step step = STEP_NEXT;
    sweep->measured = sweep->disturbed = false;
    if (!name || sweep_files_name(&sweep->store, name, &files) < 0) {
        step = sweep_end(sweep, EXIT_FAILED, "out of memory");
        goto cleanup;
    }
    step = find_result(sweep, cell, &files, &found);
    if (step == STEP_DONE)
        goto cleanup;
    if (!found) {
        sweep_progress_begin(&sweep->progress, name);
        step = check_played(sweep, name,
                            sweep_player_play(&sweep->player, cell, &files, &sweep->error));
        if (step == STEP_NEXT)
            snprintf(sweep->last, sizeof sweep->last, "%s", name);
    }
    if (step == STEP_NEXT)
        step = read_metrics(sweep, &files);
    if (step == STEP_NEXT) {
        sweep->measured = true;
        sweep->progress.total += sweep->disturbed; /* a search plays it again */
        sweep_corners_note(&sweep->corners, cell, sweep->metrics);
        sweep->empty += !(sweep->metrics[METRIC_OK] > 0);
        sweep_progress_end(&sweep->progress, name, sweep->metrics[METRIC_OK], !found);
    }
cleanup:
    sweep_files_clear(&files);
    free(name);
    if (step == STEP_NEXT && sweep->watching->interrupts > 0)
        return step_done(&sweep->status, EXIT_INTERRUPTED);
    return step;
}

static enum step check_played(struct sweep *sweep, const char *name, int result)
{
    if (result == 0)
        return STEP_NEXT;
    sweep_progress_fail(&sweep->progress);
    if (result == -EINTR)
        return step_done(&sweep->status, EXIT_INTERRUPTED);
    sweep_print(sweep, "%s: %s", name, sweep->error.text);
    sweep_player_show_tail(&sweep->player);
    if (sweep->last[0])
        sweep_print(
            sweep,
            "if the server failed earlier, the result of the last cell (%s) may be invalid; "
            "check it before you continue",
            sweep->last);
    return step_done(&sweep->status, EXIT_FAILED);
}

/* Reads the metrics of a finished cell into sweep->metrics. */
static enum step read_metrics(struct sweep *sweep, const struct sweep_files *files)
{
    struct reading reading = {0};
    char *bytes = NULL;
    size_t length = 0;
    int error = result_load(files->json, &bytes, &length, &sweep->error);
    if (error == 0) {
        error = reading_parse(&reading, bytes, length, files->json, &sweep->error);
        memcpy(sweep->metrics, reading.metrics, sizeof sweep->metrics);
        sweep->cpu_per_operation = reading.ok > 0 ? reading.server_cpu / (double)reading.ok : NAN;
        const char *spoiled = reading_label(&reading, RESULT_SPOILED);
        sweep->disturbed = spoiled && strcmp(spoiled, SWEEP_SPOILED_BY_MACHINE) == 0;
        reading.path = NULL; /* belongs to files */
        reading_clear(&reading);
    }
    free(bytes);
    return error ? sweep_end(sweep, EXIT_FAILED, "%s", sweep->error.text) : STEP_NEXT;
}

static enum step play_grid(struct sweep *sweep)
{
    struct sweep_cells cells;
    enum step step = sweep_list_cells(sweep, &cells);
    sweep->progress.total = cells.count;
    for (size_t i = 0; step == STEP_NEXT && i < cells.count; i++)
        step = sweep_run_cell(sweep, &cells.items[i]);
    sweep_cells_clear(&cells);
    if (step == STEP_DONE)
        return step;
    sweep_progress_hide(&sweep->progress);
    printf("%zu cells in %s; maximum: %.3f successful operations/s in %s\n", sweep->progress.done,
           sweep->options->results, sweep->progress.best_rate, sweep->progress.best);
    for (size_t number = 0; number < sweep_combinations(sweep->options); number++)
        sweep_corners_print(&sweep->corners, number, stdout);
    print_next_step(sweep->options);
    return STEP_NEXT;
}

/* One grid of several values of a setting would be a mixture, so each setting has its line. */
static void print_next_step(const struct sweep_options *options)
{
    for (size_t i = 0; i < options->vary_count; i++)
        printf("traffic-summary --by %s %s shows the maximum of each value\n",
               options->vary[i].name, options->results);
    if (options->vary_count == 0)
        printf("traffic-summary %s shows the grid\n", options->results);
}

int sweep_finish(struct sweep *sweep, enum step step)
{
    size_t done = sweep->progress.done;
    sweep_progress_hide(&sweep->progress);
    if (step == STEP_DONE) {
        if (sweep->status == EXIT_INTERRUPTED)
            sweep_print(sweep, "interrupted after %zu cells; give --resume to continue", done);
        else if (sweep->status == EXIT_FAILED && done > 0)
            sweep_print(sweep, "%zu cells are finished; give --resume to continue", done);
        return sweep->status;
    }
    if (sweep->empty > 0)
        sweep_print(sweep, "nothing succeeded in %zu cells", sweep->empty);
    if (program_flush_output() < 0)
        return EXIT_FAILED;
    return sweep->empty == done ? EXIT_FAILED : EXIT_OK;
}
