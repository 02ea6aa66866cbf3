/* SPDX-License-Identifier: Apache-2.0 */
#include "model/plan_count.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

struct plan_counter {
    pthread_t thread;
    const struct plan *plan;
    int64_t end;
    unsigned first, stride;
    struct plan_count count;
};

static int count_nothing(size_t types, struct plan_count *count);
static void run_counters(struct plan_counter *counters, unsigned threads);
static void *count_clients(void *argument);
static void plan_count_packet(struct plan_count *count, const struct plan_step *step,
                              int64_t window);
static void plan_count_add(struct plan_count *sum, const struct plan_count *part);

int plan_count(const struct plan *plan, unsigned threads, struct plan_count *count)
{
    return plan_count_until(plan, INT64_MAX, threads, count);
}

int plan_count_until(const struct plan *plan, int64_t end, unsigned threads,
                     struct plan_count *count)
{
    size_t types;
    int result = -ENOMEM;
    model_types(plan_model(plan), &types);
    threads = threads > 0 ? threads : 1;
    *count = (struct plan_count){.type_count = types};
    if (plan_is_closed(plan))
        return count_nothing(types, count);
    struct plan_counter *counters = calloc(threads, sizeof *counters);
    count->types = calloc(types, sizeof *count->types);
    if (!counters || !count->types)
        goto cleanup;
    for (unsigned i = 0; i < threads; i++) {
        counters[i] =
            (struct plan_counter){.plan = plan, .end = end, .first = i, .stride = threads};
        counters[i].count.types = calloc(types, sizeof *count->types);
        if (!counters[i].count.types)
            goto cleanup;
    }
    run_counters(counters, threads);
    for (unsigned i = 0; i < threads; i++)
        plan_count_add(count, &counters[i].count);
    result = 0;
cleanup:
    for (unsigned i = 0; counters && i < threads; i++)
        free(counters[i].count.types);
    free(counters);
    if (result < 0)
        plan_count_clear(count);
    return result;
}

/* A closed loop has no times before it is played. */
static int count_nothing(size_t types, struct plan_count *count)
{
    *count = (struct plan_count){.type_count = types};
    count->types = calloc(types, sizeof *count->types);
    return count->types ? 0 : -ENOMEM;
}

/* The clients of threads that cannot be started are counted in this thread. */
static void run_counters(struct plan_counter *counters, unsigned threads)
{
    unsigned started = 1;
    while (started < threads &&
           pthread_create(&counters[started].thread, NULL, count_clients, &counters[started]) == 0)
        started++;
    count_clients(&counters[0]);
    for (unsigned i = started; i < threads; i++)
        count_clients(&counters[i]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(counters[i].thread, NULL);
}

static void *count_clients(void *argument)
{
    struct plan_counter *counter = argument;
    uint64_t clients = plan_figures(counter->plan)->clients;
    int64_t window = (int64_t)(plan_settings(counter->plan)->warmup * 1e9);
    for (uint64_t client = counter->first; client < clients; client += counter->stride) {
        struct plan_client cursor;
        struct plan_step step;
        plan_client_start(counter->plan, (uint32_t)client, &cursor);
        while (plan_client_next(counter->plan, &cursor, &step) && step.due < counter->end)
            if (step.kind == PLAN_PACKET)
                plan_count_packet(&counter->count, &step, window);
    }
    return NULL;
}

static void plan_count_packet(struct plan_count *count, const struct plan_step *step,
                              int64_t window)
{
    struct plan_type_count *type = &count->types[step->type];
    type->packets++;
    count->conversations += step->first;
    if (step->due < window)
        return;
    type->window_packets++;
    type->window_operations += step->operation;
    count->window_conversations += step->first;
}

static void plan_count_add(struct plan_count *sum, const struct plan_count *part)
{
    sum->conversations += part->conversations;
    sum->window_conversations += part->window_conversations;
    for (size_t i = 0; i < sum->type_count; i++) {
        sum->types[i].packets += part->types[i].packets;
        sum->types[i].window_packets += part->types[i].window_packets;
        sum->types[i].window_operations += part->types[i].window_operations;
        sum->packets += part->types[i].packets;
        sum->window_packets += part->types[i].window_packets;
        sum->window_operations += part->types[i].window_operations;
    }
}

uint64_t *plan_count_by_second(const struct plan *plan, size_t *seconds)
{
    const struct plan_settings *settings = plan_settings(plan);
    *seconds = (size_t)ceil(settings->warmup + settings->duration);
    uint64_t *due = calloc(*seconds + 2, sizeof *due);
    for (uint32_t client = 0; due && client < plan_figures(plan)->clients; client++) {
        struct plan_client cursor;
        struct plan_step step;
        plan_client_start(plan, client, &cursor);
        while (plan_client_next(plan, &cursor, &step)) {
            size_t second = (size_t)(step.due / 1000000000);
            if (step.kind == PLAN_PACKET && step.operation)
                due[second < *seconds ? second + 1 : *seconds]++;
        }
    }
    for (size_t i = 1; due && i <= *seconds; i++)
        due[i] += due[i - 1];
    return due;
}

void plan_count_clear(struct plan_count *count)
{
    free(count->types);
    *count = (struct plan_count){0};
}
