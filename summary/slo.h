/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service level: conditions that a cell must meet, such as success>=99%,p95<=200ms.
 */
#ifndef SUMMARY_SLO_H
#define SUMMARY_SLO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "summary/reading.h"

enum { SLO_CONDITIONS_MAX = 16 };

enum slo_relation { SLO_AT_LEAST, SLO_AT_MOST, SLO_MORE, SLO_LESS };

struct slo_condition {
    enum metric metric;
    enum slo_relation relation;
    double limit; /* in the metric's unit: percent, seconds, operations per second */
};

struct slo {
    const char *text; /* as given, owned by the caller; NULL: no service level */
    size_t count;
    struct slo_condition conditions[SLO_CONDITIONS_MAX];
};

enum slo_verdict {
    SLO_KEPT,
    SLO_MISSED,
    SLO_UNKNOWN /* a metric is missing, and no other condition fails */
};

/* Parses conditions separated by commas. 0, or -EINVAL with a line in error. */
int slo_parse(struct slo *slo, const char *text, struct error *error);

/* Judges a cell's metrics. SLO_KEPT if there are no conditions. */
enum slo_verdict slo_judge(const struct slo *slo, const double metrics[METRICS]);

#endif
