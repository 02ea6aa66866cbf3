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
#include "summary/reading_private.h"
#include "summary/result/result.h"
#include "summary/svg.h"

const struct metric_form metric_forms[METRICS] = {
    [METRIC_OK] = {"ok", "successful operations per second", 3, "Successful operations"},
    [METRIC_FAILED] = {"failed", "failed operations per second", 3, "Failed operations"},
    [METRIC_NOMINAL] = {"nominal", "operations per second asked for", 3, "Load asked for"},
    [METRIC_PLANNED] = {"planned", "operations planned", 0, "Operations planned"},
    [METRIC_MEAN] = {"mean", "seconds, mean response time", 6, "Response time, mean"},
    [METRIC_P50] = {"p50", "seconds, response time of 50%", 6, "Response time of 50%"},
    [METRIC_P95] = {"p95", "seconds, response time of 95%", 6, "Response time of 95%"},
    [METRIC_P99] = {"p99", "seconds, response time of 99%", 6, "Response time of 99%"},
    [METRIC_SUCCESS_RATE] = {"success-rate", "percent of operations that succeeded", 3,
                             "Operations that succeeded"},
    [METRIC_PLANNED_RATE] = {"planned-rate", "operations planned per second", 3, "Planned load"},
    [METRIC_ACHIEVED] = {"achieved", "percent of planned operations that ended", 1,
                         "Planned operations that ended"},
    [METRIC_BYTES] = {"MB/s", "MB per second read and written", 3, "Data"},
    [METRIC_READ_BYTES] = {"read-MB/s", "MB per second read", 3, "Data read"},
    [METRIC_WRITTEN_BYTES] = {"write-MB/s", "MB per second written", 3, "Data written"},
    [METRIC_IOPS] = {"iops", "reads and writes per second", 3, "Reads and writes"},
};

static int by_name(const FTSENT **left, const FTSENT **right);
static int reading_add_entry(struct readings *readings, FTS *tree, FTSENT *entry);
static int reading_add_file(struct readings *readings, const FTSENT *entry);
static void reading_refuse_file(struct readings *readings, const FTSENT *entry,
                                const struct error *error);
static bool named_like_result(const char *name);
static int reading_append(struct readings *readings, const struct reading *reading);
__attribute__((format(printf, 2, 3))) static void reading_refuse(struct readings *readings,
                                                                 const char *format, ...);
__attribute__((format(printf, 2, 3))) static void reading_warn(const struct readings *readings,
                                                               const char *format, ...);
static void leave_out_repeated(struct readings *readings);
static int by_run(const void *left, const void *right);
static int compare_runs(const struct reading *a, const struct reading *b);
static int compare_integers(int64_t left, int64_t right);
static bool are_twins(const struct reading *a, const struct reading *b);
static int join_processes(struct readings *readings);
static int by_kind(const void *left, const void *right);
static int compare_kinds(const struct reading *a, const struct reading *b);
static int compare_labels(const struct reading *a, const struct reading *b);
static bool is_same_run(const struct reading *head, const struct reading *reading);
static int join_reading(struct reading *head, struct reading *reading);
static int by_path(const void *left, const void *right);

bool reading_kept_up(double achieved, double success, double best_success)
{
    /* Percent. Some requests of a model may always fail, so a few failures prove nothing. */
    static const double least = 98, least_success = 90;
    return achieved >= least && success >= least_success && success >= best_success - (100 - least);
}

enum metric metric_find(const char *name)
{
    enum metric metric = 0;
    while (metric < METRICS && strcmp(metric_forms[metric].name, name) != 0)
        metric++;
    return metric;
}

void metric_text(char *out, enum metric metric, double value)
{
    char number[SVG_NUMBER_SIZE];
    bool percent = metric == METRIC_SUCCESS_RATE || metric == METRIC_ACHIEVED;
    bool rate = metric == METRIC_OK || metric == METRIC_FAILED || metric == METRIC_NOMINAL ||
                metric == METRIC_PLANNED_RATE || metric == METRIC_IOPS;
    bool data =
        metric == METRIC_BYTES || metric == METRIC_READ_BYTES || metric == METRIC_WRITTEN_BYTES;
    bool time = !percent && !rate && !data && metric != METRIC_PLANNED;
    const char *unit = percent ? "%" : rate ? "/s" : data ? " MB/s" : "";
    if (time) {
        unit = value >= 1 ? " s" : value >= 1e-3 ? " ms" : " us";
        value *= value >= 1 ? 1 : value >= 1e-3 ? 1e3 : 1e6;
    }
    /* 99.96% must not look like 100%. */
    if (percent && value > 99 && value < 100)
        snprintf(number, sizeof number, "%.2f", floor(value * 100) / 100);
    else
        svg_number(number, value);
    snprintf(out, METRIC_TEXT_SIZE, "%s%s", number, unit);
}

