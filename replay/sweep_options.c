/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a sweep. The command line is read into assignments first, which also names the sweep
 * file; the file is applied, then the assignments over it, then all that is traffic-replay's is
 * given to settings_read(). The first mistake ends it.
 */
#include "replay/sweep_options.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "model/document.h"
#include "replay/credentials.h"
#include "replay/message.h"
#include "replay/options.h"
#include "replay/settings_words.h"
#include "replay/sweep_expand.h"

enum row_group { GROUP_CELLS, GROUP_SERVER, GROUP_RESULTS, GROUP_OTHER, GROUP_COUNT };

static const char *const group_titles[GROUP_COUNT] = {
    [GROUP_CELLS] = "Which cells",
    [GROUP_SERVER] = "The server",
    [GROUP_RESULTS] = "Results",
    [GROUP_OTHER] = "Other",
};

struct assignment {
    const struct options_row *row;
    char *value; /* NULL: a flag */
    bool by_letter;
};

/* Words that live as long as the options. */
struct sweep_options_memory {
    struct assignment *assignments;
    size_t count;
    char **kept; /* texts, all to be overwritten and freed */
    size_t kept_count;
    const char *file;       /* --file */
    bool vary_from_file;    /* what --vary gives goes over it */
    const char *model, *dc; /* of the sweep file */
    char **file_words;      /* its "options", as words */
    size_t file_word_count;
};

static const char *parse_rates(void *owner, char *value);
static const char *parse_scales(void *owner, char *value);
static const char *parse_order(void *owner, char *value);
static const char *parse_vary(void *owner, char *value);
static const char *parse_slo(void *owner, char *value);
static const char *parse_file(void *owner, char *value);

#define AT(member) offsetof(struct sweep_options, member)

enum { REPEAT_MAX = 1000, SECONDS_MAX = 86400 };

/* clang-format off */
static const struct options_row rows[] = {
    {"replay-rate", 'r', "LIST", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CELLS,
     "replay rates: 4:24, 4:24:4 (from, to, step), 4,8,16 (default 1)", parse_rates},
    {"scale-traffic", 'S', "LIST", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CELLS,
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
    {"help", 'h', NULL, OPTIONS_CUSTOM, 0, 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "print this", NULL},
    {"version", 'V', NULL, OPTIONS_CUSTOM, 0, 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "print the version", NULL},
};
/* clang-format on */

enum { ROW_COUNT = sizeof rows / sizeof rows[0], ERROR_SIZE = OPTIONS_ERROR_SIZE };
_Static_assert(sizeof rows / sizeof rows[0] <= OPTIONS_ROWS_MAX,
               "a reading has no room for so many rows");

static const struct options_table table = {.rows = rows,
                                           .count = ROW_COUNT,
                                           .groups = group_titles,
                                           .group_count = GROUP_COUNT,
                                           .help_column = 30};

/* A copy that lives as long as the options; NULL: no memory. */
static char *keep(struct sweep_options *options, const char *text)
{
    struct sweep_options_memory *memory = options->memory;
    char **grown = reallocarray(memory->kept, memory->kept_count + 1, sizeof *grown);
    if (!grown)
        return NULL;
    memory->kept = grown;
    grown[memory->kept_count] = strdup(text);
    return grown[memory->kept_count] ? grown[memory->kept_count++] : NULL;
}

/* --- Values -------------------------------------------------------------------------------- */

static const char *parse_list(struct sweep_list *list, const char *value)
{
    char error[ERROR_SIZE];
    sweep_list_clear(list);
    return sweep_list_parse(value, list, error, sizeof error) == 0 ? NULL
                                                                   : options_wrong("%s", error);
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
    char error[ERROR_SIZE];
    return slo_parse(&options->slo, value, error, sizeof error) == 0 ? NULL
                                                                     : options_wrong("%s", error);
}

static const char *parse_file(void *owner, char *value)
{
    struct sweep_options *options = owner;
    options->memory->file = value;
    return *value ? NULL : options_wrong("it is empty");
}

/* --- --vary -------------------------------------------------------------------------------- */

static void clear_vary(struct sweep_vary *vary)
{
    for (size_t i = 0; i < vary->count; i++)
        free(vary->values[i]);
    free(vary->values);
    free(vary->name);
    *vary = (struct sweep_vary){0};
}

static const char *add_vary_value(struct sweep_vary *vary, const char *value)
{
    if (!*value)
        return options_wrong("a value of %s is empty", vary->name);
    for (size_t i = 0; i < vary->count; i++)
        if (strcmp(vary->values[i], value) == 0)
            return options_wrong("the value %s of %s is given twice", value, vary->name);
    char **grown = reallocarray(vary->values, vary->count + 1, sizeof *grown);
    if (!grown || !(grown[vary->count] = strdup(value))) {
        vary->values = grown ? grown : vary->values;
        return options_wrong("out of memory");
    }
    vary->values = grown;
    vary->count++;
    return NULL;
}

/* A fresh place for a name; *error tells why there is none. */
static struct sweep_vary *new_vary(struct sweep_options *options, const char *name,
                                   const char **error)
{
    static const char *const taken[] = {"r", "S", "repeat", "options"};
    *error = NULL;
    if (!sweep_is_name(name))
        *error =
            options_wrong("\"%s\" is no name: it begins with a letter and goes on with letters, "
                          "digits, _ and -",
                          name);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(name, taken[i]) == 0)
            *error = options_wrong("the name %s is taken: give it another one", name);
    for (size_t i = 0; i < options->vary_count; i++)
        if (strcmp(options->vary[i].name, name) == 0)
            *error = options_wrong("%s is given twice", name);
    if (!*error && options->vary_count == SWEEP_VARY_MAX)
        *error = options_wrong("these are more than %d settings", SWEEP_VARY_MAX);
    if (*error)
        return NULL;
    struct sweep_vary *vary = &options->vary[options->vary_count];
    *vary = (struct sweep_vary){.name = strdup(name)};
    if (!vary->name) {
        *error = options_wrong("out of memory");
        return NULL;
    }
    options->vary_count++;
    return vary;
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
            clear_vary(&options->vary[--options->vary_count]);
    options->memory->vary_from_file = false;
    struct sweep_vary *vary = new_vary(options, value, &error);
    for (char *rest = equals + 1, *word; !error && (word = strsep(&rest, ","));)
        error = add_vary_value(vary, word);
    return error;
}

