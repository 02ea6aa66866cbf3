/* SPDX-License-Identifier: Apache-2.0 */
/* A list of arguments for execvp(), built one by one. */
#ifndef BASE_ARGUMENTS_H
#define BASE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

/* A zeroed list is empty. */
struct arguments {
    char **items; /* ends with NULL; NULL: no argument was added */
    size_t count;
    bool failed; /* out of memory: the list is incomplete */
};

/* Adds one argument. A failure is recorded in arguments->failed. */
void arguments_add(struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void arguments_clear(struct arguments *arguments);

#endif
