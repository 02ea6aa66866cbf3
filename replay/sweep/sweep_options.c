/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a sweep. The command line is read into assignments, because it also contains the name
 * of the sweep file. The file is applied, then the assignments. The remaining arguments are given
 * to settings_read(). The first error ends the program.
 */
#include "replay/sweep/sweep_options.h"
#include "base/random.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/message.h"
#include "base/secret.h"
#include "replay/settings_arguments.h"
#include "replay/settings_table.h"
#include "replay/sweep/sweep_expand.h"
#include "replay/sweep/sweep_file.h"
#include "replay/sweep/sweep_options_private.h"
#include "summary/result/result.h"

enum row_group { GROUP_CELLS, GROUP_SERVER, GROUP_RESULTS, GROUP_OTHER, GROUP_COUNT };

static const char *const group_titles[GROUP_COUNT] = {
    [GROUP_CELLS] = "Cells",
    [GROUP_SERVER] = "Server",
    [GROUP_RESULTS] = "Results",
    [GROUP_OTHER] = "Other",
};

#define AT(member) offsetof(struct sweep_options, member)

enum { REPEAT_MAX = 1000, SECONDS_MAX = 86400, BUDGET_MAX = 30 * 86400 };

static enum step sweep_options_read_all(struct sweep_options *options, int argc, char **argv);
static enum step sweep_options_take_options(struct sweep_options *options, int argc, char **argv,
                                            int *first);
static enum step refuse_unknown(const struct sweep_options *options,
                                const struct options_given *given);
static enum step sweep_options_take_option(struct sweep_options *options,
                                           const struct options_given *given);
static enum step read_file(struct sweep_options *options);
static const char *parse_file(void *owner, char *value);
static enum step apply_command_line(struct sweep_options *options);
static enum step complete_lists(struct sweep_options *options);
static const char *parse_list(struct sweep_list *list, const char *value);
static enum step sweep_options_check(struct sweep_options *options);
static enum step read_replay(struct sweep_options *options, int argc, char **argv, int first);
static int join_arguments(const struct sweep_sources *sources, int argc, char **argv, int first,
                          char **arguments);
static enum step check_replay_options(const struct sweep_options *options);
static const char *parse_rates(void *owner, char *value);
static const char *parse_scales(void *owner, char *value);
static const char *parse_vary(void *owner, char *value);
static const char *parse_tune(void *owner, char *value);
static const char *add_tuned(struct sweep_vary *vary, char *word);
static const char *parse_order(void *owner, char *value);
static const char *parse_slo(void *owner, char *value);

