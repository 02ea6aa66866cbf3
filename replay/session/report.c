/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text begins with the lines and the table that existing scripts parse; their layout must not
 * change. Lines "Label:  value" follow, with all values in the same column.
 */
#include "replay/session/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/files/text_file.h"
#include "base/text.h"
#include "model/model.h"

static const double nanosecond = 1e-9;

static const double fractions[] = {0.5, 0.9, 0.95, 0.99, 0.999, 1};

static void make_sums(struct result *out, const struct tally *tally);
static void make_totals(struct result *out, const struct tally *tally);
static int make_settings(struct result *out, const struct settings *settings);
static const char *report_copy_text(struct result *out, const char *text, int *result);
static int make_labels(struct result *out, const struct settings *settings);
static int make_facts(struct result *out, const struct report_facts *facts);
static int make_skipped(struct result *out, const struct report_facts *facts);
static int make_packets(struct result *out, const struct tally *tally);
static int make_packet(struct result *out, struct result_packet *to, const struct tally_type *type,
                       const struct tally_packet *from);
static int make_sizes(struct result *out, struct result_packet *to, const struct size_counts *from);
static int make_causes(struct result *out, const struct tally_causes *from,
                       struct result_count **causes, size_t *count);
static int compare_causes(const void *left, const void *right);
static int compare_packets(const void *left, const void *right);
static int make_seconds(struct result *out, const struct tally *tally);
static void print_head(FILE *stream, const struct result *result);
static double per_second(uint64_t count, const struct result *result);
static void print_table(FILE *stream, const struct result *result);
static void report_print_row(FILE *stream, const struct result_packet *packet);
static double report_quantile(const struct histogram *histogram, double fraction);
static void report_print_time(FILE *stream, double seconds);
static bool has_row_without_times(const struct result *result);
static void print_asked(FILE *stream, const struct result *result);
static void report_print_text(FILE *stream, const char *label, const char *text);
static void print_start(FILE *stream, const struct result *result);
static void report_print_load(FILE *stream, const struct result *result);
static void report_print_count(FILE *stream, const char *label, uint64_t count, const char *remark);
static int report_print_percentiles(FILE *stream, const struct result *result);
static uint64_t count_unanswered(const struct result *result);
static int print_times(FILE *stream, const struct result *result, const char *label,
                       enum result_time time);
static void report_print_failures(FILE *stream, const struct result *result);
static void report_print_no_answer(FILE *stream, const struct result *result);
static void report_print_counts(FILE *stream, const char *title, const struct result_count *counts,
                                size_t count);
static int print_generator(FILE *stream, const struct result *result);
static int lag_p99(const struct result *result, double *lag);

int report_make(const struct tally *merged, const struct report_facts *facts, struct result *out)
{
    const struct tally_setup *setup = tally_setup(merged);
    int result;
    result_init(out);
    out->window = (double)(setup->window_end - setup->window_start) * nanosecond;
    make_sums(out, merged);
    make_totals(out, merged);
    result = make_settings(out, facts->settings);
    if (result == 0)
        result = make_facts(out, facts);
    if (result == 0)
        result = make_packets(out, merged);
    if (result == 0)
        result = make_causes(out, &tally_totals(merged)->dns_extra_causes, &out->dns_extra_causes,
                             &out->dns_extra_cause_count);
    return result < 0 ? result : make_seconds(out, merged);
}

static void make_sums(struct result *out, const struct tally *tally)
{
    for (packet_index i = 0; i < tally_setup(tally)->type_count; i++) {
        const struct tally_packet *packet = tally_packet(tally, i);
        out->planned += packet->planned;
        out->sent += packet->sent;
        out->not_sent += packet->not_sent;
        out->dropped += packet->dropped;
        out->ok += packet->ok;
        out->failed += packet->failed;
        out->no_answer += packet->no_answer;
        out->unfinished += packet->unfinished;
        out->done_ok += packet->done_ok;
        out->done_failed += packet->done_failed;
    }
}

static void make_totals(struct result *out, const struct tally *tally)
{
    const struct tally_totals *totals = tally_totals(tally);
    out->expected = totals->expected;
    out->dns_extra = totals->dns_extra;
    out->dns_extra_failed = totals->dns_extra_failed;
    out->conversations = totals->conversations;
    out->unfinished_conversations = totals->conversations - totals->conversations_ended;
    out->max_lag = (double)totals->max_lag * nanosecond;
    out->start_lag = (double)totals->start_lag * nanosecond;
    out->timer_miss = (double)totals->timer_miss * nanosecond;
    out->backlog.count = totals->backlog.count;
    out->backlog.p50 = out->backlog.max = NAN;
    if (totals->backlog.count) {
        out->backlog.p50 = (double)histogram_quantile(&totals->backlog, 0.5) * nanosecond;
        out->backlog.max = (double)totals->backlog.max * nanosecond;
    }
}

