/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads text reports line by line. A truncated report is recognised: the rows of its table do not
 * add up to the operations named above it, or lines after the table are missing.
 */
#include "summary/text_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

enum value_kind {
    VALUE_COUNT, /* uint64_t; the rest of the line is ignored */
    VALUE_SIGNED,
    VALUE_REAL,
    VALUE_RATE, /* a count and "(x per second)": uint64_t and a double */
    VALUE_DATE,
    VALUE_WINDOW, /* may say that the run was cut short */
    VALUE_STRING, /* char array of the report */
    VALUE_WORDS,  /* the same, up to " per client" or a parenthesis */
    VALUE_MODEL,  /* name (SHA-256 digits) */
    VALUE_PROGRAM,
    VALUE_PERCENT, /* a real and "%", or "none" */
    VALUE_LABEL,   /* name=value; may occur several times */
    VALUE_TEXT     /* only its presence matters */
};

/* Lines "Label:   value". */
struct label {
    const char *text;
    enum value_kind kind;
    size_t offset, rate_offset; /* rate_offset is the size of a VALUE_STRING */
    bool of_our_part, may_miss;
};

#define AT(member)   offsetof(struct text_report, member)
#define SIZE(member) sizeof(((struct text_report *)NULL)->member)
static const struct label labels[] = {
    {"Total conversations:", VALUE_TEXT, 0, 0, false, false},
    {"Successful operations:", VALUE_RATE, AT(ok), AT(ok_rate), false, false},
    {"Failed operations:", VALUE_RATE, AT(failed), AT(failed_rate), false, false},
    {"Planned packets:", VALUE_COUNT, AT(planned_packets), 0, false, false},
    {"Program:", VALUE_PROGRAM, 0, 0, true, false},
    {"Command:", VALUE_STRING, AT(command), SIZE(command), true, true},
    {"Model:", VALUE_MODEL, 0, 0, true, true},
    {"Server:", VALUE_STRING, AT(server), SIZE(server), true, true},
    {"Achieved:", VALUE_PERCENT, AT(achieved), 0, true, true},
    {"Instance:", VALUE_SIGNED, AT(instance), 0, true, false},
    {"Random seed:", VALUE_COUNT, AT(seed), 0, true, false},
    {"Replay rate (-r):", VALUE_REAL, AT(r), 0, true, false},
    {"Scale (-S):", VALUE_REAL, AT(S), 0, true, true},
    {"Window's start:", VALUE_DATE, AT(start), 0, true, false},
    {"Window:", VALUE_WINDOW, 0, 0, true, false},
    {"Label:", VALUE_LABEL, 0, 0, true, true},
    {"Nominal:", VALUE_REAL, AT(nominal), 0, true, false},
    {"Planned:", VALUE_COUNT, AT(planned), 0, true, false},
    {"Pace:", VALUE_WORDS, AT(pace), SIZE(pace), true, true},
    {"Data:", VALUE_REAL, AT(data), 0, true, true},
    {"Data read:", VALUE_REAL, AT(read), 0, true, true},
    {"Data written:", VALUE_REAL, AT(written), 0, true, true},
    {"Data operations:", VALUE_REAL, AT(iops), 0, true, true},
    {"Generator's processor time:", VALUE_TEXT, 0, 0, true, false},
};
enum { LABELS = sizeof labels / sizeof labels[0] };

enum { RESPONSE_COLUMN = 25, RESPONSE_VALUES = 7, ROW_VALUES = 7, ROW_COUNTS_COLUMN = 19 };

struct parser {
    struct text_report *report;
    const char *name;
    struct error *error;
    unsigned line;
    bool seen[LABELS];
    bool begun, table_seen, in_table, response_seen;
    uint64_t table_count, table_failed;
    double weighted; /* sum of count x mean over rows that have one */
    uint64_t weight;
};

static int parse_lines(struct parser *parser, char *text);
static int parse_line(struct parser *parser, const char *line);
static int parse_row(struct parser *parser, const char *line);
static const char *row_values(const char *line);
static bool text_report_read_count(const char **text, uint64_t *out);
static bool read_time(const char **text, double *out);
static int report_damage(const struct parser *parser, const char *what);
static int parse_response(struct parser *parser, const char *line);
static int text_report_parse_label(struct parser *parser, const char *line);
static bool text_report_read_value(const struct label *label, const char *text,
                                   struct text_report *report);
static void read_words(const char *text, char *to, size_t size);
static bool read_signed(const char *text, int64_t *out);
static bool read_rate(const char *text, uint64_t *count, double *rate);
static bool read_date(const char *text, int64_t *out);
static bool read_label(const char *text, struct text_report *report);
static void read_model(const char *text, struct text_report *report);
static int text_report_check_whole(const struct parser *parser);

