/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report: what was counted and what was asked for become a struct result, which is printed as
 * text here and written as JSON by result_write().
 */
#ifndef REPLAY_REPORT_H
#define REPLAY_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "replay/settings.h"
#include "replay/tally.h"
#include "summary/result/result.h"

/* Packets of the plan that this run does not play as operations though they are more than silent.
 */
struct report_skipped {
    const char *protocol, *opcode;
    bool left_out;  /* by --only or --skip; else it has no player */
    uint64_t count; /* in this plan */
};

/* What the tally does not know. Texts must outlive report_make() only. */
struct report_facts {
    const struct settings *settings; /* command line, r, S or T, labels, instance, warm-up, ... */
    const char *model;
    const uint8_t *model_sha256; /* MODEL_SHA256_SIZE bytes */
    uint64_t seed;               /* that was used */
    uint32_t clients;
    unsigned threads;
    double nominal, nominal_packets;                 /* operations and packets a second */
    uint64_t planned_conversations, planned_packets; /* of the whole plan */
    double start;                                    /* Unix time of the window's start */
    bool interrupted;            /* by SIGINT or SIGTERM; the tally's window says when */
    bool stopped_on_error;       /* --stop-on-any-error ended the run */
    double cpu_user, cpu_system; /* seconds of the process over the window */
    double timer_p99;            /* lateness of a bare timer, seconds; NaN: not known */
    double busy;   /* 0..1: the workers' time that was not spent waiting; NaN: not known */
    bool tls_used; /* some packet of the run goes over TLS */
    uint64_t timing_lost;
    const struct report_skipped *skipped;
    size_t skipped_count;
};

/* Fills *out (initialised here; cleared by the caller, even after a failure). 0 or -ENOMEM. */
int report_make(const struct tally *merged, const struct report_facts *facts, struct result *out);

/* Prints the text report. 0 or a negative errno of the stream. */
int report_print(FILE *stream, const struct result *result);

/* True when something succeeded inside the window: else the exit status is 1. */
bool report_succeeded(const struct result *result);

#endif