static int make_settings(struct result *out, const struct settings *settings)
{
    int result = 0;
    out->command = report_copy_text(out, settings->command_line, &result);
    out->dc = report_copy_text(out, settings->dc, &result);
    out->r = settings->replay_rate;
    if (settings->packets_per_second > 0)
        out->T = settings->packets_per_second;
    else
        out->S = settings->scale;
    out->instance = settings->instance_id;
    out->warmup = settings->warmup;
    out->tls_checked = settings->play.tls_verify;
    return result < 0 ? result : make_labels(out, settings);
}

static const char *report_copy_text(struct result *out, const char *text, int *result)
{
    const char *copy = result_text(out, text ? text : "");
    if (!copy)
        *result = -ENOMEM;
    return copy ? copy : "";
}

static int make_labels(struct result *out, const struct settings *settings)
{
    int result = 0;
    out->labels = result_alloc(out, settings->label_count, sizeof *out->labels);
    if (!out->labels)
        return -ENOMEM;
    for (size_t i = 0; i < settings->label_count; i++) {
        out->labels[i].name = report_copy_text(out, settings->labels[i].name, &result);
        out->labels[i].value = report_copy_text(out, settings->labels[i].value, &result);
    }
    out->label_count = settings->label_count;
    return result;
}

static int make_facts(struct result *out, const struct report_facts *facts)
{
    int result = 0;
    char hex[2 * MODEL_SHA256_SIZE + 1];
    text_hex(hex, facts->model_sha256, MODEL_SHA256_SIZE);
    out->program = "traffic-replay";
    out->version = TRAFFIC_VERSION;
    out->model = report_copy_text(out, facts->model, &result);
    out->model_sha256 = report_copy_text(out, hex, &result);
    out->pace = report_copy_text(out, facts->pace, &result);
    out->seed = facts->seed;
    out->clients = facts->clients;
    out->threads = facts->threads;
    out->nominal = facts->nominal;
    out->nominal_packets = facts->nominal_packets;
    out->planned_conversations = facts->planned_conversations;
    out->planned_packets = facts->planned_packets;
    out->start = facts->start;
    out->interrupted = facts->interrupted;
    out->stopped_on_error = facts->stopped_on_error;
    out->cpu_user = facts->cpu_user;
    out->cpu_system = facts->cpu_system;
    out->busy = facts->busy;
    out->timer_p99 = facts->timer_p99;
    out->tls_used = facts->tls_used;
    out->timing_lost = facts->timing_lost;
    return result < 0 ? result : make_skipped(out, facts);
}

static int make_skipped(struct result *out, const struct report_facts *facts)
{
    out->skipped = result_alloc(out, facts->skipped_count, sizeof *out->skipped);
    out->left_out = result_alloc(out, facts->skipped_count, sizeof *out->left_out);
    if (!out->skipped || !out->left_out)
        return -ENOMEM;
    for (size_t i = 0; i < facts->skipped_count; i++) {
        const struct report_skipped *from = &facts->skipped[i];
        char *name = result_alloc(out, strlen(from->protocol) + strlen(from->opcode) + 2, 1);
        if (!name)
            return -ENOMEM;
        stpcpy(stpcpy(stpcpy(name, from->protocol), ":"), from->opcode);
        struct result_count *to = from->left_out ? &out->left_out[out->left_out_count++]
                                                 : &out->skipped[out->skipped_count++];
        *to = (struct result_count){name, from->count};
    }
    return 0;
}

/* Adds the packet types that the run planned or played. */
static int make_packets(struct result *out, const struct tally *tally)
{
    const struct tally_setup *setup = tally_setup(tally);
    int result = 0;
    out->packets = result_alloc(out, setup->type_count, sizeof *out->packets);
    if (!out->packets)
        return -ENOMEM;
    for (packet_index i = 0; result == 0 && i < setup->type_count; i++) {
        const struct tally_packet *packet = tally_packet(tally, i);
        if (packet->planned || packet->done_ok || packet->done_failed || packet->done_no_answer)
            result = make_packet(out, &out->packets[out->packet_count], &setup->types[i], packet);
    }
    qsort(out->packets, out->packet_count, sizeof *out->packets, compare_packets);
    return result;
}

