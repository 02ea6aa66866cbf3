/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of options: command lines, values, help. */
#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/build_options.h"
#include "base/message.h"
#include "base/random.h"
#include "base/secret.h"

/* getopt_long() returns LONG_BASE plus a row's index for a long name. */
enum { LONG_BASE = 256 };

static enum step take_option(const struct options_table *table, void *owner,
                             const struct options_given *given, int *status);
static unsigned edit_distance(const char *a, const char *b);
static const char *set_flag(const char *value, bool *out);
static const char *set_number(const struct options_row *row, const char *value, double *out);
static const char *out_of_range(const struct options_row *row, const char *value);
static const char *set_whole(const struct options_row *row, const char *value, void *target);
static const char *parse_whole(const struct options_row *row, const char *value, uint64_t *out);
static const char *options_set_text(const struct options_row *row, char *value, void *target);
static const char *check_name(const char *value);
static const char *set_secret(char *value, char **out);
static const struct options_row *row_of(const struct options_table *table, int found);
static int complain_of_letter(const struct options_table *table, int letter);
static const char *find_hint(const struct options_table *table, const char *name);
static int complain_of_name(const struct options_table *table, const char *name);
static size_t list_matches(const struct options_table *table, const char *name, char *list,
                           size_t size);
static void print_version(void);
static void options_print_row(const struct options_row *row, int column, FILE *out);

int options_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message_print_args(format, args);
    va_end(args);
    return EXIT_USAGE;
}

int options_out_of_memory(void)
{
    message_print("out of memory");
    return EXIT_FAILED;
}

const char *options_wrong(const char *format, ...)
{
    static char problem[OPTIONS_ERROR_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(problem, sizeof problem, format, args);
    va_end(args);
    return problem;
}

enum step options_read(const struct options_table *table, void *owner, int argc, char **argv,
                       int *first, int *status)
{
    struct options_scan scan;
    struct options_given given;
    enum step step = STEP_NEXT;
    options_scan(&scan, table, argc, argv);
    while (step == STEP_NEXT && options_next(&scan, &given, first))
        step = take_option(table, owner, &given, status);
    for (int i = *first; i < argc && step == STEP_NEXT; i++)
        if (!argv[i][0])
            step = step_done(status, options_complain("an argument is empty; give a name instead"));
    return step;
}

static enum step take_option(const struct options_table *table, void *owner,
                             const struct options_given *given, int *status)
{
    const struct options_row *row = given->row;
    if (given->fault != OPTIONS_GOOD)
        return step_done(status, options_complain_of(table, given));
    if (options_answer(table, given, status) == STEP_DONE)
        return STEP_DONE;
    const char *wrong = options_apply(row, owner, given->value);
    if (!wrong)
        return STEP_NEXT;
    return step_done(status, given->by_letter ? options_complain("-%c: %s", row->letter, wrong)
                                              : options_complain("--%s: %s", row->name, wrong));
}

const struct options_row *options_find(const struct options_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    return NULL;
}

bool options_has_letter(const struct options_table *table, int letter)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].letter && table->rows[i].letter == letter)
            return true;
    return false;
}

const char *options_nearest(const struct options_table *table, const char *name)
{
    const char *best = NULL;
    unsigned best_distance = 1 + (unsigned)strlen(name) / 3;
    for (size_t i = 0; i < table->count; i++) {
        const char *known = table->rows[i].name;
        unsigned d = edit_distance(name, known);
        if (strncmp(name, known, strlen(known)) == 0)
            d = 1; /* --username for --user */
        if (d <= best_distance) {
            best_distance = d;
            best = known;
        }
    }
    return best;
}

/* The Levenshtein distance. Names of options have at most 31 letters. */
static unsigned edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    unsigned row[LONGEST];
    size_t length = strnlen(b, LONGEST - 1);
    for (unsigned j = 0; j <= length; j++)
        row[j] = j;
    for (unsigned i = 0; a[i]; i++) {
        unsigned diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            unsigned change = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            unsigned gap = (row[j] < diagonal ? row[j] : diagonal) + 1;
            row[j + 1] = change < gap ? change : gap;
        }
    }
    return row[length];
}

