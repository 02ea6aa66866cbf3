/* SPDX-License-Identifier: Apache-2.0 */
/* Results in memory: their life, sums over packet types, and the accounting identities. */
#include "summary/result/result.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "summary/result/result_fields_private.h"

static int report_difference(struct error *error, const char *what, uint64_t left, uint64_t right);
static int result_check_packets(const struct result *result, struct error *error);
static int check_rows(const struct result *result, struct error *error);

void result_init(struct result *result)
{
    *result = (struct result){.program = "",
                              .version = "",
                              .command = "",
                              .model = "",
                              .model_sha256 = "",
                              .pace = "",
                              .dc = ""};
    result->S = result->T = result->timer_p99 = result->busy = NAN;
}

void result_clear(struct result *result)
{
    for (size_t i = 0; i < result->packet_count; i++) {
        histogram_clear(&result->packets[i].service);
        histogram_clear(&result->packets[i].response);
        histogram_clear(&result->packets[i].lag);
    }
    arena_free(&result->memory);
    result_init(result);
}

void *result_alloc(struct result *result, size_t count, size_t size)
{
    return arena_array(&result->memory, count, size);
}

const char *result_text(struct result *result, const char *text)
{
    return arena_string(&result->memory, text, strlen(text));
}

int result_total(const struct result *result, enum result_time time, struct histogram *out)
{
    for (size_t i = 0; i < result->packet_count; i++) {
        const void *from = (const char *)&result->packets[i] + result_packet_times[time].offset;
        int merged = histogram_merge(out, from);
        if (merged < 0)
            return merged;
    }
    return 0;
}

struct result_data result_data(const struct result *result)
{
    struct result_data data = {0};
    for (size_t i = 0; i < result->packet_count; i++) {
        const struct result_packet *packet = &result->packets[i];
        uint64_t succeeded = packet->count - packet->failed;
        data.read += packet->read;
        data.written += packet->written;
        data.reads += packet->read ? succeeded : 0;
        data.writes += packet->written ? succeeded : 0;
        data.requests += packet->requests;
        data.request_senders += packet->requests ? packet->count : 0;
    }
    return data;
}

int result_check(const struct result *result, struct error *error)
{
    uint64_t known = result->sent + result->not_sent + result->dropped;
    if (result->planned != known)
        return report_difference(error, "planned and sent + not_sent + dropped", result->planned,
                                 known);
    known = result->ok + result->failed + result->no_answer + result->unfinished;
    if (result->sent != known)
        return report_difference(error, "sent and ok + failed + no_answer + unfinished",
                                 result->sent, known);
    int checked = result_check_packets(result, error);
    return checked < 0 ? checked : check_rows(result, error);
}

static int report_difference(struct error *error, const char *what, uint64_t left, uint64_t right)
{
    return error_set(error, -EPROTO, "%s: %" PRIu64 " and %" PRIu64, what, left, right);
}

static int result_check_packets(const struct result *result, struct error *error)
{
    uint64_t count = 0, failed = 0, planned = 0;
    for (size_t i = 0; i < result->packet_count; i++) {
        const struct result_packet *packet = &result->packets[i];
        uint64_t causes = 0;
        for (size_t cause = 0; cause < packet->cause_count; cause++)
            causes += packet->causes[cause].count;
        if (causes != packet->failed || packet->failed > packet->count)
            return report_difference(error, "a packet type's failures and their causes",
                                     packet->failed, causes);
        count += packet->count;
        failed += packet->failed;
        planned += packet->planned;
    }
    if (count != result->done_ok + result->done_failed)
        return report_difference(error, "the packets' count and done_ok + done_failed", count,
                                 result->done_ok + result->done_failed);
    if (failed != result->done_failed)
        return report_difference(error, "the packets' failed and done_failed", failed,
                                 result->done_failed);
    if (planned != result->planned)
        return report_difference(error, "the packets' planned and planned", planned,
                                 result->planned);
    return 0;
}

static int check_rows(const struct result *result, struct error *error)
{
    uint64_t ok = 0, failed = 0, planned = 0;
    for (size_t i = 0; i < result->second_count; i++) {
        ok += result->seconds[i].ok;
        failed += result->seconds[i].failed;
        planned += result->seconds[i].planned;
    }
    if (ok != result->done_ok)
        return report_difference(error, "the seconds' ok and done_ok", ok, result->done_ok);
    if (failed != result->done_failed)
        return report_difference(error, "the seconds' failed and done_failed", failed,
                                 result->done_failed);
    if (planned != result->planned)
        return report_difference(error, "the seconds' planned and planned", planned,
                                 result->planned);
    return 0;
}