static int make_packet(struct result *out, struct result_packet *to, const struct tally_type *type,
                       const struct tally_packet *from)
{
    int result = 0;
    histogram_init(&to->service);
    histogram_init(&to->response);
    histogram_init(&to->lag);
    out->packet_count++;
    to->protocol = report_copy_text(out, type->protocol, &result);
    to->opcode = report_copy_text(out, type->opcode, &result);
    to->description = report_copy_text(out, type->description, &result);
    to->count = from->done_ok + from->done_failed;
    to->failed = from->done_failed;
    to->no_answer = from->done_no_answer;
    to->planned = from->planned;
    to->read = from->read;
    to->written = from->written;
    to->requests = from->requests;
    if (result < 0 || make_sizes(out, to, &from->sizes) < 0 ||
        histogram_merge(&to->service, &from->service) < 0 ||
        histogram_merge(&to->response, &from->response) < 0 ||
        histogram_merge(&to->lag, &from->lag) < 0)
        return -ENOMEM;
    return make_causes(out, &from->causes, &to->causes, &to->cause_count);
}

/* 0 or -ENOMEM. */
static int make_sizes(struct result *out, struct result_packet *to, const struct size_counts *from)
{
    struct size_count list[SIZE_COUNTS_MAX];
    size_t count = size_counts_list(from, list);
    int result = 0;
    to->sizes = result_alloc(out, count + 1, sizeof *to->sizes);
    if (!to->sizes)
        return -ENOMEM;
    for (; to->size_count < count; to->size_count++) {
        char name[24];
        snprintf(name, sizeof name, "%" PRIu64, list[to->size_count].size);
        to->sizes[to->size_count].name = report_copy_text(out, name, &result);
        to->sizes[to->size_count].count = list[to->size_count].count;
    }
    if (from->other)
        to->sizes[to->size_count++] = (struct result_count){"other sizes", from->other};
    return result;
}

static int make_causes(struct result *out, const struct tally_causes *from,
                       struct result_count **causes, size_t *count)
{
    struct result_count *to = result_alloc(out, from->count, sizeof *to);
    if (!to)
        return -ENOMEM;
    for (size_t i = 0; i < from->count; i++) {
        to[i].name = result_text(out, from->items[i].text);
        if (!to[i].name)
            return -ENOMEM;
        to[i].count = from->items[i].count;
    }
    qsort(to, from->count, sizeof *to, compare_causes);
    *causes = to;
    *count = from->count;
    return 0;
}

static int compare_causes(const void *left, const void *right)
{
    const struct result_count *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Sorts by protocol, then by opcode as a number. */
static int compare_packets(const void *left, const void *right)
{
    const struct result_packet *a = left, *b = right;
    int order = strcmp(a->protocol, b->protocol);
    if (order)
        return order;
    unsigned long first = strtoul(a->opcode, NULL, 0), second = strtoul(b->opcode, NULL, 0);
    if (first != second)
        return first < second ? -1 : 1;
    return strcmp(a->opcode, b->opcode);
}

static int make_seconds(struct result *out, const struct tally *tally)
{
    size_t count;
    const struct tally_second *rows = tally_seconds(tally, &count);
    out->seconds = result_alloc(out, count, sizeof *out->seconds);
    if (!out->seconds)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        double p95 = NAN;
        if (rows[i].response.count)
            p95 = (double)histogram_quantile(&rows[i].response, 0.95) * nanosecond;
        out->seconds[i] = (struct result_second){.t = i,
                                                 .planned = rows[i].planned,
                                                 .ok = rows[i].ok,
                                                 .failed = rows[i].failed,
                                                 .read = rows[i].read,
                                                 .written = rows[i].written,
                                                 .p95 = p95};
    }
    out->second_count = count;
    return 0;
}

int report_print(FILE *stream, const struct result *result)
{
    errno = 0;
    print_head(stream, result);
    print_table(stream, result);
    print_asked(stream, result);
    report_print_load(stream, result);
    report_print_data(stream, result);
    int printed = report_print_percentiles(stream, result);
    if (printed < 0)
        return printed;
    report_print_failures(stream, result);
    report_print_counts(stream, "Skipped packets that have no player", result->skipped,
                        result->skipped_count);
    report_print_counts(stream, "Packets left out by --only or --skip", result->left_out,
                        result->left_out_count);
    printed = print_generator(stream, result);
    if (printed < 0)
        return printed;
    return text_file_flush(stream);
}

