/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/session/dry_run_script.h"

#include <inttypes.h>

#include "summary/result/size_counts.h"

enum { SIZES_SHOWN = 8 };

static void print_operations(const struct script *script, FILE *out);
static double sum_operations(const struct script *script);
static int count_sizes(const struct script *script, uint8_t op, struct size_counts *counts);
static void print_sizes(const struct script *script, uint8_t op, FILE *out);

void dry_run_print_script(const struct plan *plan, FILE *out)
{
    const struct script *script = model_script(plan_model(plan));
    const struct plan_figures *figures = plan_figures(plan);
    uint64_t passes = plan_settings(plan)->passes;
    char pace[PLAN_PACE_SIZE];
    plan_pace(plan, pace);
    fprintf(out, "Clients:            %" PRIu32 "\n", figures->clients);
    fprintf(out, "Pace:               %s (%s)\n", pace,
            plan_is_closed(plan) ? "closed loop" : "open loop, per client");
    if (passes)
        fprintf(out, "Passes:             %" PRIu64 " of each client\n", passes);
    if (!plan_is_closed(plan))
        fprintf(out, "Nominal load:       %.3f operations/s\n", figures->nominal_operations);
    fprintf(out, "Loadfile:           %" PRIu32 " steps, %" PRIu32 " files open at most\n",
            script->step_count, script->slot_count);
    print_operations(script, out);
    print_sizes(script, SCRIPT_READ, out);
    print_sizes(script, SCRIPT_WRITE, out);
}

static void print_operations(const struct script *script, FILE *out)
{
    double all = sum_operations(script);
    fprintf(out,
            "A pass of a client: %.0f operations, %.0f of them are meant to fail; %.3f MB read, "
            "%.3f MB written%s\n",
            all, script->failures, script->bytes_read / 1e6, script->bytes_written / 1e6,
            script->computed_sizes ? ", not counting computed sizes" : "");
    fprintf(out, "\n%-24s %14s %8s\n", "Operation", "Count", "Share");
    for (int op = 0; op < SCRIPT_RANDOMSTRING; op++)
        if (script->operations[op] > 0)
            fprintf(out, "%-24s %14.0f %7.2f%%\n", script_words[op], script->operations[op],
                    100 * script->operations[op] / all);
}

static double sum_operations(const struct script *script)
{
    double sum = 0;
    for (int op = 0; op < SCRIPT_RANDOMSTRING; op++)
        sum += script->operations[op];
    return sum;
}

/* Counts the lines of a pass by their size; those inside loops as often as they are played. */
static int count_sizes(const struct script *script, uint8_t op, struct size_counts *counts)
{
    double repeats[SCRIPT_DEPTH_MAX + 1] = {1};
    unsigned depth = 0;
    int result = 0;
    for (uint32_t i = 0; result == 0 && i < script->step_count; i++) {
        const struct script_step *step = &script->steps[i];
        if (step->op == SCRIPT_LOOP) {
            repeats[depth + 1] = repeats[depth] * (double)script->loops[step->size].count;
            depth++;
        } else if (step->op == SCRIPT_ENDLOOP) {
            depth--;
        } else if (step->op == op && step->size > 0 && !(step->flags & SCRIPT_COMPUTED_SIZE)) {
            double times = repeats[depth] < 1e18 ? repeats[depth] : 1e18;
            result = size_counts_add(counts, step->size, (uint64_t)times);
        }
    }
    return result;
}

static void print_sizes(const struct script *script, uint8_t op, FILE *out)
{
    struct size_counts counts = {0};
    struct size_count sizes[SIZE_COUNTS_MAX];
    if (count_sizes(script, op, &counts) == 0) {
        size_t count = size_counts_list(&counts, sizes);
        if (count)
            fprintf(out, "\n%-24s %14s %8s\n", op == SCRIPT_READ ? "Read size" : "Write size",
                    "Count", "Share");
        for (size_t i = 0; i < count && i < SIZES_SHOWN; i++)
            fprintf(out, "%-24" PRIu64 " %14" PRIu64 " %7.2f%%\n", sizes[i].size, sizes[i].count,
                    100 * (double)sizes[i].count / script->operations[op]);
        if (count > SIZES_SHOWN)
            fprintf(out, "and %zu other sizes\n", count + (counts.other > 0) - SIZES_SHOWN);
    }
    size_counts_clear(&counts);
}

json_t *dry_run_script_to_json(const struct plan *plan)
{
    const struct script *script = model_script(plan_model(plan));
    char pace[PLAN_PACE_SIZE];
    plan_pace(plan, pace);
    return json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:f, s:f}", "pace", pace, "passes",
                     (json_int_t)plan_settings(plan)->passes, "steps",
                     (json_int_t)script->step_count, "files", (json_int_t)script->slot_count,
                     "operations", sum_operations(script), "failures", script->failures, "read",
                     script->bytes_read, "written", script->bytes_written);
}
