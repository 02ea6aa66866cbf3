/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot path is tally_planned(), tally_started() and tally_event(): no lock, and no allocation
 * except for the first value in a histogram's page and the first failure of each cause. If an
 * allocation fails, tally_check() fails later.
 *
 * The histograms contain these times of operations that were due inside the window and have ended,
 * even after it:
 *     lag       first byte sent - the later of due and the end of the client's previous packet
 *     service   first byte sent to last byte of the reply
 *     response  due to last byte of the reply
 * An operation that failed, or that has no reply, ends when its outcome is known: the last byte
 * received may belong to an earlier leg, and time spent waiting for a time limit is time that the
 * client lost. An operation without any answer (OUTCOME_NO_ANSWER) only has a lag. Without a byte
 * sent there is neither lag nor service time.
 */
#include "replay/tally.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/message.h"
#include "replay/timing.h"

static const int64_t second_ns = 1000000000;

/* Written by the worker, read by the thread that shows the status. */
struct live_counters {
    _Atomic uint64_t planned, started, ended, ok, failed, no_answer;
    _Atomic uint32_t response[TALLY_LIVE_BUCKETS];
};

struct tally {
    struct tally_setup setup;
    struct tally_packet *packets;
    struct tally_second *seconds;
    size_t second_count;
    size_t packed_seconds; /* the histograms of earlier seconds are packed */
    struct tally_totals totals;
    bool out_of_memory;
    struct live_counters live;
};

struct failure_log {
    _Atomic int64_t left; /* failures still to be printed */
};

static size_t window_seconds(const struct tally_setup *setup);
static void live_add(_Atomic uint64_t *counter);
static bool in_window(const struct tally *tally, int64_t time);
static struct tally_second *second_of(struct tally *tally, int64_t time);
static void count_live(struct tally *tally, enum outcome_kind kind, int64_t response);
static void count_due(struct tally *tally, struct tally_packet *packet, int64_t ended,
                      enum outcome_kind kind);
static void count_lag(struct tally *tally, struct tally_packet *packet,
                      const struct tally_event *event);
static void note_result(struct tally *tally, int result);
static void count_data(struct tally *tally, struct tally_packet *packet,
                       struct tally_second *second, const struct wire_data *data);
static void count_done(struct tally *tally, struct tally_packet *packet,
                       const struct tally_event *event, const struct outcome *outcome,
                       int64_t response);
static int tally_add_cause(struct tally_causes *causes, const char *text, uint64_t count);
static int merge_causes(struct tally_causes *to, const struct tally_causes *from);
static void pack_seconds(struct tally *tally, const struct tally_second *now);
static void write_timing(struct tally *tally, const struct tally_event *event,
                         const struct outcome *outcome, int64_t service);
static void log_failure(struct tally *tally, const struct tally_event *event,
                        const struct outcome *outcome);
static bool log_has_room(struct failure_log *log);
static int merge_packet(struct tally_packet *to, const struct tally_packet *from);
static int merge_totals(struct tally_totals *to, const struct tally_totals *from);
static int64_t tally_larger(int64_t left, int64_t right);
static int check_packet(const struct tally_packet *packet, const struct tally_type *type,
                        struct error *error);
static int identity_violated(struct error *error, const struct tally_type *type, const char *what,
                             uint64_t left, uint64_t right);
static int check_seconds(const struct tally *tally, struct error *error);

struct tally *tally_new(const struct tally_setup *setup)
{
    struct tally *tally = calloc(1, sizeof *tally);
    if (!tally)
        return NULL;
    tally->setup = *setup;
    tally->second_count = window_seconds(setup);
    /* One more of each, because calloc() of 0 bytes may return NULL. */
    tally->packets = calloc(setup->type_count + 1, sizeof *tally->packets);
    tally->seconds = calloc(tally->second_count + 1, sizeof *tally->seconds);
    histogram_init(&tally->totals.backlog);
    if (!tally->packets || !tally->seconds) {
        free(tally->packets);
        free(tally->seconds);
        free(tally);
        return NULL;
    }
    for (size_t i = 0; i < setup->type_count; i++) {
        histogram_init(&tally->packets[i].service);
        histogram_init(&tally->packets[i].response);
        histogram_init(&tally->packets[i].lag);
    }
    for (size_t i = 0; i < tally->second_count; i++)
        histogram_init(&tally->seconds[i].response);
    return tally;
}

static size_t window_seconds(const struct tally_setup *setup)
{
    int64_t length = setup->window_end - setup->window_start;
    return length > 0 ? (size_t)((length + second_ns - 1) / second_ns) : 0;
}

