/* SPDX-License-Identifier: Apache-2.0 */
/* Version 3 model files; what loads is written, and has to load again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_and_load(const struct model *model)
{
    char *text = NULL, error[MODEL_ERROR_SIZE];
    size_t size;
    struct model *again = NULL;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return;
    int result = model_write_yaml(model, stream);
    if (fclose(stream) == 0 && result == 0 &&
        model_load_text("again", text, size, &again, error, sizeof error, NULL, NULL) < 0)
        abort();
    model_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[MODEL_ERROR_SIZE];
    struct model *model = NULL;
    if (model_load_text("fuzz", (const char *)data, size, &model, error, sizeof error, NULL,
                        NULL) == 0)
        write_and_load(model);
    model_free(model);
    return 0;
}
