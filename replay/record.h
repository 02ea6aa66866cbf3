/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: what a worker counts while it plays. Each worker owns one struct records, with no lock
 * and no atomics; they are merged after the workers stopped. A live view takes a snapshot of few
 * counters through record_live (relaxed atomics, written once per outcome).
 *
 * The accounting identity, over operations due inside the measured window:
 *     planned = sent + not_sent + dropped
 *     sent    = ok + failed + no_answer + unfinished
 * where ok, failed and no_answer ended inside the window and unfinished had not when it closed.
 * By completion time, operations due in the warm-up included: done_ok, done_failed.
 */
#ifndef REPLAY_RECORD_H
#define REPLAY_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "protocols/packet.h"

struct records;

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
/* An extra query of --dns-rate ended. */
void record_dns_extra(struct records *records, const struct outcome *outcome);
/* A conversation began with a packet that was sent. */
void record_conversation(struct records *records);

#endif
