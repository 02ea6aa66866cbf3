/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: what a worker counts while it plays. Each worker owns one struct records, with no lock
 * and no atomics; they are merged after the workers stopped. A live view takes a snapshot of few
 * counters through records_live() (relaxed atomics, written once per outcome).
 *
 * The accounting identity, over operations due inside the measured window:
 *     planned = sent + not_sent + dropped
 *     sent    = ok + failed + no_answer + unfinished
 * where ok, failed and no_answer ended inside the window and unfinished had not when it closed.
 * By completion time, operations due in the warm-up included: done_ok, done_failed.
 *
 * The window is [window_start, window_end): an operation due or ended at window_start is inside,
 * one at window_end is not. All times are ns since the plan's start (the start of the warm-up).
 */
#ifndef REPLAY_RECORD_H
#define REPLAY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "protocols/packet.h"
#include "summary/result/histogram.h"

struct records;
struct timing;
struct failure_log;

/* What a packet type is called, by its index in model_types(). */
struct record_type {
    const char *protocol;
    const char *opcode;
    const char *description; /* "" when it has none */
};

struct record_setup {
    const struct record_type *types; /* must outlive the records */
    size_t type_count;
    uint32_t clients;
    int64_t window_start, window_end;
    unsigned worker;         /* 0..; its place in timing */
    struct timing *timing;   /* -t; NULL: not wanted */
    struct failure_log *log; /* --log-failures; NULL: not wanted */
};

/* On failure NULL (out of memory). */
struct records *records_new(const struct record_setup *setup);
void records_free(struct records *records);

/* One operation that was sent, and how it went. Times are ns since the plan's start. */
struct record_event {
    uint32_t type; /* index in model_types() */
    uint32_t client;
    uint32_t conversation; /* of the client */
    bool first;            /* first packet of its conversation */
    int64_t due;
    int64_t ready;              /* the later of due and the end of the packet before it */
    int64_t first_sent;         /* when its first byte left; INT64_MIN: nothing could be sent */
    int64_t last_received;      /* last reply byte; INT64_MIN: none */
    int64_t ended;              /* when the outcome was known */
    uint32_t expected_failures; /* wrong-password attempts of -B made beside it */
};

/* The plan wants an operation at due: called once for each, before it is sent, dropped or left. */
void record_planned(struct records *records, uint32_t type, int64_t due);
/* It went on the wire (or tried to). Called when it ended. The outcome may be any but NOTHING. */
void record_event(struct records *records, const struct record_event *event,
                  const struct outcome *outcome);
/* It is about to be sent: for "in flight" of the status line. */
void record_started(struct records *records);
/* Its client was still behind when the window closed. */
void record_not_sent(struct records *records, uint32_t type, int64_t due);
/* It was older than --max-backlog and was dropped. */
void record_dropped(struct records *records, uint32_t type, int64_t due);
/* The window closes at end (ns since the plan's start) instead of where it was to: the run was
 * interrupted. Called by the owner of records before it plans any operation due at or after end. */
void record_window_end(struct records *records, int64_t end);
/* A timer fired late by ns. */
void record_timer_late(struct records *records, int64_t ns);
/* An extra query of --dns-rate ended, in the warm-up or in the window. */
void record_dns_extra(struct records *records, const struct outcome *outcome);
/* A conversation began with a packet that was sent. */
void record_conversation(struct records *records);
/* What can be told apart of a packet type's causes; the rest is "other causes". */
enum { RECORD_CAUSES_MAX = 32 };

/* A conversation that had begun came to its end in the plan, not to the end of the run. */
void record_conversation_ended(struct records *records);

/* After the workers stopped: adds all of from, made with the same types and window. 0 or -ENOMEM.
 */
int records_merge(struct records *to, const struct records *from);
/* Checks the identity above, by type and in sum. 0; -EPROTO with a line in error; or -ENOMEM when
 * something could not be counted for lack of memory. */
int records_check(const struct records *records, struct error *error);

/* A snapshot for the status line; may be taken by another thread at any time. */
enum { RECORD_LIVE_BUCKETS = HISTOGRAM_BUCKETS / 4 };
struct record_live {
    uint64_t planned, started, ended, ok, failed, no_answer; /* since the start, warm-up too */
    uint32_t response[RECORD_LIVE_BUCKETS];                  /* response times, roughly */
};
/* Adds the records' live counters to *live. */
void records_live(const struct records *records, struct record_live *live);
/* Response time in ns that a fraction of what ended between two snapshots did not exceed, within
 * 4%; -1 when nothing ended. */
int64_t record_live_quantile(const struct record_live *before, const struct record_live *now,
                             double fraction);

/* What was counted, for the report. */
struct record_cause {
    char text[OUTCOME_CAUSE_SIZE];
    uint64_t count;
};

struct record_packet {
    /* By due time */
    uint64_t planned, sent, not_sent, dropped;
    uint64_t ok, failed, no_answer, unfinished;
    /* By completion time */
    uint64_t done_ok, done_failed, done_no_answer;
    size_t cause_count;
    struct record_cause *causes; /* of done_failed, in order of appearance */
    struct histogram service, response, lag;
};

struct record_second {
    uint64_t planned, ok, failed;
    struct histogram response; /* of those that ended in it */
};

struct record_totals {
    uint64_t expected, dns_extra, dns_extra_failed;
    uint64_t conversations, conversations_ended;
    int64_t max_lag, start_lag, timer_miss; /* ns; 0 when there was none */
    struct histogram backlog;               /* age at the window's end of what was not sent */
};

const struct record_setup *records_setup(const struct records *records);
const struct record_packet *records_packet(const struct records *records, size_t type);
const struct record_second *records_seconds(const struct records *records, size_t *count);
const struct record_totals *records_totals(const struct records *records);

/* --log-failures: the first `first` failures, one line each on standard error, with the seconds
 * since the plan's start. Thread-safe. */
struct failure_log *failure_log_new(uint64_t first);
void failure_log_free(struct failure_log *log);

#endif
