/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of one run, as written by traffic-replay --json and read by traffic-summary and
 * traffic-sweep. summary/result/RESULT.md explains each field of the file; the members here have
 * the same names. replay/session/report.c or result_read() makes a result.
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
/* Name of the label whose presence says that the run's figures are not the server's. */
#define RESULT_SPOILED "spoiled"
/* Files larger than this are refused. */
enum { RESULT_FILE_MAX = 256 << 20 };

/* A name and a count: a cause of failures, or a packet that was skipped. */
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
    const char *description; /* "": none */
    uint64_t count;          /* ok + failed */
    uint64_t failed;
    uint64_t no_answer;
    size_t cause_count;
    struct result_count *causes;      /* their counts add up to failed */
    uint64_t read, written, requests; /* bytes of files, SMB2 requests; 0 in older files */
    size_t size_count;
    struct result_count *sizes; /* operations by the bytes that each moved; none in older files */
    uint64_t planned;           /* due inside the window */
    struct histogram service, response; /* operations due inside the window that ended */
    struct histogram lag;               /* operations due inside the window that were sent */
};

/* One second of the window; t = 0 is the first. The last row may cover less than a second. */
struct result_second {
    uint64_t t;
    uint64_t planned;       /* due in this second */
    uint64_t ok, failed;    /* ended in this second */
    double p95;             /* their response time in seconds; NaN: none */
    uint64_t read, written; /* bytes of files; 0 in older files */
};

/* Measurements of the server (CPU, memory, ...), t seconds after the window's start. */
struct result_sample {
    double t;
    size_t value_count;
    struct result_value {
        const char *name;
        double value;
    } * values;
};

/* Operations that were not sent because their client was still behind at the end: how many, and
 * their age in seconds. */
struct result_backlog {
    uint64_t count;
    double p50, max;
};

struct result {
    const char *program, *version, *command;
    const char *model, *model_sha256; /* base name; 64 hexadecimal digits */
    const char *pace; /* of a loadfile: "reply" (closed loop), "times" or "N MB/s"; "": no loadfile,
                       * or an older file */
    uint64_t seed;
    double r, S, T; /* S is NaN with -T, T is NaN without */
    const char *dc; /* as the command line names it */
    int64_t instance;
    size_t label_count;
    struct result_label *labels;
    double start;          /* Unix time of the window's start */
    double warmup, window; /* seconds; SIGINT may have shortened the window */
    bool interrupted;
    bool stopped_on_error; /* --stop-on-any-error ended the run */
    uint64_t clients, threads;
    double nominal, nominal_packets; /* operations and packets per second */

    uint64_t planned, sent, not_sent, dropped;  /* planned = sent + not_sent + dropped */
    uint64_t ok, failed, no_answer, unfinished; /* sent = ok + failed + no_answer + unfinished */
    uint64_t done_ok, done_failed;              /* by completion */
    uint64_t expected, dns_extra, dns_extra_failed; /* not part of the plan */
    size_t dns_extra_cause_count;
    struct result_count
        *dns_extra_causes; /* of dns_extra_failed; none in files of older versions */
    uint64_t conversations, planned_conversations, unfinished_conversations, planned_packets;
    double max_lag, start_lag, timer_miss; /* seconds */
    struct result_backlog backlog;
    uint64_t timing_lost; /* lines of -t that were lost */

    size_t skipped_count, left_out_count;
    struct result_count *skipped;  /* "foo:3": planned packets without a player */
    struct result_count *left_out; /* planned packets that --only or --skip exclude */
    size_t packet_count;
    struct result_packet *packets;
    size_t second_count;
    struct result_second *seconds;
    double cpu_user, cpu_system; /* processor seconds of the generator over the window */
    double timer_p99;            /* lateness of a bare timer in seconds; NaN: unknown */
    double busy;                 /* share of the busiest worker's time, 0 to 1; NaN: unknown */
    bool tls_checked, tls_used;  /* whether certificates were checked; whether TLS was used */
    size_t sample_count;
    struct result_sample *samples;

    struct arena memory; /* private: texts and arrays live here */
};

/* Prepares an empty result. */
void result_init(struct result *result);
void result_clear(struct result *result);

/* Memory that lives as long as the result: a zeroed array, or a copy of a text. NULL: out of
 * memory. The caller initialises histograms of packets; result_clear() clears them. */
void *result_alloc(struct result *result, size_t count, size_t size);
const char *result_text(struct result *result, const char *text);

/* Writes path by atomic_file_write(). Returns 0 or a negative errno with a line "path: what" in
 * error. */
int result_write(const struct result *result, const char *path, struct error *error);

/* Reads a file and checks every field. The caller initialises *result and clears it, even after a
 * failure. 0, or a negative errno (-ENOMSG: not a result; -EINVAL: another format, or damaged) with
 * a line "path: what" in error. */
int result_read(struct result *result, const char *path, struct error *error);
/* The same from bytes in memory; name is for error messages. */
int result_parse(struct result *result, const char *bytes, size_t length, const char *name,
                 struct error *error);

/* Reads all bytes of a regular file of at most RESULT_FILE_MAX bytes; the caller frees *bytes. 0,
 * or a negative errno with a line in error. */
int result_load(const char *path, char **bytes, size_t *length, struct error *error);

/* Like result_parse(), but keeps no histograms by packet type. Adds all response times to *response
 * instead, which is undefined after a failure. */
int result_parse_totals(struct result *result, struct histogram *response, const char *bytes,
                        size_t length, const char *name, struct error *error);

/* What all packet types moved. */
struct result_data {
    uint64_t read, written;   /* bytes of files */
    uint64_t reads, writes;   /* successful operations of the types that read, and that wrote */
    uint64_t requests;        /* SMB2 requests ... */
    uint64_t request_senders; /* ... and the operations of the types that sent any */
};
struct result_data result_data(const struct result *result);

/* Adds up the histograms of all packet types in *out, which must be initialised. 0 or -ENOMEM. */
enum result_time { RESULT_SERVICE, RESULT_RESPONSE, RESULT_LAG };
int result_total(const struct result *result, enum result_time time, struct histogram *out);

/* Checks the accounting identities above, and that sums over packets and seconds equal the totals.
 * result_read() calls it. 0, or -EPROTO with a line in error. */
int result_check(const struct result *result, struct error *error);

#endif