/* clang-format off */
static const struct options_row rows[] = {
    {"replay-rate", 'r', "LIST", OPTIONS_CUSTOM, 0, 0, 0, SWEEP_LIST, GROUP_CELLS,
     "replay rates: 4:24, 4:24:4 (from:to:step) or 4,8,16 (default 1)", parse_rates},
    {"scale-traffic", 'S', "LIST", OPTIONS_CUSTOM, 0, 0, 0, SWEEP_LIST, GROUP_CELLS,
     "scales, in the same form (default 1)", parse_scales},
    {"vary", 0, "NAME=V1,V2,...", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CELLS,
     "play all cells with each value; commands can contain {NAME}", parse_vary},
    {"repeat", 0, "N", OPTIONS_WHOLE, AT(repeat), 1, REPEAT_MAX, 0, GROUP_CELLS,
     "play each cell N times (default 1; with --find-max, the best\ncells: 3)", NULL},
    {"order", 0, "serial|random", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CELLS,
     "order of the cells (default serial)", parse_order},
    {"find-max", 0, NULL, OPTIONS_FLAG, AT(find_max), 0, 0, 0, GROUP_CELLS,
     "play only the cells needed to find the maximum", NULL},
    {"tune", 0, "NAME=VALUES", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CELLS,
     "find the best value of a setting, which --before applies:\nprefork=1:16, or a list; several settings are combined", parse_tune},
    {"versus", 0, NULL, OPTIONS_FLAG, AT(versus), 0, 0, OPTIONS_COMMAND_LINE, GROUP_CELLS,
     "compare the maxima of two servers: MODEL DC1 DC2; -A, --before,\n--after and --sample can be given twice, once per server", NULL},
    {"precision", 0, "PERCENT", OPTIONS_NUMBER, AT(precision), 0.1, 100, 0, GROUP_CELLS,
     "width of the interval at which --versus ends (default 5)", NULL},
    {"budget", 0, "SECONDS", OPTIONS_NUMBER, AT(budget), 0, BUDGET_MAX, OPTIONS_ABOVE, GROUP_CELLS,
     "time after which --versus ends anyway (default: none)", NULL},
    {"slo", 0, "LEVEL", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CELLS,
     "service level that the maximum must keep, for example\nsuccess>=99%,p95<=200ms", parse_slo},

    {"before", 0, "COMMAND", OPTIONS_TEXT, AT(before), 0, 0, 0, GROUP_SERVER,
     "run COMMAND before each cell; {r}, {S} and {NAME} are replaced", NULL},
    {"after", 0, "COMMAND", OPTIONS_TEXT, AT(after), 0, 0, 0, GROUP_SERVER,
     "run COMMAND after each cell", NULL},
    {"hook-timeout", 0, "SECONDS", OPTIONS_NUMBER, AT(hook_timeout), 0.1, SECONDS_MAX, 0,
     GROUP_SERVER, "time after which a command has failed (default 300)", NULL},
    {"settle", 0, "SECONDS", OPTIONS_NUMBER, AT(settle), 0, SECONDS_MAX, 0, GROUP_SERVER,
     "wait this long before each cell (default 0)", NULL},
    {"sample", 0, "COMMAND", OPTIONS_TEXT, AT(sample), 0, 0, 0, GROUP_SERVER,
     "run COMMAND every second and record the lines \"name value\" that\nit prints; none: no samples (default: CPU and memory of a server\non this machine)", NULL},

    {"results", 0, "FOLDER", OPTIONS_TEXT, AT(results), 0, 0, 0, GROUP_RESULTS,
     "folder of the results; created if necessary (default results)", NULL},
    {"resume", 0, NULL, OPTIONS_FLAG, AT(resume), 0, 0, OPTIONS_COMMAND_LINE, GROUP_RESULTS,
     "continue: play the cells without a result in FOLDER", NULL},

    {"dry-run", 0, NULL, OPTIONS_FLAG, AT(dry_run), 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "print how many runs are played at most, and how long that takes", NULL},
    {"file", 'f', "FILE", OPTIONS_CUSTOM, 0, 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "read a sweep file (YAML)", parse_file},
    {"verbose", 'v', NULL, OPTIONS_COUNTER, AT(verbose), 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "show the output of traffic-replay and of the commands", NULL},
    OPTIONS_COMPLETION_ROW(GROUP_OTHER),
    OPTIONS_HELP_ROW(GROUP_OTHER),
    OPTIONS_VERSION_ROW(GROUP_OTHER),
};

_Static_assert(sizeof rows / sizeof rows[0] <= OPTIONS_ROWS_MAX,
               "raise OPTIONS_ROWS_MAX");

const struct options_table sweep_options_table = {.rows = rows,
                                                  .count = sizeof rows / sizeof rows[0],
                                                  .groups = group_titles,
                                                  .group_count = GROUP_COUNT,
                                                  .help_column = 30,
                                                  .print_help = sweep_options_help,
                                                  .completion = {.models = MODEL_SUFFIXES,
                                                                 .server = true,
                                                                 .after_dashes = "traffic-replay"}};

enum step sweep_options_read(struct sweep_options *options, int argc, char **argv, int *status)
{
    *options = (struct sweep_options){.results = "results", .hook_timeout = 300, .precision = 5};
    options->sources = calloc(1, sizeof *options->sources);
    if (!options->sources)
        return step_done(status, options_out_of_memory());
    enum step step = sweep_options_read_all(options, argc, argv);
    *status = options->sources->status;
    return step;
}

