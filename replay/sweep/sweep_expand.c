/* SPDX-License-Identifier: Apache-2.0 */
/* Variables in commands. */
#include "replay/sweep/sweep_expand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static size_t name_length(const char *text);
static const char *expand_value_of(const char *text, size_t length,
                                   const struct sweep_variable *variables, size_t count,
                                   struct error *error);

bool sweep_is_name(const char *text)
{
    size_t length = name_length(text);
    return length > 0 && text[length] == '\0';
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

static size_t name_length(const char *text)
{
    return strspn(text, LETTERS) ? strspn(text, LETTERS "0123456789-") : 0;
}

int sweep_expand(const char *text, const struct sweep_variable *variables, size_t count, char **out,
                 struct error *error)
{
    size_t room = 0;
    FILE *stream = open_memstream(out, &room);
    int result = 0;
    if (!stream) {
        return error_no_memory(error);
    }
    for (const char *at = text; *at && result == 0; at++) {
        size_t length = *at == '{' ? name_length(at + 1) : 0;
        bool of_shell = at > text && at[-1] == '$';
        if (*at == '{' && at[1] == '{' && !of_shell) {
            fputc(*at++, stream);
        } else if (length > 0 && at[1 + length] == '}' && !of_shell) {
            const char *value = expand_value_of(at + 1, length, variables, count, error);
            if (value)
                fputs(value, stream);
            result = value ? 0 : -EINVAL;
            at += 1 + length;
        } else {
            fputc(*at, stream);
        }
    }
    if (fclose(stream) != 0 && result == 0) {
        error_no_memory(error);
        result = -ENOMEM;
    }
    if (result < 0) {
        free(*out);
        *out = NULL;
    }
    return result;
}

/* The value of the variable whose name is at text; NULL with a line in error: there is none. */
static const char *expand_value_of(const char *text, size_t length,
                                   const struct sweep_variable *variables, size_t count,
                                   struct error *error)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(variables[i].name) == length && strncmp(variables[i].name, text, length) == 0)
            return variables[i].value;
    char names[ERROR_TEXT_SIZE / 2] = "";
    for (size_t i = 0, used = 0; i < count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s {%s}", i ? "," : "",
                                 variables[i].name);
    error_set(error, -EINVAL, "unknown variable {%.*s}: expected%s, or {{%.*s} for a literal brace",
              (int)length, text, names, (int)length, text);
    return NULL;
}
