/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of a text report by traffic-replay or by Samba's Python script. Both begin with the same
 * lines.
 */
#ifndef SUMMARY_TEXT_REPORT_H
#define SUMMARY_TEXT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { TEXT_LABELS_MAX = 32 };

struct text_label {
    char name[128], value[512];
};

struct text_report {
    bool ours;           /* printed by traffic-replay; otherwise the fields below are NaN or 0 */
    uint64_t ok, failed; /* operations */
    double ok_rate, failed_rate; /* a second */
    uint64_t planned_packets;
    double mean; /* seconds of service time: count-weighted mean of the table's rows; NaN: none */

    /* Printed by traffic-replay only */
    double r, S; /* S is NaN with -T */
    uint64_t seed;
    int64_t instance;
    int64_t start; /* Unix time */
    bool interrupted;
    double window, achieved; /* seconds; percent, NaN: unknown */
    char pace[64];           /* of a loadfile; "": none */
    char server[256], model[256], model_sha256[65], version[64], command[4096];
    size_t label_count;
    struct text_label labels[TEXT_LABELS_MAX];
    double nominal;
    double data, read, written, iops; /* MB/s, and operations per second; NaN: no SMB2 */
    uint64_t planned;                 /* operations */
    double response_mean, response_p50, response_p95, response_p99; /* seconds; NaN: none */
};

/* Reads a report from bytes, skipping what precedes its first line (timing data). name is for error
 * messages. 0, or with a line in error -ENOMSG (foreign) or -EINVAL (damaged or truncated). */
int text_report_parse(struct text_report *report, const char *bytes, size_t length,
                      const char *name, struct error *error);

#endif
