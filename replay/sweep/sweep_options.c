/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a sweep. The command line is read into assignments first, which also names the sweep
 * file; the file is applied, then the assignments over it, then all that is traffic-replay's is
 * given to settings_read(). The first mistake ends it.
 */
#include "replay/sweep/sweep_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/secret.h"
#include "replay/accounts/credentials.h"
#include "replay/settings_table.h"
#include "replay/settings_words.h"
#include "replay/sweep/sweep_expand.h"
#include "replay/sweep/sweep_file.h"
#include "replay/sweep/sweep_memory.h"

enum row_group { GROUP_CELLS, GROUP_SERVER, GROUP_RESULTS, GROUP_OTHER, GROUP_COUNT };

static const char *const group_titles[GROUP_COUNT] = {
    [GROUP_CELLS] = "Which cells",
    [GROUP_SERVER] = "The server",
    [GROUP_RESULTS] = "Results",
    [GROUP_OTHER] = "Other",
};

#define AT(member) offsetof(struct sweep_options, member)

enum { REPEAT_MAX = 1000, SECONDS_MAX = 86400 };

/* clang-format on */

static int sweep_options_set_defaults(struct sweep_options *options);
static int sweep_options_take_options(struct sweep_options *options, int argc, char **argv,
                                      int *first);
static int sweep_options_complain_unknown(const struct options_given *given);
static int sweep_options_take_option(struct sweep_options *options,
                                     const struct options_given *given);
static int find_file(struct sweep_options *options);
static const char *parse_file(void *owner, char *value);
static int apply_command_line(struct sweep_options *options);
static int complete_lists(struct sweep_options *options);
static const char *parse_list(struct sweep_list *list, const char *value);
static int sweep_options_check(const struct sweep_options *options);
static int read_replay(struct sweep_options *options, int argc, char **argv, int first);
static int check_replay_options(const struct sweep_options *options);
static const char *parse_rates(void *owner, char *value);
static const char *parse_scales(void *owner, char *value);
static const char *parse_vary(void *owner, char *value);
static const char *parse_order(void *owner, char *value);
static const char *parse_slo(void *owner, char *value);

/* clang-format off */
static const struct options_row rows[] = {
    {"replay-rate", 'r', "LIST", OPTIONS_CUSTOM, 0, 0, 0, SWEEP_LIST, GROUP_CELLS,
     "replay rates: 4:24, 4:24:4 (from, to, step), 4,8,16 (default 1)", parse_rates},
    {"scale-traffic", 'S', "LIST", OPTIONS_CUSTOM, 0, 0, 0, SWEEP_LIST, GROUP_CELLS,
     "scales (default 1)", parse_scales},
    {"vary", 0, "NAME=V1,V2,...", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CELLS,
     "play all cells with each value; {NAME} stands for it in commands", parse_vary},
    {"repeat", 0, "N", OPTIONS_WHOLE, AT(repeat), 1, REPEAT_MAX, 0, GROUP_CELLS,
     "play each cell N times (default 1; of --find-max, the best ones: 3)", NULL},
    {"order", 0, "serial|random", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CELLS,
     "in which order cells are played (default serial)", parse_order},
    {"find-max", 0, NULL, OPTIONS_FLAG, AT(find_max), 0, 0, 0, GROUP_CELLS,
     "play only the cells that are needed to find the maximum", NULL},
    {"slo", 0, "LEVEL", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CELLS,
     "the maximum is to keep a service level: success>=99%,p95<=200ms", parse_slo},

    {"before", 0, "COMMAND", OPTIONS_TEXT, AT(before), 0, 0, 0, GROUP_SERVER,
     "run it before each cell; {r}, {S} and {NAME} are replaced", NULL},
    {"after", 0, "COMMAND", OPTIONS_TEXT, AT(after), 0, 0, 0, GROUP_SERVER,
     "run it after each cell", NULL},
    {"hook-timeout", 0, "SECONDS", OPTIONS_NUMBER, AT(hook_timeout), 0.1, SECONDS_MAX, 0,
     GROUP_SERVER, "a command that takes longer has failed (default 300)", NULL},
    {"settle", 0, "SECONDS", OPTIONS_NUMBER, AT(settle), 0, SECONDS_MAX, 0, GROUP_SERVER,
     "wait so long before each cell (default 0)", NULL},
    {"sample", 0, "COMMAND", OPTIONS_TEXT, AT(sample), 0, 0, 0, GROUP_SERVER,
     "record the \"name value\" lines that it prints once a second; none: no samples\n"
     "(default: the processes of a server on this machine)", NULL},

    {"results", 0, "FOLDER", OPTIONS_TEXT, AT(results), 0, 0, 0, GROUP_RESULTS,
     "where results go; made when it is not there (default results)", NULL},
    {"resume", 0, NULL, OPTIONS_FLAG, AT(resume), 0, 0, OPTIONS_COMMAND_LINE, GROUP_RESULTS,
     "go on: play the cells that FOLDER has no result of", NULL},

    {"file", 'f', "FILE", OPTIONS_CUSTOM, 0, 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "read a sweep file (YAML): long option names, model, dc, options", parse_file},
    {"verbose", 'v', NULL, OPTIONS_COUNTER, AT(verbose), 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "show what traffic-replay and the commands say", NULL},
    OPTIONS_HELP_ROW(GROUP_OTHER),
    OPTIONS_VERSION_ROW(GROUP_OTHER),
};

