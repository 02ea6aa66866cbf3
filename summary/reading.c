/* SPDX-License-Identifier: Apache-2.0 */
/* Finds result files, recognises their format, and keeps what the grid shows. */
#include "summary/reading.h"

#include <errno.h>
#include <fts.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "summary/result/result.h"
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

static int by_name(const FTSENT **left, const FTSENT **right);
static int reading_add_entry(struct readings *readings, FTS *tree, FTSENT *entry);
static int reading_add_file(struct readings *readings, const char *path, const struct stat *stat);
static int reading_append(struct readings *readings, const struct reading *reading);
__attribute__((format(printf, 2, 3))) static void reading_refuse(struct readings *readings,
                                                                 const char *format, ...);
static void leave_out_repeated(struct readings *readings);
static int by_run(const void *left, const void *right);
static int compare_runs(const struct reading *a, const struct reading *b);
static int order(int64_t left, int64_t right);
static bool two_forms_of_one(const struct reading *a, const struct reading *b);
static int join_processes(struct readings *readings);
static int by_kind(const void *left, const void *right);
static int compare_kinds(const struct reading *a, const struct reading *b);
static int compare_labels(const struct reading *a, const struct reading *b);
static bool plays_along(const struct reading *head, const struct reading *reading);
static int join(struct reading *head, struct reading *reading);
static double server_cpu(const struct result *result);
static double reading_sample_value(const struct result_sample *sample, const char *name);
static double success_rate(uint64_t ok, uint64_t failed);
static void take_times(struct reading *reading);
static double reading_quantile(const struct histogram *histogram, double fraction);
static int by_path(const void *left, const void *right);
static const char *number_after(const char *text, const char *prefix, double *out);
static int reading_parse_json(struct reading *reading, const char *bytes, size_t length,
                              const char *path, struct error *error);
static int of_result(struct reading *reading, const struct result *result);
static int add_label(struct reading *reading, const char *name, const char *value);
static int of_text(struct reading *reading, const struct text_report *report);
static int find_cell(struct reading *reading, const char *path, struct error *error);

enum metric metric_find(const char *name)
{
    enum metric metric = 0;
    while (metric < METRICS && strcmp(metric_forms[metric].name, name) != 0)
        metric++;
    return metric;
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
        result = reading_add_entry(readings, tree, entry);
    if (tree)
        fts_close(tree);
    if (result == 0 && readings->count + readings->refused == before)
        reading_refuse(readings, "%s: contains no result files", path);
    return result;
}

static int by_name(const FTSENT **left, const FTSENT **right)
{
    return strcmp((*left)->fts_name, (*right)->fts_name);
}

static int reading_add_entry(struct readings *readings, FTS *tree, FTSENT *entry)
{
    if (entry->fts_level > FTS_ROOTLEVEL && entry->fts_name[0] == '.') {
        if (entry->fts_info == FTS_D)
            fts_set(tree, entry, FTS_SKIP);
        return 0;
    }
    switch (entry->fts_info) {
    case FTS_F:
        return reading_add_file(readings, entry->fts_path, entry->fts_statp);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        reading_refuse(readings, "%s: cannot be read: %s", entry->fts_path,
                       strerror(entry->fts_errno));
        return 0;
    case FTS_DC:
        reading_refuse(readings, "%s: link to a folder that contains it", entry->fts_path);
        return 0;
    case FTS_SLNONE:
        reading_refuse(readings, "%s: dangling link", entry->fts_path);
        return 0;
    case FTS_DEFAULT:
        reading_refuse(readings, "%s: neither a file nor a folder", entry->fts_path);
        return 0;
    default:
        return 0;
    }
}

static int reading_add_file(struct readings *readings, const char *path, const struct stat *stat)
{
    struct error error = {0};
    struct reading reading = {.device = stat->st_dev, .inode = stat->st_ino};
    char *bytes = NULL;
    size_t length;
    histogram_init(&reading.response);
    int result = result_load(path, &bytes, &length, &error);
    if (result == 0)
        result = reading_parse(&reading, bytes, length, path, &error);
    free(bytes);
    if (result == 0) {
        reading.path = strdup(path);
        result = reading.path ? reading_append(readings, &reading) : -ENOMEM;
    }
    if (result == 0)
        return 0;
    reading_clear(&reading);
    if (result == -ENOMEM)
        return result;
    reading_refuse(readings, "%s", error.text);
    return 0;
}

