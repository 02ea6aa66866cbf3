/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results as JSON. What a field is called, what it may hold and where it lives in struct result
 * stands once, in tables that both reading and writing walk.
 */
#include "summary/result/result.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json_text.h"
#include "base/whole_file.h"

enum field_kind {
    FIELD_COUNT,   /* uint64_t */
    FIELD_INTEGER, /* int64_t */
    FIELD_SEED,    /* uint64_t as decimal digits in a string */
    FIELD_REAL,    /* double, not negative */
    FIELD_MAYBE,   /* the same or NaN, which is null */
    FIELD_TEXT,    /* const char * */
    FIELD_BOOL
};

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
};

/* clang-format off */
#define NAMED(kind, of, name, member) {name, kind, offsetof(struct of, member)}
#define ROW(kind, of, member) NAMED(kind, of, #member, member)
/* clang-format on */

static const struct field head_fields[] = {ROW(FIELD_TEXT, result, program),
                                           ROW(FIELD_TEXT, result, version),
                                           ROW(FIELD_TEXT, result, command),
                                           ROW(FIELD_TEXT, result, model),
                                           ROW(FIELD_TEXT, result, model_sha256),
                                           ROW(FIELD_SEED, result, seed),
                                           ROW(FIELD_REAL, result, r),
                                           ROW(FIELD_MAYBE, result, S),
                                           ROW(FIELD_MAYBE, result, T),
                                           ROW(FIELD_TEXT, result, dc),
                                           ROW(FIELD_INTEGER, result, instance),
                                           ROW(FIELD_REAL, result, start),
                                           ROW(FIELD_REAL, result, warmup),
                                           ROW(FIELD_REAL, result, window),
                                           ROW(FIELD_BOOL, result, interrupted),
                                           ROW(FIELD_COUNT, result, clients),
                                           ROW(FIELD_COUNT, result, threads),
                                           ROW(FIELD_REAL, result, nominal),
                                           ROW(FIELD_REAL, result, nominal_packets),
                                           ROW(FIELD_COUNT, result, planned),
                                           ROW(FIELD_COUNT, result, sent),
                                           ROW(FIELD_COUNT, result, not_sent),
                                           ROW(FIELD_COUNT, result, dropped),
                                           ROW(FIELD_COUNT, result, ok),
                                           ROW(FIELD_COUNT, result, failed),
                                           ROW(FIELD_COUNT, result, no_answer),
                                           ROW(FIELD_COUNT, result, unfinished),
                                           ROW(FIELD_COUNT, result, done_ok),
                                           ROW(FIELD_COUNT, result, done_failed),
                                           ROW(FIELD_COUNT, result, expected),
                                           ROW(FIELD_COUNT, result, dns_extra),
                                           ROW(FIELD_COUNT, result, dns_extra_failed),
                                           ROW(FIELD_COUNT, result, conversations),
                                           ROW(FIELD_COUNT, result, planned_conversations),
                                           ROW(FIELD_COUNT, result, unfinished_conversations),
                                           ROW(FIELD_COUNT, result, planned_packets),
                                           ROW(FIELD_REAL, result, max_lag),
                                           ROW(FIELD_REAL, result, start_lag),
                                           ROW(FIELD_REAL, result, timer_miss),
                                           ROW(FIELD_COUNT, result, timing_lost),
                                           ROW(FIELD_BOOL, result, tls_used),
                                           ROW(FIELD_BOOL, result, tls_checked),
                                           ROW(FIELD_MAYBE, result, timer_p99),
                                           ROW(FIELD_MAYBE, result, busy),
                                           {0}};

static const struct field backlog_fields[] = {NAMED(FIELD_COUNT, result, "count", backlog.count),
                                              NAMED(FIELD_MAYBE, result, "p50", backlog.p50),
                                              NAMED(FIELD_MAYBE, result, "max", backlog.max),
                                              {0}};

static const struct field cpu_fields[] = {NAMED(FIELD_REAL, result, "user", cpu_user),
                                          NAMED(FIELD_REAL, result, "system", cpu_system),
                                          {0}};