static enum step sweep_options_read_all(struct sweep_options *options, int argc, char **argv)
{
    int first = argc;
    enum step step = sweep_options_take_options(options, argc, argv, &first);
    if (step == STEP_NEXT)
        step = read_file(options);
    if (step == STEP_NEXT)
        step = apply_command_line(options);
    if (step == STEP_NEXT)
        step = complete_lists(options);
    if (step == STEP_NEXT)
        step = sweep_options_check(options);
    return step == STEP_NEXT ? read_replay(options, argc, argv, first) : step;
}

/* Up to "--" or the end. *first is the index of the first other argument. */
static enum step sweep_options_take_options(struct sweep_options *options, int argc, char **argv,
                                            int *first)
{
    struct options_scan scan;
    struct options_given given;
    options_scan(&scan, &sweep_options_table, argc, argv);
    enum step step = STEP_NEXT;
    while (step == STEP_NEXT && options_next(&scan, &given, first)) {
        if (given.fault == OPTIONS_UNKNOWN)
            step = refuse_unknown(options, &given);
        else if (given.fault != OPTIONS_GOOD)
            step = sweep_options_end(options, options_complain_of(&sweep_options_table, &given));
        else
            step = sweep_options_take_option(options, &given);
    }
    return step;
}

/* Options of traffic-replay get a hint. */
static enum step refuse_unknown(const struct sweep_options *options,
                                const struct options_given *given)
{
    if (given->letter && options_has_letter(&settings_table, given->letter))
        return sweep_options_refuse(
            options, "-%c: unknown option; put traffic-replay's options after --", given->letter);
    if (!given->letter && options_find(&settings_table, given->name))
        return sweep_options_refuse(
            options, "--%s: unknown option; put traffic-replay's options after --", given->name);
    return sweep_options_end(options, options_complain_of(&sweep_options_table, given));
}

static enum step sweep_options_take_option(struct sweep_options *options,
                                           const struct options_given *given)
{
    struct sweep_sources *sources = options->sources;
    if (options_answer(&sweep_options_table, given, &sources->status) == STEP_DONE)
        return STEP_DONE;
    struct sweep_assignment assignment = {.row = given->row, .by_letter = given->by_letter};
    struct sweep_assignment *grown =
        array_grow(sources->assignments, sources->count, sizeof *grown);
    if (!grown)
        return sweep_options_no_memory(options);
    sources->assignments = grown;
    if (given->value && !(assignment.value = sweep_options_keep(options, given->value)))
        return sweep_options_no_memory(options);
    grown[sources->count++] = assignment;
    return STEP_NEXT;
}

/* Reads the sweep file, before the other options are applied. */
static enum step read_file(struct sweep_options *options)
{
    struct sweep_sources *sources = options->sources;
    for (size_t i = 0; i < sources->count; i++)
        if (sources->assignments[i].row->parse == parse_file)
            sources->file = sources->assignments[i].value;
    return sources->file ? sweep_file_read(options, sources->file) : STEP_NEXT;
}

static const char *parse_file(void *owner, char *value)
{
    struct sweep_options *options = owner;
    options->sources->file = value;
    return *value ? NULL : options_wrong("empty value");
}

static enum step apply_command_line(struct sweep_options *options)
{
    const struct sweep_sources *sources = options->sources;
    for (size_t i = 0; i < sources->count; i++) {
        const struct sweep_assignment *assignment = &sources->assignments[i];
        const char *error = options_apply(assignment->row, options, assignment->value);
        if (error && assignment->by_letter)
            return sweep_options_refuse(options, "-%c: %s", assignment->row->letter, error);
        if (error)
            return sweep_options_refuse(options, "--%s: %s", assignment->row->name, error);
    }
    return STEP_NEXT;
}

