/* SPDX-License-Identifier: Apache-2.0 */
/* {NAME} in a sweep's commands: {r}, {S} and the names of --vary. */
#ifndef REPLAY_SWEEP_SWEEP_EXPAND_H
#define REPLAY_SWEEP_SWEEP_EXPAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct sweep_variable {
    const char *name, *value;
};

/* A letter or _, then letters, digits, _ and -: what may stand in {}. */
bool sweep_is_name(const char *text);

/*
 * Replaces each {NAME} in text by its variable's value. {{ stands for one {; ${NAME} is the
 * shell's, and a { before anything but a name is left alone. 0 and *out, malloc'd; -ENOMEM; or
 * -EINVAL and in error that there is no such variable.
 */
int sweep_expand(const char *text, const struct sweep_variable *variables, size_t count, char **out,
                 struct error *error);

#endif