static int reading_append(struct readings *readings, const struct reading *reading)
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

__attribute__((format(printf, 2, 3))) static void reading_refuse(struct readings *readings,
                                                                 const char *format, ...)
{
    char line[ERROR_TEXT_SIZE];
    va_list args;
    readings->refused++;
    if (!readings->warning)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    readings->warning(readings->context, line);
}

int readings_finish(struct readings *readings)
{
    if (readings->count == 0)
        return 0;
    leave_out_repeated(readings);
    int result = join_processes(readings);
    qsort(readings->items, readings->count, sizeof *readings->items, by_path);
    return result;
}

static void leave_out_repeated(struct readings *readings)
{
    size_t kept = 0;
    qsort(readings->items, readings->count, sizeof *readings->items, by_run);
    for (size_t i = 0; i < readings->count; i++) {
        if (kept > 0 && compare_runs(&readings->items[kept - 1], &readings->items[i]) == 0) {
            readings->twins += two_forms_of_one(&readings->items[kept - 1], &readings->items[i]);
            readings->repeated++;
            reading_clear(&readings->items[i]);
        } else {
            readings->items[kept++] = readings->items[i];
        }
    }
    readings->count = kept;
}

static int by_run(const void *left, const void *right)
{
    const struct reading *a = left, *b = right;
    int result = compare_runs(a, b);
    if (result == 0)
        result = order(a->form, b->form);
    return result ? result : strcmp(a->path, b->path);
}

