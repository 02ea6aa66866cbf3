/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tally holds what one worker counts while it plays. Only the worker writes it, without locks;
 * the tallies are merged after the workers have stopped. Other threads may only read the live
 * counters (tally_live()), which are relaxed atomics.
 *
 * The accounting identity, over operations due inside the measured window:
 *     planned = sent + not_sent + dropped
 *     sent    = ok + failed + no_answer + unfinished
 * where ok, failed and no_answer ended inside the window, and unfinished had not ended when it
 * closed. done_ok and done_failed count by the time of completion and include operations that were
 * due in the warm-up.
 *
 * The window is [window_start, window_end): an operation due or ended at window_start is inside,
 * one at window_end is not. All times are ns since the plan's start, which is the start of the
 * warm-up.
 */
#ifndef REPLAY_TALLY_H
#define REPLAY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/model.h"
#include "protocols/outcome.h"
#include "protocols/wire.h"
#include "summary/result/histogram.h"
#include "summary/result/size_counts.h"

struct tally;
struct timing;
struct failure_log;

/* The names of a packet type, by packet_index. */
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
    unsigned worker;         /* its number in timing, from 0 */
    struct timing *timing;   /* -t, or NULL */
    struct failure_log *log; /* --log-failures, or NULL */
};

/* On failure NULL (out of memory). */
struct tally *tally_new(const struct tally_setup *setup);
void tally_free(struct tally *tally);

/* An operation that was sent. Times are ns since the plan's start. */
struct tally_event {
    packet_index type;
    uint32_t client;
    uint32_t conversation; /* number within the client */
    bool first;            /* first packet of its conversation */
    int64_t due;
    int64_t ready;              /* the later of due and the end of the client's previous packet */
    int64_t first_sent;         /* when its first byte was sent; INT64_MIN: nothing was sent */
    int64_t last_received;      /* last byte of the reply; INT64_MIN: none */
    int64_t ended;              /* when the outcome was known */
    uint32_t expected_failures; /* wrong-password attempts (-B) made along with it */
    struct wire_data data;      /* of files, over SMB2 */
};

/* The plan has an operation at due. Call once for each, before one of the functions below. */
void tally_planned(struct tally *tally, packet_index type, int64_t due);
/* The operation is about to be sent: for "in flight" on the status line. */
void tally_started(struct tally *tally);
/* The operation was sent, or could not be, and has ended. Any outcome but OUTCOME_NOTHING. */
void tally_event(struct tally *tally, const struct tally_event *event,
                 const struct outcome *outcome);
/* The operation was not sent: its client was still busy with earlier ones when the window closed.
 */
void tally_not_sent(struct tally *tally, packet_index type, int64_t due);
/* The operation was older than --max-backlog and was dropped. */
void tally_dropped(struct tally *tally, packet_index type, int64_t due);
/* The window closes early, at end (ns since the plan's start). The tally's owner calls this before
 * it plans any operation that is due at or after end. */
void tally_window_end(struct tally *tally, int64_t end);
/* A timer fired late by ns. */
void tally_timer_late(struct tally *tally, int64_t ns);
/* An extra query of --dns-rate ended, in the warm-up or in the window: ns since the plan's start.
 */
void tally_dns_extra(struct tally *tally, const struct outcome *outcome, int64_t ended);
/* A conversation has sent its first packet. */
void tally_conversation(struct tally *tally);
/* A conversation that had sent something has reached its planned end. */
void tally_conversation_ended(struct tally *tally);

/* The number of different causes that are counted per packet type; the last one is "other causes".
 */
enum { TALLY_CAUSES_MAX = 32 };

/* Adds all counts of from, which has the same types and window. Call after the workers have
 * stopped. 0 or -ENOMEM. */
int tally_merge(struct tally *to, const struct tally *from);
/* Checks the identity above, per type and in total. 0; -EPROTO: it does not hold; or -ENOMEM: an
 * allocation failed while counting. */
int tally_check(const struct tally *tally, struct error *error);

/* A snapshot for the status line. Any thread may take one at any time. */
enum { TALLY_LIVE_BUCKETS = HISTOGRAM_BUCKETS / 4 };
struct tally_live {
    uint64_t planned, started, ended, ok, failed,
        no_answer;                         /* since the start, including the warm-up */
    uint32_t response[TALLY_LIVE_BUCKETS]; /* a coarse histogram of response times */
};
/* Adds the tally's live counters to *live. */
void tally_live(const struct tally *tally, struct tally_live *live);
/* The quantile `fraction` of the response times between two snapshots, in ns, within 4%; -1:
 * nothing ended in between. */
int64_t tally_live_quantile(const struct tally_live *before, const struct tally_live *now,
                            double fraction);

struct tally_cause {
    char text[OUTCOME_CAUSE_SIZE];
    uint64_t count;
};

/* In order of first occurrence. */
struct tally_causes {
    size_t count;
    struct tally_cause *items;
};

struct tally_packet {
    /* Counted by due time */
    uint64_t planned, sent, not_sent, dropped;
    uint64_t ok, failed, no_answer, unfinished;
    /* Counted by completion time */
    uint64_t done_ok, done_failed, done_no_answer;
    uint64_t read, written, requests; /* bytes of files; SMB2 requests */
    struct size_counts sizes;         /* bytes that one operation moved */
    struct tally_causes causes;       /* of done_failed */
    struct histogram service, response, lag;
};

struct tally_second {
    uint64_t planned, ok, failed;
    uint64_t read, written;    /* bytes of files */
    struct histogram response; /* of operations that ended in this second */
};

struct tally_totals {
    uint64_t expected, dns_extra, dns_extra_failed;
    struct tally_causes dns_extra_causes; /* of dns_extra_failed */
    uint64_t conversations, conversations_ended;
    int64_t max_lag, start_lag, timer_miss; /* ns; 0: none */
    struct histogram backlog;               /* age of unsent operations at the window's end */
};

/* The setup that tally_new() was given. */
const struct tally_setup *tally_setup(const struct tally *tally);
const struct tally_packet *tally_packet(const struct tally *tally, packet_index type);
const struct tally_second *tally_seconds(const struct tally *tally, size_t *count);
const struct tally_totals *tally_totals(const struct tally *tally);

/* --log-failures: prints the first `first` failures, one message each, with the seconds since the
 * plan's start. All tallies of a run share one; it is thread-safe. On failure NULL (out of memory).
 */
struct failure_log *failure_log_new(uint64_t first);
void failure_log_free(struct failure_log *log);

#endif
