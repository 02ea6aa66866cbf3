/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/model_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/model_load.h"

void keep_warning(void *context, const char *line)
{
    struct warnings *warnings = context;
    warnings->count++;
    snprintf(warnings->last, sizeof warnings->last, "%s", line);
}

struct model *model_of(const char *text, struct warnings *warnings)
{
    struct model *model = NULL;
    struct error error = {0};
    if (model_load_text("m", text, strlen(text), &model, &error, warnings ? keep_warning : NULL,
                        warnings) < 0)
        fail_msg("%s", error.text);
    return model;
}

struct model *model_of_file(const char *path)
{
    struct model *model = NULL;
    struct error error = {0};
    if (model_load(path, &model, &error, NULL, NULL) < 0)
        fail_msg("%s", error.text);
    return model;
}
