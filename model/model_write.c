/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model_write.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/text_file.h"
#include "model/chain.h"
#include "model/gaps_private.h"
#include "model/model_private.h"

/* Lines are broken at LINE_WIDTH columns. A key longer than SIMPLE_KEY_MAX is not a simple key in
 * YAML. HEADER_TYPES packet types are listed at the top. */
enum { LINE_WIDTH = 100, SIMPLE_KEY_MAX = 1000, HEADER_TYPES = 12 };

struct model_writer {
    const struct model *model;
    FILE *out;
    size_t column;
};

static int write_head(struct model_writer *writer);
static void write_yaml_put(struct model_writer *writer, const char *text);
static int write_mix(struct model_writer *writer);
static int compare_visits(const void *a, const void *b, void *context);
static int write_source(struct model_writer *writer);
static char *yaml_scalar(const char *text);
static bool write_yaml_is_plain(const char *text);
static char *quote_scalar(const char *text);
static const char *write_yaml_number(double value, char *buffer, size_t size);
static bool has_further_legs(const struct model *model);
static int write_chain(struct model_writer *writer);
static char *entries_key(const struct model *model, const uint32_t *entries, uint32_t count);
static void write_yaml_put_key(struct model_writer *writer, const char *key);
static void write_transitions(struct model_writer *writer, const struct chain_history *history);
static void put_separator(struct model_writer *writer, bool first, size_t length, int indent);
static int write_gaps(struct model_writer *writer);
static int write_details(struct model_writer *writer);
static int write_form(struct model_writer *writer, const struct model_details *form);
static int write_values(struct model_writer *writer, const struct packet_field *field);

int model_write_yaml(const struct model *model, FILE *out)
{
    if (model->recording)
        return -ENOTSUP;
    struct model_writer writer = {.model = model, .out = out};
    errno = 0;
    int result = write_head(&writer);
    if (result == 0)
        result = write_chain(&writer);
    if (result == 0)
        result = write_gaps(&writer);
    if (result == 0)
        result = write_details(&writer);
    return result == 0 ? text_file_flush(out) : result;
}

static int write_head(struct model_writer *writer)
{
    const struct model *model = writer->model;
    char text[40];
    write_yaml_put(writer,
                   "# A model of network traffic for traffic-replay, see traffic-model(5).\n");
    if (model->samba_v2)
        fprintf(writer->out, "# Converted from the Samba v2 model %s.\n", model->name);
    int result = write_mix(writer);
    write_yaml_put(writer, "version: 3\n");
    if (result == 0)
        result = write_source(writer);
    fprintf(writer->out, "packet_rate: %-16s # packets per second at -r 1 -S 1\n",
            write_yaml_number(model->packet_rate, text, sizeof text));
    fprintf(writer->out, "history: %-20" PRIu32 " # entries that determine the next one\n",
            model->history_length);
    if (has_further_legs(model))
        write_yaml_put(
            writer, "legs: separate                # an smb2:1 right after another belongs to the "
                    "same set-up\n");
    if (model->dns_queries > 0)
        fprintf(writer->out, "dns: {queries: %" PRIu64 "} # counted outside of the chain\n",
                model->dns_queries);
    return result;
}

static void write_yaml_put(struct model_writer *writer, const char *text)
{
    const char *newline = strrchr(text, '\n');
    fputs(text, writer->out);
    writer->column = newline ? strlen(newline + 1) : writer->column + strlen(text);
}

static int write_mix(struct model_writer *writer)
{
    const struct model *model = writer->model;
    uint32_t *order = calloc(model->type_count, sizeof *order);
    char text[CHAIN_NAME_SIZE + 40];
    if (!order)
        return -ENOMEM;
    for (uint32_t i = 0; i < model->type_count; i++)
        order[i] = i;
    qsort_r(order, model->type_count, sizeof *order, compare_visits, model->types);
    write_yaml_put(writer, "# A conversation has on average: ");
    for (uint32_t i = 0; i < model->type_count && i < HEADER_TYPES; i++) {
        const struct model_type *type = &model->types[order[i]];
        snprintf(text, sizeof text, "%.3g %s:%s", type->visits, type->protocol, type->opcode);
        if (i > 0 && writer->column + strlen(text) + 2 > LINE_WIDTH)
            write_yaml_put(writer, ",\n#     ");
        else if (i > 0)
            write_yaml_put(writer, ", ");
        write_yaml_put(writer, text);
    }
    write_yaml_put(writer, model->type_count > HEADER_TYPES ? ", ...\n" : "\n");
    free(order);
    return 0;
}