static enum step complete_lists(struct sweep_options *options)
{
    const char *error = options->r.count ? NULL : parse_list(&options->r, "1");
    if (!error && options->S.count == 0)
        error = parse_list(&options->S, "1");
    return error ? sweep_options_refuse(options, "%s", error) : STEP_NEXT;
}

static const char *parse_list(struct sweep_list *list, const char *value)
{
    struct error error = {0};
    sweep_list_clear(list);
    return sweep_list_parse(value, list, &error) == 0 ? NULL
                                                                   : options_wrong("%s", error.text);
}

static enum step sweep_options_check(struct sweep_options *options)
{
    struct sweep_variable variables[SWEEP_VARY_MAX + 2] = {{"r", "1"}, {"S", "1"}};
    const char *const commands[] = {options->before, options->after, options->sample};
    static const char *const names[] = {"before", "after", "sample"};
    struct error error;
    char *text = NULL;
    if (options->tune && !options->before)
        return sweep_options_refuse(options, "--tune requires --before COMMAND, which applies the value");
    if (options->versus && (options->find_max || options->vary_count > 0 || options->random_order))
        return sweep_options_refuse(options, "--versus excludes --find-max, --tune, --vary and --order; leave them out");
    if (!options->versus && (options->budget > 0 || options->precision < 5 || options->precision > 5))
        return sweep_options_refuse(options, "--precision and --budget require --versus");
    options->find_max = options->find_max || options->versus;
    if (options->slo.text && !options->find_max)
        return sweep_options_refuse(options, "--slo requires --find-max, --tune or --versus; for existing results use traffic-summary --slo");
    if (options->find_max && options->random_order)
        return sweep_options_refuse(options, "--order and --%s exclude each other; leave one out", options->tune ? "tune" : "find-max");
    for (size_t i = 0; i < options->vary_count; i++)
        variables[2 + i] =
            (struct sweep_variable){options->vary[i].name, options->vary[i].values[0]};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (commands[i] && sweep_expand(commands[i], variables, options->vary_count + 2, &text,
                                        &error) < 0)
            return sweep_options_refuse(options, "--%s: %s", names[i], error.text);
        free(text);
        text = NULL;
    }
    return STEP_NEXT;
}

/* Reads MODEL, DC and traffic-replay's options: those of the sweep file, then argv from first on. */
static enum step read_replay(struct sweep_options *options, int argc, char **argv, int first)
{
    /* Set for each cell, or passed separately. */
    static const char *const except[] = {"replay-rate",
                                         "scale-traffic",
                                         "packets-per-second",
                                         "random-seed",
                                         "json",
                                         "yes",
                                         "verbose",
                                         NULL};
    struct sweep_sources *sources = options->sources;
    char **arguments =
        calloc((size_t)argc + sources->file_arguments.count + 4, sizeof *arguments);
    if (!arguments)
        return sweep_options_no_memory(options);
    int count = join_arguments(sources, argc, argv, first, arguments);
    enum step step = settings_read(&options->replay, count, arguments, &sources->status);
    free(arguments);
    if (step == STEP_NEXT)
        step = check_replay_options(options);
    if (step == STEP_NEXT)
        settings_add_arguments(&options->replay, except, &options->replay_arguments);
    return options->replay_arguments.failed ? sweep_options_no_memory(options) : step;
}

/* Builds traffic-replay's command line. The command line's MODEL and DC replace those of the file;
 * a single one is DC. Returns the number of arguments. */
static int join_arguments(const struct sweep_sources *sources, int argc, char **argv, int first,
                          char **arguments)
{
    const struct arguments *file = &sources->file_arguments;
    size_t count = 0;
    arguments[count++] = (char *)(uintptr_t)message_program;
    for (size_t i = 0; i < file->count; i++)
        arguments[count++] = file->items[i];
    /* settings_count_arguments() skips the first argument, the program's name. */
    char **own = arguments + count;
    own[0] = arguments[0];
    memcpy(own + 1, argv + first, (size_t)(argc - first) * sizeof *own);
    int given = settings_count_arguments(argc - first + 1, own);
    if (given < 2 && sources->model)
        own[0] = (char *)(uintptr_t)sources->model;
    else
        memmove(own, own + 1, (size_t)(argc - first) * sizeof *own);
    count += (size_t)(argc - first) + (given < 2 && sources->model);
    if (given == 0 && sources->dc)
        arguments[count++] = (char *)(uintptr_t)sources->dc;
    return (int)count;
}

