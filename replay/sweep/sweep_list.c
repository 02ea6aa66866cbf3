/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of replay rates and scales. */
#include "replay/sweep/sweep_list.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

enum { PARTS = 3 };

static int parse_item(struct sweep_list *list, const char *whole, char *item, struct error *error);
static int sweep_list_parse_number(const char *text, double *value, struct error *error);
static int sweep_list_add(struct sweep_list *list, double value, struct error *error);
static int add_range(struct sweep_list *list, const char *whole, const double part[PARTS],
                     struct error *error);

int sweep_list_parse(const char *text, struct sweep_list *list, struct error *error)
{
    char *copy = strdup(text);
    int result = copy ? 0 : -ENOMEM;
    if (!copy)
        error_no_memory(error);
    for (char *rest = copy, *item; result == 0 && (item = strsep(&rest, ","));)
        result = parse_item(list, text, item, error);
    free(copy);
    return result;
}

/* Parses the text between two commas; cuts it in place. */
static int parse_item(struct sweep_list *list, const char *whole, char *item, struct error *error)
{
    double part[PARTS] = {0, 0, 1};
    size_t count = 0;
    for (char *rest = item, *word; (word = strsep(&rest, ":")); count++) {
        if (!*word || count == PARTS)
            return error_set(
                error, -EINVAL,
                "\"%s\" is not a list: expected numbers and ranges FROM:TO or FROM:TO:STEP, "
                "separated by commas",
                whole);
        int result = sweep_list_parse_number(word, &part[count], error);
        if (result < 0)
            return result;
    }
    return count == 1 ? sweep_list_add(list, part[0], error) : add_range(list, whole, part, error);
}

static const double largest = 1e6; /* the limit of traffic-replay for -r and -S */

static int sweep_list_parse_number(const char *text, double *value, struct error *error)
{
    char *end;
    bool plain =
        (isdigit((unsigned char)*text) || *text == '.' || *text == '-') && !strpbrk(text, "xXpP");
    *value = strtod(text, &end);
    if (!plain || *end || !isfinite(*value))
        return error_set(error, -EINVAL, "\"%s\" is not a number", text);
    if (*value <= 0 || *value > largest)
        return error_set(error, -EINVAL,
                         "\"%s\" is out of range: expected numbers above 0 and at most %g", text,
                         largest);
    return 0;
}

static int sweep_list_add(struct sweep_list *list, double value, struct error *error)
{
    struct sweep_number number;
    snprintf(number.text, sizeof number.text, "%.12g", value);
    /* traffic-replay gets the text, so the value must be the same. */
    number.value = strtod(number.text, NULL);
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].text, number.text) == 0)
            return error_set(error, -EINVAL, "%s is given twice", number.text);
    if (list->count == SWEEP_LIST_MAX)
        return error_set(error, -EINVAL, "too many values (maximum %d)", SWEEP_LIST_MAX);
    struct sweep_number *grown = array_grow(list->items, list->count, sizeof *grown);
    if (!grown) {
        return error_no_memory(error);
    }
    list->items = grown;
    grown[list->count++] = number;
    return 0;
}

static int add_range(struct sweep_list *list, const char *whole, const double part[PARTS],
                     struct error *error)
{
    double from = part[0], to = part[1], step = part[2];
    if (to < from)
        return error_set(error, -EINVAL,
                         "\"%s\" is a descending range; give the smaller number first", whole);
    double steps = floor((to - from) / step * (1 + 1e-12) + 1e-9);
    if (steps >= SWEEP_LIST_MAX)
        return error_set(error, -EINVAL, "too many values (maximum %d)", SWEEP_LIST_MAX);
    int result = 0;
    for (size_t i = 0; result == 0 && i <= (size_t)steps; i++)
        result = sweep_list_add(list, from + (double)i * step, error);
    return result;
}

double *sweep_list_values(const struct sweep_list *list)
{
    double *values = calloc(list->count, sizeof *values);
    for (size_t i = 0; values && i < list->count; i++)
        values[i] = list->items[i].value;
    return values;
}

void sweep_list_clear(struct sweep_list *list)
{
    free(list->items);
    *list = (struct sweep_list){0};
}
