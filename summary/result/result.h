/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of one run: what traffic-replay writes with --json and traffic-summary and
 * traffic-sweep read. summary/result/RESULT.md says what each field of the file means; the fields
 * here have the file's names. A result is built by replay/report.c or by result_read().
 */
#ifndef SUMMARY_RESULT_RESULT_H
#define SUMMARY_RESULT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "summary/result/histogram.h"

enum { RESULT_FORMAT = 1 };
/* Files larger than this are refused. */
enum { RESULT_FILE_MAX = 256 << 20 };

/* A name and how often it was met: a cause of failures, a packet that was skipped. */
struct result_count {
    const char *name;
    uint64_t count;
};

struct result_label {
    const char *name;
    const char *value;
};

/* One packet type. Counts by completion: ended inside the window. */
struct result_packet {
    const char *protocol;
    const char *opcode;
    const char *description; /* "" when it has none */
    uint64_t count;          /* ok + failed */
    uint64_t failed;
    uint64_t no_answer;
    size_t cause_count;
    struct result_count *causes;        /* their counts sum to failed */
    uint64_t planned;                   /* due inside the window */
    struct histogram service, response; /* of those due inside the window that ended */
    struct histogram lag;               /* of those due inside the window that were sent */
};

/* One second of the window: t = 0 is its first. The last row may be a part of a second. */
struct result_second {
    uint64_t t;
    uint64_t planned;    /* due in it */
    uint64_t ok, failed; /* ended in it */
    double p95;          /* response time in seconds of those; NaN: none */
};

/* What was measured beside the run (the server's CPU, ...) at t seconds of the window. */
struct result_sample {
    double t;
    size_t value_count;
    struct result_value {
        const char *name;
        double value;
    } * values;
};

/* How old, at the end, the operations were that could not be sent because their client was behind
 * (seconds); and how many. */
struct result_backlog {
    uint64_t count;
    double p50, max;
};

struct result {
    const char *program, *version, *command;
    const char *model, *model_sha256; /* base name; 64 hexadecimal digits */
    uint64_t seed;
    double r, S, T; /* S is NaN with -T, T is NaN without */
    const char *dc; /* as the command line names it */
    int64_t instance;
    size_t label_count;
    struct result_label *labels;
    double start;          /* Unix time of the window's start */
    double warmup, window; /* seconds; window as it was, which SIGINT may have shortened */
    bool interrupted;
    bool stopped_on_error; /* --stop-on-any-error ended the run */
    uint64_t clients, threads;
    double nominal, nominal_packets; /* operations and packets a second */

    uint64_t planned, sent, not_sent, dropped;  /* planned = sent + not_sent + dropped */
    uint64_t ok, failed, no_answer, unfinished; /* sent = ok + failed + no_answer + unfinished */
    uint64_t done_ok, done_failed;              /* by completion */
    uint64_t expected, dns_extra, dns_extra_failed; /* beside the plan */
    uint64_t conversations, planned_conversations, unfinished_conversations, planned_packets;
    double max_lag, start_lag, timer_miss; /* seconds */
    struct result_backlog backlog;
    uint64_t timing_lost; /* lines that -t could not keep up with */

    size_t skipped_count, left_out_count;
    struct result_count *skipped;  /* "foo:3": packets of the plan that nobody plays */
    struct result_count *left_out; /* packets of the plan that --only or --skip leave out */
    size_t packet_count;
    struct result_packet *packets;
    size_t second_count;
    struct result_second *seconds;
    double cpu_user, cpu_system; /* seconds of the generator's processor time over the window */
    double timer_p99;            /* lateness of a bare timer, seconds; NaN: not known */
    double busy;                 /* 0..1 of the workers' time; NaN: not known */
    bool tls_checked, tls_used;  /* whether certificates were checked; whether TLS was used */
    size_t sample_count;
    struct result_sample *samples;

    struct arena memory; /* private: texts and arrays live here */
};

void result_init(struct result *result);
void result_clear(struct result *result);

/* Memory that lives as long as the result: a zeroed array of count things of size, a copy of a
 * text. NULL when there is none. Histograms of packets must be initialised by the caller;
 * result_clear() clears them. */
void *result_alloc(struct result *result, size_t count, size_t size);
const char *result_text(struct result *result, const char *text);

/* Writes path by atomic_file_write(). Returns 0 or a negative errno with a line "path: what" in
 * error. */
int result_write(const struct result *result, const char *path, struct error *error);

/* Reads and checks every field. *result comes initialised and is to be cleared even on failure.
 * Returns 0 or a negative errno (-EINVAL: not a result of this format, or damaged) with a line
 * "path: what" in error. */
int result_read(struct result *result, const char *path, struct error *error);
/* The same from bytes in memory; name is for error lines. */
int result_parse(struct result *result, const char *bytes, size_t length, const char *name,
                 struct error *error);

/* All bytes of a regular file, to be freed; RESULT_FILE_MAX at most. 0 or a negative errno with a
 * line in error. */
int result_load(const char *path, char **bytes, size_t *length, struct error *error);

/* result_parse() that keeps less: all is checked alike, but histograms are not kept by packet type
 * (they stay empty); those of response times are added to *response instead, which is spoiled by a
 * failure. */
int result_parse_totals(struct result *result, struct histogram *response, const char *bytes,
                        size_t length, const char *name, struct error *error);

/* All packet types' histograms added up into *out (initialised): 'response', 'service', 'lag'. */
enum result_time { RESULT_SERVICE, RESULT_RESPONSE, RESULT_LAG };
int result_total(const struct result *result, enum result_time time, struct histogram *out);

/* The accounting identities above, and that sums over packets and seconds agree with the totals
 * (result_read() checks it too). 0, or -EPROTO with a line in error. */
int result_check(const struct result *result, struct error *error);

#endif