_Static_assert(sizeof rows / sizeof rows[0] <= OPTIONS_ROWS_MAX,
               "a reading has no room for so many rows");

const struct options_table sweep_options_table = {.rows = rows,
                                                  .count = sizeof rows / sizeof rows[0],
                                                  .groups = group_titles,
                                                  .group_count = GROUP_COUNT,
                                                  .help_column = 30,
                                                  .print_help = sweep_options_help};

int sweep_options_read(struct sweep_options *options, int argc, char **argv)
{
    int first = argc;
    int status = sweep_options_set_defaults(options);
    if (status < 0)
        status = sweep_options_take_options(options, argc, argv, &first);
    if (status < 0)
        status = find_file(options);
    if (status < 0)
        status = apply_command_line(options);
    if (status < 0)
        status = complete_lists(options);
    if (status < 0)
        status = sweep_options_check(options);
    return status < 0 ? read_replay(options, argc, argv, first) : status;
}

static int sweep_options_set_defaults(struct sweep_options *options)
{
    *options = (struct sweep_options){.results = "results", .hook_timeout = 300};
    options->memory = calloc(1, sizeof *options->memory);
    return options->memory ? -1 : options_out_of_memory();
}

/* Up to --, or the end; words without a dash are moved behind the options. *first is theirs. */
static int sweep_options_take_options(struct sweep_options *options, int argc, char **argv,
                                      int *first)
{
    struct options_scan scan;
    struct options_given given;
    options_scan(&scan, &sweep_options_table, argc, argv);
    while (options_next(&scan, &given, first)) {
        int status;
        if (given.fault == OPTIONS_UNKNOWN)
            status = sweep_options_complain_unknown(&given);
        else if (given.fault != OPTIONS_GOOD)
            status = options_complain_of(&sweep_options_table, &given);
        else
            status = sweep_options_take_option(options, &given);
        if (status >= 0)
            return status;
    }
    return -1;
}

/* Options of traffic-replay get a hint. */
static int sweep_options_complain_unknown(const struct options_given *given)
{
    if (given->letter && options_has_letter(&settings_table, given->letter))
        return options_complain("-%c: unknown option; put traffic-replay's options after --",
                                given->letter);
    if (!given->letter && options_find(&settings_table, given->name))
        return options_complain("--%s: unknown option; put traffic-replay's options after --",
                                given->name);
    return options_complain_of(&sweep_options_table, given);
}

static int sweep_options_take_option(struct sweep_options *options,
                                     const struct options_given *given)
{
    const struct options_row *row = given->row;
    struct sweep_options_memory *memory = options->memory;
    int status;
    if (options_answer(&sweep_options_table, row, &status) == STEP_DONE)
        return status;
    struct sweep_assignment assignment = {.row = row, .by_letter = given->by_letter};
    struct sweep_assignment *grown =
        reallocarray(memory->assignments, memory->count + 1, sizeof *grown);
    if (!grown)
        return options_out_of_memory();
    memory->assignments = grown;
    if (given->value && !(assignment.value = sweep_options_keep(options, given->value)))
        return options_out_of_memory();
    grown[memory->count++] = assignment;
    return -1;
}

