/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the server that a sweep varies. */
#include "replay/sweep/sweep_vary.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/options.h"
#include "replay/sweep/sweep_expand.h"

struct sweep_vary *sweep_vary_new(struct sweep_vary all[SWEEP_VARY_MAX], size_t *count,
                                  const char *name, const char **error)
{
    static const char *const taken[] = {"r", "S", "repeat", "options", "spoiled"};
    *error = NULL;
    if (!sweep_is_name(name))
        *error = options_wrong(
            "\"%s\" is not a name: expected a letter, then letters, digits, _ and -", name);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(name, taken[i]) == 0)
            *error = options_wrong("the name %s is reserved; choose another one", name);
    for (size_t i = 0; i < *count; i++)
        if (strcmp(all[i].name, name) == 0)
            *error = options_wrong("%s is given twice", name);
    if (!*error && *count == SWEEP_VARY_MAX)
        *error = options_wrong("too many names (maximum %d)", SWEEP_VARY_MAX);
    if (*error)
        return NULL;
    struct sweep_vary *vary = &all[*count];
    *vary = (struct sweep_vary){.name = strdup(name)};
    if (!vary->name) {
        *error = options_wrong("out of memory");
        return NULL;
    }
    ++*count;
    return vary;
}

const char *sweep_vary_add(struct sweep_vary *vary, const char *value)
{
    if (!*value)
        return options_wrong("%s has an empty value", vary->name);
    for (size_t i = 0; i < vary->count; i++)
        if (strcmp(vary->values[i], value) == 0)
            return options_wrong("the value %s of %s is given twice", value, vary->name);
    char **grown = array_grow(vary->values, vary->count, sizeof *grown);
    if (!grown || !(grown[vary->count] = strdup(value))) {
        vary->values = grown ? grown : vary->values;
        return options_wrong("out of memory");
    }
    vary->values = grown;
    vary->count++;
    return NULL;
}

void sweep_vary_clear(struct sweep_vary *vary)
{
    for (size_t i = 0; i < vary->count; i++)
        free(vary->values[i]);
    free(vary->values);
    free(vary->name);
    *vary = (struct sweep_vary){0};
}
