/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a run. report_make() fills a struct result from the counters and the settings;
 * report_print() prints it as text, and result_write() writes it as JSON.
 */
#ifndef REPLAY_SESSION_REPORT_H
#define REPLAY_SESSION_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "replay/settings.h"
#include "replay/tally.h"
#include "summary/result/result.h"

/* Prints what the operations moved over SMB2, if they did: a part of report_print(). */
void report_print_data(FILE *stream, const struct result *result);
/* The same for the pace of a loadfile. */
void report_print_pace(FILE *stream, const struct result *result);

/* Packets of the plan that are left out or have no player. */
struct report_skipped {
    const char *protocol, *opcode;
    bool left_out;  /* by --only or --skip; otherwise it has no player */
    uint64_t count; /* in this plan */
};

/* What the tally does not know. The texts are copied. */
struct report_facts {
    const struct settings *settings; /* command line, r, S or T, labels, instance, warm-up, ... */
    const char *model;
    const uint8_t *model_sha256; /* MODEL_SHA256_SIZE bytes */
    const char *pace;            /* of a loadfile; NULL: none */
    uint64_t seed;               /* the one that was used */
    uint32_t clients;
    unsigned threads;
    double nominal, nominal_packets;                 /* operations and packets per second */
    uint64_t planned_conversations, planned_packets; /* of the whole plan */
    double start;                                    /* Unix time of the window's start */
    bool interrupted;            /* by SIGINT or SIGTERM; the tally's window says when */
    bool stopped_on_error;       /* --stop-on-any-error ended the run */
    double cpu_user, cpu_system; /* processor seconds of this process over the window */
    double timer_p99;            /* lateness of a timer without other work, seconds; NaN: unknown */
    double busy;   /* 0..1: share of the busiest worker's time that it did not wait; NaN: unknown */
    bool tls_used; /* some packets of the run use TLS */
    uint64_t timing_lost;
    const struct report_skipped *skipped;
    size_t skipped_count;
};

/* Initialises and fills *out. The caller clears it, even after a failure. 0 or -ENOMEM. */
int report_make(const struct tally *merged, const struct report_facts *facts, struct result *out);

/* Prints the text report. 0 or a negative errno of the stream. */
int report_print(FILE *stream, const struct result *result);

/* Whether any operation succeeded inside the window; if not, the exit status is 1. */
bool report_succeeded(const struct result *result);

#endif
