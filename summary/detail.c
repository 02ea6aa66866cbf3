/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up packet types and causes over JSON results. Both lists are kept sorted. */
#include "summary/detail.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "summary/result/result.h"

static int detail_add_file(struct detail *detail, const char *path, struct error *error);
static void clean_packet(struct result_packet *packet);
static int detail_add_packet(struct detail *detail, const struct result_packet *packet);
static struct detail_type *take_type(struct detail *detail, const char *protocol,
                                     const char *opcode, const char *description);
static size_t place_of_type(const struct detail *detail, const char *protocol, const char *opcode,
                            bool *found);
static int detail_compare_types(const char *protocol, const char *opcode,
                                const struct detail_type *type);
static void clear_type(struct detail_type *type);
static int detail_add_cause(struct detail_type *type, const char *name, uint64_t count);

int detail_add(struct detail *detail, const struct reading *reading, struct error *error)
{
    int added = 0;
    if (reading->form != READING_JSON) {
        detail->without++;
        return 0;
    }
    for (const struct reading *part = reading; added == 0 && part; part = part->more)
        added = detail_add_file(detail, part->path, error);
    detail->runs++;
    return added;
}

static int detail_add_file(struct detail *detail, const char *path, struct error *error)
{
    struct result result;
    result_init(&result);
    int added = result_read(&result, path, error);
    for (size_t i = 0; added == 0 && i < result.packet_count; i++) {
        clean_packet(&result.packets[i]);
        added = detail_add_packet(detail, &result.packets[i]);
        if (added < 0)
            error_set(error, -ENOMEM, "%s: out of memory", path);
    }
    result_clear(&result);
    return added;
}

/* Replaces control characters, as these texts reach terminals. They are in the result's memory. */
static void clean_packet(struct result_packet *packet)
{
    text_clean((char *)(uintptr_t)packet->protocol);
    text_clean((char *)(uintptr_t)packet->opcode);
    text_clean((char *)(uintptr_t)packet->description);
    for (size_t i = 0; i < packet->cause_count; i++)
        text_clean((char *)(uintptr_t)packet->causes[i].name);
}

static int detail_add_packet(struct detail *detail, const struct result_packet *packet)
{
    struct detail_type *type =
        take_type(detail, packet->protocol, packet->opcode, packet->description);
    if (!type || histogram_merge(&type->service, &packet->service) < 0 ||
        histogram_merge(&type->response, &packet->response) < 0)
        return -ENOMEM;
    type->count += packet->count;
    type->failed += packet->failed;
    type->no_answer += packet->no_answer;
    int result = 0;
    for (size_t i = 0; result == 0 && i < packet->cause_count; i++)
        result = detail_add_cause(type, packet->causes[i].name, packet->causes[i].count);
    return result;
}

/* The row of a packet type, added if missing. NULL: out of memory. */
static struct detail_type *take_type(struct detail *detail, const char *protocol,
                                     const char *opcode, const char *description)
{
    bool found;
    size_t place = place_of_type(detail, protocol, opcode, &found);
    if (found)
        return &detail->types[place];
    struct detail_type type = {
        .protocol = strdup(protocol), .opcode = strdup(opcode), .description = strdup(description)};
    histogram_init(&type.service);
    histogram_init(&type.response);
    struct detail_type *types =
        reallocarray(detail->types, detail->type_count + 1, sizeof *detail->types);
    if (types)
        detail->types = types;
    if (!types || !type.protocol || !type.opcode || !type.description) {
        clear_type(&type);
        return NULL;
    }
    memmove(&types[place + 1], &types[place], (detail->type_count - place) * sizeof *types);
    types[place] = type;
    detail->type_count++;
    return &types[place];
}

/* Index at which a packet type is or would be inserted. */
static size_t place_of_type(const struct detail *detail, const char *protocol, const char *opcode,
                            bool *found)
{
    size_t low = 0, high = detail->type_count;
    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = detail_compare_types(protocol, opcode, &detail->types[middle]);
        if (order == 0)
            *found = true;
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int detail_compare_types(const char *protocol, const char *opcode,
                                const struct detail_type *type)
{
    int order = strcmp(protocol, type->protocol);
    if (order)
        return order;
    unsigned long left = strtoul(opcode, NULL, 0), right = strtoul(type->opcode, NULL, 0);
    if (left != right)
        return left < right ? -1 : 1;
    return strcmp(opcode, type->opcode);
}

static void clear_type(struct detail_type *type)
{
    for (size_t i = 0; i < type->cause_count; i++)
        free(type->causes[i].text);
    free(type->causes);
    free(type->protocol);
    free(type->opcode);
    free(type->description);
    histogram_clear(&type->service);
    histogram_clear(&type->response);
}

static int detail_add_cause(struct detail_type *type, const char *name, uint64_t count)
{
    size_t place = 0;
    while (place < type->cause_count && strcmp(type->causes[place].text, name) < 0)
        place++;
    if (place < type->cause_count && strcmp(type->causes[place].text, name) == 0) {
        type->causes[place].count += count;
        return 0;
    }
    struct detail_cause *causes = reallocarray(type->causes, type->cause_count + 1, sizeof *causes);
    if (!causes)
        return -ENOMEM;
    type->causes = causes;
    char *text = strdup(name);
    if (!text)
        return -ENOMEM;
    memmove(&causes[place + 1], &causes[place], (type->cause_count - place) * sizeof *causes);
    causes[place] = (struct detail_cause){text, count};
    type->cause_count++;
    return 0;
}

int detail_merge_counts(struct detail *to, const struct detail *part)
{
    for (size_t i = 0; i < part->type_count; i++) {
        const struct detail_type *from = &part->types[i];
        struct detail_type *type = take_type(to, from->protocol, from->opcode, from->description);
        if (!type)
            return -ENOMEM;
        type->count += from->count;
        type->failed += from->failed;
        type->no_answer += from->no_answer;
        for (size_t cause = 0; cause < from->cause_count; cause++)
            if (detail_add_cause(type, from->causes[cause].text, from->causes[cause].count) < 0)
                return -ENOMEM;
    }
    return 0;
}

void detail_clear(struct detail *detail)
{
    for (size_t i = 0; i < detail->type_count; i++)
        clear_type(&detail->types[i]);
    free(detail->types);
    *detail = (struct detail){0};
}

const struct detail_type *detail_find(const struct detail *detail, const char *protocol,
                                      const char *opcode)
{
    bool found;
    size_t place = place_of_type(detail, protocol, opcode, &found);
    return found ? &detail->types[place] : NULL;
}

uint64_t detail_cause(const struct detail_type *type, const char *text)
{
    for (size_t i = 0; i < type->cause_count; i++)
        if (strcmp(type->causes[i].text, text) == 0)
            return type->causes[i].count;
    return 0;
}