/* 0: both are of the same run. The start in a text report has no fraction of a second. */
static int compare_runs(const struct reading *a, const struct reading *b)
{
    int result = order(a->form == READING_PYTHON, b->form == READING_PYTHON);
    if (result == 0 && a->form == READING_PYTHON) {
        result = order((int64_t)a->device, (int64_t)b->device);
        return result ? result : order((int64_t)a->inode, (int64_t)b->inode);
    }
    const int64_t keys[][2] = {
        {(int64_t)a->seed, (int64_t)b->seed},
        {(int64_t)a->start, (int64_t)b->start},
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

static int order(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

/* traffic-sweep keeps a text report and a JSON result of the same name; this is no warning. */
static bool two_forms_of_one(const struct reading *a, const struct reading *b)
{
    const char *dot = strrchr(a->path, '.'), *other = strrchr(b->path, '.');
    return a->form != b->form && dot && other && dot - a->path == other - b->path &&
           strncmp(a->path, b->path, (size_t)(dot - a->path)) == 0;
}

static int join_processes(struct readings *readings)
{
    size_t kept = 0;
    int result = 0;
    qsort(readings->items, readings->count, sizeof *readings->items, by_kind);
    for (size_t i = 0; i < readings->count; i++) {
        struct reading *reading = &readings->items[i], *head = NULL;
        for (size_t back = kept; result == 0 && !head && back > 0; back--) {
            struct reading *other = &readings->items[back - 1];
            if (other->form != READING_JSON || compare_kinds(other, reading) != 0)
                break;
            if (plays_along(other, reading))
                head = other;
        }
        if (head)
            result = join(head, reading);
        if (head && result == 0)
            readings->joined++;
        else
            readings->items[kept++] = *reading;
    }
    readings->count = kept;
    return result;
}

static int by_kind(const void *left, const void *right)
{
    const struct reading *a = left, *b = right;
    int result = compare_kinds(a, b);
    if (result == 0 && a->start != b->start)
        result = a->start < b->start ? -1 : 1;
    return result ? result : strcmp(a->path, b->path);
}

/* 0: the two may belong to processes that made one run together. */
static int compare_kinds(const struct reading *a, const struct reading *b)
{
    int result = order(a->form, b->form);
    if (result == 0)
        result = order(llround(a->r * 1e6), llround(b->r * 1e6));
    if (result == 0)
        result = strcmp(a->model, b->model);
    if (result == 0 && a->dc && b->dc)
        result = strcmp(a->dc, b->dc);
    return result ? result : compare_labels(a, b);
}

static int compare_labels(const struct reading *a, const struct reading *b)
{
    int result = order((int64_t)a->label_count, (int64_t)b->label_count);
    for (size_t i = 0; result == 0 && i < a->label_count; i++) {
        result = strcmp(a->labels[i].name, b->labels[i].name);
        if (result == 0)
            result = strcmp(a->labels[i].value, b->labels[i].value);
    }
    return result;
}

/* Overlapping windows and different instances: two processes of one run. */
static bool plays_along(const struct reading *head, const struct reading *reading)
{
    bool overlap = reading->start < head->start + head->window &&
                   head->start < reading->start + reading->window;
    for (const struct reading *part = head; overlap && part; part = part->more)
        overlap = part->instance != reading->instance;
    return overlap;
}

/* Adds a reading to the first of its run, which becomes its owner. */
static int join(struct reading *head, struct reading *reading)
{
    struct reading *part = malloc(sizeof *part);
    if (!part || histogram_merge(&head->response, &reading->response) < 0) {
        free(part);
        return -ENOMEM;
    }
    static const enum metric sums[] = {METRIC_OK, METRIC_FAILED, METRIC_NOMINAL, METRIC_PLANNED};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        head->metrics[sums[i]] += reading->metrics[sums[i]];
    head->S += reading->S;
    head->ok += reading->ok;
    head->failed += reading->failed;
    head->planned += reading->planned;
    head->interrupted |= reading->interrupted;
    if (isnan(head->server_cpu))
        head->server_cpu = reading->server_cpu;
    head->metrics[METRIC_SUCCESS_RATE] = success_rate(head->ok, head->failed);
    take_times(head);
    *part = *reading;
    part->more = head->more;
    head->more = part;
    return 0;
}

/* Processor time of the server over the window, from cumulative samples. */
static double server_cpu(const struct result *result)
{
    const struct result_sample *first = NULL, *last = NULL;
    for (size_t i = 0; i < result->sample_count; i++) {
        const struct result_sample *sample = &result->samples[i];
        if (sample->t > result->window + 1 || isnan(reading_sample_value(sample, "cpu")))
            continue;
        first = first ? first : sample;
        last = sample;
    }
    if (!first || !(last->t > first->t))
        return NAN;
    double used = reading_sample_value(last, "cpu") - reading_sample_value(first, "cpu");
    return used / (last->t - first->t) * result->window;
}

static double reading_sample_value(const struct result_sample *sample, const char *name)
{
    for (size_t i = 0; i < sample->value_count; i++)
        if (strcmp(sample->values[i].name, name) == 0)
            return sample->values[i].value;
    return NAN;
}

static double success_rate(uint64_t ok, uint64_t failed)
{
    return ok + failed ? 100.0 * (double)ok / (double)(ok + failed) : NAN;
}

/* Sets the metrics that are derived from the histogram of response times. */
static void take_times(struct reading *reading)
{
    double *metrics = reading->metrics;
    metrics[METRIC_MEAN] = histogram_mean(&reading->response) * nanosecond;
    metrics[METRIC_P50] = reading_quantile(&reading->response, 0.5);
    metrics[METRIC_P95] = reading_quantile(&reading->response, 0.95);
    metrics[METRIC_P99] = reading_quantile(&reading->response, 0.99);
}

/* NaN when empty. */
static double reading_quantile(const struct histogram *histogram, double fraction)
{
    int64_t ns = histogram_quantile(histogram, fraction);
    return ns < 0 ? NAN : (double)ns * nanosecond;
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const struct reading *)left)->path, ((const struct reading *)right)->path);
}

