/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring a capture and a plan the same way, and comparing. */
#include "model/learn/learn_check.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/plan.h"

enum { SHOWN = 12, NANOSECONDS = 1000000000 };

struct capture_measure {
    struct learn_measure *measure;
    const struct learn_capture *capture;
};

struct difference {
    const char *type;
    double capture, model;
};

static int capture_packet(void *context, struct learn_conversation *conversation, uint32_t form,
                          double gap);
static int check_count_packet(struct learn_measure *measure, const char *type, size_t length);
static int capture_end(void *context, struct learn_conversation *conversation);
static void count_conversation(struct learn_measure *measure, uint64_t packets, double seconds);
static int measure_model(struct learn_measure *measure, const struct model *model, uint64_t seed,
                         uint64_t packets, struct error *error);
static int check_make_plan(const struct model *model, uint64_t seed, uint64_t packets,
                           struct plan **plan, struct error *error);
static bool every_packet(const struct model_type *type, void *context);
static int walk_plan(struct learn_measure *measure, const struct plan *plan, uint64_t packets);
static void check_compare(struct learn_check *check);
static double mix_distance(const struct learn_check *check);
static double check_share_of(const struct learn_measure *measure, const struct learn_word *type);
static double total_of(const struct learn_measure *measure);
static uint64_t count_of(const struct learn_measure *measure, const struct learn_word *type);
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
    struct capture_measure measure = {&check->capture, capture};
    struct learn_walk_observer observer = {capture_packet, capture_end, &measure};
    int result = learn_walk(capture, walk, &observer);
    if (result == 0)
        result = measure_model(&check->model, model, seed, packets, error);
    if (result == -ENOMEM)
        error_no_memory(error);
    if (result == 0)
        check_compare(check);
    return result;
}

static int capture_packet(void *context, struct learn_conversation *conversation, uint32_t form,
                          double gap)
{
    const struct capture_measure *walk = context;
    const char *text = walk->capture->forms.items[form].bytes;
    if (conversation->packets > 1)
        learn_histogram_add(&walk->measure->gaps, gap);
    return check_count_packet(walk->measure, text, learn_form_type(text));
}

static int check_count_packet(struct learn_measure *measure, const char *type, size_t length)
{
    uint32_t number;
    if (learn_words_add(&measure->types, type, length, &number) < 0)
        return -ENOMEM;
    measure->types.items[number].count++;
    measure->packets++;
    return 0;
}

static int capture_end(void *context, struct learn_conversation *conversation)
{
    const struct capture_measure *walk = context;
    count_conversation(walk->measure, conversation->packets,
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

static int measure_model(struct learn_measure *measure, const struct model *model, uint64_t seed,
                         uint64_t packets, struct error *error)
{
    struct plan *plan = NULL;
    int result = check_make_plan(model, seed, packets, &plan, error);
    if (result == 0)
        result = walk_plan(measure, plan, packets);
    plan_free(plan);
    return result;
}

/* One client whose pauses are as the model has them, for so long that it sends as many packets. */
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

/* Whole conversations only: neither what is left of the first one nor what the end cuts off. */
static int walk_plan(struct learn_measure *measure, const struct plan *plan, uint64_t packets)
{
    size_t count;
    const struct model_type *types = model_types(plan_model(plan), &count);
    uint64_t *counts = calloc(count + 1, sizeof *counts), sent = 0;
    struct plan_client cursor;
    struct plan_step step;
    int64_t start = 0, last = 0;
    int result = counts ? 0 : -ENOMEM;
    bool whole = false;
    if (result == 0)
        plan_client_start(plan, 0, &cursor);
    while (result == 0 && measure->packets + sent < packets &&
           plan_client_next(plan, &cursor, &step)) {
        if (step.kind == PLAN_END) {
            if (whole && sent > 0)
                count_conversation(measure, sent, (double)(last - start) / NANOSECONDS);
            measure->packets += whole ? sent : 0;
            whole = true;
            sent = 0;
            continue;
        }
        if (!whole)
            continue;
        if (sent++ == 0)
            start = step.due;
        else
            learn_histogram_add(&measure->gaps, (double)(step.due - last) / NANOSECONDS);
        last = step.due;
        counts[step.type]++;
    }
    for (size_t type = 0; type < count && result == 0; type++) {
        char name[160];
        uint32_t number;
        int length = snprintf(name, sizeof name, "%s:%s", types[type].protocol, types[type].opcode);
        result = learn_words_add(&measure->types, name, (size_t)length, &number);
        if (result == 0)
            measure->types.items[number].count += counts[type];
    }
    free(counts);
    return result;
}

static void check_compare(struct learn_check *check)
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
    const struct learn_measure *sides[] = {&check->capture, &check->model};
    double sum = 0;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < sides[side]->types.count; i++) {
            const struct learn_word *type = &sides[side]->types.items[i];
            /* Types that both have come up on the first side only. */
            if (side == 0 ||
                learn_words_find(&check->capture.types, type->bytes, type->length) == UINT32_MAX)
                sum += fabs(check_share_of(&check->capture, type) -
                            check_share_of(&check->model, type));
        }
    return sum / 2;
}

static double check_share_of(const struct learn_measure *measure, const struct learn_word *type)
{
    double total = total_of(measure);
    return total > 0 ? (double)count_of(measure, type) / total : 0;
}

/* Packets of the conversations that were measured: those of one that was cut off are in no length.
 */
static double total_of(const struct learn_measure *measure)
{
    double total = 0;
    for (uint32_t i = 0; i < measure->types.count; i++)
        total += (double)measure->types.items[i].count;
    return total;
}

static uint64_t count_of(const struct learn_measure *measure, const struct learn_word *type)
{
    uint32_t number = learn_words_find(&measure->types, type->bytes, type->length);
    return number == UINT32_MAX ? 0 : measure->types.items[number].count;
}

static double rate_of(const struct learn_measure *measure)
{
    return measure->seconds > 0 ? (double)measure->packets / measure->seconds : 0;
}

void learn_check_clear(struct learn_check *check)
{
    learn_words_clear(&check->capture.types);
    learn_words_clear(&check->model.types);
}

int learn_check_print(const struct learn_check *check, FILE *out)
{
    size_t count, i;
    const struct learn_measure *a = &check->capture, *b = &check->model;
    struct difference *list = list_types(check, &count);
    if (!list)
        return -ENOMEM;
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
    return fflush(out) == 0 && !ferror(out) ? 0 : errno ? -errno : -EIO;
}

/* Every type of both sides, the caller's to free(); NULL without memory. */
static struct difference *list_types(const struct learn_check *check, size_t *count)
{
    const struct learn_measure *sides[] = {&check->capture, &check->model};
    struct difference *list =
        calloc(check->capture.types.count + check->model.types.count + 1, sizeof *list);
    *count = 0;
    for (int side = 0; list && side < 2; side++)
        for (uint32_t i = 0; i < sides[side]->types.count; i++) {
            const struct learn_word *type = &sides[side]->types.items[i];
            if (side == 1 &&
                learn_words_find(&check->capture.types, type->bytes, type->length) != UINT32_MAX)
                continue;
            list[(*count)++] =
                (struct difference){type->bytes, check_share_of(&check->capture, type),
                                    check_share_of(&check->model, type)};
        }
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
    int result = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
    json_decref(root);
    fputc('\n', out);
    if (result < 0 || fflush(out) != 0 || ferror(out))
        return errno ? -errno : -EIO;
    return 0;
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
