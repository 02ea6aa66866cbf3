/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/rpc/rpc_details.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_level(const struct packet_field *field, const uint16_t *levels, uint16_t *level,
                       struct error *error);
static bool level_known(const uint16_t *levels, unsigned long level);
static void tell_levels(const uint16_t *levels, const char *text, struct error *error);

void *rpc_level_compile(const struct packet_field *fields, size_t count, const uint16_t *levels,
                        struct error *error)
{
    struct rpc_level_details *details = calloc(1, sizeof *details);
    if (!details) {
        error_no_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, "level") == 0 &&
            read_level(&fields[i], levels, &details->level, error))
            continue;
        if (strcmp(fields[i].key, "level") != 0)
            error_set(error, -EINVAL, "%s: expected level", fields[i].key);
        free(details);
        return NULL;
    }
    return details;
}

static bool read_level(const struct packet_field *field, const uint16_t *levels, uint16_t *level,
                       struct error *error)
{
    char *end;
    const char *text = field->count == 1 ? field->values[0] : "";
    unsigned long number = strtoul(text, &end, 10);
    if (!*text || *end || number > UINT16_MAX || !level_known(levels, number)) {
        tell_levels(levels, text, error);
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
static void tell_levels(const uint16_t *levels, const char *text, struct error *error)
{
    char list[ERROR_TEXT_SIZE / 2] = "";
    for (size_t used = 0; *levels && used < sizeof list; levels++)
        used += (size_t)snprintf(list + used, sizeof list - used, " %u", *levels);
    error_set(error, -EINVAL, "level: '%.20s' cannot be played; these can:%s", text, list);
}