/* Refuses options that differ from cell to cell, and options that make no normal run. */
static enum step check_replay_options(const struct sweep_options *options)
{
    static const char *const cells[] = {"replay-rate", "scale-traffic"};
    static const char *const others[] = {"packets-per-second",  "json",         "timing-data",
                                         "traffic-summary",     "dry-run",      "clean-up",
                                         "generate-users-only", "make-accounts"};
    const struct settings *replay = &options->replay;
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        if (settings_given(replay, cells[i]))
            return sweep_options_refuse(options, "--%s is an option of traffic-sweep; put it before --", cells[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (settings_given(replay, others[i]))
            return sweep_options_refuse(options, "--%s: not allowed in a sweep", others[i]);
    if (replay->json || replay->timing_data)
        return sweep_options_refuse(options, "--%s: all cells would write the same file; remove it from the "
                                "configuration file",
                                replay->json ? "json" : "timing-data");
    if (replay->random_seed > (uint64_t)RANDOM_SEED_MAX - REPEAT_MAX)
        return sweep_options_refuse(options, "--random-seed: too large; repeats add to it");
    if (strcmp(replay->model, "-") == 0)
        return sweep_options_refuse(options, "MODEL: standard input can be read only once; give a file");
    for (size_t i = 0; i < replay->label_count; i++) {
        bool taken = strcmp(replay->labels[i].name, "repeat") == 0 ||
                     strcmp(replay->labels[i].name, "options") == 0 ||
                     strcmp(replay->labels[i].name, RESULT_SPOILED) == 0;
        for (size_t v = 0; v < options->vary_count; v++)
            taken = taken || strcmp(replay->labels[i].name, options->vary[v].name) == 0;
        if (taken)
            return sweep_options_refuse(options, "--label: \"%s\" is a label of the sweep; choose another name",
                replay->labels[i].name);
    }
    return STEP_NEXT;
}

void sweep_options_clear(struct sweep_options *options)
{
    struct sweep_sources *sources = options->sources;
    if (options->replay.sources)
        settings_clear(&options->replay);
    arguments_clear(&options->replay_arguments);
    sweep_list_clear(&options->r);
    sweep_list_clear(&options->S);
    for (size_t i = 0; i < options->vary_count; i++)
        sweep_vary_clear(&options->vary[i]);
    for (size_t i = 0; sources && i < sources->kept_count; i++)
        secret_free(sources->kept[i]);
    if (sources) {
        free(sources->kept);
        free(sources->assignments);
        arguments_clear(&sources->file_arguments);
    }
    free(sources);
    *options = (struct sweep_options){0};
}

void sweep_options_help(FILE *out)
{
    fputs("traffic-sweep runs traffic-replay for each cell of a grid, unattended.\n"
          "\n"
          "  traffic-sweep [OPTION...] [-- REPLAY-OPTION...] MODEL DC\n"
          "  traffic-sweep -f FILE [OPTION...] [-- REPLAY-OPTION...] [[MODEL] DC]\n"
          "\n"
          "The results are FOLDER/DC_r4_S5.json and .txt; traffic-summary FOLDER shows them.\n",
          out);
    options_help(&sweep_options_table, out);
    fputs("\nPut traffic-replay's options (durations, credentials, seed, ...) after --.\n"
          "See traffic-sweep(1).\n",
          out);
}

enum step sweep_options_refuse(const struct sweep_options *options, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message_print_args(format, args);
    va_end(args);
    return sweep_options_end(options, EXIT_USAGE);
}

enum step sweep_options_end(const struct sweep_options *options, int status)
{
    return step_done(&options->sources->status, status);
}

enum step sweep_options_no_memory(const struct sweep_options *options)
{
    return sweep_options_end(options, options_out_of_memory());
}

char *sweep_options_keep(struct sweep_options *options, const char *text)
{
    struct sweep_sources *sources = options->sources;
    char **grown = array_grow(sources->kept, sources->kept_count, sizeof *grown);
    if (!grown)
        return NULL;
    sources->kept = grown;
    grown[sources->kept_count] = strdup(text);
    return grown[sources->kept_count] ? grown[sources->kept_count++] : NULL;
}

static const char *parse_rates(void *owner, char *value)
{
    struct sweep_options *options = owner;
    return parse_list(&options->r, value);
}

static const char *parse_scales(void *owner, char *value)
{
    struct sweep_options *options = owner;
    return parse_list(&options->S, value);
}

/* Parses NAME=V1,V2,...; cuts value in place. */
static const char *parse_vary(void *owner, char *value)
{
    struct sweep_options *options = owner;
    const char *error = NULL;
    char *equals = strchr(value, '=');
    if (!equals || equals == value)
        return options_wrong("\"%s\" is not NAME=V1,V2,...", value);
    *equals = '\0';
    if (options->tune)
        return options_wrong("excludes --tune; leave one out");
    if (options->sources->vary_from_file)
        while (options->vary_count > 0)
            sweep_vary_clear(&options->vary[--options->vary_count]);
    options->sources->vary_from_file = false;
    struct sweep_vary *vary = sweep_vary_new(options->vary, &options->vary_count, value, &error);
    for (char *rest = equals + 1, *word; !error && (word = strsep(&rest, ","));)
        error = sweep_vary_add(vary, word);
    return error;
}

/* Parses NAME=V1,FROM:TO,...; cuts value in place. */
static const char *parse_tune(void *owner, char *value)
{
    struct sweep_options *options = owner;
    const char *error = NULL;
    char *equals = strchr(value, '=');
    if (!equals || equals == value)
        return options_wrong("\"%s\" is not NAME=FROM:TO or NAME=V1,V2,...", value);
    if (options->vary_count > 0 && !options->tune)
        return options_wrong("excludes --vary; leave one out");
    *equals = '\0';
    options->tune = options->find_max = true;
    struct sweep_vary *vary = sweep_vary_new(options->vary, &options->vary_count, value, &error);
    for (char *rest = equals + 1, *word; !error && (word = strsep(&rest, ","));)
        error = add_tuned(vary, word);
    return error;
}

/* Adds a value, or all numbers of a range. A word with a colon that is no range is a value. */
static const char *add_tuned(struct sweep_vary *vary, char *word)
{
    enum { VALUES_MAX = 1000 };
    struct sweep_list list = {0};
    struct error ignored;
    const char *error = NULL;
    bool range = strchr(word, ':') && sweep_list_parse(word, &list, &ignored) == 0;
    if (!range)
        error = sweep_vary_add(vary, word);
    for (size_t i = 0; range && !error && i < list.count; i++)
        error = i < VALUES_MAX ? sweep_vary_add(vary, list.items[i].text)
                               : options_wrong("more than %d values of %s", VALUES_MAX, vary->name);
    sweep_list_clear(&list);
    return error;
}

static const char *parse_order(void *owner, char *value)
{
    struct sweep_options *options = owner;
    options->random_order = strcmp(value, "random") == 0;
    return options->random_order || strcmp(value, "serial") == 0
               ? NULL
               : options_wrong("\"%s\" is neither serial nor random", value);
}

static const char *parse_slo(void *owner, char *value)
{
    struct sweep_options *options = owner;
    struct error error = {0};
    return slo_parse(&options->slo, value, &error) == 0 ? NULL
                                                                     : options_wrong("%s", error.text);
}