int text_report_parse(struct text_report *report, const char *bytes, size_t length,
                      const char *name, struct error *error)
{
    struct parser parser = {.report = report, .name = name, .error = error};
    *report = (struct text_report){.r = NAN,
                                   .S = NAN,
                                   .mean = NAN,
                                   .nominal = NAN,
                                   .data = NAN,
                                   .read = NAN,
                                   .written = NAN,
                                   .iops = NAN,
                                   .achieved = NAN,
                                   .response_mean = NAN,
                                   .response_p50 = NAN,
                                   .response_p95 = NAN,
                                   .response_p99 = NAN};
    char *text = memchr(bytes, '\0', length) ? NULL : malloc(length + 1);
    if (text) {
        memcpy(text, bytes, length);
        text[length] = '\0';
    }
    int result = text ? parse_lines(&parser, text) : 0;
    free(text);
    if (result < 0)
        return result;
    if (!parser.begun) {
        return error_set(error, -ENOMSG, "%s: not a result of a traffic replay", name);
    }
    if (parser.weight)
        report->mean = parser.weighted / (double)parser.weight;
    return text_report_check_whole(&parser);
}

static int parse_lines(struct parser *parser, char *text)
{
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        parser->line++;
        size_t length = strlen(line);
        if (length > 0 && line[length - 1] == '\r')
            line[length - 1] = '\0';
        int result = parse_line(parser, line);
        if (result < 0)
            return result;
    }
    return 0;
}

static const char table_title[] = "Protocol ", response_title[] = "Response time";

static int parse_line(struct parser *parser, const char *line)
{
    if (!parser->begun && strncmp(line, labels[0].text, strlen(labels[0].text)) != 0)
        return 0;
    parser->begun = true;
    if (*line == '\0')
        parser->in_table = false;
    else if (parser->in_table)
        return parse_row(parser, line);
    else if (strncmp(line, table_title, strlen(table_title)) == 0)
        parser->table_seen = parser->in_table = true;
    else if (strncmp(line, response_title, strlen(response_title)) == 0)
        return parse_response(parser, line);
    else
        return text_report_parse_label(parser, line);
    return 0;
}

static int parse_row(struct parser *parser, const char *line)
{
    uint64_t count, failed;
    double mean;
    const char *values = row_values(line);
    if (!values || !text_report_read_count(&values, &count) ||
        !text_report_read_count(&values, &failed) || failed > count || !read_time(&values, &mean))
        return report_damage(parser, "a row of the table cannot be read");
    for (unsigned i = 3; i < ROW_VALUES; i++) {
        double other;
        if (!read_time(&values, &other))
            return report_damage(parser, "a row of the table cannot be read");
    }
    parser->table_count += count;
    parser->table_failed += failed;
    if (!isnan(mean)) {
        parser->weighted += (double)count * mean;
        parser->weight += count;
    }
    return 0;
}

/* The last seven words of a row are values. The description before them may hold anything. */
static const char *row_values(const char *line)
{
    const char *at = line + strlen(line);
    for (unsigned i = 0; i < ROW_VALUES; i++) {
        while (at > line && at[-1] == ' ')
            at--;
        while (at > line && at[-1] != ' ')
            at--;
    }
    return at - line >= ROW_COUNTS_COLUMN ? at : NULL;
}

