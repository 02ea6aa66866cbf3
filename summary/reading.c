/* SPDX-License-Identifier: Apache-2.0 */
/* Readings: finds result files, reads each by its kind, keeps what the grid shows. */
#include "summary/reading.h"

#include <errno.h>
#include <fts.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "summary/result.h"
#include "summary/text_report.h"

static const double nanosecond = 1e-9;

const struct metric_form metric_forms[METRICS] = {
    [METRIC_OK] = {"ok", "successful operations per second", 3},
    [METRIC_FAILED] = {"failed", "failed operations per second", 3},
    [METRIC_NOMINAL] = {"nominal", "operations per second asked for", 3},
    [METRIC_PLANNED] = {"planned", "operations planned", 0},
    [METRIC_MEAN] = {"mean", "seconds, mean response time", 6},
    [METRIC_P50] = {"p50", "seconds, response time of 50%", 6},
    [METRIC_P95] = {"p95", "seconds, response time of 95%", 6},
    [METRIC_P99] = {"p99", "seconds, response time of 99%", 6},
    [METRIC_SUCCESS_RATE] = {"success-rate", "percent of operations that succeeded", 3},
};

enum metric metric_find(const char *name)
{
    enum metric metric = 0;
    while (metric < METRICS && strcmp(metric_forms[metric].name, name) != 0)
        metric++;
    return metric;
}

static double success_rate(uint64_t ok, uint64_t failed)
{
    return ok + failed ? 100.0 * (double)ok / (double)(ok + failed) : NAN;
}

/* NaN when empty. */
static double quantile(const struct histogram *histogram, double fraction)
{
    int64_t ns = histogram_quantile(histogram, fraction);
    return ns < 0 ? NAN : (double)ns * nanosecond;
}

static int of_result(struct reading *reading, const struct result *result)
{
    struct histogram response;
    histogram_init(&response);
    int merged = result_total(result, RESULT_RESPONSE, &response);
    bool measured = result->window > 0;
    double *metrics = reading->metrics;
    reading->r = result->r;
    reading->S = result->S;
    metrics[METRIC_OK] = measured ? (double)result->done_ok / result->window : NAN;
    metrics[METRIC_FAILED] = measured ? (double)result->done_failed / result->window : NAN;
    metrics[METRIC_NOMINAL] = result->nominal;
    metrics[METRIC_PLANNED] = (double)result->planned;
    metrics[METRIC_MEAN] = histogram_mean(&response) * nanosecond;
    metrics[METRIC_P50] = quantile(&response, 0.5);
    metrics[METRIC_P95] = quantile(&response, 0.95);
    metrics[METRIC_P99] = quantile(&response, 0.99);
    metrics[METRIC_SUCCESS_RATE] = success_rate(result->done_ok, result->done_failed);
    reading->seed = result->seed;
    reading->ok = result->done_ok;
    reading->failed = result->done_failed;
    reading->planned = result->planned;
    reading->instance = result->instance;
    reading->start = (int64_t)result->start;
    histogram_clear(&response);
    return merged;
}

static void of_text(struct reading *reading, const struct text_report *report)
{
    double *metrics = reading->metrics;
    reading->form = report->ours ? READING_TEXT : READING_PYTHON;
    reading->r = report->r;
    reading->S = report->S;
    metrics[METRIC_OK] = report->ok_rate;
    metrics[METRIC_FAILED] = report->failed_rate;
    metrics[METRIC_NOMINAL] = report->nominal;
    metrics[METRIC_PLANNED] = (double)(report->ours ? report->planned : report->planned_packets);
    metrics[METRIC_MEAN] = report->ours ? report->response_mean : report->mean;
    metrics[METRIC_P50] = report->response_p50;
    metrics[METRIC_P95] = report->response_p95;
    metrics[METRIC_P99] = report->response_p99;
    metrics[METRIC_SUCCESS_RATE] = success_rate(report->ok, report->failed);
    if (!report->ours)
        return;
    reading->seed = report->seed;
    reading->ok = report->ok;
    reading->failed = report->failed;
    reading->planned = report->planned;
    reading->instance = report->instance;
    reading->start = report->start;
}