static const struct field packet_fields[] = {
    ROW(FIELD_TEXT, result_packet, protocol),    ROW(FIELD_TEXT, result_packet, opcode),
    ROW(FIELD_TEXT, result_packet, description), ROW(FIELD_COUNT, result_packet, count),
    ROW(FIELD_COUNT, result_packet, failed),     ROW(FIELD_COUNT, result_packet, no_answer),
    ROW(FIELD_COUNT, result_packet, planned),    {0}};

static const struct field second_fields[] = {
    ROW(FIELD_COUNT, result_second, t),   ROW(FIELD_COUNT, result_second, planned),
    ROW(FIELD_COUNT, result_second, ok),  ROW(FIELD_COUNT, result_second, failed),
    ROW(FIELD_MAYBE, result_second, p95), {0}};

static const struct {
    const char *name;
    size_t offset;
} packet_times[] = {{"service", offsetof(struct result_packet, service)},
                    {"response", offsetof(struct result_packet, response)},
                    {"lag", offsetof(struct result_packet, lag)}};
enum { PACKET_TIMES = sizeof packet_times / sizeof packet_times[0] };

enum { NO_INDEX = 0xffffffff };

/* Where a reader stands, for its error lines. */
struct reader {
    struct result *result;
    struct histogram *response; /* where to add response times to; NULL: kept by packet type */
    const char *name;           /* of the file */
    struct error *error;
    const char *place; /* "packets" and the like, "" for the top */
    size_t index;      /* in an array; NO_INDEX: an object */
};

static json_t *result_to_json(const struct result *result);
static bool set(json_t *object, const char *name, json_t *value);
static bool set_fields(json_t *object, const struct field *fields, const void *from);
static json_t *field_to_json(const struct field *field, const void *from);
static json_t *real_to_json(double value);
static json_t *text_to_json(const char *text);
static json_t *labels_to_json(const struct result *result);
static json_t *fields_to_json(const struct field *fields, const void *from);
static json_t *counts_to_json(const struct result_count *counts, size_t count);
static json_t *packets_to_json(const struct result *result);
static json_t *packet_to_json(const struct result_packet *packet);
static json_t *seconds_to_json(const struct result *result);
static json_t *samples_to_json(const struct result *result);
static json_t *sample_to_json(const struct result_sample *sample);
static int dump(FILE *stream, void *root);
static int result_parse_json(struct reader *reader, const char *bytes, size_t length);
static int result_read_root(struct reader *reader, const json_t *root);
static int read_format(const struct reader *reader, const json_t *root);
static int read_fields(const struct reader *reader, const struct field *fields,
                       const json_t *object, void *to);
static int result_read_field(const struct reader *reader, const struct field *field,
                             const json_t *value, void *at);
static int read_integer(const struct reader *reader, const struct field *field, const json_t *value,
                        json_int_t *out);
static int result_refuse(const struct reader *reader, const char *field, const char *expected);
static int read_seed(const struct reader *reader, const char *field, const json_t *value,
                     uint64_t *out);
static int read_real(const struct reader *reader, const struct field *field, const json_t *value,
                     double *out);
static int result_read_text(const struct reader *reader, const char *field, const json_t *value,
                            const char **out);
static int result_no_memory(const struct reader *reader);
static int read_objects(struct reader *reader, const json_t *root);
static int read_labels(const struct reader *reader, json_t *object);
static int result_read_object(struct reader *reader, const char *name, const struct field *fields,
                              const json_t *root);
static int result_read_counts(const struct reader *reader, const char *field, json_t *object,
                              struct result_count **out, size_t *count);
static int result_read_packets(struct reader *reader, const json_t *array);
static int begin_array(struct reader *reader, const char *name, const json_t *array, size_t size,
                       void *out);
static int read_packet(const struct reader *reader, json_t *object, struct result_packet *packet);
static int read_times(const struct reader *reader, const json_t *object,
                      struct result_packet *packet, size_t time);
static int result_read_seconds(struct reader *reader, const json_t *array);
static int read_samples(struct reader *reader, const json_t *array);
static int read_sample(const struct reader *reader, json_t *object, struct result_sample *sample);
static int load_open(int fd, char **bytes, size_t *length);
static int differ(struct error *error, const char *what, uint64_t left, uint64_t right);
static int result_check_packets(const struct result *result, struct error *error);
static int check_rows(const struct result *result, struct error *error);

