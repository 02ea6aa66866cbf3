/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one result file of any format and keeps what grids, comparisons and pages show. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "summary/reading_private.h"
#include "summary/result/result.h"
#include "summary/text_report.h"

static const double nanosecond = 1e-9;

static int reading_parse_json(struct reading *reading, const char *bytes, size_t length,
                              const char *path, struct error *error);
static int of_result(struct reading *reading, const struct result *result);
static void take_data(struct reading *reading, const struct result *result);
static int take_origin(struct reading *reading, const char *dc, const char *model,
                       const char *version, const char *command);
static int add_label(struct reading *reading, const char *name, const char *value);
static double server_cpu(const struct result *result);
static double reading_sample_value(const struct result_sample *sample, const char *name);
static int of_text(struct reading *reading, const struct text_report *report);
static double reading_quantile(const struct histogram *histogram, double fraction);
static int find_cell(struct reading *reading, const char *path, struct error *error);
static const char *number_after(const char *text, const char *prefix, double *out);

int reading_parse(struct reading *reading, const char *bytes, size_t length, const char *path,
                  struct error *error)
{
    size_t begin = 0;
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        bytes += 3;
        length -= 3;
    }
    histogram_init(&reading->response);
    reading->server_cpu = reading->busy = reading->timer_p99 = NAN;
    while (begin < length && strchr(" \t\r\n", bytes[begin]) && bytes[begin])
        begin++;
    int parsed;
    if (begin == length) {
        double r, S; /* an empty file with a result's name is a damaged result */
        return error_set(error, reading_cell_of_name(path, &r, &S) ? -EINVAL : -ENOMSG, "%s: empty",
                         path);
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
    int taken = take_origin(reading, result->dc, result->model, result->version, result->command);
    for (size_t i = 0; taken == 0 && i < result->label_count; i++)
        taken = add_label(reading, result->labels[i].name, result->labels[i].value);
    reading->r = result->r;
    reading->S = result->S;
    metrics[METRIC_OK] = measured ? (double)result->done_ok / result->window : NAN;
    metrics[METRIC_FAILED] = measured ? (double)result->done_failed / result->window : NAN;
    metrics[METRIC_NOMINAL] = result->nominal;
    metrics[METRIC_PLANNED] = (double)result->planned;
    metrics[METRIC_PLANNED_RATE] = measured ? (double)result->planned / result->window : NAN;
    metrics[METRIC_SUCCESS_RATE] = reading_success_rate(result->done_ok, result->done_failed);
    take_data(reading, result);
    reading_take_times(reading);
    reading->seed = result->seed;
    reading->ok = result->done_ok;
    reading->failed = result->done_failed;
    reading->planned = result->planned;
    reading->ended = result->ok + result->failed + result->no_answer;
    reading->unsent = result->not_sent + result->dropped;
    reading->busy = result->busy;
    reading->timer_p99 = result->timer_p99;
    snprintf(reading->pace, sizeof reading->pace, "%s", result->pace);
    text_clean(reading->pace);
    metrics[METRIC_ACHIEVED] = reading_achieved(reading);
    reading->instance = result->instance;
    reading->start = result->start;
    reading->window = result->window;
    reading->interrupted = result->interrupted || result->stopped_on_error;
    reading->server_cpu = server_cpu(result);
    snprintf(reading->model, sizeof reading->model, "%s", result->model_sha256);
    return taken;
}

static void take_data(struct reading *reading, const struct result *result)
{
    struct result_data data = result_data(result);
    double seconds = data.requests ? result->window : NAN, megabytes = 1e6 * seconds;
    reading->metrics[METRIC_BYTES] = (double)(data.read + data.written) / megabytes;
    reading->metrics[METRIC_READ_BYTES] = (double)data.read / megabytes;
    reading->metrics[METRIC_WRITTEN_BYTES] = (double)data.written / megabytes;
    reading->metrics[METRIC_IOPS] = (double)(data.reads + data.writes) / seconds;
}

/* Copies what was measured. Control characters are replaced, as these texts reach terminals. */
static int take_origin(struct reading *reading, const char *dc, const char *model,
                       const char *version, const char *command)
{
    reading->dc = strdup(dc);
    reading->model_name = strdup(model);
    reading->version = strdup(version);
    reading->command = strdup(command);
    if (!reading->dc || !reading->model_name || !reading->version || !reading->command)
        return -ENOMEM;
    text_clean(reading->dc);
    text_clean(reading->model_name);
    text_clean(reading->version);
    text_clean(reading->command);
    return 0;
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
    text_clean(label.name);
    text_clean(label.value);
    labels[reading->label_count++] = label;
    reading->spoiled |= strcmp(label.name, RESULT_SPOILED) == 0;
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
    metrics[METRIC_SUCCESS_RATE] = reading_success_rate(report->ok, report->failed);
    metrics[METRIC_ACHIEVED] = strcmp(report->pace, "reply") == 0 ? NAN : report->achieved;
    metrics[METRIC_BYTES] = report->data;
    metrics[METRIC_READ_BYTES] = report->read;
    metrics[METRIC_WRITTEN_BYTES] = report->written;
    metrics[METRIC_IOPS] = report->iops;
    metrics[METRIC_PLANNED_RATE] =
        report->ours && report->window > 0 ? (double)report->planned / report->window : NAN;
    if (!report->ours)
        return 0;
    reading->seed = report->seed;
    reading->ok = report->ok;
    reading->failed = report->failed;
    reading->planned = report->planned;
    reading->instance = report->instance;
    reading->start = (double)report->start;
    reading->interrupted = report->interrupted;
    reading->window = report->window;
    snprintf(reading->model, sizeof reading->model, "%s", report->model_sha256);
    snprintf(reading->pace, sizeof reading->pace, "%s", report->pace);
    text_clean(reading->pace);
    int taken =
        take_origin(reading, report->server, report->model, report->version, report->command);
    for (size_t i = 0; taken == 0 && i < report->label_count; i++)
        taken = add_label(reading, report->labels[i].name, report->labels[i].value);
    return taken;
}

double reading_success_rate(uint64_t ok, uint64_t failed)
{
    return ok + failed ? 100.0 * (double)ok / (double)(ok + failed) : NAN;
}

double reading_achieved(const struct reading *reading)
{
    if (strcmp(reading->pace, "reply") == 0) /* a closed loop plans only what it sends */
        return NAN;
    return reading->planned ? 100.0 * (double)reading->ended / (double)reading->planned : NAN;
}

void reading_take_times(struct reading *reading)
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