/* --- The sweep file ------------------------------------------------------------------------ */

struct reader {
    struct sweep_options *options;
    const char *name;
    char *folder; /* of the file: its model is looked for there */
};

static int at(const struct reader *reader, const struct document_node *node, const char *key,
              const char *what)
{
    return options_complain("%s:%u:%u: %s%s%s", reader->name, node->place.line, node->place.column,
                            key, *key ? ": " : "", what);
}

static int expected(const struct reader *reader, const struct document_node *node, const char *key,
                    const char *what)
{
    char found[80], text[200];
    snprintf(text, sizeof text, "expected %s, found %s", what,
             document_describe(node, found, sizeof found));
    return at(reader, node, key, text);
}

/* A scalar, or a sequence of them joined by commas; kept. NULL: it was told. */
static char *joined(const struct reader *reader, const struct document_node *node, const char *key)
{
    char *text = NULL, *kept = NULL;
    size_t size = 0;
    if (node->kind == DOCUMENT_SCALAR)
        kept = keep(reader->options, node->text);
    else if (node->kind == DOCUMENT_MAPPING || node->count == 0)
        return expected(reader, node, key, "a value or a list of values"), NULL;
    FILE *stream = kept ? NULL : open_memstream(&text, &size);
    for (size_t i = 0; stream && i < node->count; i++) {
        if (node->items[i]->kind != DOCUMENT_SCALAR) {
            fclose(stream);
            free(text);
            return expected(reader, node->items[i], key, "a plain value"), NULL;
        }
        fprintf(stream, "%s%s", i ? "," : "", node->items[i]->text);
    }
    if (stream && fclose(stream) == 0)
        kept = keep(reader->options, text);
    free(text);
    if (!kept)
        options_out_of_memory();
    return kept;
}

