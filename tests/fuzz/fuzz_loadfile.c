/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes loadfiles, plain and gzip. Those that load are planned, and played for some steps. */
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/model_load.h"
#include "model/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 2000 };

static bool any(const struct model_type *type, void *context)
{
    (void)type;
    (void)context;
    return true;
}

/* Slots, names and statuses of each step exist, and the times of open loops do not fall. */
static void walk_client(const struct plan *plan)
{
    const struct script *script = model_script(plan_model(plan));
    struct plan_client cursor;
    struct plan_step step;
    int64_t last = 0;
    plan_client_start(plan, 0, &cursor);
    for (int i = 0; i < STEPS && plan_client_next(plan, &cursor, &step); i++) {
        const struct script_step *line = &script->steps[step.details];
        bool has_slot = line->op <= SCRIPT_UNLOCK || line->op == SCRIPT_QUERY_FILE ||
                        line->op == SCRIPT_SET_FILE;
        if (step.due < (step.after_reply ? 0 : last) || line->status >= script->status_count ||
            (has_slot && line->slot >= script->slot_count && line->slot != SCRIPT_NO_SLOT))
            abort();
        last = step.due;
    }
}

static void walk(const struct model *model, double bytes_per_second)
{
    struct plan_settings settings = {.replay_rate = 1,
                                     .scale = 1,
                                     .duration = 60,
                                     .bytes_per_second = bytes_per_second,
                                     .is_operation = any};
    struct plan *plan = NULL;
    struct error error = {0};
    if (plan_make(model, &settings, &plan, &error) == 0)
        walk_client(plan);
    plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = {0};
    struct model *model = NULL;
    if (model_load_text("fuzz", (const char *)data, size, &model, &error, NULL, NULL) < 0)
        return 0;
    if (model_script(model)) {
        walk(model, 0);
        walk(model, 1e6);
    }
    model_free(model);
    return 0;
}