void result_init(struct result *result)
{
    *result = (struct result){
        .program = "", .version = "", .command = "", .model = "", .model_sha256 = "", .dc = ""};
    result->S = result->T = result->timer_p99 = result->busy = NAN;
}

void result_clear(struct result *result)
{
    for (size_t i = 0; i < result->packet_count; i++) {
        histogram_clear(&result->packets[i].service);
        histogram_clear(&result->packets[i].response);
        histogram_clear(&result->packets[i].lag);
    }
    arena_free(&result->memory);
    result_init(result);
}

void *result_alloc(struct result *result, size_t count, size_t size)
{
    return arena_array(&result->memory, count, size);
}

const char *result_text(struct result *result, const char *text)
{
    return arena_string(&result->memory, text, strlen(text));
}

int result_write(const struct result *result, const char *path, struct error *error)
{
    json_t *root = result_to_json(result);
    if (!root) {
        return error_set(error, -ENOMEM, "%s: cannot be written: out of memory", path);
    }
    int written = whole_file_write(path, dump, root, error);
    json_decref(root);
    return written;
}

/* NULL: no memory, or a text that is not UTF-8. */
static json_t *result_to_json(const struct result *result)
{
    json_t *root = json_object();
    if (root && set(root, "format", json_integer(RESULT_FORMAT)) &&
        set_fields(root, head_fields, result) && set(root, "labels", labels_to_json(result)) &&
        set(root, "backlog", fields_to_json(backlog_fields, result)) &&
        set(root, "cpu", fields_to_json(cpu_fields, result)) &&
        set(root, "skipped", counts_to_json(result->skipped, result->skipped_count)) &&
        set(root, "left_out", counts_to_json(result->left_out, result->left_out_count)) &&
        set(root, "packets", packets_to_json(result)) &&
        set(root, "seconds", seconds_to_json(result)) &&
        set(root, "samples", samples_to_json(result)))
        return root;
    json_decref(root);
    return NULL;
}

/* json_object_set_new() takes the value, also when it fails; a NULL value is a failure. */
static bool set(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

static bool set_fields(json_t *object, const struct field *fields, const void *from)
{
    for (; fields->name; fields++)
        if (!set(object, fields->name, field_to_json(fields, from)))
            return false;
    return true;
}

static json_t *field_to_json(const struct field *field, const void *from)
{
    const void *at = (const char *)from + field->offset;
    char digits[24];
    switch (field->kind) {
    case FIELD_COUNT:
    case FIELD_INTEGER:
        return json_integer(*(const json_int_t *)at);
    case FIELD_SEED:
        snprintf(digits, sizeof digits, "%" PRIu64, *(const uint64_t *)at);
        return json_string(digits);
    case FIELD_REAL:
    case FIELD_MAYBE:
        return real_to_json(*(const double *)at);
    case FIELD_TEXT:
        return text_to_json(*(const char *const *)at);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)at);
    }
    return NULL;
}

static json_t *real_to_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* A string of JSON; bytes of a text that is not UTF-8 (a command line may hold any) become "?". */
static json_t *text_to_json(const char *text)
{
    json_t *string = json_string(text);
    char *clean = string ? NULL : strdup(text);
    if (!clean)
        return string;
    for (char *byte = clean; *byte; byte++)
        if ((unsigned char)*byte >= 0x80)
            *byte = '?';
    string = json_string(clean);
    free(clean);
    return string;
}

static json_t *labels_to_json(const struct result *result)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < result->label_count; i++)
        if (!set(object, result->labels[i].name, text_to_json(result->labels[i].value))) {
            json_decref(object);
            return NULL;
        }
    return object;
}

