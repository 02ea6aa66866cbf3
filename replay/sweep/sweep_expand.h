/* SPDX-License-Identifier: Apache-2.0 */
/* Variables in commands of a sweep: {r}, {S} and {NAME} for each --vary. */
#ifndef REPLAY_SWEEP_SWEEP_EXPAND_H
#define REPLAY_SWEEP_SWEEP_EXPAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct sweep_variable {
    const char *name, *value;
};

/* Whether text is a name for {}: a letter or _, then letters, digits, _ and -. */
bool sweep_is_name(const char *text);

/*
 * Replaces each {NAME} in text by the value of the variable. {{ gives one {. ${NAME} is left for
 * the shell, and { before anything but a name is unchanged. 0 and *out, which the caller frees;
 * -ENOMEM or -EINVAL (no such variable) with a line in error.
 */
int sweep_expand(const char *text, const struct sweep_variable *variables, size_t count, char **out,
                 struct error *error);

#endif