const char *options_apply(const struct options_row *row, void *owner, char *value)
{
    void *target = (char *)owner + row->offset;
    switch (row->kind) {
    case OPTIONS_FLAG:
        return set_flag(value, target);
    case OPTIONS_COUNTER:
        ++*(int *)target;
        return NULL;
    case OPTIONS_NUMBER:
        return set_number(row, value, target);
    case OPTIONS_WHOLE:
    case OPTIONS_INT:
    case OPTIONS_UNSIGNED:
        return set_whole(row, value, target);
    case OPTIONS_TEXT:
    case OPTIONS_NAME:
    case OPTIONS_INPUT:
    case OPTIONS_OUTPUT:
    case OPTIONS_SECRET:
        return options_set_text(row, value, target);
    case OPTIONS_CUSTOM:
        return row->parse ? row->parse(owner, value) : NULL;
    case OPTIONS_HELP:
    case OPTIONS_VERSION:
    case OPTIONS_COMPLETION:
        return NULL;
    }
    return NULL;
}

static const char *set_flag(const char *value, bool *out)
{
    static const char *const words[] = {"true", "yes", "on", "false", "no", "off"};
    for (size_t i = 0; value && i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(value, words[i]) == 0) {
            *out = i < 3;
            return NULL;
        }
    *out = true;
    return value ? options_wrong("\"%s\" is neither true nor false", value) : NULL;
}

static const char *set_number(const struct options_row *row, const char *value, double *out)
{
    char *end;
    bool plain = *value && !strpbrk(value, "xXpP") && !isspace((unsigned char)*value);
    double number = strtod(value, &end);
    if (!plain || *end || end == value || !isfinite(number))
        return options_wrong("\"%s\" is not a number", value);
    if (number < row->min || number > row->max ||
        ((row->properties & OPTIONS_ABOVE) && number <= row->min))
        return out_of_range(row, value);
    *out = number;
    return NULL;
}

static const char *out_of_range(const struct options_row *row, const char *value)
{
    int digits = row->kind == OPTIONS_NUMBER ? 12 : 20;
    if (row->properties & OPTIONS_ABOVE)
        return options_wrong(
            "\"%s\" is out of range: expected a number above %.12g and at most %.12g", value,
            row->min, row->max);
    return options_wrong("\"%s\" is out of range: expected a number from %.*g to %.*g", value,
                         digits, row->min, digits, row->max);
}

static const char *set_whole(const struct options_row *row, const char *value, void *target)
{
    uint64_t number = 0;
    const char *error = parse_whole(row, value, &number);
    if (error)
        return error;
    if (row->kind == OPTIONS_WHOLE)
        *(uint64_t *)target = number;
    else if (row->kind == OPTIONS_INT)
        *(int *)target = (int)number;
    else
        *(unsigned *)target = (unsigned)number;
    return NULL;
}

static const char *parse_whole(const struct options_row *row, const char *value, uint64_t *out)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end)
        return value[0] == '-' && isdigit((unsigned char)value[1])
                   ? out_of_range(row, value)
                   : options_wrong("\"%s\" is not a whole number", value);
    if (errno == ERANGE || (double)number < row->min || (double)number > row->max)
        return out_of_range(row, value);
    *out = number;
    return NULL;
}

const char *options_parse_seed(const char *value, uint64_t *seed)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end)
        return options_wrong("\"%s\" is not a whole number from 0 to %lld", value,
                             (long long)RANDOM_SEED_MAX);
    if (errno == ERANGE || number > (uint64_t)RANDOM_SEED_MAX)
        return options_wrong("\"%s\" is out of range: expected a number from 0 to %lld", value,
                             (long long)RANDOM_SEED_MAX);
    *seed = number;
    return NULL;
}

