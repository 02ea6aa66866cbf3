/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/rpc/rpc_details.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_level(const struct packet_field *field, const uint16_t *levels, uint16_t *level,
                       char *error, size_t error_size);
static bool level_known(const uint16_t *levels, unsigned long level);
static void tell_levels(const uint16_t *levels, const char *text, char *error, size_t error_size);

void *rpc_level_compile(const struct packet_field *fields, size_t count, const uint16_t *levels,
                        char *error, size_t error_size)
{
    struct rpc_level_details *details = calloc(1, sizeof *details);
    if (!details) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, "level") == 0 &&
            read_level(&fields[i], levels, &details->level, error, error_size))
            continue;
        if (strcmp(fields[i].key, "level") != 0)
            snprintf(error, error_size, "%s: expected level", fields[i].key);
        free(details);
        return NULL;
    }
    return details;
}

static bool read_level(const struct packet_field *field, const uint16_t *levels, uint16_t *level,
                       char *error, size_t error_size)
{
    char *end;
    const char *text = field->count == 1 ? field->values[0] : "";
    unsigned long number = strtoul(text, &end, 10);
    if (!*text || *end || number > UINT16_MAX || !level_known(levels, number)) {
        tell_levels(levels, text, error, error_size);
        return false;
    }
    *level = (uint16_t)number;
    return true;
}

static bool level_known(const uint16_t *levels, unsigned long level)
{
    while (*levels && *levels != level)
        levels++;
    return *levels != 0;
}

/* What is wrong, and what would be right. */
static void tell_levels(const uint16_t *levels, const char *text, char *error, size_t error_size)
{
    int length = snprintf(error, error_size, "level: '%.20s' cannot be played; these can:", text);
    for (; *levels && length > 0 && (size_t)length < error_size; levels++)
        length += snprintf(error + length, error_size - (size_t)length, " %u", *levels);
}
