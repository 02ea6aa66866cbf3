/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tallies: what a worker counts while it plays. Each worker owns one struct tally, with no lock
 * and no atomics; they are merged after the workers stopped. A live view takes a snapshot of few
 * counters through tally_live() (relaxed atomics, written once per outcome).
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
#ifndef REPLAY_TALLY_H
#define REPLAY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/model.h"
#include "protocols/outcome.h"
#include "summary/result/histogram.h"

struct tally;
struct timing;
struct failure_log;

/* What a packet type is called, by packet_index. */
struct tally_type {
    const char *protocol;
    const char *opcode;
    const char *description; /* "" when it has none */
};

struct tally_setup {
    const struct tally_type *types; /* must outlive the tally */
    size_t type_count;
    uint32_t clients;
    int64_t window_start, window_end;
    unsigned worker;         /* 0..; its place in timing */
    struct timing *timing;   /* -t; NULL: not wanted */
    struct failure_log *log; /* --log-failures; NULL: not wanted */
};

/* On failure NULL (out of memory). */
struct tally *tally_new(const struct tally_setup *setup);
void tally_free(struct tally *tally);

/* One operation that was sent, and how it went. Times are ns since the plan's start. */
struct tally_event {
    packet_index type;
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
void tally_planned(struct tally *tally, packet_index type, int64_t due);
/* It went on the wire (or tried to). Called when it ended. The outcome may be any but NOTHING. */
void tally_event(struct tally *tally, const struct tally_event *event,
                 const struct outcome *outcome);
/* It is about to be sent: for "in flight" of the status line. */
void tally_started(struct tally *tally);
/* Its client was still behind when the window closed. */
void tally_not_sent(struct tally *tally, packet_index type, int64_t due);
/* It was older than --max-backlog and was dropped. */
void tally_dropped(struct tally *tally, packet_index type, int64_t due);
/* The window closes at end (ns since the plan's start) instead of where it was to: the run was
 * interrupted. Called by the owner of the tally before it plans any operation due at or after end.
 */
void tally_window_end(struct tally *tally, int64_t end);
/* A timer fired late by ns. */
void tally_timer_late(struct tally *tally, int64_t ns);
/* An extra query of --dns-rate ended, in the warm-up or in the window. */
void tally_dns_extra(struct tally *tally, const struct outcome *outcome);
/* A conversation began with a packet that was sent. */
void tally_conversation(struct tally *tally);
/* What can be told apart of a packet type's causes; the rest is "other causes". */
enum { TALLY_CAUSES_MAX = 32 };

/* A conversation that had begun came to its end in the plan, not to the end of the run. */
void tally_conversation_ended(struct tally *tally);

/* After the workers stopped: adds all of from, made with the same types and window. 0 or -ENOMEM.
 */
int tally_merge(struct tally *to, const struct tally *from);
/* Checks the identity above, by type and in sum. 0; -EPROTO with a line in error; or -ENOMEM when
 * something could not be counted for lack of memory. */
int tally_check(const struct tally *tally, struct error *error);

/* A snapshot for the status line; may be taken by another thread at any time. */
enum { TALLY_LIVE_BUCKETS = HISTOGRAM_BUCKETS / 4 };
struct tally_live {
    uint64_t planned, started, ended, ok, failed, no_answer; /* since the start, warm-up too */
    uint32_t response[TALLY_LIVE_BUCKETS];                   /* response times, roughly */
};
/* Adds the live counters to *live. */
void tally_live(const struct tally *tally, struct tally_live *live);
/* Response time in ns that a fraction of what ended between two snapshots did not exceed, within
 * 4%; -1 when nothing ended. */
int64_t tally_live_quantile(const struct tally_live *before, const struct tally_live *now,
                            double fraction);

/* What was counted, for the report. */
struct tally_cause {
    char text[OUTCOME_CAUSE_SIZE];
    uint64_t count;
};

struct tally_packet {
    /* By due time */
    uint64_t planned, sent, not_sent, dropped;
    uint64_t ok, failed, no_answer, unfinished;
    /* By completion time */
    uint64_t done_ok, done_failed, done_no_answer;
    size_t cause_count;
    struct tally_cause *causes; /* of done_failed, in order of appearance */
    struct histogram service, response, lag;
};

struct tally_second {
    uint64_t planned, ok, failed;
    struct histogram response; /* of those that ended in it */
};

struct tally_totals {
    uint64_t expected, dns_extra, dns_extra_failed;
    uint64_t conversations, conversations_ended;
    int64_t max_lag, start_lag, timer_miss; /* ns; 0 when there was none */
    struct histogram backlog;               /* age at the window's end of what was not sent */
};

const struct tally_setup *tally_setup(const struct tally *tally);
const struct tally_packet *tally_packet(const struct tally *tally, packet_index type);
const struct tally_second *tally_seconds(const struct tally *tally, size_t *count);
const struct tally_totals *tally_totals(const struct tally *tally);

/* --log-failures: the first `first` failures, one line each on standard error, with the seconds
 * since the plan's start. Thread-safe. */
struct failure_log *failure_log_new(uint64_t first);
void failure_log_free(struct failure_log *log);

#endif
