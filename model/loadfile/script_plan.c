/* SPDX-License-Identifier: Apache-2.0 */
#include "model/loadfile/script_plan.h"

#include <errno.h>
#include <stdlib.h>

static bool begin_pass(const struct script_plan *plan, struct script_cursor *cursor);
static void direct(const struct script_plan *plan, struct script_cursor *cursor,
                   const struct script_step *step);
static double due_seconds(const struct script_plan *plan, const struct script_cursor *cursor);
static double step_bytes(const struct script_step *step);
static double last_time(const struct script *script);

int script_plan_init(struct script_plan *plan)
{
    const struct script *script = plan->script;
    plan->loop_plays = calloc(script->loop_count + 1, sizeof *plan->loop_plays);
    if (!plan->loop_plays)
        return -ENOMEM;
    /* Loops are numbered by their beginning: those inside follow. */
    for (uint32_t loop = script->loop_count; loop-- > 0;) {
        const struct script_loop *range = &script->loops[loop];
        for (uint32_t i = range->begin + 1; i < range->end && !plan->loop_plays[loop]; i++) {
            const struct script_step *step = &script->steps[i];
            if (step->op == SCRIPT_LOOP) {
                plan->loop_plays[loop] = plan->loop_plays[step->size];
                i = script->loops[step->size].end;
            } else {
                plan->loop_plays[loop] = step->op == SCRIPT_SLEEP || plan->plays[step->op];
            }
        }
    }
    return 0;
}

void script_plan_clear(struct script_plan *plan)
{
    free(plan->loop_plays);
    plan->loop_plays = NULL;
}

void script_plan_start(struct script_cursor *cursor)
{
    *cursor = (struct script_cursor){0};
}

bool script_plan_next(const struct script_plan *plan, struct script_cursor *cursor,
                      struct script_due *due)
{
    const struct script *script = plan->script;
    for (;;) {
        if (cursor->next == script->step_count && !begin_pass(plan, cursor))
            return false;
        const struct script_step *step = &script->steps[cursor->next];
        bool after_reply = plan->pace == SCRIPT_PACE_REPLY;
        double seconds = after_reply ? 0 : due_seconds(plan, cursor);
        if (!(seconds < plan->end))
            return false;
        if (step->op >= SCRIPT_PACKETS) {
            direct(plan, cursor, step);
            continue;
        }
        if (plan->pace == SCRIPT_PACE_BYTES)
            cursor->base += step_bytes(step) / plan->bytes_per_second / plan->replay_rate;
        *due = (struct script_due){.step = cursor->next++,
                                   .after_reply = after_reply,
                                   .due = after_reply ? cursor->pause : (int64_t)(seconds * 1e9)};
        if (!plan->plays[step->op])
            continue;
        cursor->pause = 0;
        return true;
    }
}

/* Returns to the top of the file. */
static bool begin_pass(const struct script_plan *plan, struct script_cursor *cursor)
{
    cursor->passes++;
    cursor->next = 0;
    if (plan->pace == SCRIPT_PACE_TIMES)
        cursor->base += last_time(plan->script) / plan->replay_rate;
    return plan->passes == 0 || cursor->passes < plan->passes;
}

/* A step that only directs the plan. */
static void direct(const struct script_plan *plan, struct script_cursor *cursor,
                   const struct script_step *step)
{
    cursor->next++;
    if (step->op == SCRIPT_SLEEP) {
        cursor->pause += (int64_t)step->offset;
        cursor->base += (double)step->offset / 1e9 / plan->replay_rate;
        return;
    }
    const struct script_loop *loop = &plan->script->loops[step->size];
    if (step->op == SCRIPT_LOOP) {
        cursor->loops[step->slot] = (uint32_t)loop->count;
        if (!plan->loop_plays[step->size])
            cursor->next = loop->end + 1;
    } else if (--cursor->loops[step->slot] > 0) {
        cursor->next = loop->begin + 1;
    }
}

static double due_seconds(const struct script_plan *plan, const struct script_cursor *cursor)
{
    if (plan->pace != SCRIPT_PACE_TIMES)
        return cursor->base;
    return cursor->base + (double)plan->script->times[cursor->next] / 1e9 / plan->replay_rate;
}

/* The bytes that a step is to move. */
static double step_bytes(const struct script_step *step)
{
    bool moves = step->op == SCRIPT_READ || step->op == SCRIPT_WRITE;
    return !moves ? 0 : step->name == UINT32_MAX ? step->size : step->name;
}

static double last_time(const struct script *script)
{
    return script->times ? (double)script->times[script->step_count - 1] / 1e9 : 0;
}

double script_plan_pass_seconds(const struct script_plan *plan)
{
    const struct script *script = plan->script;
    if (plan->pace == SCRIPT_PACE_TIMES)
        return last_time(script) / plan->replay_rate;
    if (plan->pace == SCRIPT_PACE_BYTES)
        return (script->bytes_read + script->bytes_written) / plan->bytes_per_second /
               plan->replay_rate;
    return 0;
}
