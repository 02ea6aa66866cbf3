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

enum { PARTS = 3 };

static int parse_item(struct sweep_list *list, const char *whole, char *item, char *error,
                      size_t size);
static int sweep_list_refuse(char *error, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int sweep_list_parse_number(const char *text, double *value, char *error, size_t size);
static int sweep_list_add(struct sweep_list *list, double value, char *error, size_t size);
static int add_range(struct sweep_list *list, const char *whole, const double part[PARTS],
                     char *error, size_t size);

int sweep_list_parse(const char *text, struct sweep_list *list, char *error, size_t size)
{
    char *copy = strdup(text);
    int result = copy ? 0 : -ENOMEM;
    if (!copy)
        snprintf(error, size, "out of memory");
    for (char *rest = copy, *item; result == 0 && (item = strsep(&rest, ","));)
        result = parse_item(list, text, item, error, size);
    free(copy);
    return result;
}

/* One piece between commas; cuts it to pieces in place. */
static int parse_item(struct sweep_list *list, const char *whole, char *item, char *error,
                      size_t size)
{
    double part[PARTS] = {0, 0, 1};
    size_t count = 0;
    for (char *rest = item, *word; (word = strsep(&rest, ":")); count++) {
        if (!*word || count == PARTS)
            return sweep_list_refuse(
                error, size,
                "\"%s\" is no list: expected numbers and ranges FROM:TO or FROM:TO:STEP, "
                "with commas between",
                whole);
        int result = sweep_list_parse_number(word, &part[count], error, size);
        if (result < 0)
            return result;
    }
    return count == 1 ? sweep_list_add(list, part[0], error, size)
                      : add_range(list, whole, part, error, size);
}

static int sweep_list_refuse(char *error, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error, size, format, args);
    va_end(args);
    return -EINVAL;
}

static const double largest = 1e6; /* what traffic-replay takes for -r and -S */

static int sweep_list_parse_number(const char *text, double *value, char *error, size_t size)
{
    char *end;
    bool plain =
        (isdigit((unsigned char)*text) || *text == '.' || *text == '-') && !strpbrk(text, "xXpP");
    *value = strtod(text, &end);
    if (!plain || *end || !isfinite(*value))
        return sweep_list_refuse(error, size, "\"%s\" is not a number", text);
    if (*value <= 0 || *value > largest)
        return sweep_list_refuse(error, size,
                                 "\"%s\" is out of range: give numbers above 0 and at most %g",
                                 text, largest);
    return 0;
}

static int sweep_list_add(struct sweep_list *list, double value, char *error, size_t size)
{
    struct sweep_number number;
    snprintf(number.text, sizeof number.text, "%.12g", value);
    /* What the text says is what is played. */
    number.value = strtod(number.text, NULL);
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].text, number.text) == 0)
            return sweep_list_refuse(error, size, "%s is given twice", number.text);
    if (list->count == SWEEP_LIST_MAX)
        return sweep_list_refuse(error, size, "these are more than %d values", SWEEP_LIST_MAX);
    struct sweep_number *grown = reallocarray(list->items, list->count + 1, sizeof *grown);
    if (!grown) {
        snprintf(error, size, "out of memory");
        return -ENOMEM;
    }
    list->items = grown;
    grown[list->count++] = number;
    return 0;
}

static int add_range(struct sweep_list *list, const char *whole, const double part[PARTS],
                     char *error, size_t size)
{
    double from = part[0], to = part[1], step = part[2];
    if (to < from)
        return sweep_list_refuse(error, size,
                                 "\"%s\" runs backwards: write the smaller number first", whole);
    double steps = floor((to - from) / step * (1 + 1e-12) + 1e-9);
    if (steps >= SWEEP_LIST_MAX)
        return sweep_list_refuse(error, size, "these are more than %d values", SWEEP_LIST_MAX);
    int result = 0;
    for (size_t i = 0; result == 0 && i <= (size_t)steps; i++)
        result = sweep_list_add(list, from + (double)i * step, error, size);
    return result;
}

void sweep_list_clear(struct sweep_list *list)
{
    free(list->items);
    *list = (struct sweep_list){0};
}