static int read_row(const struct reader *reader, const struct options_row *row,
                    const struct document_node *value)
{
    bool yes = false, list = row->parse == parse_rates || row->parse == parse_scales;
    if (row->kind == OPTIONS_FLAG) {
        if (!document_boolean(value, &yes))
            return expected(reader, value, row->name, "true or false");
        *(bool *)((char *)reader->options + row->offset) = yes;
        return -1;
    }
    if (!list && value->kind != DOCUMENT_SCALAR)
        return expected(reader, value, row->name, "a value");
    char *text = joined(reader, value, row->name);
    const char *error = text ? options_apply(row, reader->options, text) : NULL;
    if (!text)
        return EXIT_USAGE;
    return error ? at(reader, value, row->name, error) : -1;
}

static int read_vary(const struct reader *reader, const struct document_node *node)
{
    if (node->kind != DOCUMENT_MAPPING || node->count == 0)
        return expected(reader, node, "vary", "a mapping of names to lists of values");
    reader->options->memory->vary_from_file = true;
    for (size_t i = 0; i < node->count; i++) {
        const struct document_node *key = node->items[2 * i], *value = node->items[2 * i + 1];
        const char *error;
        struct sweep_vary *vary = new_vary(reader->options, key->text, &error);
        if (!vary)
            return at(reader, key, "vary", error);
        if (value->kind != DOCUMENT_SEQUENCE || value->count == 0)
            return expected(reader, value, key->text, "a list of values");
        for (size_t v = 0; v < value->count; v++) {
            if (value->items[v]->kind != DOCUMENT_SCALAR)
                return expected(reader, value->items[v], key->text, "a plain value");
            if ((error = add_vary_value(vary, value->items[v]->text)))
                return at(reader, value->items[v], "vary", error);
        }
    }
    return -1;
}

static int add_word(const struct reader *reader, const struct document_node *node, const char *name,
                    const char *value)
{
    struct sweep_options_memory *memory = reader->options->memory;
    char *word = NULL, **grown;
    const char *error = settings_try(name, value);
    bool secret =
        strcmp(name, "fixed-password") == 0 || (strcmp(name, "user") == 0 && strchr(value, '%'));
    if (error)
        return at(reader, node, name, error);
    if (secret)
        return at(reader, node, name, "a sweep file is no place for passwords");
    if (settings_is_flag(name) && (strcasecmp(value, "false") == 0 ||
                                   strcasecmp(value, "no") == 0 || strcasecmp(value, "off") == 0))
        return -1;
    if (asprintf(&word, "--%s%s%s", name, settings_is_flag(name) ? "" : "=",
                 settings_is_flag(name) ? "" : value) < 0)
        return options_out_of_memory();
    grown = reallocarray(memory->file_words, memory->file_word_count + 1, sizeof *grown);
    if (grown) {
        memory->file_words = grown;
        grown[memory->file_word_count] = keep(reader->options, word);
    }
    free(word);
    if (!grown || !grown[memory->file_word_count])
        return options_out_of_memory();
    memory->file_word_count++;
    return -1;
}

/* "options": traffic-replay's, as in its configuration file. */
static int read_replay_options(const struct reader *reader, const struct document_node *node)
{
    if (node->kind != DOCUMENT_MAPPING)
        return expected(reader, node, "options", "a mapping of traffic-replay's options");
    int status = -1;
    for (size_t i = 0; status < 0 && i < node->count; i++) {
        const struct document_node *key = node->items[2 * i], *value = node->items[2 * i + 1];
        if (value->kind == DOCUMENT_MAPPING)
            return expected(reader, value, key->text, "a value or a list of values");
        if (value->kind == DOCUMENT_SCALAR)
            status = add_word(reader, value, key->text, value->text);
        for (size_t v = 0; status < 0 && value->kind == DOCUMENT_SEQUENCE && v < value->count; v++)
            status = value->items[v]->kind == DOCUMENT_SCALAR
                         ? add_word(reader, value->items[v], key->text, value->items[v]->text)
                         : expected(reader, value->items[v], key->text, "a plain value");
    }
    return status;
}

/* The model's path is taken from the sweep file's folder. */
static int read_word(const struct reader *reader, const char *key, const struct document_node *node)
{
    bool model = strcmp(key, "model") == 0;
    char *path = NULL;
    if (node->kind != DOCUMENT_SCALAR || !node->text[0])
        return expected(reader, node, key, model ? "a model file" : "a name or an address");
    bool relative = model && node->text[0] != '/' && strcmp(node->text, "-") != 0;
    if (asprintf(&path, "%s%s%s", relative ? reader->folder : "", relative ? "/" : "", node->text) <
        0)
        return options_out_of_memory();
    const char *kept = keep(reader->options, path);
    free(path);
    if (!kept)
        return options_out_of_memory();
    *(model ? &reader->options->memory->model : &reader->options->memory->dc) = kept;
    return -1;
}

