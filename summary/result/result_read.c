/* SPDX-License-Identifier: Apache-2.0 */
/* Results as JSON: reading. Every field is checked against its row in result_fields.c. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "summary/result/result_fields_private.h"

enum { NO_INDEX = 0xffffffff };

/* What is being read, and where, for error messages. */
struct reader {
    struct result *result;
    struct histogram *response; /* sum of all response times; NULL: keep them by packet type */
    const char *name;           /* of the file */
    struct error *error;
    const char *place; /* "packets" and the like, "" for the top */
    size_t index;      /* in an array; NO_INDEX: an object */
};

static int result_parse_json(struct reader *reader, const char *bytes, size_t length);
static int result_read_root(struct reader *reader, const json_t *root);
static int read_format(const struct reader *reader, const json_t *root);
static int read_fields(const struct reader *reader, const struct result_field *fields,
                       const json_t *object, void *to);
static int result_read_field(const struct reader *reader, const struct result_field *field,
                             const json_t *value, void *at);
static int read_integer(const struct reader *reader, const struct result_field *field,
                        const json_t *value, void *out);
static int result_refuse(const struct reader *reader, const char *field, const char *expected);
static int read_seed(const struct reader *reader, const char *field, const json_t *value,
                     uint64_t *out);
static int read_real(const struct reader *reader, const struct result_field *field,
                     const json_t *value, double *out);
static int result_read_text(const struct reader *reader, const char *field, const json_t *value,
                            const char **out);
static int result_no_memory(const struct reader *reader);
static int read_objects(struct reader *reader, const json_t *root);
static int read_labels(const struct reader *reader, json_t *object);
static int result_read_object(struct reader *reader, const char *name,
                              const struct result_field *fields, const json_t *root);
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

int result_parse_totals(struct result *result, struct histogram *response, const char *bytes,
                        size_t length, const char *name, struct error *error)
{
    struct reader reader = {
        .result = result, .response = response, .name = name, .error = error, .place = ""};
    return result_parse_json(&reader, bytes, length);
}

static int result_parse_json(struct reader *reader, const char *bytes, size_t length)
{
    json_error_t fault;
    struct error detail;
    json_t *root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &fault);
    if (!root) {
        bool memory = json_error_code(&fault) == json_error_out_of_memory;
        return error_set(reader->error, memory ? -ENOMEM : -EINVAL, "%s:%d:%d: not JSON: %s",
                         reader->name, fault.line, fault.column, fault.text);
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
        result = read_fields(reader, result_head_fields, root, reader->result);
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
    if (!json_is_integer(format))
        return error_set(reader->error, -ENOMSG, "%s: not a result of traffic-replay",
                         reader->name);
    if (json_is_true(json_object_get(root, "dry_run")))
        return error_set(reader->error, -ENOMSG, "%s: the output of a --dry-run, not a result",
                         reader->name);
    if (json_integer_value(format) != RESULT_FORMAT)
        return error_set(reader->error, -EINVAL,
                         "%s: written in format %lld; this program reads format %d", reader->name,
                         (long long)json_integer_value(format), RESULT_FORMAT);
    return 0;
}

static int read_fields(const struct reader *reader, const struct result_field *fields,
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

static int result_read_field(const struct reader *reader, const struct result_field *field,
                             const json_t *value, void *at)
{
    switch (field->kind) {
    case FIELD_LATER_COUNT:
        if (!value)
            return 0;
        /* fallthrough */
    case FIELD_COUNT:
    case FIELD_INTEGER:
        return read_integer(reader, field, value, at);
    case FIELD_SEED:
        return read_seed(reader, field->name, value, at);
    case FIELD_REAL:
    case FIELD_MAYBE:
        return read_real(reader, field, value, at);
    case FIELD_LATER_TEXT:
        if (!value)
            return 0;
        /* fallthrough */
    case FIELD_TEXT:
        return result_read_text(reader, field->name, value, at);
    case FIELD_LATER_BOOL:
        if (!value)
            return 0;
        /* fallthrough */
    case FIELD_BOOL:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value) ? 0 : result_refuse(reader, field->name, "true or false");
    }
    return -EINVAL;
}

