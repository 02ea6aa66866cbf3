/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_check.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/files/json_text.h"
#include "base/files/text_file.h"
#include "model/plan.h"

enum { SHOWN = 12, NANOSECONDS = 1000000000 };

struct capture_walk {
    struct learn_check *check;
    const struct learn_capture *capture;
};

/* A conversation of the plan. The one before the first end is incomplete. */
struct plan_conversation {
    uint64_t packets;
    int64_t start, last; /* ns */
    bool whole;
};

struct difference {
    const char *type;
    double capture, model; /* shares of all packets */
};

static int capture_packet(void *context, struct learn_conversation *conversation, uint32_t form,
                          double gap);
static int find_counts(struct learn_check *check, const char *type, size_t length,
                       struct learn_type_counts **counts);
static int capture_end(void *context, struct learn_conversation *conversation);
static void count_conversation(struct learn_measure *measure, uint64_t packets, double seconds);
static int measure_model(struct learn_check *check, const struct model *model, uint64_t packets,
                         struct error *error);
static int check_make_plan(const struct model *model, uint64_t seed, uint64_t packets,
                           struct plan **plan, struct error *error);
static bool every_packet(const struct model_type *type, void *context);
static int measure_plan(struct learn_check *check, const struct plan *plan, uint64_t packets);
static void walk_plan(struct learn_measure *measure, const struct plan *plan, uint64_t packets,
                      uint64_t *counts);
static void take_step(struct learn_measure *measure, struct plan_conversation *conversation,
                      const struct plan_step *step, uint64_t *counts);
static void compare_measures(struct learn_check *check);
static double mix_distance(const struct learn_check *check);
static struct learn_type_counts total_counts(const struct learn_check *check);
static struct difference difference_of(const struct learn_check *check, size_t type,
                                       const struct learn_type_counts *total);
static double share_of(uint64_t count, uint64_t total);
static double rate_of(const struct learn_measure *measure);
static struct difference *list_types(const struct learn_check *check, size_t *count);
static int compare_shares(const void *a, const void *b);
static void print_quantiles(FILE *out, const char *name, const struct learn_histogram *capture,
                            const struct learn_histogram *model, double distance, double at);
static void print_differences(FILE *out, struct difference *list, size_t count);
static int compare_differences(const void *a, const void *b);
static json_t *json_distribution(const struct learn_histogram *capture,
                                 const struct learn_histogram *model, double distance, double at);
static json_t *json_side(const struct learn_histogram *histogram);
static json_t *json_mix(const struct learn_check *check);

int learn_check_make(struct learn_check *check, struct learn_capture *capture,
                     const struct learn_walk_settings *walk, const struct model *model,
                     uint64_t seed, uint64_t packets, struct error *error)
{
    *check = (struct learn_check){.seed = seed};
    struct capture_walk context = {check, capture};
    struct learn_walk_observer observer = {capture_packet, capture_end, &context};
    int result = learn_walk(capture, walk, &observer);
    if (result == 0)
        result = measure_model(check, model, packets, error);
    if (result == 0)
        compare_measures(check);
    return result == -ENOMEM ? error_no_memory(error) : result;
}

static int capture_packet(void *context, struct learn_conversation *conversation, uint32_t form,
                          double gap)
{
    struct capture_walk *walk = context;
    const char *text = walk->capture->forms.entries[form].bytes;
    struct learn_type_counts *counts;
    if (conversation->packets > 1)
        learn_histogram_add(&walk->check->capture.gaps, gap);
    walk->check->capture.packets++;
    if (find_counts(walk->check, text, learn_form_type(text), &counts) < 0)
        return -ENOMEM;
    counts->capture++;
    return 0;
}

/* Sets *counts to those of a type, which is added if it is new. 0 or -ENOMEM. */
static int find_counts(struct learn_check *check, const char *type, size_t length,
                       struct learn_type_counts **counts)
{
    uint32_t number;
    bool added;
    if (intern_add(&check->types, type, length, &number, &added) < 0)
        return -ENOMEM;
    if (added) {
        struct learn_type_counts *grown = array_grow(check->type_counts, number, sizeof *grown);
        if (!grown)
            return -ENOMEM;
        check->type_counts = grown;
        grown[number] = (struct learn_type_counts){0};
    }
    *counts = &check->type_counts[number];
    return 0;
}

