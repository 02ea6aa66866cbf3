/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of recordings. Each client plays a recorded client, whose packets are due at their recorded
 * times divided by r. A step takes O(1). Nothing is random, so the seed has no effect.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "model/model_private.h"
#include "model/recording_plan_private.h"
#include "model/recording_private.h"

#define SECOND  INT64_C(1000000000)
#define SILENCE (RECORDING_SILENCE * SECOND)

/* Sums over recorded clients. */
struct recorded_sums {
    double packets, operations, conversations, seconds;
};

static int recording_plan_choose(const struct model *model, const struct plan_settings *settings,
                                 struct recording_plan *plan, uint32_t *clients,
                                 struct error *error);
static void sum_clients(const struct recording_plan *plan, struct recorded_sums *sums);
static void add_client(const struct recording_plan *plan, uint32_t number, double times,
                       struct recorded_sums *sums);
static uint32_t played_by(const struct recording_plan *plan, uint32_t client);
static void fill_figures(const struct model *model, const struct plan_settings *settings,
                         const struct recorded_sums *sums, struct plan_figures *figures);
static void recording_plan_fill_end(const struct recording_plan *plan, struct plan_client *cursor,
                                    struct plan_step *step);
static double due_time(const struct recording_plan *plan, const struct recording_packet *packet);
static void recording_plan_fill_packet(const struct recording_plan *plan,
                                       struct plan_client *cursor, struct plan_step *step);

int recording_plan_make(const struct model *model, const struct plan_settings *settings,
                        const bool *operations, struct recording_plan *plan,
                        struct plan_figures *figures, struct error *error)
{
    struct recorded_sums sums = {0};
    if (settings->persistence > 0)
        return error_set(error, -EINVAL,
                         "--conversation-persistence: %s is a recording, which has its own "
                         "pauses; omit the option",
                         model->name);
    *plan = (struct recording_plan){
        .recording = model->recording,
        .operations = operations,
        .replay_rate = settings->replay_rate,
        .end = (int64_t)((settings->warmup + settings->duration) * 1e9),
    };
    int result = recording_plan_choose(model, settings, plan, &figures->clients, error);
    if (result < 0)
        return result;
    sum_clients(plan, &sums);
    fill_figures(model, settings, &sums, figures);
    return 0;
}

/* Chooses the number of copies, and of clients of one more copy; at least one client. */
static int recording_plan_choose(const struct model *model, const struct plan_settings *settings,
                                 struct recording_plan *plan, uint32_t *clients,
                                 struct error *error)
{
    double count = model->recording->client_count;
    bool by_rate = settings->packets_per_second > 0;
    double scale = settings->scale;
    if (by_rate)
        scale = settings->packets_per_second / (settings->replay_rate * model->packet_rate);
    double all = fmax(1, floor(scale) * count + round((scale - floor(scale)) * count));
    if (!(all <= PLAN_CLIENTS_MAX))
        return error_set(error, -ERANGE,
                         "this takes %.12g clients, more than %d: lower %s (%s has %.0f clients)",
                         all, PLAN_CLIENTS_MAX, by_rate ? "-T" : "-S", model->name, count);
    *clients = (uint32_t)all;
    plan->whole = *clients / model->recording->client_count;
    plan->part = *clients % model->recording->client_count;
    return 0;
}

static void sum_clients(const struct recording_plan *plan, struct recorded_sums *sums)
{
    uint32_t count = plan->recording->client_count;
    for (uint32_t c = 0; plan->whole > 0 && c < count; c++)
        add_client(plan, c, plan->whole, sums);
    for (uint32_t c = 0; c < plan->part; c++)
        add_client(plan, played_by(plan, plan->whole * count + c), 1, sums);
}

