/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes Samba v2 model files, and a short plan of those that load. */
#include <stdint.h>

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

static void walk(const struct model *model)
{
    struct plan_settings settings = {
        .replay_rate = 1, .packets_per_second = 10, .duration = 1, .is_operation = any};
    struct plan *plan = NULL;
    struct error error = {0};
    if (plan_make(model, &settings, &plan, &error) < 0)
        return;
    struct plan_client cursor;
    struct plan_step step;
    plan_client_start(plan, 0, &cursor);
    for (int i = 0; i < 1000 && plan_client_next(plan, &cursor, &step); i++)
        continue;
    plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = {0};
    struct model *model = NULL;
    if (model_load_text("fuzz", (const char *)data, size, &model, &error, NULL, NULL) == 0)
        walk(model);
    model_free(model);
    return 0;
}
