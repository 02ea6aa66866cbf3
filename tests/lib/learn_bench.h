/* SPDX-License-Identifier: Apache-2.0 */
/* Frames for tests of traffic-learn, as lines of tshark that are composed field by field, so that
 * no tshark is needed. */
#ifndef TESTS_LIB_LEARN_BENCH_H
#define TESTS_LIB_LEARN_BENCH_H

#include <stdint.h>

#include "base/error.h"
#include "model/learn/learn_frames.h"

#define AND "\xfe" /* between the values of a field */

struct learn_value {
    enum learn_line_field field;
    const char *text;
};

struct learn_bench {
    struct learn_capture capture;
    struct learn_frames *frames;
    struct error error;
    unsigned time; /* ms */
};

/* A frame between client and server over TCP or UDP. */
#define TCP_TO(port, layers, ...)                                                                  \
    (const struct learn_value[])                                                                   \
    {                                                                                              \
        {LEARN_LINE_IP_SRC, "10.1.1.7"}, {LEARN_LINE_IP_DST, "10.1.1.1"},                          \
            {LEARN_LINE_TCP_STREAM, "3"}, {LEARN_LINE_TCP_SRCPORT, "40000"},                       \
            {LEARN_LINE_TCP_DSTPORT, port},                                                        \
            {LEARN_LINE_PROTOCOLS, "eth:ethertype:ip:tcp:" layers}, __VA_ARGS__,                   \
        {                                                                                          \
            0, NULL                                                                                \
        }                                                                                          \
    }
#define TCP_FROM(port, layers, ...)                                                                \
    (const struct learn_value[])                                                                   \
    {                                                                                              \
        {LEARN_LINE_IP_SRC, "10.1.1.1"}, {LEARN_LINE_IP_DST, "10.1.1.7"},                          \
            {LEARN_LINE_TCP_STREAM, "3"}, {LEARN_LINE_TCP_SRCPORT, port},                          \
            {LEARN_LINE_TCP_DSTPORT, "40000"},                                                     \
            {LEARN_LINE_PROTOCOLS, "eth:ethertype:ip:tcp:" layers}, __VA_ARGS__,                   \
        {                                                                                          \
            0, NULL                                                                                \
        }                                                                                          \
    }
#define UDP_TO(layers, ...)                                                                        \
    (const struct learn_value[])                                                                   \
    {                                                                                              \
        {LEARN_LINE_IP_SRC, "10.1.1.7"}, {LEARN_LINE_IP_DST, "10.1.1.1"},                          \
            {LEARN_LINE_UDP_STREAM, "5"}, {LEARN_LINE_UDP_SRCPORT, "50000"},                       \
            {LEARN_LINE_PROTOCOLS, "eth:ethertype:ip:udp:" layers}, __VA_ARGS__,                   \
        {                                                                                          \
            0, NULL                                                                                \
        }                                                                                          \
    }
#define UDP_FROM(layers, ...)                                                                      \
    (const struct learn_value[])                                                                   \
    {                                                                                              \
        {LEARN_LINE_IP_SRC, "10.1.1.1"}, {LEARN_LINE_IP_DST, "10.1.1.7"},                          \
            {LEARN_LINE_UDP_STREAM, "5"}, {LEARN_LINE_UDP_DSTPORT, "50000"},                       \
            {LEARN_LINE_PROTOCOLS, "eth:ethertype:ip:udp:" layers}, __VA_ARGS__,                   \
        {                                                                                          \
            0, NULL                                                                                \
        }                                                                                          \
    }

/* cmocka set-up and tear-down: the state is a struct learn_bench. */
int learn_bench_set_up(void **state);

int learn_bench_tear_down(void **state);

/* Formats a line as tshark does, and learns from it. */
void learn_bench_take(struct learn_bench *bench, const struct learn_value *values);

/* All requests so far: one per line, with fields after blanks. Valid until the next call. */
const char *learn_bench_requests(struct learn_bench *bench);

/* One of the counters of the capture. */
uint64_t learn_bench_counted(const struct learn_bench *bench, enum learn_count count);

#endif