/* The lines of the established layout. */
static void print_head(FILE *stream, const struct result *result)
{
    fprintf(stream, "Total conversations:    %9" PRIu64 "\n", result->conversations);
    fprintf(stream, "Successful operations:  %9" PRIu64 " (%.3f per second)\n", result->done_ok,
            per_second(result->done_ok, result));
    fprintf(stream, "Failed operations:      %9" PRIu64 " (%.3f per second)\n", result->done_failed,
            per_second(result->done_failed, result));
    fprintf(stream, "%-29s%f\n", "Max sleep miss:", result->timer_miss);
    fprintf(stream, "%-29s%f\n", "Maximum lag:", result->max_lag);
    fprintf(stream, "%-29s%f\n", "Start lag:", result->start_lag);
    fprintf(stream, "%-29s%" PRIu64 "\n", "Planned conversations:", result->planned_conversations);
    fprintf(stream, "%-29s%" PRIu64 "\n", "Planned packets:", result->planned_packets);
    fprintf(stream, "%-29s%" PRIu64 "\n",
            "Unfinished conversations:", result->unfinished_conversations);
}

static double per_second(uint64_t count, const struct result *result)
{
    return result->window > 0 ? (double)count / result->window : 0;
}

static void print_table(FILE *stream, const struct result *result)
{
    fprintf(stream, "%-12s%7s  %-35s%13s%13s%13s%13s%13s%13s%13s\n", "Protocol", "Op Code",
            "Description", "Count", "Failed", "Mean", "Median", "95%", "Range", "Max");
    for (size_t i = 0; i < result->packet_count; i++)
        if (result->packets[i].count > 0)
            report_print_row(stream, &result->packets[i]);
}

static void report_print_row(FILE *stream, const struct result_packet *packet)
{
    const struct histogram *service = &packet->service;
    double max = report_quantile(service, 1);
    fprintf(stream, "%-12s%7s  %-35s%13" PRIu64 "%13" PRIu64, packet->protocol, packet->opcode,
            packet->description, packet->count, packet->failed);
    report_print_time(stream, histogram_mean(service) * nanosecond);
    report_print_time(stream, report_quantile(service, 0.5));
    report_print_time(stream, report_quantile(service, 0.95));
    report_print_time(stream, max - report_quantile(service, 0));
    report_print_time(stream, max);
    fputc('\n', stream);
}

/* NaN if the histogram is empty. */
static double report_quantile(const struct histogram *histogram, double fraction)
{
    int64_t ns = histogram_quantile(histogram, fraction);
    return ns < 0 ? NAN : (double)ns * nanosecond;
}

/* Prints seconds in a column of 13 characters, or "none". */
static void report_print_time(FILE *stream, double seconds)
{
    if (isnan(seconds))
        fprintf(stream, "%13s", "none");
    else
        fprintf(stream, "%13.6f", seconds);
}

enum { LABEL_SIZE = 4096 };

/* In overload, operations end in the window that were due before it. */
static bool has_row_without_times(const struct result *result)
{
    for (size_t i = 0; i < result->packet_count; i++)
        if (result->packets[i].count > 0 && isnan(report_quantile(&result->packets[i].service, 1)))
            return true;
    return false;
}

static void print_asked(FILE *stream, const struct result *result)
{
    fputc('\n', stream);
    if (has_row_without_times(result))
        fprintf(stream,
                "%-29scounts are of what ended in the window, times of what was also due in it\n",
                "Times \"none\":");
    report_print_text(stream, "Command:", result->command);
    fprintf(stream, "%-29s%s %s\n", "Program:", result->program, result->version);
    fprintf(stream, "%-29s%s (SHA-256 %s)\n", "Model:", result->model, result->model_sha256);
    report_print_text(stream, "Server:", result->dc);
    fprintf(stream, "%-29s%" PRId64 "\n", "Instance:", result->instance);
    for (size_t i = 0; i < result->label_count; i++) {
        char label[LABEL_SIZE];
        snprintf(label, sizeof label, "%s=%s", result->labels[i].name, result->labels[i].value);
        report_print_text(stream, "Label:", label);
    }
    fprintf(stream, "%-29s%" PRIu64 "\n", "Random seed:", result->seed);
    fprintf(stream, "%-29s%.15g\n", "Replay rate (-r):", result->r);
    if (!isnan(result->S))
        fprintf(stream, "%-29s%.15g\n", "Scale (-S):", result->S);
    if (!isnan(result->T))
        fprintf(stream, "%-29s%.15g\n", "Packets per second (-T):", result->T);
    report_print_pace(stream, result);
    fprintf(stream, "%-29s%" PRIu64 " in %" PRIu64 " threads\n", "Clients:", result->clients,
            result->threads);
    print_start(stream, result);
}