/* --file comes before everything else. */
static int find_file(struct sweep_options *options)
{
    const struct sweep_options_memory *memory = options->memory;
    for (size_t i = 0; i < memory->count; i++)
        if (memory->assignments[i].row->parse == parse_file)
            options->memory->file = memory->assignments[i].value;
    return memory->file ? sweep_file_read(options, memory->file) : -1;
}

static const char *parse_file(void *owner, char *value)
{
    struct sweep_options *options = owner;
    options->memory->file = value;
    return *value ? NULL : options_wrong("empty value");
}

static int apply_command_line(struct sweep_options *options)
{
    const struct sweep_options_memory *memory = options->memory;
    for (size_t i = 0; i < memory->count; i++) {
        const struct sweep_assignment *assignment = &memory->assignments[i];
        const char *error = options_apply(assignment->row, options, assignment->value);
        if (error && assignment->by_letter)
            return options_complain("-%c: %s", assignment->row->letter, error);
        if (error)
            return options_complain("--%s: %s", assignment->row->name, error);
    }
    return -1;
}

static int complete_lists(struct sweep_options *options)
{
    const char *error = options->r.count ? NULL : parse_list(&options->r, "1");
    if (!error && options->S.count == 0)
        error = parse_list(&options->S, "1");
    return error ? options_complain("%s", error) : -1;
}

static const char *parse_list(struct sweep_list *list, const char *value)
{
    struct error error = {0};
    sweep_list_clear(list);
    return sweep_list_parse(value, list, &error) == 0 ? NULL
                                                                   : options_wrong("%s", error.text);
}

static int sweep_options_check(const struct sweep_options *options)
{
    struct sweep_variable variables[SWEEP_VARY_MAX + 2] = {{"r", "1"}, {"S", "1"}};
    const char *const commands[] = {options->before, options->after, options->sample};
    static const char *const names[] = {"before", "after", "sample"};
    struct error error;
    char *text = NULL;
    if (options->slo.text && !options->find_max)
        return options_complain(
            "--slo: only --find-max looks at it; traffic-summary --slo judges results");
    if (options->find_max && options->random_order)
        return options_complain("--order: --find-max has an order of its own; leave one out");
    for (size_t i = 0; i < options->vary_count; i++)
        variables[2 + i] =
            (struct sweep_variable){options->vary[i].name, options->vary[i].values[0]};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (commands[i] && sweep_expand(commands[i], variables, options->vary_count + 2, &text,
                                        &error) < 0)
            return options_complain("--%s: %s", names[i], error.text);
        free(text);
        text = NULL;
    }
    return -1;
}

/* argv from first on: MODEL and DC, and behind a -- options of traffic-replay. */
static int read_replay(struct sweep_options *options, int argc, char **argv, int first)
{
    /* What stands on its own, or in the files, is on every cell's command line. */
    static const char *const except[] = {"replay-rate",
                                         "scale-traffic",
                                         "packets-per-second",
                                         "random-seed",
                                         "json",
                                         "yes",
                                         "verbose",
                                         NULL};
    const struct sweep_options_memory *memory = options->memory;
    size_t count = 0;
    char **words = calloc((size_t)argc + memory->file_word_count + 4, sizeof *words);
    int status = -1;
    if (!words)
        return options_out_of_memory();
    words[count++] = (char[]){"traffic-sweep"};
    for (size_t i = 0; i < memory->file_word_count; i++)
        words[count++] = memory->file_words[i];
    size_t own = count;
    count++; /* for the file's model */
    for (int i = first; i < argc; i++)
        words[count++] = argv[i];
    words[own] = words[0];
    int given = settings_count_words((int)(count - own), words + own);
    if (given < 2 && memory->model) {
        words[own] = (char *)(uintptr_t)memory->model;
    } else {
        memmove(words + own, words + own + 1, (count - own) * sizeof *words);
        count--;
    }
    if (given == 0 && memory->dc)
        words[count++] = (char *)(uintptr_t)memory->dc;
    status = settings_read(&options->replay, (int)count, words);
    free(words);
    if (status < 0)
        status = check_replay_options(options);
    if (status < 0 && !(options->words = settings_words(&options->replay, except)))
        status = options_out_of_memory();
    return status;
}

