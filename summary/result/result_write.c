/* SPDX-License-Identifier: Apache-2.0 */
/* Results as JSON: writing. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/atomic_file.h"
#include "base/files/json_text.h"
#include "summary/result/result_fields_private.h"

static json_t *result_to_json(const struct result *result);
static bool set_member(json_t *object, const char *name, json_t *value);
static bool set_fields(json_t *object, const struct result_field *fields, const void *from);
static json_t *field_to_json(const struct result_field *field, const void *from);
static json_t *real_to_json(double value);
static json_t *labels_to_json(const struct result *result);
static json_t *fields_to_json(const struct result_field *fields, const void *from);
static json_t *counts_to_json(const struct result_count *counts, size_t count);
static json_t *array_to_json(const void *elements, size_t count, size_t size,
                             json_t *(*convert)(const void *element));
static json_t *packet_to_json(const void *element);
static json_t *second_to_json(const void *element);
static json_t *sample_to_json(const void *element);
static int dump_json(FILE *stream, void *root);

int result_write(const struct result *result, const char *path, struct error *error)
{
    json_t *root = result_to_json(result);
    if (!root)
        return error_set(error, -ENOMEM, "%s: cannot be written: out of memory", path);
    int written = atomic_file_write(path, dump_json, root, error);
    json_decref(root);
    return written;
}

/* NULL: out of memory, or a name that is not UTF-8. */
static json_t *result_to_json(const struct result *result)
{
    json_t *root = json_object();
    if (root && set_member(root, "format", json_integer(RESULT_FORMAT)) &&
        set_fields(root, result_head_fields, result) &&
        set_member(root, "labels", labels_to_json(result)) &&
        set_member(root, "backlog", fields_to_json(result_backlog_fields, result)) &&
        set_member(root, "cpu", fields_to_json(result_cpu_fields, result)) &&
        set_member(root, "skipped", counts_to_json(result->skipped, result->skipped_count)) &&
        set_member(root, "dns_extra_causes",
                   counts_to_json(result->dns_extra_causes, result->dns_extra_cause_count)) &&
        set_member(root, "left_out", counts_to_json(result->left_out, result->left_out_count)) &&
        set_member(root, "packets",
                   array_to_json(result->packets, result->packet_count, sizeof *result->packets,
                                 packet_to_json)) &&
        set_member(root, "seconds",
                   array_to_json(result->seconds, result->second_count, sizeof *result->seconds,
                                 second_to_json)) &&
        set_member(root, "samples",
                   array_to_json(result->samples, result->sample_count, sizeof *result->samples,
                                 sample_to_json)))
        return root;
    json_decref(root);
    return NULL;
}

/* Sets a member and takes ownership of its value. false: out of memory, or the value is NULL. */
static bool set_member(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

static bool set_fields(json_t *object, const struct result_field *fields, const void *from)
{
    for (; fields->name; fields++)
        if (!set_member(object, fields->name, field_to_json(fields, from)))
            return false;
    return true;
}

static json_t *field_to_json(const struct result_field *field, const void *from)
{
    const void *at = (const char *)from + field->offset;
    char digits[24];
    switch (field->kind) {
    case FIELD_COUNT:
    case FIELD_LATER_COUNT:
        return json_integer((json_int_t) * (const uint64_t *)at);
    case FIELD_INTEGER:
        return json_integer(*(const int64_t *)at);
    case FIELD_SEED:
        snprintf(digits, sizeof digits, "%" PRIu64, *(const uint64_t *)at);
        return json_string(digits);
    case FIELD_REAL:
    case FIELD_MAYBE:
        return real_to_json(*(const double *)at);
    case FIELD_TEXT:
    case FIELD_LATER_TEXT:
        return json_text_string(*(const char *const *)at);
    case FIELD_BOOL:
    case FIELD_LATER_BOOL:
        return json_boolean(*(const bool *)at);
    }
    return NULL;
}

static json_t *real_to_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *labels_to_json(const struct result *result)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < result->label_count; i++)
        if (!set_member(object, result->labels[i].name,
                        json_text_string(result->labels[i].value))) {
            json_decref(object);
            return NULL;
        }
    return object;
}

static json_t *fields_to_json(const struct result_field *fields, const void *from)
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
        if (!set_member(object, counts[i].name, json_integer((json_int_t)counts[i].count))) {
            json_decref(object);
            return NULL;
        }
    return object;
}

/* An array of count objects: convert() makes each from an element of size bytes. */
static json_t *array_to_json(const void *elements, size_t count, size_t size,
                             json_t *(*convert)(const void *element))
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < count; i++)
        if (json_array_append_new(array, convert((const char *)elements + i * size)) < 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *packet_to_json(const void *element)
{
    const struct result_packet *packet = element;
    json_t *object = fields_to_json(result_packet_fields, packet);
    bool good = object &&
                set_member(object, "causes", counts_to_json(packet->causes, packet->cause_count)) &&
                set_member(object, "sizes", counts_to_json(packet->sizes, packet->size_count));
    for (size_t i = 0; good && i < RESULT_PACKET_TIMES; i++) {
        const void *histogram = (const char *)packet + result_packet_times[i].offset;
        good = set_member(object, result_packet_times[i].name, histogram_to_json(histogram));
    }
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *second_to_json(const void *element)
{
    return fields_to_json(result_second_fields, element);
}

static json_t *sample_to_json(const void *element)
{
    const struct result_sample *sample = element;
    json_t *object = json_object();
    bool good = object && set_member(object, "t", json_real(sample->t));
    for (size_t i = 0; good && i < sample->value_count; i++)
        good = set_member(object, sample->values[i].name, real_to_json(sample->values[i].value));
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

static int dump_json(FILE *stream, void *root)
{
    return json_text_write(stream, root, JSON_COMPACT);
}