void tally_free(struct tally *tally)
{
    if (!tally)
        return;
    for (size_t i = 0; i < tally->setup.type_count; i++) {
        free(tally->packets[i].causes.items);
        size_counts_clear(&tally->packets[i].sizes);
        histogram_clear(&tally->packets[i].service);
        histogram_clear(&tally->packets[i].response);
        histogram_clear(&tally->packets[i].lag);
    }
    free(tally->totals.dns_extra_causes.items);
    for (size_t i = 0; i < tally->second_count; i++)
        histogram_clear(&tally->seconds[i].response);
    histogram_clear(&tally->totals.backlog);
    free(tally->packets);
    free(tally->seconds);
    free(tally);
}

void tally_planned(struct tally *tally, packet_index type, int64_t due)
{
    live_add(&tally->live.planned);
    if (!in_window(tally, due))
        return;
    tally->packets[type].planned++;
    second_of(tally, due)->planned++;
}

/* Only this worker writes the counter, so a plain load and store suffice: an atomic addition would
 * need a locked instruction. */
static void live_add(_Atomic uint64_t *counter)
{
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + 1, memory_order_relaxed);
}

static bool in_window(const struct tally *tally, int64_t time)
{
    return time >= tally->setup.window_start && time < tally->setup.window_end;
}

static struct tally_second *second_of(struct tally *tally, int64_t time)
{
    return &tally->seconds[(time - tally->setup.window_start) / second_ns];
}

void tally_event(struct tally *tally, const struct tally_event *event,
                 const struct outcome *outcome)
{
    struct tally_packet *packet = &tally->packets[event->type];
    bool sent = event->first_sent != INT64_MIN, due_inside = in_window(tally, event->due);
    bool replied = outcome->kind == OUTCOME_OK && event->last_received != INT64_MIN;
    int64_t end = replied ? event->last_received : event->ended;
    int64_t response = end - event->due, service = sent ? end - event->first_sent : -1;
    bool timed = outcome->kind == OUTCOME_OK || outcome->kind == OUTCOME_FAILED;

    count_live(tally, outcome->kind, response);
    if (due_inside)
        count_due(tally, packet, event->ended, outcome->kind);
    if (due_inside && sent)
        count_lag(tally, packet, event);
    if (due_inside && timed) {
        note_result(tally, histogram_add(&packet->response, response));
        if (sent)
            note_result(tally, histogram_add(&packet->service, service));
    }
    if (outcome->kind == OUTCOME_UNFINISHED)
        return;
    if (in_window(tally, event->ended))
        count_done(tally, packet, event, outcome, response);
    if (tally->setup.timing)
        write_timing(tally, event, outcome, service);
    if (tally->setup.log && outcome->kind == OUTCOME_FAILED)
        log_failure(tally, event, outcome);
}

static void count_live(struct tally *tally, enum outcome_kind kind, int64_t response)
{
    struct live_counters *live = &tally->live;
    live_add(&live->ended);
    if (kind == OUTCOME_UNFINISHED)
        return;
    if (kind == OUTCOME_NO_ANSWER) {
        live_add(&live->no_answer);
        return;
    }
    live_add(kind == OUTCOME_OK ? &live->ok : &live->failed);
    _Atomic uint32_t *bucket = &live->response[histogram_bucket(response) / 4];
    uint32_t count = atomic_load_explicit(bucket, memory_order_relaxed);
    atomic_store_explicit(bucket, count + 1, memory_order_relaxed);
}

/* Counts by due time: the terms of the accounting identity. */
static void count_due(struct tally *tally, struct tally_packet *packet, int64_t ended,
                      enum outcome_kind kind)
{
    packet->sent++;
    if (kind == OUTCOME_UNFINISHED || ended >= tally->setup.window_end)
        packet->unfinished++;
    else if (kind == OUTCOME_OK)
        packet->ok++;
    else if (kind == OUTCOME_FAILED)
        packet->failed++;
    else
        packet->no_answer++;
}

static void count_lag(struct tally *tally, struct tally_packet *packet,
                      const struct tally_event *event)
{
    int64_t lag = event->first_sent - event->ready;
    note_result(tally, histogram_add(&packet->lag, lag));
    if (lag > tally->totals.max_lag)
        tally->totals.max_lag = lag;
    if (event->first && lag > tally->totals.start_lag)
        tally->totals.start_lag = lag;
}

static void note_result(struct tally *tally, int result)
{
    if (result < 0)
        tally->out_of_memory = true;
}