void readings_clear(struct readings *readings)
{
    for (size_t i = 0; i < readings->count; i++)
        reading_clear(&readings->items[i]);
    free(readings->items);
    readings->items = NULL;
    readings->count = readings->room = 0;
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

/* Reads a number such as 4 or 0.5 after a prefix, without the dot of a file name's extension. */
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

void reading_clear(struct reading *reading)
{
    while (reading->more) {
        struct reading *more = reading->more;
        reading->more = more->more;
        more->more = NULL;
        reading_clear(more);
        free(more);
    }
    for (size_t i = 0; i < reading->label_count; i++) {
        free(reading->labels[i].name);
        free(reading->labels[i].value);
    }
    free(reading->labels);
    free(reading->path);
    free(reading->dc);
    histogram_clear(&reading->response);
    *reading = (struct reading){.server_cpu = NAN};
    histogram_init(&reading->response);
}

const char *reading_label(const struct reading *reading, const char *name)
{
    for (size_t i = 0; i < reading->label_count; i++)
        if (strcmp(reading->labels[i].name, name) == 0)
            return reading->labels[i].value;
    return NULL;
}

int reading_parse(struct reading *reading, const char *bytes, size_t length, const char *path,
                  struct error *error)
{
    size_t begin = 0;
    histogram_init(&reading->response);
    reading->server_cpu = NAN;
    while (begin < length && strchr(" \t\r\n", bytes[begin]) && bytes[begin])
        begin++;
    int parsed;
    if (begin == length) {
        return error_set(error, -EINVAL, "%s: empty", path);
    }
    if (bytes[begin] == '{') {
        parsed = reading_parse_json(reading, bytes, length, path, error);
    } else {
        struct text_report report;
        parsed = text_report_parse(&report, bytes, length, path, error);
        if (parsed == 0)
            parsed = of_text(reading, &report);
    }
    if (parsed == -ENOMEM)
        error_set(error, -ENOMEM, "%s: out of memory", path);
    return parsed < 0 ? parsed : find_cell(reading, path, error);
}

static int reading_parse_json(struct reading *reading, const char *bytes, size_t length,
                              const char *path, struct error *error)
{
    struct result result;
    result_init(&result);
    reading->form = READING_JSON;
    int parsed = result_parse_totals(&result, &reading->response, bytes, length, path, error);
    if (parsed == 0)
        parsed = of_result(reading, &result);
    result_clear(&result);
    return parsed;
}

static int of_result(struct reading *reading, const struct result *result)
{
    bool measured = result->window > 0;
    double *metrics = reading->metrics;
    int taken = 0;
    for (size_t i = 0; taken == 0 && i < result->label_count; i++)
        taken = add_label(reading, result->labels[i].name, result->labels[i].value);
    reading->dc = strdup(result->dc);
    reading->r = result->r;
    reading->S = result->S;
    metrics[METRIC_OK] = measured ? (double)result->done_ok / result->window : NAN;
    metrics[METRIC_FAILED] = measured ? (double)result->done_failed / result->window : NAN;
    metrics[METRIC_NOMINAL] = result->nominal;
    metrics[METRIC_PLANNED] = (double)result->planned;
    metrics[METRIC_SUCCESS_RATE] = success_rate(result->done_ok, result->done_failed);
    take_times(reading);
    reading->seed = result->seed;
    reading->ok = result->done_ok;
    reading->failed = result->done_failed;
    reading->planned = result->planned;
    reading->instance = result->instance;
    reading->start = result->start;
    reading->window = result->window;
    reading->interrupted = result->interrupted || result->stopped_on_error;
    reading->server_cpu = server_cpu(result);
    snprintf(reading->model, sizeof reading->model, "%s", result->model_sha256);
    return taken == 0 && reading->dc ? 0 : -ENOMEM;
}

static int add_label(struct reading *reading, const char *name, const char *value)
{
    struct reading_label label = {strdup(name), strdup(value)};
    struct reading_label *labels =
        reallocarray(reading->labels, reading->label_count + 1, sizeof *labels);
    if (labels)
        reading->labels = labels;
    if (!labels || !label.name || !label.value) {
        free(label.name);
        free(label.value);
        return -ENOMEM;
    }
    labels[reading->label_count++] = label;
    return 0;
}

static int of_text(struct reading *reading, const struct text_report *report)
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
        return 0;
    reading->seed = report->seed;
    reading->ok = report->ok;
    reading->failed = report->failed;
    reading->planned = report->planned;
    reading->instance = report->instance;
    reading->start = (double)report->start;
    reading->interrupted = report->interrupted;
    int taken = 0;
    for (size_t i = 0; taken == 0 && i < report->label_count; i++)
        taken = add_label(reading, report->labels[i].name, report->labels[i].value);
    return taken;
}

/* r and S in the file take precedence over those in its name. */
static int find_cell(struct reading *reading, const char *path, struct error *error)
{
    double r, S;
    if (!isnan(reading->r) && !isnan(reading->S))
        return 0;
    if (!reading_cell_of_name(path, &r, &S)) {
        return error_set(
            error, -EINVAL,
            "%s: neither the file nor its name contains %s; name it like dc1_r4_S5.txt", path,
            isnan(reading->r) ? "r and S" : "S");
    }
    if (isnan(reading->r))
        reading->r = r;
    reading->S = S;
    return 0;
}