static int capture_end(void *context, struct learn_conversation *conversation)
{
    struct capture_walk *walk = context;
    count_conversation(&walk->check->capture, conversation->packets,
                       (double)(conversation->last - conversation->start) / NANOSECONDS);
    return 0;
}

static void count_conversation(struct learn_measure *measure, uint64_t packets, double seconds)
{
    measure->conversations++;
    measure->seconds += seconds;
    learn_histogram_add(&measure->lengths, (double)packets);
    learn_histogram_add(&measure->durations, seconds);
}

static int measure_model(struct learn_check *check, const struct model *model, uint64_t packets,
                         struct error *error)
{
    struct plan *plan = NULL;
    int result = check_make_plan(model, check->seed, packets, &plan, error);
    if (result == 0)
        result = measure_plan(check, plan, packets);
    plan_free(plan);
    return result;
}

/* A plan of one client, without stretched pauses, that is long enough for these packets. */
static int check_make_plan(const struct model *model, uint64_t seed, uint64_t packets,
                           struct plan **plan, struct error *error)
{
    struct plan_settings settings = {
        .seed = seed, .replay_rate = 1, .scale = 1, .duration = 60, .is_operation = every_packet};
    int result = plan_make(model, &settings, plan, error);
    if (result < 0)
        return result;
    double rate = plan_figures(*plan)->client_rate;
    plan_free(*plan);
    *plan = NULL;
    settings.packets_per_second = rate;
    settings.duration = fmin((double)packets / rate * 1.2 + 60, 9e8);
    return plan_make(model, &settings, plan, error);
}

static bool every_packet(const struct model_type *type, void *context)
{
    (void)type;
    (void)context;
    return true;
}

static int measure_plan(struct learn_check *check, const struct plan *plan, uint64_t packets)
{
    size_t count;
    const struct model_type *types = model_types(plan_model(plan), &count);
    uint64_t *sent = calloc(count + 1, sizeof *sent);
    int result = sent ? 0 : -ENOMEM;
    if (result == 0)
        walk_plan(&check->model, plan, packets, sent);
    for (size_t type = 0; type < count && result == 0; type++) {
        char name[160];
        struct learn_type_counts *counts;
        int length = snprintf(name, sizeof name, "%s:%s", types[type].protocol, types[type].opcode);
        result = find_counts(check, name, (size_t)length, &counts);
        if (result == 0)
            counts->model += sent[type];
    }
    free(sent);
    return result;
}

/* Measures complete conversations only, without the parts at the start and the end of the plan. */
static void walk_plan(struct learn_measure *measure, const struct plan *plan, uint64_t packets,
                      uint64_t *counts)
{
    struct plan_conversation conversation = {0};
    struct plan_client cursor;
    struct plan_step step;
    plan_client_start(plan, 0, &cursor);
    while (measure->packets + conversation.packets < packets &&
           plan_client_next(plan, &cursor, &step))
        take_step(measure, &conversation, &step, counts);
}

static void take_step(struct learn_measure *measure, struct plan_conversation *conversation,
                      const struct plan_step *step, uint64_t *counts)
{
    if (step->kind == PLAN_END) {
        if (conversation->packets > 0)
            count_conversation(measure, conversation->packets,
                               (double)(conversation->last - conversation->start) / NANOSECONDS);
        measure->packets += conversation->packets;
        *conversation = (struct plan_conversation){.whole = true};
        return;
    }
    if (!conversation->whole)
        return;
    if (conversation->packets++ == 0)
        conversation->start = step->due;
    else
        learn_histogram_add(&measure->gaps, (double)(step->due - conversation->last) / NANOSECONDS);
    conversation->last = step->due;
    counts[step->type]++;
}

