/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a sweep. */
#include "replay/sweep/sweep_cell.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "base/shell_text.h"

static void shuffle_cells(struct sweep_cells *cells, uint64_t seed);
static void write_safe(FILE *stream, const char *text, size_t length);
static char safe_character(char c);
static int check_values(const struct sweep_vary *vary, struct error *error);
static size_t longest_value(const struct sweep_vary *vary);
static bool same_when_safe(const char *one, const char *other);
static void write_option(FILE *stream, bool first, const char *name, const char *value);
static int options_differ(const char *was, const char *is, const char *path, struct error *error);
static const char *not_in(const char *one, const char *other, size_t *length);
static size_t option_length(const char *text);

size_t sweep_combinations(const struct sweep_options *options)
{
    size_t count = 1;
    for (size_t i = 0; i < options->vary_count; i++)
        count *= options->vary[i].count;
    return count;
}

void sweep_combination(const struct sweep_options *options, size_t number,
                       size_t value[SWEEP_VARY_MAX])
{
    for (size_t i = options->vary_count; i-- > 0;) {
        value[i] = number % options->vary[i].count;
        number /= options->vary[i].count;
    }
}

int sweep_cells_make(const struct sweep_options *options, uint64_t seed, struct sweep_cells *cells)
{
    size_t combinations = sweep_combinations(options), repeats = options->repeat;
    size_t size;
    *cells = (struct sweep_cells){0};
    repeats = repeats ? repeats : 1;
    if (__builtin_mul_overflow(combinations * options->r.count, options->S.count * repeats, &size))
        return -ENOMEM;
    cells->items = calloc(size + 1, sizeof *cells->items);
    if (!cells->items)
        return -ENOMEM;
    for (size_t i = 0; i < size; i++) {
        struct sweep_cell *cell = &cells->items[cells->count++];
        size_t rest = i / options->S.count;
        *cell = (struct sweep_cell){.S = i % options->S.count, .r = rest % options->r.count};
        rest /= options->r.count;
        sweep_combination(options, rest % combinations, cell->value);
        cell->repeat = (unsigned)(rest / combinations) + 1;
    }
    if (options->random_order)
        shuffle_cells(cells, seed);
    return 0;
}

static void shuffle_cells(struct sweep_cells *cells, uint64_t seed)
{
    struct random_stream random;
    random_seed(&random, seed, RANDOM_SWEEP, 0);
    for (size_t i = cells->count; i > 1; i--) {
        size_t other = (size_t)random_below(&random, i);
        struct sweep_cell cell = cells->items[i - 1];
        cells->items[i - 1] = cells->items[other];
        cells->items[other] = cell;
    }
}

void sweep_cells_clear(struct sweep_cells *cells)
{
    free(cells->items);
    *cells = (struct sweep_cells){0};
}

char *sweep_cell_name(const struct sweep_options *options, const struct sweep_cell *cell)
{
    char *name = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&name, &size);
    if (!stream)
        return NULL;
    const char *dc = options->replay.dc;
    /* traffic-summary ignores files whose name begins with a dot. */
    fputs(*dc == '.' ? "_" : "", stream);
    write_safe(stream, dc, strcspn(dc, "="));
    fprintf(stream, "_r%s_S%s", options->r.items[cell->r].text, options->S.items[cell->S].text);
    for (size_t i = 0; i < options->vary_count; i++) {
        const char *value = options->vary[i].values[cell->value[i]];
        fprintf(stream, "_%s-", options->vary[i].name);
        write_safe(stream, value, strlen(value));
    }
    if (cell->repeat > 1)
        fprintf(stream, "_%u", cell->repeat);
    if (fclose(stream) == 0)
        return name;
    free(name);
    return NULL;
}

/* Writes text as part of a file name that every system and scp accept. The brackets of an IPv6
 * address are left out. */
static void write_safe(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != '[' && text[i] != ']')
            fputc(safe_character(text[i]), stream);
}

static char safe_character(char c)
{
    if (c == ':')
        return '-';
    return isalnum((unsigned char)c) || (c && strchr("+-.@", c)) ? c : '_';
}

int sweep_cell_check_names(const struct sweep_options *options, struct error *error)
{
    enum { LONGEST = 200 };
    size_t length = strlen(options->replay.dc) + 2 * SWEEP_NUMBER_SIZE;
    for (size_t i = 0; i < options->vary_count; i++) {
        int result = check_values(&options->vary[i], error);
        if (result < 0)
            return result;
        length += strlen(options->vary[i].name) + longest_value(&options->vary[i]) + 2;
    }
    if (length <= LONGEST)
        return 0;
    return error_set(error, -EINVAL, "--vary: file names would be too long; give shorter values");
}

