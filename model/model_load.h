/* SPDX-License-Identifier: Apache-2.0 */
/* Loads models: version 3 YAML files, Samba v2 JSON files and recordings. */
#ifndef MODEL_MODEL_LOAD_H
#define MODEL_MODEL_LOAD_H

#include "base/error.h"
#include "model/model.h"

/* Limits of model files. Recordings are read line by line and may be larger. */
enum { MODEL_FILE_MAX = 64 << 20, MODEL_NESTING_MAX = 64 };

/* Called for each warning, with one line of text without a newline. */
typedef void model_warning(void *context, const char *line);

/*
 * Loads a file, whose format is recognised by its content; path "-" is standard input. On success
 * *out is the caller's, to be freed with model_free(). On failure returns a negative errno
 * (-EINVAL: the file is wrong) with "file:line:column: expected ..." in error. warning is called
 * for faults that do not prevent playing; it may be NULL.
 */
int model_load(const char *path, struct model **out, struct error *error, model_warning *warning,
               void *context);

/* The same from memory. Messages call the text name. */
int model_load_text(const char *name, const char *text, size_t size, struct model **out,
                    struct error *error, model_warning *warning, void *context);

#endif
