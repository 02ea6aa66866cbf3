/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/play_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

static int play_row_fill(const struct model *model, const struct model_type *type,
                         struct play_row *row, struct error *error);
static int play_row_add(const struct model *model, const struct model_type *type, size_t number,
                        struct play_row *row, struct error *error);
static struct packet_field *packet_fields(const struct model_details *details);

int play_table_new(const struct model *model, const struct settings *settings,
                   struct play_table **out, struct error *error)
{
    size_t count;
    const struct model_type *types = model_types(model, &count);
    struct play_table *table = calloc(1, sizeof *table);
    int result = table ? 0 : -ENOMEM;
    if (table && !(table->rows = calloc(count + 1, sizeof *table->rows)))
        result = -ENOMEM;
    if (!result)
        table->row_count = count;
    for (size_t i = 0; !result && i < count; i++) {
        table->rows[i].packet = packet_type_find(types[i].protocol, types[i].opcode);
        table->rows[i].part = run_part(settings, &types[i]);
        result = play_row_fill(model, &types[i], &table->rows[i], error);
    }
    if (!result) {
        *out = table;
        return 0;
    }
    play_table_free(table);
    return result == -ENOMEM ? error_no_memory(error) : result;
}

static int play_row_fill(const struct model *model, const struct model_type *type,
                         struct play_row *row, struct error *error)
{
    bool played = row->part == RUN_OPERATION || row->part == RUN_STATE;
    if (!played || !row->packet->compile)
        return 0;
    size_t count = type->details_count ? type->details_count : 1;
    row->details = calloc(count, sizeof *row->details);
    if (!row->details)
        return -ENOMEM;
    int result = 0;
    for (size_t i = 0; !result && i < count; i++)
        result = play_row_add(model, type, i, row, error);
    return result;
}

static int play_row_add(const struct model *model, const struct model_type *type, size_t number,
                        struct play_row *row, struct error *error)
{
    static const struct model_details none = {0};
    const struct model_details *details = type->details_count ? &type->details[number] : &none;
    struct packet_field *fields = packet_fields(details);
    if (!fields)
        return -ENOMEM;
    struct error reason = {0};
    void *made = row->packet->compile(fields, details->field_count, &reason);
    free(fields);
    if (!made)
        return error_set(error, reason.code == -ENOMEM ? -ENOMEM : -EINVAL,
                         "%s: details %zu of %s:%s: %s", model_name(model), number + 1,
                         type->protocol, type->opcode, reason.text);
    if (row->packet->weigh && type->details_count)
        row->packet->weigh(made, details->count);
    row->details[row->details_count++] = made;
    return 0;
}

/* Converts the model's fields to those of protocols/. The strings stay the model's. */
static struct packet_field *packet_fields(const struct model_details *details)
{
    struct packet_field *fields = calloc(details->field_count + 1, sizeof *fields);
    for (size_t i = 0; fields && i < details->field_count; i++)
        fields[i] = (struct packet_field){.key = details->fields[i].key,
                                          .count = details->fields[i].count,
                                          .values = details->fields[i].values};
    return fields;
}

void play_table_free(struct play_table *table)
{
    for (size_t i = 0; table && i < table->row_count; i++) {
        struct play_row *row = &table->rows[i];
        for (size_t d = 0; d < row->details_count; d++)
            if (row->packet->release)
                row->packet->release(row->details[d]);
        free(row->details);
    }
    if (table)
        free(table->rows);
    free(table);
}