static void compare_measures(struct learn_check *check)
{
    const struct learn_measure *a = &check->capture, *b = &check->model;
    check->mix = mix_distance(check);
    check->gaps = learn_histogram_distance(&a->gaps, &b->gaps, &check->gaps_at);
    check->lengths = learn_histogram_distance(&a->lengths, &b->lengths, &check->lengths_at);
    check->durations = learn_histogram_distance(&a->durations, &b->durations, &check->durations_at);
    check->capture_rate = rate_of(a);
    check->model_rate = rate_of(b);
    check->rate = check->capture_rate > 0 ? check->model_rate / check->capture_rate - 1 : 0;
}

static double mix_distance(const struct learn_check *check)
{
    struct learn_type_counts total = total_counts(check);
    double sum = 0;
    for (size_t type = 0; type < check->types.count; type++) {
        struct difference difference = difference_of(check, type, &total);
        sum += fabs(difference.capture - difference.model);
    }
    return sum / 2;
}

/* Adds up the counts of all types. Those of the model include packets of a last conversation that
 * was cut off and has no length. */
static struct learn_type_counts total_counts(const struct learn_check *check)
{
    struct learn_type_counts total = {0};
    for (size_t type = 0; type < check->types.count; type++) {
        total.capture += check->type_counts[type].capture;
        total.model += check->type_counts[type].model;
    }
    return total;
}

static struct difference difference_of(const struct learn_check *check, size_t type,
                                       const struct learn_type_counts *total)
{
    const struct learn_type_counts *counts = &check->type_counts[type];
    return (struct difference){check->types.entries[type].bytes,
                               share_of(counts->capture, total->capture),
                               share_of(counts->model, total->model)};
}

static double share_of(uint64_t count, uint64_t total)
{
    return total > 0 ? (double)count / (double)total : 0;
}

static double rate_of(const struct learn_measure *measure)
{
    return measure->seconds > 0 ? (double)measure->packets / measure->seconds : 0;
}

void learn_check_clear(struct learn_check *check)
{
    intern_clear(&check->types);
    free(check->type_counts);
    check->type_counts = NULL;
}

int learn_check_print(const struct learn_check *check, FILE *out)
{
    size_t count, i;
    const struct learn_measure *a = &check->capture, *b = &check->model;
    struct difference *list = list_types(check, &count);
    if (!list)
        return -ENOMEM;
    errno = 0;
    fprintf(out, "%-28s%12s %12s %10s\n", "", "capture", "model", "distance");
    fprintf(out, "%-28s%12" PRIu64 " %12" PRIu64 "\n", "conversations", a->conversations,
            b->conversations);
    fprintf(out, "%-28s%12" PRIu64 " %12" PRIu64 "\n", "packets", a->packets, b->packets);
    fprintf(out, "%-28s%12.5g %12.5g %+9.2f%%\n", "packets/s of a client", check->capture_rate,
            check->model_rate, 100 * check->rate);
    print_quantiles(out, "packets per conversation", &a->lengths, &b->lengths, check->lengths,
                    check->lengths_at);
    print_quantiles(out, "seconds per conversation", &a->durations, &b->durations, check->durations,
                    check->durations_at);
    print_quantiles(out, "seconds between packets", &a->gaps, &b->gaps, check->gaps,
                    check->gaps_at);
    fprintf(out, "%-28s%12s %12s %10.4f  total variation\n", "mix", "", "", check->mix);
    for (i = 0; i < count && i < SHOWN; i++)
        fprintf(out, "  %-26s%11.2f%% %11.2f%%\n", list[i].type, 100 * list[i].capture,
                100 * list[i].model);
    if (i < count)
        fprintf(out, "  and %zu more types\n", count - i);
    print_differences(out, list, count);
    free(list);
    return text_file_flush(out);
}

/* Lists the types of both sides, the commonest in the capture first. The caller frees the list;
 * NULL: out of memory. */
