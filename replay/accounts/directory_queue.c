/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/directory_queue.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/message.h"
#include "replay/engine/loop.h"

/* A job that has begun. */
struct flight {
    uint64_t job;
    int message; /* the id of its request, once sent */
    bool sent;
    unsigned retries;
};

/* One connection and what is in flight on it. */
struct lane {
    struct directory_queue *queue;
    struct loop *loop;
    struct directory directory;
    struct flight flights[DIRECTORY_QUEUE_IN_FLIGHT];
    unsigned count;
    unsigned losses; /* connections lost since the last answer */
};

static void run_lane(struct loop *loop, void *argument, uint64_t i);
static bool lane_connected(struct lane *lane);
static void lane_pause(struct lane *lane, unsigned done);
static void lane_send(struct lane *lane);
static void lane_take_answer(struct lane *lane);
static struct flight *lane_find(struct lane *lane, int message);
static void lane_end_flight(struct lane *lane, struct flight *flight, int result);
static bool lane_is_broken(const struct lane *lane);
static void lane_fail(struct lane *lane, int result, const struct flight *flight);

int directory_queue_run(struct directory_queue *queue, uint64_t end)
{
    queue->end = end;
    if (queue->result || queue->next >= end)
        return queue->result;
    uint64_t jobs = end - queue->next;
    unsigned lanes =
        jobs < DIRECTORY_QUEUE_CONNECTIONS ? (unsigned)jobs : DIRECTORY_QUEUE_CONNECTIONS;
    int result = loop_run_all(run_lane, queue, lanes, lanes);
    if (result && !queue->result)
        queue->result = error_set(&queue->error, result, "%s", strerror(-result));
    return queue->result;
}

/* Runs on a fiber: opens a connection and works until no job is left. */
static void run_lane(struct loop *loop, void *argument, uint64_t i)
{
    struct lane lane = {.queue = argument, .loop = loop};
    struct directory_queue *queue = argument;
    (void)i;
    if (queue->result || queue->next == queue->end)
        return;
    int result = directory_open(&lane.directory, queue->dc, loop_waiter(loop));
    if (result && !directory_is_lost(&lane.directory))
        lane_fail(&lane, result, NULL);
    while (!queue->result && lane_connected(&lane)) {
        lane_send(&lane);
        if (lane.count == 0)
            break;
        if (!lane_is_broken(&lane) && !queue->result)
            lane_take_answer(&lane);
    }
    directory_close(&lane.directory);
}

/* Replaces a lost connection; then everything in flight has to be sent again. */
static bool lane_connected(struct lane *lane)
{
    int result = lane->directory.error.code;
    while (!lane->queue->result && lane_is_broken(lane)) {
        if (!directory_is_lost(&lane->directory) || lane->losses == DIRECTORY_RETRIES) {
            lane_fail(lane, result, NULL);
            return false;
        }
        lane_pause(lane, lane->losses++);
        result = directory_reopen(&lane->directory);
        for (unsigned i = 0; i < lane->count; i++)
            lane->flights[i].sent = false;
    }
    return !lane->queue->result;
}

static bool lane_is_broken(const struct lane *lane)
{
    return !lane->directory.connection || ldap_connection_is_broken(lane->directory.connection);
}

static void lane_pause(struct lane *lane, unsigned done)
{
    if (!lane->queue->reported_pause)
        message_print("writing accounts: %s; trying again", lane->directory.error.text);
    lane->queue->reported_pause = true;
    loop_sleep_until(lane->loop, clock_now() + directory_pause(done));
}

/* Begins jobs while there is room, and sends what is not sent. */
static void lane_send(struct lane *lane)
{
    struct directory_queue *queue = lane->queue;
    while (lane->count < DIRECTORY_QUEUE_IN_FLIGHT && queue->next < queue->end)
        lane->flights[lane->count++] = (struct flight){.job = queue->next++};
    for (unsigned i = 0; i < lane->count && !lane_is_broken(lane); i++) {
        struct flight *flight = &lane->flights[i];
        if (flight->sent)
            continue;
        int result = queue->send(queue->context, &lane->directory, flight->job, &flight->message);
        flight->sent = result == 0;
        if (result && !lane_is_broken(lane))
            lane_fail(lane, result, flight);
        if (result)
            return;
    }
}

static void lane_take_answer(struct lane *lane)
{
    struct directory_queue *queue = lane->queue;
    int message, result = directory_receive(&lane->directory, &message);
    struct flight *flight = lane_find(lane, message);
    if (!flight || lane_is_broken(lane))
        return;
    result = queue->finish(queue->context, &lane->directory, flight->job, result);
    if (!lane_is_broken(lane))
        lane_end_flight(lane, flight, result);
}

static struct flight *lane_find(struct lane *lane, int message)
{
    for (unsigned i = 0; message && i < lane->count; i++)
        if (lane->flights[i].sent && lane->flights[i].message == message)
            return &lane->flights[i];
    return NULL;
}

static void lane_end_flight(struct lane *lane, struct flight *flight, int result)
{
    lane->losses = 0;
    if (result == DIRECTORY_QUEUE_MORE) {
        flight->sent = false;
    } else if (directory_refusal_passes(result, lane->directory.error.text) &&
               flight->retries < DIRECTORY_RETRIES) {
        lane_pause(lane, flight->retries++);
        flight->sent = false;
    } else if (result) {
        lane_fail(lane, result, flight);
    } else {
        progress_step(lane->queue->progress);
        *flight = lane->flights[--lane->count];
    }
}

/* Keeps the first failure. flight is NULL if there is no connection. */
static void lane_fail(struct lane *lane, int result, const struct flight *flight)
{
    struct directory_queue *queue = lane->queue;
    if (queue->result)
        return;
    queue->result = result;
    queue->failed_job = flight != NULL;
    queue->job = flight ? flight->job : 0;
    queue->error = lane->directory.error;
    if (result < 0 && queue->error.code != result)
        error_set(&queue->error, result, "%s", strerror(-result));
}