/* A number like 4 or 0.5 behind a prefix; the dot of a name's ending is not part of it. */
static const char *number_after(const char *text, const char *prefix, double *out)
{
    char digits[32];
    size_t length = 0;
    if (strncmp(text, prefix, strlen(prefix)) != 0)
        return NULL;
    text += strlen(prefix);
    for (bool dot = false; length + 1 < sizeof digits; length++) {
        bool digit = text[length] >= '0' && text[length] <= '9';
        if (!digit && !(text[length] == '.' && !dot && length > 0 && text[length + 1] >= '0' &&
                        text[length + 1] <= '9'))
            break;
        dot = dot || !digit;
        digits[length] = text[length];
    }
    digits[length] = '\0';
    *out = strtod(digits, NULL);
    return length > 0 && *out > 0 ? text + length : NULL;
}

bool reading_cell_of_name(const char *path, double *r, double *S)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (const char *at = name; *at; at++) {
        if (at > name && at[-1] != '_')
            continue;
        const char *next = number_after(at, "r", r);
        next = next ? number_after(next, "_S", S) : NULL;
        if (next && (*next == '\0' || *next == '.' || *next == '_' || *next == '-'))
            return true;
    }
    return false;
}

/* The content's r and S go before the name's. */
static int find_cell(struct reading *reading, const char *path, char *error, size_t size)
{
    double r, S;
    if (!isnan(reading->r) && !isnan(reading->S))
        return 0;
    if (!reading_cell_of_name(path, &r, &S)) {
        snprintf(error, size, "%s: neither its content nor its name (like dc1_r4_S5.txt) tells %s",
                 path, isnan(reading->r) ? "r and S" : "S");
        return -EINVAL;
    }
    if (isnan(reading->r))
        reading->r = r;
    reading->S = S;
    return 0;
}

static int parse_json(struct reading *reading, const char *bytes, size_t length, const char *path,
                      char *error, size_t size)
{
    struct result result;
    result_init(&result);
    reading->form = READING_JSON;
    int parsed = result_parse(&result, bytes, length, path, error, size);
    if (parsed == 0)
        parsed = of_result(reading, &result);
    result_clear(&result);
    return parsed;
}

int reading_parse(struct reading *reading, const char *bytes, size_t length, const char *path,
                  char *error, size_t size)
{
    size_t begin = 0;
    while (begin < length && strchr(" \t\r\n", bytes[begin]) && bytes[begin])
        begin++;
    int parsed;
    if (begin == length) {
        snprintf(error, size, "%s: empty", path);
        return -EINVAL;
    }
    if (bytes[begin] == '{') {
        parsed = parse_json(reading, bytes, length, path, error, size);
    } else {
        struct text_report report;
        parsed = text_report_parse(&report, bytes, length, path, error, size);
        if (parsed == 0)
            of_text(reading, &report);
    }
    if (parsed == -ENOMEM)
        snprintf(error, size, "%s: out of memory", path);
    return parsed < 0 ? parsed : find_cell(reading, path, error, size);
}

__attribute__((format(printf, 2, 3))) static void refuse(struct readings *readings,
                                                         const char *format, ...)
{
    char line[RESULT_ERROR_SIZE + 64];
    va_list args;
    readings->refused++;
    if (!readings->warning)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    readings->warning(readings->context, line);
}

static int append(struct readings *readings, const struct reading *reading)
{
    if (readings->count == readings->room) {
        size_t room = readings->room ? readings->room * 2 : 64;
        struct reading *items = reallocarray(readings->items, room, sizeof *items);
        if (!items)
            return -ENOMEM;
        readings->items = items;
        readings->room = room;
    }
    readings->items[readings->count++] = *reading;
    return 0;
}

static int add_file(struct readings *readings, const char *path, const struct stat *stat)
{
    char error[RESULT_ERROR_SIZE];
    struct reading reading = {.device = stat->st_dev, .inode = stat->st_ino};
    char *bytes = NULL;
    size_t length;
    int result = result_load(path, &bytes, &length, error, sizeof error);
    if (result == 0)
        result = reading_parse(&reading, bytes, length, path, error, sizeof error);
    free(bytes);
    if (result == -ENOMEM)
        return result;
    if (result < 0) {
        refuse(readings, "%s", error);
        return 0;
    }
    reading.path = strdup(path);
    result = reading.path ? append(readings, &reading) : -ENOMEM;
    if (result < 0)
        free(reading.path);
    return result;
}