static struct difference *list_types(const struct learn_check *check, size_t *count)
{
    struct learn_type_counts total = total_counts(check);
    *count = check->types.count;
    struct difference *list = calloc(*count + 1, sizeof *list);
    for (size_t type = 0; list && type < *count; type++)
        list[type] = difference_of(check, type, &total);
    if (list && *count > 1)
        qsort(list, *count, sizeof *list, compare_shares);
    return list;
}

static int compare_shares(const void *a, const void *b)
{
    const struct difference *left = a, *right = b;
    if (left->capture != right->capture)
        return left->capture > right->capture ? -1 : 1;
    return strcmp(left->type, right->type);
}

static void print_quantiles(FILE *out, const char *name, const struct learn_histogram *capture,
                            const struct learn_histogram *model, double distance, double at)
{
    static const int percents[] = {50, 90, 99};
    for (size_t i = 0; i < 3; i++) {
        fprintf(out, "%-24s p%d %12.4g %12.4g", i == 0 ? name : "", percents[i],
                learn_histogram_quantile(capture, percents[i] / 100.0),
                learn_histogram_quantile(model, percents[i] / 100.0));
        if (i == 0)
            fprintf(out, " %10.4f  KS, largest at %.3g", distance, at);
        fputc('\n', out);
    }
}

static void print_differences(FILE *out, struct difference *list, size_t count)
{
    fputs("\nLargest differences of the mix\n", out);
    qsort(list, count, sizeof *list, compare_differences);
    for (size_t i = 0; i < count && i < 3; i++)
        fprintf(out, "  %-24s %+.2f percentage points\n", list[i].type,
                100 * (list[i].model - list[i].capture));
}

static int compare_differences(const void *a, const void *b)
{
    const struct difference *left = a, *right = b;
    double left_size = fabs(left->capture - left->model);
    double right_size = fabs(right->capture - right->model);
    if (left_size != right_size)
        return left_size > right_size ? -1 : 1;
    return strcmp(left->type, right->type);
}

int learn_check_print_json(const struct learn_check *check, FILE *out)
{
    const struct learn_measure *a = &check->capture, *b = &check->model;
    json_t *root = json_pack(
        "{s:i, s:I, s:{s:I, s:I}, s:{s:I, s:I}, s:{s:f, s:f, s:f}, s:o, s:o, s:o, s:o}", "format",
        1, "seed", (json_int_t)check->seed, "conversations", "capture",
        (json_int_t)a->conversations, "model", (json_int_t)b->conversations, "packets", "capture",
        (json_int_t)a->packets, "model", (json_int_t)b->packets, "rate", "capture",
        check->capture_rate, "model", check->model_rate, "difference", check->rate, "lengths",
        json_distribution(&a->lengths, &b->lengths, check->lengths, check->lengths_at), "durations",
        json_distribution(&a->durations, &b->durations, check->durations, check->durations_at),
        "gaps", json_distribution(&a->gaps, &b->gaps, check->gaps, check->gaps_at), "mix",
        json_mix(check));
    if (!root)
        return -ENOMEM;
    int result = json_text_write(out, root, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
    json_decref(root);
    return result == 0 ? text_file_flush(out) : result;
}

static json_t *json_distribution(const struct learn_histogram *capture,
                                 const struct learn_histogram *model, double distance, double at)
{
    return json_pack("{s:o, s:o, s:f, s:f}", "capture", json_side(capture), "model",
                     json_side(model), "ks", distance, "at", at);
}

static json_t *json_side(const struct learn_histogram *histogram)
{
    return json_pack("{s:f, s:f, s:f}", "p50", learn_histogram_quantile(histogram, 0.5), "p90",
                     learn_histogram_quantile(histogram, 0.9), "p99",
                     learn_histogram_quantile(histogram, 0.99));
}

static json_t *json_mix(const struct learn_check *check)
{
    size_t count;
    struct difference *list = list_types(check, &count);
    json_t *types = json_object();
    for (size_t i = 0; list && i < count; i++)
        json_object_set_new(
            types, list[i].type,
            json_pack("{s:f, s:f}", "capture", list[i].capture, "model", list[i].model));
    free(list);
    return json_pack("{s:f, s:o}", "total_variation", check->mix, "types", types);
}
