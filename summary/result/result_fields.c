/* SPDX-License-Identifier: Apache-2.0 */
#include "summary/result/result_fields_private.h"

const struct result_field result_head_fields[] = {
    ROW(FIELD_TEXT, result, program),
    ROW(FIELD_TEXT, result, version),
    ROW(FIELD_TEXT, result, command),
    ROW(FIELD_TEXT, result, model),
    ROW(FIELD_TEXT, result, model_sha256),
    ROW(FIELD_SEED, result, seed),
    ROW(FIELD_LATER_TEXT, result, pace),
    ROW(FIELD_REAL, result, r),
    ROW(FIELD_MAYBE, result, S),
    ROW(FIELD_MAYBE, result, T),
    ROW(FIELD_TEXT, result, dc),
    ROW(FIELD_INTEGER, result, instance),
    ROW(FIELD_REAL, result, start),
    ROW(FIELD_REAL, result, warmup),
    ROW(FIELD_REAL, result, window),
    ROW(FIELD_BOOL, result, interrupted),
    ROW(FIELD_LATER_BOOL, result, stopped_on_error),
    ROW(FIELD_COUNT, result, clients),
    ROW(FIELD_COUNT, result, threads),
    ROW(FIELD_REAL, result, nominal),
    ROW(FIELD_REAL, result, nominal_packets),
    ROW(FIELD_COUNT, result, planned),
    ROW(FIELD_COUNT, result, sent),
    ROW(FIELD_COUNT, result, not_sent),
    ROW(FIELD_COUNT, result, dropped),
    ROW(FIELD_COUNT, result, ok),
    ROW(FIELD_COUNT, result, failed),
    ROW(FIELD_COUNT, result, no_answer),
    ROW(FIELD_COUNT, result, unfinished),
    ROW(FIELD_COUNT, result, done_ok),
    ROW(FIELD_COUNT, result, done_failed),
    ROW(FIELD_COUNT, result, expected),
    ROW(FIELD_COUNT, result, dns_extra),
    ROW(FIELD_COUNT, result, dns_extra_failed),
    ROW(FIELD_COUNT, result, conversations),
    ROW(FIELD_COUNT, result, planned_conversations),
    ROW(FIELD_COUNT, result, unfinished_conversations),
    ROW(FIELD_COUNT, result, planned_packets),
    ROW(FIELD_REAL, result, max_lag),
    ROW(FIELD_REAL, result, start_lag),
    ROW(FIELD_REAL, result, timer_miss),
    ROW(FIELD_COUNT, result, timing_lost),
    ROW(FIELD_BOOL, result, tls_used),
    ROW(FIELD_BOOL, result, tls_checked),
    ROW(FIELD_MAYBE, result, timer_p99),
    ROW(FIELD_MAYBE, result, busy),
    {0}};

const struct result_field result_backlog_fields[] = {
    NAMED(FIELD_COUNT, result, "count", backlog.count),
    NAMED(FIELD_MAYBE, result, "p50", backlog.p50),
    NAMED(FIELD_MAYBE, result, "max", backlog.max),
    {0}};

const struct result_field result_cpu_fields[] = {NAMED(FIELD_REAL, result, "user", cpu_user),
                                                 NAMED(FIELD_REAL, result, "system", cpu_system),
                                                 {0}};

const struct result_field result_packet_fields[] = {ROW(FIELD_TEXT, result_packet, protocol),
                                                    ROW(FIELD_TEXT, result_packet, opcode),
                                                    ROW(FIELD_TEXT, result_packet, description),
                                                    ROW(FIELD_COUNT, result_packet, count),
                                                    ROW(FIELD_COUNT, result_packet, failed),
                                                    ROW(FIELD_COUNT, result_packet, no_answer),
                                                    ROW(FIELD_COUNT, result_packet, planned),
                                                    ROW(FIELD_LATER_COUNT, result_packet, read),
                                                    ROW(FIELD_LATER_COUNT, result_packet, written),
                                                    ROW(FIELD_LATER_COUNT, result_packet, requests),
                                                    {0}};

const struct result_field result_second_fields[] = {ROW(FIELD_COUNT, result_second, t),
                                                    ROW(FIELD_COUNT, result_second, planned),
                                                    ROW(FIELD_COUNT, result_second, ok),
                                                    ROW(FIELD_COUNT, result_second, failed),
                                                    ROW(FIELD_MAYBE, result_second, p95),
                                                    ROW(FIELD_LATER_COUNT, result_second, read),
                                                    ROW(FIELD_LATER_COUNT, result_second, written),
                                                    {0}};

const struct result_time_field result_packet_times[RESULT_PACKET_TIMES] = {
    {"service", offsetof(struct result_packet, service)},
    {"response", offsetof(struct result_packet, response)},
    {"lag", offsetof(struct result_packet, lag)},
};