/* One line; control characters in text are replaced. */
static void report_print_text(FILE *stream, const char *label, const char *text)
{
    fprintf(stream, "%-29s", label);
    text_print_clean(stream, text);
    fputc('\n', stream);
}

static void print_start(FILE *stream, const struct result *result)
{
    time_t start = (time_t)result->start;
    struct tm utc;
    char text[32] = "unknown";
    if (gmtime_r(&start, &utc))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
    fprintf(stream, "%-29s%s\n", "Window's start:", text);
    fprintf(stream, "%-29s%.3f s after %.3f s of warm-up%s\n", "Window:", result->window,
            result->warmup,
            result->interrupted        ? ", cut short by a signal"
            : result->stopped_on_error ? ", cut short by a failed operation (--stop-on-any-error)"
                                       : "");
}

/* The percentage of "Achieved:" is of the planned operations. */
static void report_print_load(FILE *stream, const struct result *result)
{
    uint64_t achieved = result->ok + result->failed + result->no_answer;
    fprintf(stream, "%-29s%.3f operations per second (%.3f packets per second)\n",
            "Nominal:", result->nominal, result->nominal_packets);
    fprintf(stream, "%-29s%" PRIu64 " operations due in the window (%.3f per second)\n",
            "Planned:", result->planned, per_second(result->planned, result));
    if (result->planned)
        fprintf(stream,
                "%-29s%.1f%% of planned: %" PRIu64 " ok, %" PRIu64 " failed, %" PRIu64
                " no answer\n",
                "Achieved:", 100.0 * (double)achieved / (double)result->planned, result->ok,
                result->failed, result->no_answer);
    else
        fprintf(stream, "%-29snone: nothing was planned\n", "Achieved:");
    report_print_count(stream, "Unfinished:", result->unfinished,
                       " had no answer when the window closed");
    report_print_count(stream, "Not sent:", result->not_sent, " whose clients were still behind");
    report_print_count(stream, "Dropped:", result->dropped, " that were older than --max-backlog");
    report_print_count(stream, "Expected failures:", result->expected, " wrong passwords of -B");
    if (result->dns_extra)
        fprintf(stream,
                "%-29s%" PRIu64 " of --dns-rate, the warm-up's included, %" PRIu64 " failed\n",
                "Extra DNS queries:", result->dns_extra, result->dns_extra_failed);
}

static void report_print_count(FILE *stream, const char *label, uint64_t count, const char *remark)
{
    if (count > 0)
        fprintf(stream, "%-29s%" PRIu64 "%s\n", label, count, remark);
}

static int report_print_percentiles(FILE *stream, const struct result *result)
{
    uint64_t cut = count_unanswered(result);
    bool behind = result->not_sent + result->dropped + cut > 0;
    fprintf(stream, "\n%-25s%13s%13s%13s%13s%13s%13s%13s\n", "Seconds", "Mean", "50%", "90%", "95%",
            "99%", "99.9%", "Max");
    int printed = print_times(stream, result, behind ? "Response time (at least)" : "Response time",
                              RESULT_RESPONSE);
    if (result->backlog.count)
        fprintf(stream,
                "Backlog: %" PRIu64
                " operations were not sent; at the end their age was p50 %.3f s,"
                " max %.3f s: response times are lower bounds\n",
                result->backlog.count, result->backlog.p50, result->backlog.max);
    else if (cut)
        fprintf(stream,
                "Backlog: %" PRIu64
                " operations were cut without an answer: response times are lower bounds\n",
                cut);
    else if (behind)
        fputs("Backlog: operations were dropped: response times are lower bounds\n", stream);
    if (printed == 0)
        printed = print_times(stream, result, "Service time", RESULT_SERVICE);
    return printed < 0 ? printed : print_times(stream, result, "Lag", RESULT_LAG);
}

