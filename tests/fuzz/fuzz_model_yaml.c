/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes version 3 model files. Models that load are written and must load again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/model.h"
#include "model/model_load.h"
#include "model/model_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_and_load(const struct model *model)
{
    struct error error = {0};
    char *text = NULL;
    size_t size;
    struct model *again = NULL;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return;
    int result = model_write_yaml(model, stream);
    if (fclose(stream) == 0 && result == 0 &&
        model_load_text("again", text, size, &again, &error, NULL, NULL) < 0)
        abort();
    model_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = {0};
    struct model *model = NULL;
    if (model_load_text("fuzz", (const char *)data, size, &model, &error, NULL, NULL) == 0)
        write_and_load(model);
    model_free(model);
    return 0;
}
