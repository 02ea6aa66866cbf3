/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of models share: models from text, and the warnings of loading. */
#ifndef TESTS_LIB_MODEL_TEXT_H
#define TESTS_LIB_MODEL_TEXT_H

#include "base/error.h"
#include "model/model.h"

#define OFFICE_V2 "tests/data/office-v2.json"

struct warnings {
    unsigned count;
    char last[ERROR_TEXT_SIZE];
};

/* A warning callback; context is a struct warnings. */
void keep_warning(void *context, const char *line);

/* A model that must be valid; the caller frees it. warnings may be NULL. */
struct model *model_of(const char *text, struct warnings *warnings);

struct model *model_of_file(const char *path);

#endif