static json_t *fields_to_json(const struct field *fields, const void *from)
{
    json_t *object = json_object();
    if (object && !set_fields(object, fields, from)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *counts_to_json(const struct result_count *counts, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < count; i++)
        if (!set(object, counts[i].name, json_integer((json_int_t)counts[i].count))) {
            json_decref(object);
            return NULL;
        }
    return object;
}

static json_t *packets_to_json(const struct result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < result->packet_count; i++)
        if (json_array_append_new(array, packet_to_json(&result->packets[i])) < 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *packet_to_json(const struct result_packet *packet)
{
    json_t *object = fields_to_json(packet_fields, packet);
    bool good =
        object && set(object, "causes", counts_to_json(packet->causes, packet->cause_count));
    for (size_t i = 0; good && i < PACKET_TIMES; i++) {
        const void *histogram = (const char *)packet + packet_times[i].offset;
        good = set(object, packet_times[i].name, histogram_to_json(histogram));
    }
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *seconds_to_json(const struct result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < result->second_count; i++)
        if (json_array_append_new(array, fields_to_json(second_fields, &result->seconds[i])) < 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *samples_to_json(const struct result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < result->sample_count; i++)
        if (json_array_append_new(array, sample_to_json(&result->samples[i])) < 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *sample_to_json(const struct result_sample *sample)
{
    json_t *object = json_object();
    bool good = object && set(object, "t", json_real(sample->t));
    for (size_t i = 0; good && i < sample->value_count; i++)
        good = set(object, sample->values[i].name, real_to_json(sample->values[i].value));
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

static int dump(FILE *stream, void *root)
{
    return json_text_write(stream, root, JSON_COMPACT);
}

int result_read(struct result *result, const char *path, struct error *error)
{
    char *bytes;
    size_t length;
    int read = result_load(path, &bytes, &length, error);
    if (read == 0)
        read = result_parse(result, bytes, length, path, error);
    free(bytes);
    return read;
}

int result_parse(struct result *result, const char *bytes, size_t length, const char *name,
                 struct error *error)
{
    struct reader reader = {.result = result, .name = name, .error = error, .place = ""};
    return result_parse_json(&reader, bytes, length);
}

static int result_parse_json(struct reader *reader, const char *bytes, size_t length)
{
    json_error_t fault;
    struct error detail;
    json_t *root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &fault);
    if (!root) {
        error_set(reader->error, -EINVAL, "%s:%d:%d: not JSON: %s", reader->name, fault.line,
                  fault.column, fault.text);
        return json_error_code(&fault) == json_error_out_of_memory ? -ENOMEM : -EINVAL;
    }
    int read = result_read_root(reader, root);
    json_decref(root);
    if (read == 0 && result_check(reader->result, &detail) < 0)
        read = error_set(reader->error, -EINVAL, "%s: damaged: %s", reader->name, detail.text);
    return read;
}

static int result_read_root(struct reader *reader, const json_t *root)
{
    int result = read_format(reader, root);
    if (result == 0)
        result = read_fields(reader, head_fields, root, reader->result);
    if (result == 0)
        result = read_objects(reader, root);
    if (result == 0)
        result = result_read_packets(reader, json_object_get(root, "packets"));
    if (result == 0)
        result = result_read_seconds(reader, json_object_get(root, "seconds"));
    if (result == 0)
        result = read_samples(reader, json_object_get(root, "samples"));
    return result;
}

static int read_format(const struct reader *reader, const json_t *root)
{
    const json_t *format = json_object_get(root, "format");
    if (!json_is_integer(format)) {
        return error_set(reader->error, -EINVAL, "%s: not a result of traffic-replay",
                         reader->name);
    }
    if (json_integer_value(format) != RESULT_FORMAT) {
        error_set(reader->error, -EINVAL,
                  "%s: written in format %lld; this program reads format %d", reader->name,
                  (long long)json_integer_value(format), RESULT_FORMAT);
        return -EINVAL;
    }
    return 0;
}

static int read_fields(const struct reader *reader, const struct field *fields,
                       const json_t *object, void *to)
{
    for (; fields->name; fields++) {
        int result = result_read_field(reader, fields, json_object_get(object, fields->name),
                                       (char *)to + fields->offset);
        if (result < 0)
            return result;
    }
    return 0;
}

static int result_read_field(const struct reader *reader, const struct field *field,
                             const json_t *value, void *at)
{
    switch (field->kind) {
    case FIELD_COUNT:
    case FIELD_INTEGER:
        return read_integer(reader, field, value, at);
    case FIELD_SEED:
        return read_seed(reader, field->name, value, at);
    case FIELD_REAL:
    case FIELD_MAYBE:
        return read_real(reader, field, value, at);
    case FIELD_TEXT:
        return result_read_text(reader, field->name, value, at);
    case FIELD_BOOL:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value) ? 0 : result_refuse(reader, field->name, "true or false");
    }
    return -EINVAL;
}

static int read_integer(const struct reader *reader, const struct field *field, const json_t *value,
                        json_int_t *out)
{
    *out = json_integer_value(value);
    if (!json_is_integer(value) || (field->kind == FIELD_COUNT && *out < 0))
        return result_refuse(reader, field->name, "a whole number");
    return 0;
}

static int result_refuse(const struct reader *reader, const char *field, const char *expected)
{
    if (reader->place[0] && reader->index == NO_INDEX)
        error_set(reader->error, -EINVAL, "%s: %s.%s: expected %s", reader->name, reader->place,
                  field, expected);
    else if (reader->place[0])
        error_set(reader->error, -EINVAL, "%s: %s[%zu].%s: expected %s", reader->name,
                  reader->place, reader->index, field, expected);
    else
        error_set(reader->error, -EINVAL, "%s: %s: expected %s", reader->name, field, expected);
    return -EINVAL;
}

static int read_seed(const struct reader *reader, const char *field, const json_t *value,
                     uint64_t *out)
{
    const char *text = json_string_value(value);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return result_refuse(reader, field, "decimal digits in a string");
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno || *end ? result_refuse(reader, field, "decimal digits in a string") : 0;
}

static int read_real(const struct reader *reader, const struct field *field, const json_t *value,
                     double *out)
{
    if (field->kind == FIELD_MAYBE && json_is_null(value)) {
        *out = NAN;
        return 0;
    }
    *out = json_number_value(value);
    if (!json_is_number(value) || !isfinite(*out) || *out < 0)
        return result_refuse(reader, field->name, "a number that is not negative");
    return 0;
}

static int result_read_text(const struct reader *reader, const char *field, const json_t *value,
                            const char **out)
{
    const char *text = json_string_value(value);
    if (!text)
        return result_refuse(reader, field, "a string");
    *out = result_text(reader->result, text);
    return *out ? 0 : result_no_memory(reader);
}

static int result_no_memory(const struct reader *reader)
{
    return error_set(reader->error, -ENOMEM, "%s: out of memory", reader->name);
}

static int read_objects(struct reader *reader, const json_t *root)
{
    struct result *to = reader->result;
    int result = read_labels(reader, json_object_get(root, "labels"));
    if (result == 0)
        result = result_read_object(reader, "backlog", backlog_fields, root);
    if (result == 0)
        result = result_read_object(reader, "cpu", cpu_fields, root);
    if (result == 0)
        result = result_read_counts(reader, "skipped", json_object_get(root, "skipped"),
                                    &to->skipped, &to->skipped_count);
    if (result == 0)
        result = result_read_counts(reader, "left_out", json_object_get(root, "left_out"),
                                    &to->left_out, &to->left_out_count);
    return result;
}

static int read_labels(const struct reader *reader, json_t *object)
{
    struct result *result = reader->result;
    if (!json_is_object(object))
        return result_refuse(reader, "labels", "an object of strings");
    result->labels = result_alloc(result, json_object_size(object), sizeof *result->labels);
    if (!result->labels)
        return result_no_memory(reader);
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        struct result_label *label = &result->labels[result->label_count];
        int text = result_read_text(reader, "labels", value, &label->value);
        if (text < 0)
            return text;
        label->name = result_text(result, name);
        if (!label->name)
            return result_no_memory(reader);
        result->label_count++;
    }
    return 0;
}

static int result_read_object(struct reader *reader, const char *name, const struct field *fields,
                              const json_t *root)
{
    reader->place = name;
    reader->index = NO_INDEX;
    int result = read_fields(reader, fields, json_object_get(root, name), reader->result);
    reader->place = "";
    return result;
}

/* An object of names and whole numbers. */
static int result_read_counts(const struct reader *reader, const char *field, json_t *object,
                              struct result_count **out, size_t *count)
{
    if (!json_is_object(object))
        return result_refuse(reader, field, "an object of counts");
    struct result_count *counts =
        result_alloc(reader->result, json_object_size(object), sizeof *counts);
    if (!counts)
        return result_no_memory(reader);
    *out = counts;
    *count = 0;
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return result_refuse(reader, field, "whole numbers");
        counts->name = result_text(reader->result, name);
        if (!counts->name)
            return result_no_memory(reader);
        counts->count = (uint64_t)json_integer_value(value);
        counts++;
        ++*count;
    }
    return 0;
}

static int result_read_packets(struct reader *reader, const json_t *array)
{
    struct result *to = reader->result;
    int result = begin_array(reader, "packets", array, sizeof *to->packets, &to->packets);
    for (size_t i = 0; result == 0 && i < json_array_size(array); i++) {
        struct result_packet *packet = &to->packets[i];
        histogram_init(&packet->service);
        histogram_init(&packet->response);
        histogram_init(&packet->lag);
        packet->protocol = packet->opcode = packet->description = "";
        to->packet_count++;
        reader->index = i;
        result = read_packet(reader, json_array_get(array, i), packet);
    }
    reader->place = "";
    return result;
}

/* Makes room for an array's elements. -EINVAL when it is none. */
static int begin_array(struct reader *reader, const char *name, const json_t *array, size_t size,
                       void *out)
{
    reader->place = "";
    if (!json_is_array(array))
        return result_refuse(reader, name, "an array");
    void *elements = result_alloc(reader->result, json_array_size(array), size);
    if (!elements)
        return result_no_memory(reader);
    memcpy(out, &elements, sizeof elements);
    reader->place = name;
    return 0;
}

static int read_packet(const struct reader *reader, json_t *object, struct result_packet *packet)
{
    int result = read_fields(reader, packet_fields, object, packet);
    if (result == 0)
        result = result_read_counts(reader, "causes", json_object_get(object, "causes"),
                                    &packet->causes, &packet->cause_count);
    for (size_t i = 0; result == 0 && i < PACKET_TIMES; i++)
        result = read_times(reader, object, packet, i);
    return result;
}

/* One of a packet's three histograms. */
static int read_times(const struct reader *reader, const json_t *object,
                      struct result_packet *packet, size_t time)
{
    const json_t *json = json_object_get(object, packet_times[time].name);
    struct histogram *total = time == RESULT_RESPONSE ? reader->response : NULL;
    void *own = (char *)packet + packet_times[time].offset;
    int result =
        reader->response ? histogram_add_json(total, json) : histogram_from_json(own, json);
    if (result == -EINVAL)
        return result_refuse(reader, packet_times[time].name,
                             "a histogram by the rule \"" HISTOGRAM_RULE "\" whose counts add up");
    return result < 0 ? result_no_memory(reader) : 0;
}

static int result_read_seconds(struct reader *reader, const json_t *array)
{
    struct result *to = reader->result;
    int result = begin_array(reader, "seconds", array, sizeof *to->seconds, &to->seconds);
    for (size_t i = 0; result == 0 && i < json_array_size(array); i++) {
        reader->index = i;
        result = read_fields(reader, second_fields, json_array_get(array, i), &to->seconds[i]);
        if (result == 0 && i > 0 && to->seconds[i].t <= to->seconds[i - 1].t)
            result = result_refuse(reader, "t", "rising seconds");
        to->second_count++;
    }
    reader->place = "";
    return result;
}

static int read_samples(struct reader *reader, const json_t *array)
{
    struct result *to = reader->result;
    int result = begin_array(reader, "samples", array, sizeof *to->samples, &to->samples);
    for (size_t i = 0; result == 0 && i < json_array_size(array); i++) {
        reader->index = i;
        result = read_sample(reader, json_array_get(array, i), &to->samples[i]);
        to->sample_count++;
    }
    reader->place = "";
    return result;
}

static int read_sample(const struct reader *reader, json_t *object, struct result_sample *sample)
{
    static const struct field fields[] = {ROW(FIELD_REAL, result_sample, t), {0}};
    int result = read_fields(reader, fields, object, sample);
    if (result < 0)
        return result;
    sample->values = result_alloc(reader->result, json_object_size(object), sizeof *sample->values);
    if (!sample->values)
        return result_no_memory(reader);
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        struct result_value *to = &sample->values[sample->value_count];
        if (strcmp(name, "t") == 0)
            continue;
        if (!json_is_number(value) && !json_is_null(value))
            return result_refuse(reader, name, "a number");
        to->name = result_text(reader->result, name);
        if (!to->name)
            return result_no_memory(reader);
        to->value = json_is_null(value) ? NAN : json_number_value(value);
        sample->value_count++;
    }
    return 0;
}

int result_load(const char *path, char **bytes, size_t *length, struct error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), loaded = fd < 0 ? -errno : 0;
    *bytes = NULL;
    *length = 0;
    if (loaded == 0)
        loaded = load_open(fd, bytes, length);
    if (fd >= 0)
        close(fd);
    if (loaded == 0)
        return 0;
    error_set(error, loaded, "%s: cannot be read: %s", path, strerror(-loaded));
    free(*bytes);
    *bytes = NULL;
    return loaded;
}