/* Each cell has its own; or they end or change what a run is. */
static int check_replay_options(const struct sweep_options *options)
{
    static const char *const cells[] = {"replay-rate", "scale-traffic"};
    static const char *const others[] = {"packets-per-second",  "json",         "timing-data",
                                         "traffic-summary",     "dry-run",      "clean-up",
                                         "generate-users-only", "make-accounts"};
    const struct settings *replay = &options->replay;
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        if (settings_given(replay, cells[i]))
            return options_complain("--%s: give it to traffic-sweep, before the --", cells[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (settings_given(replay, others[i]))
            return options_complain("--%s: a sweep cannot have it", others[i]);
    if (replay->json || replay->timing_data)
        return options_complain("--%s: all cells would write the same file; take it out of the "
                                "configuration file",
                                replay->json ? "json" : "timing-data");
    if (replay->random_seed > (uint64_t)INT64_MAX - REPEAT_MAX)
        return options_complain(
            "--random-seed: repeats add to it, and the sum would be out of range");
    if (strcmp(replay->model, "-") == 0)
        return options_complain("MODEL: standard input can be read once only; give a file");
    for (size_t i = 0; i < replay->label_count; i++) {
        bool taken = strcmp(replay->labels[i].name, "repeat") == 0 ||
                     strcmp(replay->labels[i].name, "options") == 0;
        for (size_t v = 0; v < options->vary_count; v++)
            taken = taken || strcmp(replay->labels[i].name, options->vary[v].name) == 0;
        if (taken)
            return options_complain(
                "--label: the label \"%s\" is the sweep's own; give it another name",
                replay->labels[i].name);
    }
    return -1;
}

void sweep_options_clear(struct sweep_options *options)
{
    struct sweep_options_memory *memory = options->memory;
    if (options->replay.memory)
        settings_clear(&options->replay);
    settings_free_words(options->words);
    sweep_list_clear(&options->r);
    sweep_list_clear(&options->S);
    for (size_t i = 0; i < options->vary_count; i++)
        sweep_vary_clear(&options->vary[i]);
    for (size_t i = 0; memory && i < memory->kept_count; i++)
        secret_free(memory->kept[i]);
    if (memory) {
        free(memory->kept);
        free(memory->assignments);
        free(memory->file_words);
    }
    free(memory);
    *options = (struct sweep_options){0};
}

void sweep_options_help(FILE *out)
{
    fputs("traffic-sweep plays a whole grid of traffic-replay's cells, unattended.\n"
          "\n"
          "  traffic-sweep [OPTION...] [-- REPLAY-OPTION...] MODEL DC\n"
          "  traffic-sweep -f FILE [OPTION...] [-- REPLAY-OPTION...] [[MODEL] DC]\n"
          "\n"
          "Results go to FOLDER as DC_r4_S5.json and .txt; traffic-summary FOLDER shows them.\n",
          out);
    options_help(&sweep_options_table, out);
    fputs("\nOptions of traffic-replay (durations, credentials, seed, ...) stand behind a --. See "
          "traffic-sweep(1).\n",
          out);
}

char *sweep_options_keep(struct sweep_options *options, const char *text)
{
    struct sweep_options_memory *memory = options->memory;
    char **grown = reallocarray(memory->kept, memory->kept_count + 1, sizeof *grown);
    if (!grown)
        return NULL;
    memory->kept = grown;
    grown[memory->kept_count] = strdup(text);
    return grown[memory->kept_count] ? grown[memory->kept_count++] : NULL;
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

/* NAME=V1,V2,...; cuts it to pieces in place. The command line's list replaces the file's. */
static const char *parse_vary(void *owner, char *value)
{
    struct sweep_options *options = owner;
    const char *error = NULL;
    char *equals = strchr(value, '=');
    if (!equals || equals == value)
        return options_wrong("\"%s\" is not NAME=V1,V2,...", value);
    *equals = '\0';
    if (options->memory->vary_from_file)
        while (options->vary_count > 0)
            sweep_vary_clear(&options->vary[--options->vary_count]);
    options->memory->vary_from_file = false;
    struct sweep_vary *vary = sweep_vary_new(options->vary, &options->vary_count, value, &error);
    for (char *rest = equals + 1, *word; !error && (word = strsep(&rest, ","));)
        error = sweep_vary_add(vary, word);
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
