/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the server that a sweep varies: --vary, or "vary" in a sweep file. */
#ifndef REPLAY_SWEEP_SWEEP_VARY_H
#define REPLAY_SWEEP_SWEEP_VARY_H

#include <stddef.h>

enum { SWEEP_VARY_MAX = 8 };

struct sweep_vary {
    char *name;
    char **values;
    size_t count;
};

/* Adds an entry to the *count entries in all. NULL: *error says why that is impossible. */
struct sweep_vary *sweep_vary_new(struct sweep_vary all[SWEEP_VARY_MAX], size_t *count,
                                  const char *name, const char **error);
/* Adds a copy of the value. Returns NULL or what is wrong. */
const char *sweep_vary_add(struct sweep_vary *vary, const char *value);
void sweep_vary_clear(struct sweep_vary *vary);

#endif
