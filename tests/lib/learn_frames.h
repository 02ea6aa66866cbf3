/* SPDX-License-Identifier: Apache-2.0 */
/* Frames for tests of traffic-learn, as lines of tshark that are composed field by field, so that
 * no tshark is needed. */
#ifndef TESTS_LIB_LEARN_FRAMES_H
#define TESTS_LIB_LEARN_FRAMES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/learn/learn_frames.h"

#define AND "\x1e" /* between the values of a field */

struct value {
    enum learn_line_field field;
    const char *text;
};

struct bench {
    struct learn_capture capture;
    struct learn_frames *frames;
    struct error error;
    unsigned time; /* ms */
};

static inline int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    assert_int_equal(learn_capture_init(&bench->capture, &bench->error), 0);
    bench->frames = learn_frames_new(&bench->capture);
    assert_non_null(bench->frames);
    *state = bench;
    return 0;
}

static inline int teardown(void **state)
{
    struct bench *bench = *state;
    learn_frames_free(bench->frames);
    learn_capture_clear(&bench->capture);
    free(bench);
    return 0;
}

/* Formats a line as tshark does, and learns from it. */
static inline void take(struct bench *bench, const struct value *values)
{
    static char text[1 << 16];
    enum learn_line_field columns[LEARN_LINE_FIELDS];
    struct learn_line line;
    size_t used = 0;
    char time[32];
    snprintf(time, sizeof time, "15000000%02u.%03u000000", bench->time / 1000, bench->time % 1000);
    bench->time += 1;
    for (int field = 0; field < LEARN_LINE_FIELDS; field++) {
        const char *value = field == LEARN_LINE_TIME ? time : "";
        for (const struct value *v = values; v->text; v++)
            value = (int)v->field == field ? v->text : value;
        columns[field] = (enum learn_line_field)field;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", field ? "\x1d" : "", value);
    }
    assert_true(used < sizeof text);
    assert_true(learn_line_parse(&line, text, columns, LEARN_LINE_FIELDS));
    if (learn_frames_take(bench->frames, &line) != 0)
        fail_msg("%s", bench->error.text);
}

/* A frame between client and server over TCP or UDP. */
#define TCP_TO(port, layers, ...)                                                                  \
    (const struct value[])                                                                         \
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
    (const struct value[])                                                                         \
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
    (const struct value[])                                                                         \
    {                                                                                              \
        {LEARN_LINE_IP_SRC, "10.1.1.7"}, {LEARN_LINE_IP_DST, "10.1.1.1"},                          \
            {LEARN_LINE_UDP_STREAM, "5"}, {LEARN_LINE_UDP_SRCPORT, "50000"},                       \
            {LEARN_LINE_PROTOCOLS, "eth:ethertype:ip:udp:" layers}, __VA_ARGS__,                   \
        {                                                                                          \
            0, NULL                                                                                \
        }                                                                                          \
    }
#define UDP_FROM(layers, ...)                                                                      \
    (const struct value[])                                                                         \
    {                                                                                              \
        {LEARN_LINE_IP_SRC, "10.1.1.1"}, {LEARN_LINE_IP_DST, "10.1.1.7"},                          \
            {LEARN_LINE_UDP_STREAM, "5"}, {LEARN_LINE_UDP_DSTPORT, "50000"},                       \
            {LEARN_LINE_PROTOCOLS, "eth:ethertype:ip:udp:" layers}, __VA_ARGS__,                   \
        {                                                                                          \
            0, NULL                                                                                \
        }                                                                                          \
    }

/* All requests so far: one per line, with fields after blanks. */
static inline const char *requests(struct bench *bench)
{
    static char text[1 << 16];
    struct learn_record record;
    uint32_t server;
    size_t used = 0;
    text[0] = '\0';
    if (bench->capture.record_count == 0)
        return text;
    server = intern_find(&bench->capture.addresses, "10.1.1.1", 8);
    assert_int_equal(learn_capture_finish(&bench->capture, server), 0);
    assert_int_equal(learn_capture_rewind(&bench->capture), 0);
    while (learn_capture_next(&bench->capture, &record) > 0) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s\n",
                                 bench->capture.forms.entries[record.form].bytes,
                                 record.kerberos ? " (ticket)" : "");
        assert_true(used < sizeof text);
    }
    for (char *c = text; *c; c++)
        *c = *c == LEARN_FIELD ? ' ' : *c;
    return text;
}

static inline uint64_t counted(const struct bench *bench, enum learn_count count)
{
    return bench->capture.counts[count];
}

#endif