static int unknown_key(const struct reader *reader, const struct document_node *key)
{
    char what[ERROR_SIZE] = "one of the keys model, dc, options";
    for (size_t i = 0; i < ROW_COUNT; i++) {
        size_t used = strlen(what);
        if (!(rows[i].properties & OPTIONS_COMMAND_LINE))
            snprintf(what + used, sizeof what - used, ", %s", rows[i].name);
    }
    return expected(reader, key, "", what);
}

static int read_key(const struct reader *reader, const struct document_node *key,
                    const struct document_node *value)
{
    const struct options_row *row = options_find(&table, key->text);
    if (strcmp(key->text, "model") == 0 || strcmp(key->text, "dc") == 0)
        return read_word(reader, key->text, value);
    if (strcmp(key->text, "options") == 0)
        return read_replay_options(reader, value);
    if (strcmp(key->text, "vary") == 0)
        return read_vary(reader, value);
    if (!row)
        return unknown_key(reader, key);
    return row->properties & OPTIONS_COMMAND_LINE
               ? at(reader, key, row->name, "it belongs on the command line")
               : read_row(reader, row, value);
}

static int read_document(struct reader *reader, const char *text, size_t size)
{
    struct document *document = NULL;
    char error[ERROR_SIZE];
    int status = -1;
    if (document_parse(reader->name, text, size, &document, error, sizeof error) < 0)
        return options_complain("%s", error);
    const struct document_node *root = document_root(document);
    if (root->kind != DOCUMENT_MAPPING)
        status = expected(reader, root, "", "a mapping");
    for (size_t i = 0; status < 0 && i < root->count; i++)
        status = read_key(reader, root->items[2 * i], root->items[2 * i + 1]);
    document_free(document);
    return status;
}

static int read_file(struct sweep_options *options)
{
    enum { LARGEST = 1 << 20 };
    const char *path = options->memory->file;
    char *text = NULL, *copy, error[ERROR_SIZE];
    size_t size;
    if (document_read_file(path, LARGEST, &text, &size, error, sizeof error) < 0)
        return options_complain("%s", error);
    struct reader reader = {.options = options, .name = document_file_name(path)};
    copy = strdup(path);
    reader.folder = copy ? strdup(strcmp(path, "-") == 0 ? "." : dirname(copy)) : NULL;
    int status = reader.folder ? read_document(&reader, text, size) : options_out_of_memory();
    free(reader.folder);
    free(copy);
    free(text);
    return status;
}

/* --- The command line ---------------------------------------------------------------------- */

static int complain_unknown(const struct options_given *given)
{
    char name[40];
    if (given->letter)
        return options_complain("-%c: there is no such option; traffic-replay's stand behind --",
                                given->letter);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(given->word + 2, "="), given->word + 2);
    bool replays = settings_is_flag(name) || !settings_try(name, "1");
    return options_complain("--%s: there is no such option%s", name,
                            replays ? "; traffic-replay's stand behind --" : "; see --help");
}

static int finish_output(void)
{
    if (fflush(stdout) == 0)
        return EXIT_OK;
    options_complain("cannot write to standard output: %s", strerror(errno));
    return EXIT_FAILED;
}

static int take_option(struct sweep_options *options, const struct options_given *given)
{
    const struct options_row *row = given->row;
    struct sweep_options_memory *memory = options->memory;
    if (strcmp(row->name, "help") == 0) {
        sweep_options_help(stdout);
        return finish_output();
    }
    if (strcmp(row->name, "version") == 0) {
        printf("traffic-sweep %s\n", TRAFFIC_VERSION);
        return finish_output();
    }
    struct assignment assignment = {.row = row, .by_letter = given->by_letter};
    struct assignment *grown = reallocarray(memory->assignments, memory->count + 1, sizeof *grown);
    if (!grown)
        return options_out_of_memory();
    memory->assignments = grown;
    if (given->value && !(assignment.value = keep(options, given->value)))
        return options_out_of_memory();
    grown[memory->count++] = assignment;
    return -1;
}

