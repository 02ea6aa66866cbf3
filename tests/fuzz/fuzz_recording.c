/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes recordings. Those that load are played to their end, in the order of time. */
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/model_load.h"
#include "model/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool any(const struct model_type *type, void *context)
{
    (void)type;
    (void)context;
    return true;
}

static uint64_t walk_client(const struct plan *plan, uint32_t client)
{
    struct plan_client cursor;
    struct plan_step step;
    int64_t last = 0;
    uint64_t packets = 0;
    plan_client_start(plan, client, &cursor);
    while (plan_client_next(plan, &cursor, &step)) {
        if (step.due < last)
            abort();
        last = step.due;
        packets += step.kind == PLAN_PACKET;
    }
    return packets;
}

static void walk(const struct model *model)
{
    struct plan_settings settings = {.replay_rate = 3,
                                     .scale = 1,
                                     .duration = model_recording_seconds(model, 3),
                                     .is_operation = any};
    struct plan *plan = NULL;
    struct error error = {0};
    size_t count;
    const struct model_type *types = model_types(model, &count);
    uint64_t packets = 0, played = 0;
    if (plan_make(model, &settings, &plan, &error) < 0)
        abort();
    for (size_t i = 0; i < count; i++)
        packets += types[i].count;
    for (uint32_t client = 0; client < plan_figures(plan)->clients; client++)
        played += walk_client(plan, client);
    if (packets != played)
        abort();
    plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = {0};
    struct model *model = NULL;
    if (model_load_text("fuzz", (const char *)data, size, &model, &error, NULL, NULL) == 0 &&
        model_is_recording(model))
        walk(model);
    model_free(model);
    return 0;
}