static const char *options_set_text(const struct options_row *row, char *value, void *target)
{
    if (!*value)
        return options_wrong("empty value");
    if (row->kind == OPTIONS_SECRET)
        return set_secret(value, target);
    *(const char **)target = value;
    if (row->kind == OPTIONS_NAME)
        return check_name(value);
    if (row->kind == OPTIONS_INPUT)
        return options_check_input(value);
    return row->kind == OPTIONS_OUTPUT ? options_check_output(value) : NULL;
}

static const char *check_name(const char *value)
{
    enum { NAME_MAX_BYTES = 255 };
    if (strlen(value) > NAME_MAX_BYTES)
        return options_wrong("\"%.60s...\" is too long: expected at most %d bytes", value,
                             NAME_MAX_BYTES);
    for (const char *c = value; *c; c++)
        if (iscntrl((unsigned char)*c))
            return options_wrong("\"%s\" contains a control character", value);
    return NULL;
}

static const char *set_secret(char *value, char **out)
{
    secret_free(*out);
    *out = strdup(value);
    explicit_bzero(value, strlen(value));
    return *out ? NULL : options_wrong("out of memory");
}

const char *options_check_input(const char *path)
{
    struct stat status;
    if (access(path, R_OK) != 0)
        return options_wrong("cannot read \"%s\": %s", path, strerror(errno));
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return options_wrong("cannot read \"%s\": Is a directory", path);
    return NULL;
}

const char *options_check_output(const char *path)
{
    struct stat status;
    if (strcmp(path, "-") == 0)
        return NULL;
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return options_wrong("cannot write \"%s\": Is a directory", path);
        return access(path, W_OK) == 0
                   ? NULL
                   : options_wrong("cannot write \"%s\": %s", path, strerror(errno));
    }
    char *copy = strdup(path);
    if (!copy)
        return options_wrong("out of memory");
    bool possible = access(dirname(copy), W_OK | X_OK) == 0;
    int reason = errno;
    free(copy);
    return possible ? NULL : options_wrong("cannot write \"%s\": %s", path, strerror(reason));
}

void options_scan(struct options_scan *scan, const struct options_table *table, int argc,
                  char **argv)
{
    *scan = (struct options_scan){.table = table, .argc = argc, .argv = argv};
    char *letter = scan->letters;
    *letter++ = ':'; /* makes getopt_long() distinguish a missing argument: it returns ':' */
    for (size_t i = 0; i < table->count; i++) {
        const struct options_row *row = &table->rows[i];
        scan->long_options[i] =
            (struct option){.name = row->name,
                            .has_arg = row->argument ? required_argument : no_argument,
                            .val = LONG_BASE + (int)i};
        if (row->letter)
            *letter++ = row->letter;
        if (row->letter && row->argument)
            *letter++ = ':';
    }
    optind = 0; /* glibc: start again */
    opterr = 0;
}

bool options_next(struct options_scan *scan, struct options_given *given, int *first)
{
    int found = getopt_long(scan->argc, scan->argv, scan->letters, scan->long_options, NULL);
    if (found < 0) {
        *first = optind;
        return false;
    }
    bool faulty = found == ':' || found == '?';
    int option = faulty ? optopt : found;
    *given = (struct options_given){.row = row_of(scan->table, option),
                                    .value = faulty ? NULL : optarg,
                                    .by_letter = option != 0 && option < LONG_BASE};
    if (faulty && !given->row) {
        given->fault = OPTIONS_UNKNOWN;
        given->letter = option;
        const char *word = scan->argv[optind - 1];
        if (!option)
            snprintf(given->name, sizeof given->name, "%.*s", (int)strcspn(word + 2, "="),
                     word + 2);
    } else if (faulty) {
        given->fault = found == ':' ? OPTIONS_NO_VALUE : OPTIONS_NEEDLESS;
    }
    return true;
}

/* The row that getopt_long() found: `found` is a letter, or LONG_BASE plus the row's index. NULL:
 * there is none. */
static const struct options_row *row_of(const struct options_table *table, int found)
{
    if (found >= LONG_BASE)
        return &table->rows[found - LONG_BASE];
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].letter && table->rows[i].letter == found)
            return &table->rows[i];
    return NULL;
}

