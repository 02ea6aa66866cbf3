/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes lines of tshark. Any fields give requests and forms, and a model is learned from them;
 * no form contains what only an unescaped name could bring. The first byte is the number of
 * fields of a line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/learn/learn_frames.h"
#include "model/learn/learn_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void learn(struct learn_capture *capture)
{
    struct learn_settings settings = {.history = 2, .max_details = 3, .name = "fuzz"};
    struct model *model = NULL;
    settings.walk.idle = 60;
    if (learn_capture_server(capture, &settings.walk.server) < 0 ||
        learn_capture_finish(capture, settings.walk.server) < 0)
        return;
    /* A learned model must load. */
    if (learn_model(capture, &settings, &model) < 0)
        abort();
    model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = {0};
    struct learn_capture capture;
    enum learn_line_field columns[LEARN_LINE_FIELDS];
    char *text = malloc(size + 1);
    if (!text || learn_capture_init(&capture, &error) < 0)
        abort();
    struct learn_frames *frames = learn_frames_new(&capture);
    memcpy(text, data, size);
    text[size] = '\0';
    for (int field = 0; field < LEARN_LINE_FIELDS; field++)
        columns[field] = (enum learn_line_field)field;
    for (char *rest = text, *one; frames && (one = strsep(&rest, "\n"));) {
        struct learn_line line;
        size_t count = 1;
        for (const char *c = one; *c; c++)
            count += *c == (char)LEARN_LINE_SEPARATOR;
        if (count <= LEARN_LINE_FIELDS && learn_line_parse(&line, one, columns, count) == 0)
            (void)learn_frames_take(frames, &line);
    }
    learn_frames_free(frames);
    learn(&capture);
    learn_capture_clear(&capture);
    free(text);
    return 0;
}
