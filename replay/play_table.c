/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/play_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

static int play_row_fill(struct play_table *table, const struct model *model, packet_index index,
                         struct error *error);
static int play_row_add(struct play_table *table, const struct model *model, packet_index index,
                        size_t number, struct error *error);

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
    for (packet_index i = 0; !result && i < count; i++) {
        table->rows[i].part = run_part(settings, &types[i]);
        result = play_row_fill(table, model, i, error);
    }
    if (!result) {
        *out = table;
        return 0;
    }
    play_table_free(table);
    return result == -ENOMEM ? error_no_memory(error) : result;
}

static int play_row_fill(struct play_table *table, const struct model *model, packet_index index,
                         struct error *error)
{
    size_t type_count;
    const struct model_type *type = &model_types(model, &type_count)[index];
    struct play_row *row = &table->rows[index];
    if (row->part != RUN_OPERATION && row->part != RUN_STATE)
        return 0;
    row->player = packet_player_of(type->row);
    if (model_script(model)) {
        row->steps = model_script(model)->steps;
        return 0;
    }
    if (!row->player || !packet_has_details(row->player))
        return 0;
    size_t count = type->details_count ? type->details_count : 1;
    row->details = calloc(count, sizeof *row->details);
    if (!row->details)
        return -ENOMEM;
    int result = 0;
    for (size_t i = 0; !result && i < count; i++)
        result = play_row_add(table, model, index, i, error);
    return result;
}

static int play_row_add(struct play_table *table, const struct model *model, packet_index index,
                        size_t number, struct error *error)
{
    static const struct model_details none = {.count = 1};
    size_t type_count;
    const struct model_type *type = &model_types(model, &type_count)[index];
    const struct model_details *form = type->details_count ? &type->details[number] : &none;
    struct play_row *row = &table->rows[index];
    struct packet_details details;
    struct error reason = {0};
    void *made = NULL;
    if (packet_details_read(&details, type->row, form->fields, form->field_count, &reason) == 0) {
        details.count = form->count;
        made = packet_compile(row->player, &details, &table->context, &reason);
    }
    if (!made)
        return error_set(error, reason.code == -ENOMEM ? -ENOMEM : -EINVAL,
                         "%s: details %zu of %s:%s: %s", model_name(model), number + 1,
                         type->protocol, type->opcode, reason.text);
    row->details[row->details_count++] = made;
    return 0;
}

void play_table_free(struct play_table *table)
{
    for (size_t i = 0; table && i < table->row_count; i++) {
        struct play_row *row = &table->rows[i];
        for (size_t d = 0; d < row->details_count; d++)
            packet_release(row->player, row->details[d]);
        free(row->details);
    }
    if (table) {
        packet_context_clear(&table->context);
        free(table->rows);
    }
    free(table);
}
