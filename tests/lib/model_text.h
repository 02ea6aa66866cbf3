/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of models share: models from text, and the warnings of loading. */
#ifndef TESTS_LIB_MODEL_TEXT_H
#define TESTS_LIB_MODEL_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/model.h"
#include "model/model_load.h"

#define OFFICE_V2 "tests/data/office-v2.json"

struct warnings {
    unsigned count;
    char last[ERROR_TEXT_SIZE];
};

static inline void keep_warning(void *context, const char *line)
{
    struct warnings *warnings = context;
    warnings->count++;
    snprintf(warnings->last, sizeof warnings->last, "%s", line);
}

/* A model that must be valid. warnings may be NULL. */
static inline struct model *model_of(const char *text, struct warnings *warnings)
{
    struct model *model = NULL;
    struct error error = {0};
    if (model_load_text("m", text, strlen(text), &model, &error, warnings ? keep_warning : NULL,
                        warnings) < 0)
        fail_msg("%s", error.text);
    return model;
}

static inline struct model *model_of_file(const char *path)
{
    struct model *model = NULL;
    struct error error = {0};
    if (model_load(path, &model, &error, NULL, NULL) < 0)
        fail_msg("%s", error.text);
    return model;
}

#endif