/* Up to --, or the end; words without a dash are moved behind the options. *first is theirs. */
static int take_options(struct sweep_options *options, int argc, char **argv, int *first)
{
    struct options_scan scan;
    struct options_given given;
    options_scan(&scan, &table, argc, argv);
    while (options_next(&scan, &given, first)) {
        int status;
        if (given.fault == OPTIONS_UNKNOWN)
            status = complain_unknown(&given);
        else if (given.fault != OPTIONS_GOOD)
            status = options_complain_of(&given);
        else
            status = take_option(options, &given);
        if (status >= 0)
            return status;
    }
    return -1;
}

static int apply_command_line(struct sweep_options *options)
{
    const struct sweep_options_memory *memory = options->memory;
    for (size_t i = 0; i < memory->count; i++) {
        const struct assignment *assignment = &memory->assignments[i];
        const char *error = options_apply(assignment->row, options, assignment->value);
        if (error && assignment->by_letter)
            return options_complain("-%c: %s", assignment->row->letter, error);
        if (error)
            return options_complain("--%s: %s", assignment->row->name, error);
    }
    return -1;
}

/* --file comes before everything else. */
static int find_file(struct sweep_options *options)
{
    const struct sweep_options_memory *memory = options->memory;
    for (size_t i = 0; i < memory->count; i++)
        if (memory->assignments[i].row->parse == parse_file)
            options->memory->file = memory->assignments[i].value;
    return memory->file ? read_file(options) : -1;
}

/* --- traffic-replay's part ----------------------------------------------------------------- */

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

/* --- All of it ----------------------------------------------------------------------------- */

static int check(const struct sweep_options *options)
{
    struct sweep_variable variables[SWEEP_VARY_MAX + 2] = {{"r", "1"}, {"S", "1"}};
    const char *const commands[] = {options->before, options->after, options->sample};
    static const char *const names[] = {"before", "after", "sample"};
    char *text = NULL, error[ERROR_SIZE];
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
                                        error, sizeof error) < 0)
            return options_complain("--%s: %s", names[i], error);
        free(text);
        text = NULL;
    }
    return -1;
}

static int set_defaults(struct sweep_options *options)
{
    *options = (struct sweep_options){.results = "results", .hook_timeout = 300};
    options->memory = calloc(1, sizeof *options->memory);
    return options->memory ? -1 : options_out_of_memory();
}

static int complete_lists(struct sweep_options *options)
{
    const char *error = options->r.count ? NULL : parse_list(&options->r, "1");
    if (!error && options->S.count == 0)
        error = parse_list(&options->S, "1");
    return error ? options_complain("%s", error) : -1;
}

int sweep_options_read(struct sweep_options *options, int argc, char **argv)
{
    int first = argc;
    int status = set_defaults(options);
    if (status < 0)
        status = take_options(options, argc, argv, &first);
    if (status < 0)
        status = find_file(options);
    if (status < 0)
        status = apply_command_line(options);
    if (status < 0)
        status = complete_lists(options);
    if (status < 0)
        status = check(options);
    return status < 0 ? read_replay(options, argc, argv, first) : status;
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
        clear_vary(&options->vary[i]);
    for (size_t i = 0; memory && i < memory->kept_count; i++)
        credentials_free_secret(memory->kept[i]);
    if (memory) {
        free(memory->kept);
        free(memory->assignments);
        free(memory->file_words);
    }
    free(memory);
    *options = (struct sweep_options){0};
}

/* --- Help ---------------------------------------------------------------------------------- */

void sweep_options_help(FILE *out)
{
    fputs("traffic-sweep plays a whole grid of traffic-replay's cells, unattended.\n"
          "\n"
          "  traffic-sweep [OPTION...] [-- REPLAY-OPTION...] MODEL DC\n"
          "  traffic-sweep -f FILE [OPTION...] [-- REPLAY-OPTION...] [[MODEL] DC]\n"
          "\n"
          "Results go to FOLDER as DC_r4_S5.json and .txt; traffic-summary FOLDER shows them.\n",
          out);
    options_help(&table, out);
    fputs("\nOptions of traffic-replay (durations, credentials, seed, ...) stand behind a --. See "
          "traffic-sweep(1).\n",
          out);
}