int readings_add(struct readings *readings, const char *path)
{
    char *paths[] = {(char *)path, NULL};
    size_t before = readings->count + readings->refused, foreign = readings->foreign;
    int result = 0;
    errno = 0;
    readings->other_kind = 0;
    FTS *tree = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    if (!tree && errno == ENOMEM)
        return -ENOMEM;
    for (FTSENT *entry; tree && result == 0 && (entry = fts_read(tree));)
        result = reading_add_entry(readings, tree, entry);
    if (tree)
        fts_close(tree);
    if (result < 0)
        return result;
    if (readings->count + readings->refused == before && readings->other_kind)
        reading_refuse(readings, "%s: contains no result files; other files: %zu", path,
                       readings->other_kind);
    else if (readings->count + readings->refused == before)
        reading_refuse(readings, "%s: contains no result files", path);
    else if (readings->foreign > foreign)
        reading_warn(readings, "%s: skipped %zu file%s not of results", path,
                     readings->foreign - foreign, readings->foreign - foreign == 1 ? "" : "s");
    return 0;
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
        return reading_add_file(readings, entry);
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

static int reading_add_file(struct readings *readings, const FTSENT *entry)
{
    struct error error = {0};
    struct reading reading = {.device = entry->fts_statp->st_dev,
                              .inode = entry->fts_statp->st_ino};
    const char *path = entry->fts_path;
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
    reading_refuse_file(readings, entry, &error);
    return 0;
}

/* A folder may contain files that are not results. They are counted, without a line for each. */
static void reading_refuse_file(struct readings *readings, const FTSENT *entry,
                                const struct error *error)
{
    if (error->code != -ENOMSG || entry->fts_level == FTS_ROOTLEVEL) {
        reading_refuse(readings, "%s", error->text);
        return;
    }
    readings->other_kind++;
    if (named_like_result(entry->fts_name))
        readings->foreign++;
}

/* False for logs, models and other files that sweeps keep next to their results: they are not
 * reported. */
static bool named_like_result(const char *name)
{
    const char *dot = strrchr(name, '.');
    size_t letters =
        dot ? strspn(dot + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") : 0;
    return letters == 0 || dot[1 + letters] || strcmp(dot, ".json") == 0 ||
           strcmp(dot, ".txt") == 0;
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
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    reading_warn(readings, "%s", line);
}

__attribute__((format(printf, 2, 3))) static void reading_warn(const struct readings *readings,
                                                               const char *format, ...)
{
    char line[ERROR_TEXT_SIZE];
    va_list args;
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
            readings->twins += are_twins(&readings->items[kept - 1], &readings->items[i]);
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
        result = compare_integers(a->form, b->form);
    return result ? result : strcmp(a->path, b->path);
}

/* Returns 0 if both are of the same run. The start in a text report has no fraction of a second. */
static int compare_runs(const struct reading *a, const struct reading *b)
{
    int result = compare_integers(a->form == READING_PYTHON, b->form == READING_PYTHON);
    if (result == 0 && a->form == READING_PYTHON) {
        result = compare_integers((int64_t)a->device, (int64_t)b->device);
        return result ? result : compare_integers((int64_t)a->inode, (int64_t)b->inode);
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
        result = compare_integers(keys[i][0], keys[i][1]);
    return result;
}

static int compare_integers(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

/* True for a text report and a JSON result of the same name, which traffic-sweep writes: they cause
 * no warning. */
static bool are_twins(const struct reading *a, const struct reading *b)
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
            if (is_same_run(other, reading))
                head = other;
        }
        if (head)
            result = join_reading(head, reading);
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

/* Returns 0 if the two may belong to processes that made one run together. */
static int compare_kinds(const struct reading *a, const struct reading *b)
{
    int result = compare_integers(a->form, b->form);
    if (result == 0)
        result = compare_integers(llround(a->r * 1e6), llround(b->r * 1e6));
    if (result == 0)
        result = strcmp(a->model, b->model);
    if (result == 0 && a->dc && b->dc)
        result = strcmp(a->dc, b->dc);
    return result ? result : compare_labels(a, b);
}

static int compare_labels(const struct reading *a, const struct reading *b)
{
    int result = compare_integers((int64_t)a->label_count, (int64_t)b->label_count);
    for (size_t i = 0; result == 0 && i < a->label_count; i++) {
        result = strcmp(a->labels[i].name, b->labels[i].name);
        if (result == 0)
            result = strcmp(a->labels[i].value, b->labels[i].value);
    }
    return result;
}

/* True for two processes of one run: their windows overlap and their instances differ. */
static bool is_same_run(const struct reading *head, const struct reading *reading)
{
    bool overlap = reading->start < head->start + head->window &&
                   head->start < reading->start + reading->window;
    for (const struct reading *part = head; overlap && part; part = part->more)
        overlap = part->instance != reading->instance;
    return overlap;
}

/* Adds a reading to the first of its run, which becomes its owner. */
static int join_reading(struct reading *head, struct reading *reading)
{
    struct reading *part = malloc(sizeof *part);
    if (!part || histogram_merge(&head->response, &reading->response) < 0) {
        free(part);
        return -ENOMEM;
    }
    static const enum metric sums[] = {METRIC_OK,         METRIC_FAILED,        METRIC_NOMINAL,
                                       METRIC_PLANNED,    METRIC_PLANNED_RATE,  METRIC_BYTES,
                                       METRIC_READ_BYTES, METRIC_WRITTEN_BYTES, METRIC_IOPS};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        head->metrics[sums[i]] += reading->metrics[sums[i]];
    head->S += reading->S;
    head->ok += reading->ok;
    head->failed += reading->failed;
    head->planned += reading->planned;
    head->ended += reading->ended;
    head->unsent += reading->unsent;
    head->busy = fmax(head->busy, reading->busy);
    head->timer_p99 = fmax(head->timer_p99, reading->timer_p99);
    head->spoiled |= reading->spoiled;
    head->metrics[METRIC_ACHIEVED] = reading_achieved(head);
    head->interrupted |= reading->interrupted;
    if (isnan(head->server_cpu))
        head->server_cpu = reading->server_cpu;
    head->metrics[METRIC_SUCCESS_RATE] = reading_success_rate(head->ok, head->failed);
    reading_take_times(head);
    *part = *reading;
    part->more = head->more;
    head->more = part;
    return 0;
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const struct reading *)left)->path, ((const struct reading *)right)->path);
}