/* The operations that the end of the run cut off, so their response time is unknown. */
static uint64_t count_unanswered(const struct result *result)
{
    uint64_t known = result->no_answer;
    for (size_t i = 0; i < result->packet_count; i++)
        known += result->packets[i].response.count;
    return result->sent > known ? result->sent - known : 0;
}

enum { FRACTIONS = sizeof fractions / sizeof fractions[0] };

static int print_times(FILE *stream, const struct result *result, const char *label,
                       enum result_time time)
{
    struct histogram total;
    histogram_init(&total);
    int merged = result_total(result, time, &total);
    if (merged == 0) {
        fprintf(stream, "%-25s", label);
        report_print_time(stream, histogram_mean(&total) * nanosecond);
        for (size_t i = 0; i < FRACTIONS; i++)
            report_print_time(stream, report_quantile(&total, fractions[i]));
        fputc('\n', stream);
    }
    histogram_clear(&total);
    return merged;
}

static void report_print_failures(FILE *stream, const struct result *result)
{
    if (result->done_failed || result->dns_extra_cause_count)
        fputs("\nFailures by cause:\n", stream);
    for (size_t i = 0; i < result->packet_count; i++) {
        const struct result_packet *packet = &result->packets[i];
        for (size_t cause = 0; cause < packet->cause_count; cause++)
            fprintf(stream, "%10" PRIu64 "  %s:%s  %s\n", packet->causes[cause].count,
                    packet->protocol, packet->opcode, packet->causes[cause].name);
    }
    for (size_t i = 0; i < result->dns_extra_cause_count; i++)
        fprintf(stream, "%10" PRIu64 "  extra DNS queries  %s\n", result->dns_extra_causes[i].count,
                result->dns_extra_causes[i].name);
    report_print_no_answer(stream, result);
}

static void report_print_no_answer(FILE *stream, const struct result *result)
{
    bool told = false;
    for (size_t i = 0; i < result->packet_count; i++) {
        const struct result_packet *packet = &result->packets[i];
        if (packet->no_answer == 0)
            continue;
        if (!told)
            fputs("\nNo answer:\n", stream);
        told = true;
        fprintf(stream, "%10" PRIu64 "  %s:%s\n", packet->no_answer, packet->protocol,
                packet->opcode);
    }
}

static void report_print_counts(FILE *stream, const char *title, const struct result_count *counts,
                                size_t count)
{
    if (count)
        fprintf(stream, "\n%s:\n", title);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%10" PRIu64 "  %s\n", counts[i].count, counts[i].name);
}

/* If both are exceeded, the generator was the bottleneck. */
static const double lag_limit = 0.010, busy_limit = 0.95;

static int print_generator(FILE *stream, const struct result *result)
{
    double cpu = result->cpu_user + result->cpu_system, lag;
    fprintf(stream, "\n%-29s%.3f s user, %.3f s system",
            "Generator's processor time:", result->cpu_user, result->cpu_system);
    if (result->window > 0)
        fprintf(stream, " (%.1f%% of one core)", 100 * cpu / result->window);
    fputc('\n', stream);
    if (!isnan(result->busy))
        fprintf(stream, "%-29s%.1f%%\n", "Busiest worker:", 100 * result->busy);
    if (!isnan(result->timer_p99))
        fprintf(stream, "%-29sp99 %.6f s (of a bare timer: what this machine adds to lag)\n",
                "Timer's lateness:", result->timer_p99);
    int merged = lag_p99(result, &lag);
    if (merged < 0)
        return merged;
    if (lag > lag_limit && result->busy > busy_limit)
        fprintf(
            stream,
            "The generator was the bottleneck: lag p99 %.1f ms with a worker busy %.1f%% of the "
            "time; the server may sustain more\n",
            lag * 1000, 100 * result->busy);
    if (result->timing_lost)
        fprintf(stream,
                "Timing data: %" PRIu64 " lines were lost: the output was full or too slow\n",
                result->timing_lost);
    if (result->tls_used && !result->tls_checked)
        fputs("TLS: the server's certificate was not checked (--tls-verify checks it)\n", stream);
    return 0;
}

/* *lag: of all packet types, in seconds; NaN: nothing was sent. 0 or -ENOMEM. */
static int lag_p99(const struct result *result, double *lag)
{
    struct histogram total;
    histogram_init(&total);
    int merged = result_total(result, RESULT_LAG, &total);
    *lag = report_quantile(&total, 0.99);
    histogram_clear(&total);
    return merged;
}

bool report_succeeded(const struct result *result)
{
    return result->done_ok > 0;
}