static int read_integer(const struct reader *reader, const struct result_field *field,
                        const json_t *value, void *out)
{
    /* A count is a uint64_t and an integer an int64_t. */
    int64_t number = json_integer_value(value);
    if (!json_is_integer(value) || (field->kind != FIELD_INTEGER && number < 0))
        return result_refuse(reader, field->name, "a whole number");
    memcpy(out, &number, sizeof number);
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

static int read_real(const struct reader *reader, const struct result_field *field,
                     const json_t *value, double *out)
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
        result = result_read_object(reader, "backlog", result_backlog_fields, root);
    if (result == 0)
        result = result_read_object(reader, "cpu", result_cpu_fields, root);
    if (result == 0)
        result = result_read_counts(reader, "skipped", json_object_get(root, "skipped"),
                                    &to->skipped, &to->skipped_count);
    if (result == 0)
        result = result_read_counts(reader, "left_out", json_object_get(root, "left_out"),
                                    &to->left_out, &to->left_out_count);
    if (result == 0 && json_object_get(root, "dns_extra_causes")) /* of later versions */
        result = result_read_counts(reader, "dns_extra_causes",
                                    json_object_get(root, "dns_extra_causes"),
                                    &to->dns_extra_causes, &to->dns_extra_cause_count);
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

static int result_read_object(struct reader *reader, const char *name,
                              const struct result_field *fields, const json_t *root)
{
    reader->place = name;
    reader->index = NO_INDEX;
    int result = read_fields(reader, fields, json_object_get(root, name), reader->result);
    reader->place = "";
    return result;
}

/* Reads an object of names and whole numbers. */
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

/* Allocates an array's elements; *out is a pointer to them. -EINVAL: the value is no array. */
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
    int result = read_fields(reader, result_packet_fields, object, packet);
    if (result == 0)
        result = result_read_counts(reader, "causes", json_object_get(object, "causes"),
                                    &packet->causes, &packet->cause_count);
    if (result == 0 && json_object_get(object, "sizes")) /* of later versions */
        result = result_read_counts(reader, "sizes", json_object_get(object, "sizes"),
                                    &packet->sizes, &packet->size_count);
    for (size_t i = 0; result == 0 && i < RESULT_PACKET_TIMES; i++)
        result = read_times(reader, object, packet, i);
    return result;
}

/* Reads one of the three histograms of a packet type. */
static int read_times(const struct reader *reader, const json_t *object,
                      struct result_packet *packet, size_t time)
{
    const json_t *json = json_object_get(object, result_packet_times[time].name);
    struct histogram *total = time == RESULT_RESPONSE ? reader->response : NULL;
    void *own = (char *)packet + result_packet_times[time].offset;
    int result =
        reader->response ? histogram_add_json(total, json) : histogram_from_json(own, json);
    if (result == -EINVAL)
        return result_refuse(reader, result_packet_times[time].name,
                             "a histogram by the rule \"" HISTOGRAM_RULE "\" whose counts add up");
    return result < 0 ? result_no_memory(reader) : 0;
}

static int result_read_seconds(struct reader *reader, const json_t *array)
{
    struct result *to = reader->result;
    int result = begin_array(reader, "seconds", array, sizeof *to->seconds, &to->seconds);
    for (size_t i = 0; result == 0 && i < json_array_size(array); i++) {
        reader->index = i;
        result =
            read_fields(reader, result_second_fields, json_array_get(array, i), &to->seconds[i]);
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
    static const struct result_field fields[] = {ROW(FIELD_REAL, result_sample, t), {0}};
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

/* Reads an open file to its end. 0 or a negative errno. */
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