int options_complain_of(const struct options_table *table, const struct options_given *given)
{
    const struct options_row *row = given->row;
    if (given->fault == OPTIONS_UNKNOWN && given->letter)
        return complain_of_letter(table, given->letter);
    if (given->fault == OPTIONS_UNKNOWN)
        return complain_of_name(table, given->name);
    if (given->fault == OPTIONS_NEEDLESS)
        return options_complain("--%s: takes no value", row->name);
    if (given->by_letter)
        return options_complain("-%c: missing %s", row->letter, row->argument);
    return options_complain("--%s: missing %s", row->name, row->argument);
}

static int complain_of_letter(const struct options_table *table, int letter)
{
    const char *hint = find_hint(table, (char[]){(char)letter, '\0'});
    return options_complain("-%c: unknown option; %s", letter, hint ? hint : "see --help");
}

/* NULL: none. */
static const char *find_hint(const struct options_table *table, const char *name)
{
    for (const struct options_hint *hint = table->hints; hint && hint->name; hint++)
        if (strcmp(hint->name, name) == 0)
            return hint->text;
    return NULL;
}

static int complain_of_name(const struct options_table *table, const char *name)
{
    const char *hint = find_hint(table, name);
    if (hint)
        return options_complain("--%s: unknown option; %s", name, hint);
    char matches[OPTIONS_ERROR_SIZE];
    if (list_matches(table, name, matches, sizeof matches) > 1)
        return options_complain("--%s: ambiguous option; it matches %s", name, matches);
    const char *nearest = options_nearest(table, name);
    if (nearest)
        return options_complain("--%s: unknown option; did you mean --%s?", name, nearest);
    return options_complain("--%s: unknown option; see --help", name);
}

/* Lists the long names that begin with name: "--realm, --repeat". Returns their number. */
static size_t list_matches(const struct options_table *table, const char *name, char *list,
                           size_t size)
{
    size_t count = 0, length = 0;
    for (size_t i = 0; i < table->count; i++) {
        const char *known = table->rows[i].name;
        if (strncmp(known, name, strlen(name)) != 0)
            continue;
        if (length < size)
            length +=
                (size_t)snprintf(list + length, size - length, "%s--%s", count ? ", " : "", known);
        count++;
    }
    return count;
}

enum step options_answer(const struct options_table *table, const struct options_given *given,
                         int *status)
{
    const char *wrong = NULL;
    if (given->row->kind == OPTIONS_HELP)
        table->print_help(stdout);
    else if (given->row->kind == OPTIONS_VERSION)
        print_version();
    else if (given->row->kind == OPTIONS_COMPLETION)
        wrong = options_print_completion(table, given->value, stdout);
    else
        return STEP_NEXT;
    if (wrong)
        return step_done(status, options_complain("--%s: %s", given->row->name, wrong));
    return step_done(status, program_flush_output() == 0 ? EXIT_OK : EXIT_FAILED);
}

/* The first line is for scripts. */
static void print_version(void)
{
    printf("%s %s\n"
           "built by %s with the options %s\n"
           "libraries: %s\n",
           message_program, TRAFFIC_VERSION, TRAFFIC_COMPILER, TRAFFIC_OPTIONS, TRAFFIC_LIBRARIES);
}

void options_help(const struct options_table *table, FILE *out)
{
    for (int group = 0; group < table->group_count; group++) {
        fprintf(out, "\n%s:\n", table->groups[group]);
        for (size_t i = 0; i < table->count; i++)
            if (table->rows[i].group == group)
                options_print_row(&table->rows[i], table->help_column, out);
    }
}

static void options_print_row(const struct options_row *row, int column, FILE *out)
{
    int width = row->letter ? fprintf(out, "  -%c, --%s", row->letter, row->name)
                            : fprintf(out, "      --%s", row->name);
    if (row->argument)
        width += fprintf(out, " %s", row->argument);
    for (const char *line = row->help; *line; width = 0) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "%s%*s%.*s\n", width < column ? "" : "\n",
                width < column ? column - width : column, "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}
