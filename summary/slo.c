/* SPDX-License-Identifier: Apache-2.0 */
/* Service levels: a condition is a metric, a relation, a number and its unit. */
#include "summary/slo.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct {
    const char *sign;
    enum slo_relation relation;
} relations[] = {{">=", SLO_AT_LEAST}, {"<=", SLO_AT_MOST}, {">", SLO_MORE}, {"<", SLO_LESS}};

enum measure { MEASURE_PERCENT, MEASURE_TIME, MEASURE_RATE, MEASURE_COUNT };

static const struct {
    const char *name;
    enum metric metric;
    enum measure measure;
} names[] = {
    {"success-rate", METRIC_SUCCESS_RATE, MEASURE_PERCENT},
    {"success", METRIC_SUCCESS_RATE, MEASURE_PERCENT},
    {"ok", METRIC_OK, MEASURE_RATE},
    {"failed", METRIC_FAILED, MEASURE_RATE},
    {"achieved", METRIC_ACHIEVED, MEASURE_PERCENT},
    {"planned-rate", METRIC_PLANNED_RATE, MEASURE_RATE},
    {"nominal", METRIC_NOMINAL, MEASURE_RATE},
    {"planned", METRIC_PLANNED, MEASURE_COUNT},
    {"MB/s", METRIC_BYTES, MEASURE_COUNT},
    {"read-MB/s", METRIC_READ_BYTES, MEASURE_COUNT},
    {"write-MB/s", METRIC_WRITTEN_BYTES, MEASURE_COUNT},
    {"iops", METRIC_IOPS, MEASURE_RATE},
    {"mean", METRIC_MEAN, MEASURE_TIME},
    {"p50", METRIC_P50, MEASURE_TIME},
    {"p95", METRIC_P95, MEASURE_TIME},
    {"p99", METRIC_P99, MEASURE_TIME},
};

static const struct {
    const char *name;
    enum measure measure;
    double factor;
} units[] = {
    {"%", MEASURE_PERCENT, 1},  {"s", MEASURE_TIME, 1},  {"ms", MEASURE_TIME, 1e-3},
    {"us", MEASURE_TIME, 1e-6}, {"/s", MEASURE_RATE, 1}, {"", MEASURE_RATE, 1},
    {"", MEASURE_COUNT, 1},
};

static int parse_condition(struct slo_condition *condition, const char *text, struct error *error);
static int parse_limit(struct slo_condition *condition, const char *text, const char *limit,
                       enum measure measure, struct error *error);
static bool slo_keeps(const struct slo_condition *condition, double value);

int slo_parse(struct slo *slo, const char *text, struct error *error)
{
    char *copy = strdup(text), *rest = copy;
    int result = copy ? 0 : -ENOMEM;
    *slo = (struct slo){.text = text};
    for (char *part; result == 0 && (part = strsep(&rest, ","));) {
        if (slo->count == SLO_CONDITIONS_MAX)
            result = error_set(error, -EINVAL, "more than %d conditions", SLO_CONDITIONS_MAX);
        else
            result = parse_condition(&slo->conditions[slo->count++], part, error);
    }
    if (!copy)
        error_no_memory(error);
    free(copy);
    return result;
}

enum { RELATIONS = sizeof relations / sizeof relations[0] };

enum { NAMES = sizeof names / sizeof names[0] };

static int parse_condition(struct slo_condition *condition, const char *text, struct error *error)
{
    size_t name = 0, relation = 0, length = strcspn(text, "<>=");
    while (name < NAMES &&
           !(strlen(names[name].name) == length && strncmp(names[name].name, text, length) == 0))
        name++;
    if (name == NAMES)
        return error_set(error, -EINVAL,
                         "%s: expected success, ok, failed, achieved, nominal, planned, "
                         "planned-rate, MB/s, read-MB/s, write-MB/s, iops, mean, p50, "
                         "p95 or p99, "
                         "then >= or <=",
                         text);
    while (relation < RELATIONS &&
           strncmp(relations[relation].sign, text + length, strlen(relations[relation].sign)) != 0)
        relation++;
    if (relation == RELATIONS)
        return error_set(error, -EINVAL, "%s: expected >=, <=, > or < after %s", text,
                         names[name].name);
    condition->metric = names[name].metric;
    condition->relation = relations[relation].relation;
    return parse_limit(condition, text, text + length + strlen(relations[relation].sign),
                       names[name].measure, error);
}

enum { UNITS = sizeof units / sizeof units[0] };

static const char *const unit_wanted[] = {
    [MEASURE_PERCENT] = "a number with %, like 99%",
    [MEASURE_TIME] = "a number with s, ms or us, like 200ms",
    [MEASURE_RATE] = "a number of operations per second, like 100 or 100/s",
    [MEASURE_COUNT] = "a number",
};

/* Parses the number and unit after the relation. */
static int parse_limit(struct slo_condition *condition, const char *text, const char *limit,
                       enum measure measure, struct error *error)
{
    char *end;
    double value = strtod(limit, &end);
    for (size_t i = 0; i < UNITS; i++)
        if (end != limit && isfinite(value) && value >= 0 && units[i].measure == measure &&
            strcmp(end, units[i].name) == 0) {
            condition->limit = value * units[i].factor;
            return 0;
        }
    return error_set(error, -EINVAL, "%s: expected %s after the relation", text,
                     unit_wanted[measure]);
}

enum slo_verdict slo_judge(const struct slo *slo, const double metrics[METRICS])
{
    enum slo_verdict verdict = SLO_KEPT;
    for (size_t i = 0; i < slo->count; i++) {
        double value = metrics[slo->conditions[i].metric];
        if (isnan(value))
            verdict = SLO_UNKNOWN;
        else if (!slo_keeps(&slo->conditions[i], value))
            return SLO_MISSED;
    }
    return verdict;
}

static bool slo_keeps(const struct slo_condition *condition, double value)
{
    switch (condition->relation) {
    case SLO_AT_LEAST:
        return value >= condition->limit;
    case SLO_AT_MOST:
        return value <= condition->limit;
    case SLO_MORE:
        return value > condition->limit;
    case SLO_LESS:
        return value < condition->limit;
    }
    return false;
}