static int compare_visits(const void *a, const void *b, void *context)
{
    const struct model_type *types = context;
    const struct model_type *left = &types[*(const uint32_t *)a];
    const struct model_type *right = &types[*(const uint32_t *)b];
    if (left->visits != right->visits)
        return left->visits > right->visits ? -1 : 1;
    return left < right ? -1 : left > right;
}

static int write_source(struct model_writer *writer)
{
    const struct model_source *source = &writer->model->source;
    double conversations = source->conversations;
    char text[40];
    if (conversations < 0)
        conversations = (double)writer->model->histories[CHAIN_START].total;
    write_yaml_put(writer, "source: {");
    if (source->capture) {
        char *name = yaml_scalar(source->capture);
        if (!name)
            return -ENOMEM;
        fprintf(writer->out, "capture: %s, ", name);
        free(name);
    }
    if (source->packets >= 0)
        fprintf(writer->out, "packets: %s, ",
                write_yaml_number(source->packets, text, sizeof text));
    if (source->seconds >= 0)
        fprintf(writer->out, "seconds: %s, ",
                write_yaml_number(source->seconds, text, sizeof text));
    fprintf(writer->out, "conversations: %s}\n",
            write_yaml_number(conversations, text, sizeof text));
    return 0;
}

static char *yaml_scalar(const char *text)
{
    return write_yaml_is_plain(text) ? strdup(text) : quote_scalar(text);
}

static bool write_yaml_is_plain(const char *text)
{
    static const char *const reserved[] = {"null", "yes", "no", "on", "off"};
    if (!isalnum((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcasecmp(text, reserved[i]) == 0)
            return false;
    return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                             "_.-")] == '\0';
}

/* The text in double quotes, which can contain everything. The caller frees it; NULL: out of
 * memory. */
static char *quote_scalar(const char *text)
{
    char *quoted = malloc(4 * strlen(text) + 3), *to = quoted;
    if (!quoted)
        return NULL;
    *to++ = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            *to++ = '\\';
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            to += sprintf(to, "\\x%02X", (unsigned char)*text);
        else
            *to++ = *text;
    }
    *to++ = '"';
    *to = '\0';
    return quoted;
}

/* The shortest decimal that gives the same number. */
static const char *write_yaml_number(double value, char *buffer, size_t size)
{
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(buffer, size, "%.0f", value);
        return buffer;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buffer, size, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}

static bool has_further_legs(const struct model *model)
{
    for (uint32_t t = 0; t < model->transition_count; t++)
        if (model->transitions[t].further_leg)
            return true;
    return false;
}

static int write_chain(struct model_writer *writer)
{
    const struct model *model = writer->model;
    write_yaml_put(writer, "chain: # history: {what came next: how often}; \"-\" is the start or "
                           "the end\n");
    for (uint32_t h = 0; h < model->history_count; h++) {
        char *key = entries_key(model, model->histories[h].entries, model->history_length);
        if (!key)
            return -ENOMEM;
        write_yaml_put_key(writer, key);
        write_transitions(writer, &model->histories[h]);
        free(key);
    }
    return 0;
}

static char *entries_key(const struct model *model, const uint32_t *entries, uint32_t count)
{
    char *key = malloc(count * (size_t)CHAIN_NAME_SIZE + 1), *to = key;
    for (uint32_t i = 0; key && i < count; i++) {
        char name[CHAIN_NAME_SIZE];
        to += sprintf(to, "%s%s", i ? " " : "",
                      chain_entry_name(model, entries[i], name, sizeof name));
    }
    return key;
}