/* Reads all of an open file. Returns 0 or a negative errno. */
static int load_open(int fd, char **bytes, size_t *length)
{
    struct stat stat;
    if (fstat(fd, &stat) < 0)
        return -errno;
    if (!S_ISREG(stat.st_mode))
        return S_ISDIR(stat.st_mode) ? -EISDIR : -EINVAL;
    if (stat.st_size > RESULT_FILE_MAX)
        return -EFBIG;
    *bytes = malloc((size_t)stat.st_size + 1);
    if (!*bytes)
        return -ENOMEM;
    for (*length = 0; *length < (size_t)stat.st_size;) {
        ssize_t got = read(fd, *bytes + *length, (size_t)stat.st_size - *length);
        if (got < 0 && errno != EINTR)
            return -errno;
        if (got == 0)
            break;
        *length += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

int result_parse_totals(struct result *result, struct histogram *response, const char *bytes,
                        size_t length, const char *name, struct error *error)
{
    struct reader reader = {
        .result = result, .response = response, .name = name, .error = error, .place = ""};
    return result_parse_json(&reader, bytes, length);
}

int result_total(const struct result *result, enum result_time time, struct histogram *out)
{
    for (size_t i = 0; i < result->packet_count; i++) {
        const void *from = (const char *)&result->packets[i] + packet_times[time].offset;
        int merged = histogram_merge(out, from);
        if (merged < 0)
            return merged;
    }
    return 0;
}

int result_check(const struct result *result, struct error *error)
{
    uint64_t known = result->sent + result->not_sent + result->dropped;
    if (result->planned != known)
        return differ(error, "planned and sent + not_sent + dropped", result->planned, known);
    known = result->ok + result->failed + result->no_answer + result->unfinished;
    if (result->sent != known)
        return differ(error, "sent and ok + failed + no_answer + unfinished", result->sent, known);
    int checked = result_check_packets(result, error);
    return checked < 0 ? checked : check_rows(result, error);
}

static int differ(struct error *error, const char *what, uint64_t left, uint64_t right)
{
    return error_set(error, -EPROTO, "%s: %" PRIu64 " and %" PRIu64, what, left, right);
}

static int result_check_packets(const struct result *result, struct error *error)
{
    uint64_t count = 0, failed = 0, planned = 0;
    for (size_t i = 0; i < result->packet_count; i++) {
        const struct result_packet *packet = &result->packets[i];
        uint64_t causes = 0;
        for (size_t cause = 0; cause < packet->cause_count; cause++)
            causes += packet->causes[cause].count;
        if (causes != packet->failed || packet->failed > packet->count)
            return differ(error, "a packet type's failures and their causes", packet->failed,
                          causes);
        count += packet->count;
        failed += packet->failed;
        planned += packet->planned;
    }
    if (count != result->done_ok + result->done_failed)
        return differ(error, "the packets' count and done_ok + done_failed", count,
                      result->done_ok + result->done_failed);
    if (failed != result->done_failed)
        return differ(error, "the packets' failed and done_failed", failed, result->done_failed);
    if (planned != result->planned)
        return differ(error, "the packets' planned and planned", planned, result->planned);
    return 0;
}

static int check_rows(const struct result *result, struct error *error)
{
    uint64_t ok = 0, failed = 0, planned = 0;
    for (size_t i = 0; i < result->second_count; i++) {
        ok += result->seconds[i].ok;
        failed += result->seconds[i].failed;
        planned += result->seconds[i].planned;
    }
    if (ok != result->done_ok)
        return differ(error, "the seconds' ok and done_ok", ok, result->done_ok);
    if (failed != result->done_failed)
        return differ(error, "the seconds' failed and done_failed", failed, result->done_failed);
    if (planned != result->planned)
        return differ(error, "the seconds' planned and planned", planned, result->planned);
    return 0;
}