static int check_values(const struct sweep_vary *vary, struct error *error)
{
    for (size_t a = 0; a < vary->count; a++)
        for (size_t b = 0; b < a; b++)
            if (same_when_safe(vary->values[a], vary->values[b]))
                return error_set(error, -EINVAL,
                                 "--vary: the values \"%s\" and \"%s\" of %s give the same file "
                                 "name",
                                 vary->values[b], vary->values[a], vary->name);
    return 0;
}

static size_t longest_value(const struct sweep_vary *vary)
{
    size_t longest = 0;
    for (size_t i = 0; i < vary->count; i++)
        if (strlen(vary->values[i]) > longest)
            longest = strlen(vary->values[i]);
    return longest;
}

/* Whether write_safe() writes the same for both. */
static bool same_when_safe(const char *one, const char *other)
{
    for (;; one++, other++) {
        one += strspn(one, "[]");
        other += strspn(other, "[]");
        if (!*one || !*other)
            break;
        if (safe_character(*one) != safe_character(*other))
            return false;
    }
    return *one == *other;
}

char *sweep_options_text(const struct sweep_options *options)
{
    char *text = NULL, settle[SWEEP_NUMBER_SIZE];
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    bool first = true;
    if (!stream)
        return NULL;
    for (size_t i = 0; i < options->replay_arguments.count; i++, first = false) {
        fputs(first ? "" : " ", stream);
        shell_text_write(stream, options->replay_arguments.items[i]);
    }
    if (options->before)
        write_option(stream, first, "before", options->before), first = false;
    if (options->after)
        write_option(stream, first, "after", options->after), first = false;
    snprintf(settle, sizeof settle, "%.12g", options->settle);
    if (options->settle > 0)
        write_option(stream, first, "settle", settle);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

static void write_option(FILE *stream, bool first, const char *name, const char *value)
{
    fprintf(stream, "%s--%s=", first ? "" : " ", name);
    shell_text_write(stream, value);
}

int sweep_identity_check(const struct sweep_identity *identity, const struct result *result,
                         unsigned repeat, const char *path, struct error *error)
{
    const char *options = sweep_label(result, "options");
    if (strcmp(result->model_sha256, identity->model_sha256) != 0)
        return error_set(error, -EINVAL,
                         "%s was played with another model (%s, SHA-256 %.12s...; this sweep's is "
                         "%.12s...)",
                         path, result->model, result->model_sha256, identity->model_sha256);
    if (strcmp(result->version, identity->version) != 0)
        return error_set(error, -EINVAL, "%s was played by %s %s; this version is %s", path,
                         result->program, result->version, identity->version);
    if (!options)
        return error_set(error, -EINVAL,
                         "%s is not a result of a sweep: it has no label \"options\"", path);
    if (strcmp(result->dc, identity->dc) != 0)
        return error_set(error, -EINVAL, "%s was played against %s; this sweep is against %s", path,
                         result->dc, identity->dc);
    if (strcmp(options, identity->options) != 0)
        return options_differ(options, identity->options, path, error);
    if (result->seed != identity->seed + repeat - 1)
        return error_set(error, -EINVAL,
                         "%s was played with --random-seed=%" PRIu64 "; this sweep needs %" PRIu64,
                         path, result->seed, identity->seed + repeat - 1);
    return 0;
}

static int options_differ(const char *was, const char *is, const char *path, struct error *error)
{
    size_t was_length, is_length;
    const char *only_was = not_in(was, is, &was_length), *only_is = not_in(is, was, &is_length);
    if (was_length == 0 && is_length == 0)
        return error_set(error, -EINVAL, "%s was played with %s; this sweep has %s", path, was, is);
    if (is_length == 0)
        return error_set(error, -EINVAL, "%s was played with %.*s; this sweep is without it", path,
                         (int)was_length, only_was);
    if (was_length == 0)
        return error_set(error, -EINVAL, "%s was played without %.*s, which this sweep has", path,
                         (int)is_length, only_is);
    return error_set(error, -EINVAL, "%s was played with %.*s; this sweep has %.*s", path,
                     (int)was_length, only_was, (int)is_length, only_is);
}

/* The first option of one that other lacks; *length 0: there is none. */
static const char *not_in(const char *one, const char *other, size_t *length)
{
    for (; *one; one += *length + (one[*length] == ' ')) {
        bool found = false;
        *length = option_length(one);
        for (const char *at = other; *at && !found;) {
            size_t there = option_length(at);
            found = there == *length && strncmp(at, one, there) == 0;
            at += there + (at[there] == ' ');
        }
        if (!found)
            return one;
    }
    *length = 0;
    return one;
}

/* The length of the option at text. A blank outside quotes ends it. */
static size_t option_length(const char *text)
{
    bool quoted = false;
    size_t length = 0;
    for (; text[length] && (quoted || text[length] != ' '); length++)
        quoted = quoted != (text[length] == '\'');
    return length;
}

const char *sweep_label(const struct result *result, const char *name)
{
    for (size_t i = 0; i < result->label_count; i++)
        if (strcmp(result->labels[i].name, name) == 0)
            return result->labels[i].value;
    return NULL;
}