/* Counts by completion time. */
static void count_done(struct tally *tally, struct tally_packet *packet,
                       const struct tally_event *event, const struct outcome *outcome,
                       int64_t response)
{
    struct tally_second *second = second_of(tally, event->ended);
    tally->totals.expected += event->expected_failures;
    if (outcome->kind == OUTCOME_NO_ANSWER) {
        packet->done_no_answer++;
        return;
    }
    if (outcome->kind == OUTCOME_OK) {
        packet->done_ok++;
        second->ok++;
    } else {
        packet->done_failed++;
        second->failed++;
        note_result(tally, tally_add_cause(&packet->causes, outcome->cause, 1));
    }
    if (event->data.requests)
        count_data(tally, packet, second, &event->data);
    note_result(tally, histogram_add(&second->response, response));
    pack_seconds(tally, second);
}

static void count_data(struct tally *tally, struct tally_packet *packet,
                       struct tally_second *second, const struct wire_data *data)
{
    uint64_t size = data->read + data->written;
    packet->read += data->read;
    packet->written += data->written;
    packet->requests += data->requests;
    second->read += data->read;
    second->written += data->written;
    if (size)
        note_result(tally, size_counts_add(&packet->sizes, size, 1));
}

/* Adds count failures of a cause. The last entry of a full table is for all other causes. */
static int tally_add_cause(struct tally_causes *causes, const char *text, uint64_t count)
{
    for (size_t i = 0; i < causes->count; i++)
        if (strcmp(causes->items[i].text, text) == 0) {
            causes->items[i].count += count;
            return 0;
        }
    if (causes->count == TALLY_CAUSES_MAX) {
        causes->items[TALLY_CAUSES_MAX - 1].count += count;
        return 0;
    }
    struct tally_cause *grown = array_grow(causes->items, causes->count, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    causes->items = grown;
    struct tally_cause *cause = &grown[causes->count++];
    bool last = causes->count == TALLY_CAUSES_MAX;
    snprintf(cause->text, sizeof cause->text, "%s", last ? "other causes" : text);
    cause->count = count;
    return 0;
}

static int merge_causes(struct tally_causes *to, const struct tally_causes *from)
{
    for (size_t i = 0; i < from->count; i++)
        if (tally_add_cause(to, from->items[i].text, from->items[i].count) < 0)
            return -ENOMEM;
    return 0;
}

/* Packs the histograms of past seconds, except for the last one: this saves nine tenths of their
 * memory in long runs. */
static void pack_seconds(struct tally *tally, const struct tally_second *now)
{
    size_t index = (size_t)(now - tally->seconds);
    while (tally->packed_seconds + 1 < index)
        histogram_pack(&tally->seconds[tally->packed_seconds++].response);
}

static void write_timing(struct tally *tally, const struct tally_event *event,
                         const struct outcome *outcome, int64_t service)
{
    const struct tally_type *type = &tally->setup.types[event->type];
    const char *error = NULL;
    if (outcome->kind == OUTCOME_FAILED)
        error = outcome->cause;
    else if (outcome->kind == OUTCOME_NO_ANSWER)
        error = "no answer";
    timing_write(
        tally->setup.timing, tally->setup.worker,
        &(struct timing_line){.ended = event->ended,
                              .conversation = (uint64_t)event->conversation * tally->setup.clients +
                                              event->client,
                              .protocol = type->protocol,
                              .opcode = type->opcode,
                              .duration = service,
                              .error = error});
}

static void log_failure(struct tally *tally, const struct tally_event *event,
                        const struct outcome *outcome)
{
    const struct tally_type *type = &tally->setup.types[event->type];
    if (log_has_room(tally->setup.log))
        message_print("failure: %s:%s of client %" PRIu32 " at %.3f s: %s", type->protocol,
                      type->opcode, event->client, (double)event->ended / (double)second_ns,
                      outcome->cause);
}

/* Takes one of the lines that are left. */
static bool log_has_room(struct failure_log *log)
{
    return log && atomic_load_explicit(&log->left, memory_order_relaxed) > 0 &&
           atomic_fetch_sub_explicit(&log->left, 1, memory_order_relaxed) > 0;
}

void tally_started(struct tally *tally)
{
    live_add(&tally->live.started);
}

void tally_not_sent(struct tally *tally, packet_index type, int64_t due)
{
    if (!in_window(tally, due))
        return;
    tally->packets[type].not_sent++;
    note_result(tally, histogram_add(&tally->totals.backlog, tally->setup.window_end - due));
}

void tally_dropped(struct tally *tally, packet_index type, int64_t due)
{
    if (in_window(tally, due))
        tally->packets[type].dropped++;
}

void tally_window_end(struct tally *tally, int64_t end)
{
    if (end < tally->setup.window_start)
        end = tally->setup.window_start;
    if (end < tally->setup.window_end)
        tally->setup.window_end = end;
}

void tally_timer_late(struct tally *tally, int64_t ns)
{
    if (ns > tally->totals.timer_miss)
        tally->totals.timer_miss = ns;
}

void tally_dns_extra(struct tally *tally, const struct outcome *outcome, int64_t ended)
{
    if (outcome->kind == OUTCOME_UNFINISHED)
        return;
    tally->totals.dns_extra++;
    if (outcome->kind == OUTCOME_OK)
        return;
    const char *cause = outcome->kind == OUTCOME_NO_ANSWER ? "no answer" : outcome->cause;
    tally->totals.dns_extra_failed++;
    note_result(tally, tally_add_cause(&tally->totals.dns_extra_causes, cause, 1));
    if (log_has_room(tally->setup.log))
        message_print("failure: extra DNS query at %.3f s: %s", (double)ended / (double)second_ns,
                      cause);
}

void tally_conversation(struct tally *tally)
{
    tally->totals.conversations++;
}

void tally_conversation_ended(struct tally *tally)
{
    tally->totals.conversations_ended++;
}

int tally_merge(struct tally *to, const struct tally *from)
{
    int result = 0;
    for (size_t i = 0; i < to->setup.type_count && result == 0; i++)
        result = merge_packet(&to->packets[i], &from->packets[i]);
    for (size_t i = 0; i < to->second_count && result == 0; i++) {
        to->seconds[i].planned += from->seconds[i].planned;
        to->seconds[i].ok += from->seconds[i].ok;
        to->seconds[i].failed += from->seconds[i].failed;
        to->seconds[i].read += from->seconds[i].read;
        to->seconds[i].written += from->seconds[i].written;
        result = histogram_merge(&to->seconds[i].response, &from->seconds[i].response);
        histogram_pack(&to->seconds[i].response);
    }
    if (result == 0)
        result = merge_totals(&to->totals, &from->totals);
    tally_window_end(to, from->setup.window_end);
    to->out_of_memory |= from->out_of_memory;
    note_result(to, result);
    return result;
}

static int merge_packet(struct tally_packet *to, const struct tally_packet *from)
{
    to->planned += from->planned;
    to->sent += from->sent;
    to->not_sent += from->not_sent;
    to->dropped += from->dropped;
    to->ok += from->ok;
    to->failed += from->failed;
    to->no_answer += from->no_answer;
    to->unfinished += from->unfinished;
    to->done_ok += from->done_ok;
    to->done_failed += from->done_failed;
    to->done_no_answer += from->done_no_answer;
    to->read += from->read;
    to->written += from->written;
    to->requests += from->requests;
    if (size_counts_merge(&to->sizes, &from->sizes) < 0 ||
        merge_causes(&to->causes, &from->causes) < 0 ||
        histogram_merge(&to->service, &from->service) < 0 ||
        histogram_merge(&to->response, &from->response) < 0)
        return -ENOMEM;
    return histogram_merge(&to->lag, &from->lag);
}

static int merge_totals(struct tally_totals *to, const struct tally_totals *from)
{
    to->expected += from->expected;
    to->dns_extra += from->dns_extra;
    to->dns_extra_failed += from->dns_extra_failed;
    to->conversations += from->conversations;
    to->conversations_ended += from->conversations_ended;
    to->max_lag = tally_larger(to->max_lag, from->max_lag);
    to->start_lag = tally_larger(to->start_lag, from->start_lag);
    to->timer_miss = tally_larger(to->timer_miss, from->timer_miss);
    if (merge_causes(&to->dns_extra_causes, &from->dns_extra_causes) < 0)
        return -ENOMEM;
    return histogram_merge(&to->backlog, &from->backlog);
}

static int64_t tally_larger(int64_t left, int64_t right)
{
    return left > right ? left : right;
}

int tally_check(const struct tally *tally, struct error *error)
{
    if (tally->out_of_memory)
        return error_set(error, -ENOMEM, "out of memory while counting");
    for (size_t i = 0; i < tally->setup.type_count; i++) {
        int result = check_packet(&tally->packets[i], &tally->setup.types[i], error);
        if (result < 0)
            return result;
    }
    return check_seconds(tally, error);
}

static int check_packet(const struct tally_packet *packet, const struct tally_type *type,
                        struct error *error)
{
    uint64_t known = packet->sent + packet->not_sent + packet->dropped, causes = 0;
    if (packet->planned != known)
        return identity_violated(error, type, "planned differs from sent + not sent + dropped",
                                 packet->planned, known);
    known = packet->ok + packet->failed + packet->no_answer + packet->unfinished;
    if (packet->sent != known)
        return identity_violated(error, type,
                                 "sent differs from ok + failed + no answer + unfinished",
                                 packet->sent, known);
    for (size_t i = 0; i < packet->causes.count; i++)
        causes += packet->causes.items[i].count;
    if (packet->done_failed != causes)
        return identity_violated(error, type, "the sum of causes differs from failed", causes,
                                 packet->done_failed);
    if (packet->response.count > packet->sent || packet->lag.count > packet->sent)
        return identity_violated(error, type, "more times than operations", packet->response.count,
                                 packet->sent);
    return 0;
}

static int identity_violated(struct error *error, const struct tally_type *type, const char *what,
                             uint64_t left, uint64_t right)
{
    return error_set(error, -EPROTO, "counters of %s:%s: %s (%" PRIu64 " and %" PRIu64 ")",
                     type->protocol, type->opcode, what, left, right);
}

/* The counts per second must have the same sums as those per packet type. */
static int check_seconds(const struct tally *tally, struct error *error)
{
    static const struct tally_type rows = {"all", "all", ""};
    struct tally_second sum = {0};
    for (size_t i = 0; i < tally->second_count; i++) {
        sum.planned += tally->seconds[i].planned;
        sum.ok += tally->seconds[i].ok;
        sum.failed += tally->seconds[i].failed;
    }
    struct tally_packet total = {0};
    for (size_t i = 0; i < tally->setup.type_count; i++) {
        total.planned += tally->packets[i].planned;
        total.done_ok += tally->packets[i].done_ok;
        total.done_failed += tally->packets[i].done_failed;
    }
    if (sum.planned != total.planned)
        return identity_violated(error, &rows, "planned per second differs from the total",
                                 sum.planned, total.planned);
    if (sum.ok != total.done_ok)
        return identity_violated(error, &rows, "ok per second differs from the total", sum.ok,
                                 total.done_ok);
    if (sum.failed != total.done_failed)
        return identity_violated(error, &rows, "failed per second differs from the total",
                                 sum.failed, total.done_failed);
    return 0;
}

void tally_live(const struct tally *tally, struct tally_live *live)
{
    const struct live_counters *from = &tally->live;
    live->planned += atomic_load_explicit(&from->planned, memory_order_relaxed);
    live->ended += atomic_load_explicit(&from->ended, memory_order_relaxed);
    live->started += atomic_load_explicit(&from->started, memory_order_relaxed);
    live->ok += atomic_load_explicit(&from->ok, memory_order_relaxed);
    live->failed += atomic_load_explicit(&from->failed, memory_order_relaxed);
    live->no_answer += atomic_load_explicit(&from->no_answer, memory_order_relaxed);
    for (size_t i = 0; i < TALLY_LIVE_BUCKETS; i++)
        live->response[i] += atomic_load_explicit(&from->response[i], memory_order_relaxed);
}

int64_t tally_live_quantile(const struct tally_live *before, const struct tally_live *now,
                            double fraction)
{
    uint64_t count = 0, below = 0;
    for (size_t i = 0; i < TALLY_LIVE_BUCKETS; i++)
        count += (uint32_t)(now->response[i] - before->response[i]);
    for (size_t i = 0; i < TALLY_LIVE_BUCKETS; i++) {
        below += (uint32_t)(now->response[i] - before->response[i]);
        if (below > 0 && (double)below >= fraction * (double)count)
            return (histogram_bucket_value((unsigned)i * 4 + 1) +
                    histogram_bucket_value((unsigned)i * 4 + 2)) /
                   2;
    }
    return -1;
}

const struct tally_setup *tally_setup(const struct tally *tally)
{
    return &tally->setup;
}

const struct tally_packet *tally_packet(const struct tally *tally, packet_index type)
{
    return &tally->packets[type];
}

const struct tally_second *tally_seconds(const struct tally *tally, size_t *count)
{
    /* Operations that ended between an interrupt and the moment its worker learned of it are after
     * the end. */
    size_t rows = window_seconds(&tally->setup);
    for (size_t i = rows; i < tally->second_count; i++)
        if (tally->seconds[i].planned || tally->seconds[i].ok || tally->seconds[i].failed)
            rows = i + 1;
    *count = rows;
    return tally->seconds;
}

const struct tally_totals *tally_totals(const struct tally *tally)
{
    return &tally->totals;
}

struct failure_log *failure_log_new(uint64_t first)
{
    struct failure_log *log = calloc(1, sizeof *log);
    if (log)
        log->left = first > INT64_MAX ? INT64_MAX : (int64_t)first;
    return log;
}

void failure_log_free(struct failure_log *log)
{
    free(log);
}