static void write_yaml_put_key(struct model_writer *writer, const char *key)
{
    bool simple = strlen(key) <= SIMPLE_KEY_MAX;
    write_yaml_put(writer, simple ? "  \"" : "  ? \"");
    write_yaml_put(writer, key);
    write_yaml_put(writer, simple ? "\": " : "\"\n  : ");
}

static void write_transitions(struct model_writer *writer, const struct chain_history *history)
{
    const struct model *model = writer->model;
    write_yaml_put(writer, "{");
    for (uint32_t i = 0; i < history->count; i++) {
        const struct chain_transition *transition = &model->transitions[history->first + i];
        char name[CHAIN_NAME_SIZE], text[CHAIN_NAME_SIZE + 40];
        snprintf(text, sizeof text, "\"%s\": %" PRIu64,
                 chain_entry_name(model, transition->entry, name, sizeof name), transition->count);
        put_separator(writer, i == 0, strlen(text), 6);
        write_yaml_put(writer, text);
    }
    write_yaml_put(writer, "}\n");
}

/* Writes ", " before an item of a flow collection, and a new line if the line would be too long. */
static void put_separator(struct model_writer *writer, bool first, size_t length, int indent)
{
    if (!first && writer->column + length + 2 > LINE_WIDTH) {
        write_yaml_put(writer, ",\n");
        fprintf(writer->out, "%*s", indent, "");
        writer->column = (size_t)indent;
    } else if (!first) {
        write_yaml_put(writer, ", ");
    }
}

static int write_gaps(struct model_writer *writer)
{
    const struct model *model = writer->model;
    if (model->gaps_count > 0)
        write_yaml_put(writer,
                       "gaps: # seconds before a packet, or of a wait; equally likely between "
                       "each two figures\n");
    for (uint32_t i = 0; i < model->gaps_count; i++) {
        const struct gaps *gaps = &model->gaps[i];
        char text[40], *key = entries_key(model, gaps->entries, gaps->length);
        if (!key)
            return -ENOMEM;
        write_yaml_put_key(writer, key);
        write_yaml_put(writer, "[");
        free(key);
        for (uint32_t p = 0; p < gaps->count; p++) {
            write_yaml_number(gaps->points[p], text, sizeof text);
            put_separator(writer, p == 0, strlen(text), 6);
            write_yaml_put(writer, text);
        }
        write_yaml_put(writer, "]\n");
    }
    return 0;
}

static int write_details(struct model_writer *writer)
{
    const struct model *model = writer->model;
    bool any = false;
    for (uint32_t i = 0; i < model->type_count; i++) {
        const struct model_type *type = &model->types[i];
        if (type->details_count == 0)
            continue;
        if (!any)
            write_yaml_put(writer, "details: # contents of the packets, and how often\n");
        any = true;
        fprintf(writer->out, "  \"%s:%s\":\n", type->protocol, type->opcode);
        for (size_t d = 0; d < type->details_count; d++) {
            int result = write_form(writer, &type->details[d]);
            if (result < 0)
                return result;
        }
    }
    return 0;
}

static int write_form(struct model_writer *writer, const struct model_details *form)
{
    char text[60];
    snprintf(text, sizeof text, "    - {count: %" PRIu64, form->count);
    write_yaml_put(writer, text);
    for (size_t i = 0; i < form->field_count; i++) {
        const struct packet_field *field = &form->fields[i];
        put_separator(writer, false, strlen(field->key) + 2 + strlen(field->values[0]), 7);
        write_yaml_put(writer, field->key);
        write_yaml_put(writer, ": ");
        int result = write_values(writer, field);
        if (result < 0)
            return result;
    }
    write_yaml_put(writer, "}\n");
    return 0;
}

static int write_values(struct model_writer *writer, const struct packet_field *field)
{
    bool list = strcmp(field->key, "attrs") == 0 || strcmp(field->key, "controls") == 0;
    write_yaml_put(writer, list ? "[" : "");
    for (size_t i = 0; i < field->count; i++) {
        char *value = yaml_scalar(field->values[i]);
        if (!value)
            return -ENOMEM;
        put_separator(writer, i == 0, strlen(value), 8);
        write_yaml_put(writer, value);
        free(value);
    }
    write_yaml_put(writer, list ? "]" : "");
    return 0;
}
