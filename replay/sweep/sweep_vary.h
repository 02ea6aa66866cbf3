/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the server that a sweep varies: --vary, and "vary" of a sweep file. */
#ifndef REPLAY_SWEEP_SWEEP_VARY_H
#define REPLAY_SWEEP_SWEEP_VARY_H

#include <stddef.h>

enum { SWEEP_VARY_MAX = 8 };

/* One of them. */
struct sweep_vary {
    char *name;
    char **values;
    size_t count;
};

/* A fresh place among *count ones for a name; NULL: *error tells why there is none. */
struct sweep_vary *sweep_vary_new(struct sweep_vary all[SWEEP_VARY_MAX], size_t *count,
                                  const char *name, const char **error);
/* Adds a copy of the value; NULL, or what is wrong with it. */
const char *sweep_vary_add(struct sweep_vary *vary, const char *value);
void sweep_vary_clear(struct sweep_vary *vary);

#endif