static int add_entry(struct readings *readings, FTS *tree, FTSENT *entry)
{
    if (entry->fts_level > FTS_ROOTLEVEL && entry->fts_name[0] == '.') {
        if (entry->fts_info == FTS_D)
            fts_set(tree, entry, FTS_SKIP);
        return 0;
    }
    switch (entry->fts_info) {
    case FTS_F:
        return add_file(readings, entry->fts_path, entry->fts_statp);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        refuse(readings, "%s: cannot be read: %s", entry->fts_path, strerror(entry->fts_errno));
        return 0;
    case FTS_DC:
        refuse(readings, "%s: a link back to a folder that it is in", entry->fts_path);
        return 0;
    case FTS_SLNONE:
        refuse(readings, "%s: a link to nothing", entry->fts_path);
        return 0;
    case FTS_DEFAULT:
        refuse(readings, "%s: neither a file nor a folder", entry->fts_path);
        return 0;
    default:
        return 0;
    }
}

static int by_name(const FTSENT **left, const FTSENT **right)
{
    return strcmp((*left)->fts_name, (*right)->fts_name);
}

int readings_add(struct readings *readings, const char *path)
{
    char *paths[] = {(char *)path, NULL};
    size_t before = readings->count + readings->refused;
    int result = 0;
    errno = 0;
    FTS *tree = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    if (!tree && errno == ENOMEM)
        return -ENOMEM;
    for (FTSENT *entry; tree && result == 0 && (entry = fts_read(tree));)
        result = add_entry(readings, tree, entry);
    if (tree)
        fts_close(tree);
    if (result == 0 && readings->count + readings->refused == before)
        refuse(readings, "%s: no result files in it", path);
    return result;
}

static int order(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

/* 0: both tell of one run. The start of a text report has no fraction of a second. */
static int compare_runs(const struct reading *a, const struct reading *b)
{
    int result = order(a->form == READING_PYTHON, b->form == READING_PYTHON);
    if (result == 0 && a->form == READING_PYTHON) {
        result = order((int64_t)a->device, (int64_t)b->device);
        return result ? result : order((int64_t)a->inode, (int64_t)b->inode);
    }
    const int64_t keys[][2] = {
        {(int64_t)a->seed, (int64_t)b->seed},
        {a->start, b->start},
        {a->instance, b->instance},
        {(int64_t)a->planned, (int64_t)b->planned},
        {(int64_t)a->ok, (int64_t)b->ok},
        {(int64_t)a->failed, (int64_t)b->failed},
        {llround(a->r * 1e6), llround(b->r * 1e6)},
        {llround(a->S * 1e6), llround(b->S * 1e6)},
    };
    for (size_t i = 0; result == 0 && i < sizeof keys / sizeof keys[0]; i++)
        result = order(keys[i][0], keys[i][1]);
    return result;
}

static int by_run(const void *left, const void *right)
{
    const struct reading *a = left, *b = right;
    int result = compare_runs(a, b);
    if (result == 0)
        result = order(a->form, b->form);
    return result ? result : strcmp(a->path, b->path);
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const struct reading *)left)->path, ((const struct reading *)right)->path);
}

void readings_finish(struct readings *readings)
{
    size_t kept = 0;
    if (readings->count == 0)
        return;
    qsort(readings->items, readings->count, sizeof *readings->items, by_run);
    for (size_t i = 0; i < readings->count; i++) {
        if (kept > 0 && compare_runs(&readings->items[kept - 1], &readings->items[i]) == 0) {
            free(readings->items[i].path);
            readings->repeated++;
        } else {
            readings->items[kept++] = readings->items[i];
        }
    }
    readings->count = kept;
    qsort(readings->items, kept, sizeof *readings->items, by_path);
}

void readings_clear(struct readings *readings)
{
    for (size_t i = 0; i < readings->count; i++)
        free(readings->items[i].path);
    free(readings->items);
    readings->items = NULL;
    readings->count = readings->room = 0;
}
