/* SPDX-License-Identifier: Apache-2.0 */
/* A list of arguments for execvp(). */
#include "base/arguments.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

void arguments_add(struct arguments *arguments, const char *format, ...)
{
    va_list args;
    char **grown = array_grow(arguments->items, arguments->count + 1, sizeof *grown);
    va_start(args, format);
    if (grown)
        arguments->items = grown;
    if (!grown || vasprintf(&grown[arguments->count], format, args) < 0)
        arguments->failed = true;
    else
        arguments->count++;
    if (grown)
        grown[arguments->count] = NULL;
    va_end(args);
}

void arguments_clear(struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->count; i++)
        free(arguments->items[i]);
    free(arguments->items);
    *arguments = (struct arguments){0};
}