static bool text_report_read_count(const char **text, uint64_t *out)
{
    char *end;
    while (**text == ' ')
        ++*text;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* A number of seconds, or "none": NaN. */
static bool read_time(const char **text, double *out)
{
    char *end;
    while (**text == ' ')
        ++*text;
    if (strncmp(*text, "none", 4) == 0) {
        *out = NAN;
        *text += 4;
        return true;
    }
    if (**text < '0' || **text > '9')
        return false;
    *out = strtod(*text, &end);
    *text = end;
    return isfinite(*out);
}

static int report_damage(const struct parser *parser, const char *what)
{
    return error_set(parser->error, -EINVAL, "%s:%u: damaged: %s", parser->name, parser->line,
                     what);
}

static int parse_response(struct parser *parser, const char *line)
{
    double values[RESPONSE_VALUES];
    const char *at = strlen(line) > RESPONSE_COLUMN ? line + RESPONSE_COLUMN : "";
    for (unsigned i = 0; i < RESPONSE_VALUES; i++)
        if (!read_time(&at, &values[i]))
            return report_damage(parser, "response times cannot be read");
    parser->report->response_mean = values[0];
    parser->report->response_p50 = values[1];
    parser->report->response_p95 = values[3];
    parser->report->response_p99 = values[4];
    parser->response_seen = true;
    return 0;
}

enum { LABEL_PROGRAM = 4 };

/* Reads a line that begins with a known label. */
static int text_report_parse_label(struct parser *parser, const char *line)
{
    for (size_t i = 0; i < LABELS; i++) {
        size_t length = strlen(labels[i].text);
        if (strncmp(line, labels[i].text, length) != 0)
            continue;
        const char *value = line + length;
        while (*value == ' ')
            value++;
        if (parser->seen[i] && labels[i].kind != VALUE_LABEL)
            return report_damage(parser, "a line occurs twice");
        if (!text_report_read_value(&labels[i], value, parser->report))
            return report_damage(parser, "a value cannot be read");
        parser->seen[i] = true;
        if (i == LABEL_PROGRAM)
            parser->report->ours = true;
        return 0;
    }
    return 0;
}

static bool text_report_read_value(const struct label *label, const char *text,
                                   struct text_report *report)
{
    void *to = (char *)report + label->offset, *rate = (char *)report + label->rate_offset;
    double *real = to;
    switch (label->kind) {
    case VALUE_COUNT:
        return text_report_read_count(&text, to);
    case VALUE_SIGNED:
        return read_signed(text, to);
    case VALUE_REAL:
        return read_time(&text, real) && !isnan(*real);
    case VALUE_RATE:
        return read_rate(text, to, rate);
    case VALUE_DATE:
        return read_date(text, to);
    case VALUE_WINDOW:
        report->interrupted = strstr(text, "cut short") != NULL;
        return read_time(&text, &report->window);
    case VALUE_STRING:
        snprintf(to, label->rate_offset, "%s", text);
        return true;
    case VALUE_WORDS:
        read_words(text, to, label->rate_offset);
        return true;
    case VALUE_MODEL:
        read_model(text, report);
        return true;
    case VALUE_PROGRAM:
        text = strchr(text, ' ');
        snprintf(report->version, sizeof report->version, "%s", text ? text + 1 : "");
        return true;
    case VALUE_PERCENT:
        return read_time(&text, real);
    case VALUE_LABEL:
        return read_label(text, report);
    case VALUE_TEXT:
        return *text != '\0';
    }
    return false;
}

/* "10 MB/s per client (open loop)" */
static void read_words(const char *text, char *to, size_t size)
{
    const char *end = strstr(text, " per client"), *remark = strstr(text, " (");
    end = end ? end : remark ? remark : text + strlen(text);
    snprintf(to, size, "%.*s", (int)(end - text), text);
}

static bool read_signed(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

/* "556 (27.679 per second)" */
static bool read_rate(const char *text, uint64_t *count, double *rate)
{
    if (!text_report_read_count(&text, count) || strncmp(text, " (", 2) != 0)
        return false;
    text += 2;
    return read_time(&text, rate) && !isnan(*rate) && strcmp(text, " per second)") == 0;
}

static bool read_date(const char *text, int64_t *out)
{
    struct tm utc = {0};
    if (strcmp(text, "unknown") == 0)
        return true;
    const char *end = strptime(text, "%Y-%m-%d %H:%M:%S UTC", &utc);
    *out = end && *end == '\0' ? timegm(&utc) : 0;
    return end && *end == '\0';
}

static bool read_label(const char *text, struct text_report *report)
{
    struct text_label *label = &report->labels[report->label_count];
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    if (length == 0 || length >= sizeof label->name || strlen(equals) > sizeof label->value ||
        report->label_count == TEXT_LABELS_MAX)
        return false;
    memcpy(label->name, text, length);
    label->name[length] = '\0';
    strcpy(label->value, equals + 1);
    report->label_count++;
    return true;
}

/* "office.yaml (SHA-256 2361...)" */
static void read_model(const char *text, struct text_report *report)
{
    static const char between[] = " (SHA-256 ";
    const char *digits = strstr(text, between);
    size_t length = digits ? (size_t)(digits - text) : strlen(text);
    snprintf(report->model, sizeof report->model, "%.*s", (int)length, text);
    if (digits)
        snprintf(report->model_sha256, sizeof report->model_sha256, "%.*s",
                 (int)strspn(digits + strlen(between), "0123456789abcdef"),
                 digits + strlen(between));
}

static int text_report_check_whole(const struct parser *parser)
{
    char what[96];
    for (size_t i = 0; i < LABELS; i++) {
        if (parser->seen[i] || labels[i].may_miss ||
            (labels[i].of_our_part && !parser->report->ours))
            continue;
        snprintf(what, sizeof what, "the line \"%s\" is missing", labels[i].text);
        return report_damage(parser, what);
    }
    if (!parser->table_seen)
        return report_damage(parser, "the table is missing");
    if (parser->table_count != parser->report->ok + parser->report->failed ||
        parser->table_failed != parser->report->failed)
        return report_damage(parser, "the table's rows do not add up to the operations above it");
    if (parser->report->ours && !parser->response_seen)
        return report_damage(parser, "the response times are missing");
    return 0;
}