int readings_check_pace(const struct readings *readings, const struct reading **first,
                        struct error *error)
{
    for (size_t i = 0; i < readings->count; i++) {
        const struct reading *reading = &readings->items[i];
        *first = *first ? *first : reading;
        if (strcmp((*first)->pace, reading->pace) != 0)
            return error_set(error, -EINVAL,
                             "%s (pace %s) and %s (pace %s) do not belong in one grid; give one of "
                             "them",
                             (*first)->path, *(*first)->pace ? (*first)->pace : "of the model",
                             reading->path, *reading->pace ? reading->pace : "of the model");
    }
    return 0;
}

void readings_clear(struct readings *readings)
{
    for (size_t i = 0; i < readings->count; i++)
        reading_clear(&readings->items[i]);
    free(readings->items);
    readings->items = NULL;
    readings->count = readings->room = 0;
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
    free(reading->model_name);
    free(reading->version);
    free(reading->command);
    histogram_clear(&reading->response);
    *reading = (struct reading){.server_cpu = NAN};
    histogram_init(&reading->response);
}

int reading_compare_values(const char *left, const char *right)
{
    char *left_end, *right_end;
    double a = strtod(left, &left_end), b = strtod(right, &right_end);
    bool left_number = *left && !*left_end, right_number = *right && !*right_end;
    if (left_number != right_number)
        return left_number ? -1 : 1;
    if (left_number && a != b)
        return a < b ? -1 : 1;
    return strcmp(left, right);
}

const char *reading_label(const struct reading *reading, const char *name)
{
    for (size_t i = 0; i < reading->label_count; i++)
        if (strcmp(reading->labels[i].name, name) == 0)
            return reading->labels[i].value;
    return NULL;
}