static void add_client(const struct recording_plan *plan, uint32_t number, double times,
                       struct recorded_sums *sums)
{
    const struct recording_client *client = &plan->recording->clients[number];
    const struct recording_packet *packets = &plan->recording->packets[client->first];
    int64_t start = packets[0].time;
    sums->packets += times * client->count;
    for (uint32_t i = 0; i < client->count; i++) {
        bool ends = i + 1 == client->count || packets[i + 1].time - packets[i].time > SILENCE;
        sums->operations +=
            plan->operations[packets[i].type] && !packets[i].further_leg ? times : 0;
        if (!ends)
            continue;
        sums->conversations += times;
        sums->seconds += times * (double)(packets[i].time - start) / 1e9;
        start = i + 1 < client->count ? packets[i + 1].time : start;
    }
}

/* The recorded client that a client plays. Whole copies come first, then clients spread over all
 * sizes, so that a share of the clients has about that share of the packets. */
static uint32_t played_by(const struct recording_plan *plan, uint32_t client)
{
    uint64_t count = plan->recording->client_count, rest = client;
    if (rest < plan->whole * count)
        return (uint32_t)(rest % count);
    rest -= plan->whole * count;
    return plan->recording->by_size[(2 * rest + 1) * count / (2 * (uint64_t)plan->part)];
}

static void fill_figures(const struct model *model, const struct plan_settings *settings,
                         const struct recorded_sums *sums, struct plan_figures *figures)
{
    double seconds = model_recording_seconds(model, 1);
    figures->conversation_packets = sums->packets / sums->conversations;
    figures->conversation_operations = sums->operations / sums->conversations;
    figures->conversation_seconds = sums->seconds / sums->conversations;
    figures->client_rate = sums->packets / figures->clients / seconds;
    figures->share = sums->operations / sums->packets;
    figures->stretch = 1;
    figures->nominal_packets = settings->replay_rate * sums->packets / seconds;
    figures->nominal_operations = figures->nominal_packets * figures->share;
}

/* cursor->history is the next packet; cursor->pending is the one after the client's last packet. */
void recording_plan_client_start(const struct recording_plan *plan, uint32_t client,
                                 struct plan_client *cursor)
{
    const struct recording_client *recorded = &plan->recording->clients[played_by(plan, client)];
    *cursor = (struct plan_client){.history = recorded->first,
                                   .pending = recorded->first + recorded->count};
}

bool recording_plan_client_next(const struct recording_plan *plan, struct plan_client *cursor,
                                struct plan_step *step)
{
    const struct recording_packet *next = &plan->recording->packets[cursor->history];
    bool more = cursor->history < cursor->pending;
    if (cursor->ended)
        return false;
    if (cursor->begun && (!more || next->time - next[-1].time > SILENCE)) {
        recording_plan_fill_end(plan, cursor, step);
        return true;
    }
    cursor->ended = !more || !(due_time(plan, next) < (double)plan->end);
    if (cursor->ended)
        return false;
    recording_plan_fill_packet(plan, cursor, step);
    return true;
}

/* The end is due with the last packet of the conversation; connections are closed then. */
static void recording_plan_fill_end(const struct recording_plan *plan, struct plan_client *cursor,
                                    struct plan_step *step)
{
    const struct recording_packet *last = &plan->recording->packets[cursor->history - 1];
    *step = (struct plan_step){.kind = PLAN_END,
                               .conversation = cursor->conversation,
                               .due = (int64_t)due_time(plan, last)};
    cursor->conversation++;
    cursor->begun = false;
}

/* In ns; may be far past the plan's end, and larger than an int64_t. */
static double due_time(const struct recording_plan *plan, const struct recording_packet *packet)
{
    return floor((double)packet->time / plan->replay_rate);
}

static void recording_plan_fill_packet(const struct recording_plan *plan,
                                       struct plan_client *cursor, struct plan_step *step)
{
    const struct recording_packet *packet = &plan->recording->packets[cursor->history];
    *step = (struct plan_step){.kind = PLAN_PACKET,
                               .first = !cursor->begun,
                               .operation = plan->operations[packet->type] && !packet->further_leg,
                               .type = packet->type,
                               .details = packet->details,
                               .conversation = cursor->conversation,
                               .due = (int64_t)due_time(plan, packet)};
    cursor->begun = true;
    cursor->history++;
}
