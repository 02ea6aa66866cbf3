/* SPDX-License-Identifier: Apache-2.0 */
/* The command lines of the two servers of --versus. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "replay/settings_table.h"
#include "replay/sweep/sweep_options_private.h"
#include "replay/sweep/sweep_versus.h"

/* Options of traffic-sweep that can differ between the servers. */
static const char *const own_options[] = {"before", "after", "sample"};
enum { OWN_OPTIONS = sizeof own_options / sizeof own_options[0] };

static const char credentials[] = "authentication-file";

/* The elements of a command line; chosen ones are kept. */
struct line {
    int count;
    char **items;
    bool *dropped;
};

static int choose_sweep_options(struct line *line, int end, int side, struct error *error);
static int choose_credentials(struct line *line, int begin, int end, int side, struct error *error);
static int width_of(const char *item, const char *name, char letter);
static int choose_one(struct line *line, const int *places, const int *widths, int found, int side,
                      const char *name, struct error *error);
static int choose_server(struct line *line, int first, int side, struct error *error);
static int count_arguments(const struct line *line, int end);
static int keep_chosen(const struct line *line, int side, int *count, char ***out);

bool sweep_versus_given(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--versus") == 0)
            return true;
    return false;
}

int sweep_versus_arguments(int argc, char **argv, int side, int *count, char ***out,
                           struct error *error)
{
    struct line line = {.count = argc,
                        .items = calloc((size_t)argc + 1, sizeof *line.items),
                        .dropped = calloc((size_t)argc + 1, sizeof *line.dropped)};
    int end = 1, result = line.items && line.dropped ? 0 : error_no_memory(error);
    if (result == 0) {
        memcpy(line.items, argv, (size_t)argc * sizeof *argv);
        while (end < argc && strcmp(argv[end], "--") != 0)
            end++;
        /* Servers come last, in either part. */
        result = choose_sweep_options(&line, end, side, error);
    }
    if (result == 0)
        result = choose_credentials(&line, end, argc, side, error);
    if (result == 0)
        result = choose_server(&line, end, side, error);
    if (result == 0 && keep_chosen(&line, side, count, out) < 0)
        result = error_no_memory(error);
    free(line.items);
    free(line.dropped);
    return result;
}

static int choose_sweep_options(struct line *line, int end, int side, struct error *error)
{
    int result = 0;
    for (size_t o = 0; result == 0 && o < OWN_OPTIONS; o++) {
        int places[SWEEP_SIDES] = {0}, widths[SWEEP_SIDES] = {0}, found = 0;
        for (int i = 1; i < end; i++) {
            int width = width_of(line->items[i], own_options[o], 0);
            if (width > 0 && found < SWEEP_SIDES) {
                places[found] = i;
                widths[found] = width;
            }
            found += width > 0;
            i += width > 0 ? width - 1 : 0;
        }
        result = choose_one(line, places, widths, found, side, own_options[o], error);
    }
    return result;
}

static int choose_credentials(struct line *line, int begin, int end, int side, struct error *error)
{
    int places[SWEEP_SIDES] = {0}, widths[SWEEP_SIDES] = {0}, found = 0;
    for (int i = begin; i < end; i++) {
        int width = width_of(line->items[i], credentials, 'A');
        if (width > 0 && found < SWEEP_SIDES) {
            places[found] = i;
            widths[found] = width;
        }
        found += width > 0;
        i += width > 0 ? width - 1 : 0;
    }
    return choose_one(line, places, widths, found, side, credentials, error);
}

/* The number of elements that the option occupies at item; 0: it is another one. */
static int width_of(const char *item, const char *name, char letter)
{
    size_t length = strcspn(item, "=");
    if (letter && item[0] == '-' && item[1] == letter)
        return item[2] ? 1 : 2;
    if (strncmp(item, "--", 2) != 0 || length < 4 || length - 2 > strlen(name) ||
        strncmp(item + 2, name, length - 2) != 0)
        return 0;
    return item[length] == '=' ? 1 : 2;
}

/* Given twice, an option belongs to one side each. */
static int choose_one(struct line *line, const int *places, const int *widths, int found, int side,
                      const char *name, struct error *error)
{
    if (found > SWEEP_SIDES)
        return error_set(error, -EINVAL,
                         "--%s: given %d times; --versus compares two servers, give it at most "
                         "twice",
                         name, found);
    if (found < SWEEP_SIDES)
        return 0;
    for (int i = 0; i < widths[!side]; i++)
        line->dropped[places[!side] + i] = true;
    return 0;
}

/* Drops the other side's server: the last two arguments of the command line are the servers. */
static int choose_server(struct line *line, int first, int side, struct error *error)
{
    int last = line->count - 1, wanted = 3;
    for (int i = 1; i < first; i++)
        if (strncmp(line->items[i], "--file", 6) == 0 || strncmp(line->items[i], "-f", 2) == 0)
            wanted = 2; /* the file may have the model */
    if (count_arguments(line, first) < wanted || last - 1 <= 0 || last - 1 == first ||
        line->items[last][0] == '-' || line->items[last - 1][0] == '-')
        return error_set(error, -EINVAL,
                         "--versus: two servers are required at the end: MODEL DC1 DC2");
    line->dropped[side == 0 ? last : last - 1] = true;
    return 0;
}

/* The number of arguments that are no options, in both parts of the command line. */
static int count_arguments(const struct line *line, int end)
{
    struct options_scan scan;
    struct options_given given;
    int first = end;
    char **copy = calloc((size_t)end + 1, sizeof *copy);
    if (!copy)
        return 0;
    memcpy(copy, line->items, (size_t)end * sizeof *copy);
    options_scan(&scan, &sweep_options_table, end, copy);
    while (options_next(&scan, &given, &first))
        ;
    free(copy);
    return end - first +
           (end < line->count ? settings_count_arguments(line->count - end, line->items + end) : 0);
}

static int keep_chosen(const struct line *line, int side, int *count, char ***out)
{
    char **kept = calloc((size_t)line->count + 1, sizeof *kept);
    int number = 0;
    for (int i = 0; kept && i < line->count; i++) {
        if (line->dropped[i])
            continue;
        kept[number] = side == 0 ? line->items[i] : strdup(line->items[i]);
        if (!kept[number]) {
            sweep_versus_free_arguments(side, number, kept);
            return -ENOMEM;
        }
        number++;
    }
    *count = number;
    *out = kept;
    return kept ? 0 : -ENOMEM;
}

void sweep_versus_free_arguments(int side, int count, char **arguments)
{
    /* The parser moves the elements around, but keeps all of them. */
    for (int i = 0; side > 0 && arguments && i < count; i++)
        secret_free(arguments[i]);
    free(arguments);
}
