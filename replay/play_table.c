/* SPDX-License-Identifier: Apache-2.0 */
/* From a model's packets to the rows that play them, and from their details to what rows want. */
#include "replay/play_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

static int compile_type(const struct model *model, const struct model_type *type,
                        struct compiled_type *compiled, struct error *error);
static int compile_details(const struct model *model, const struct model_type *type, size_t number,
                           struct compiled_type *compiled, struct error *error);
static struct packet_field *packet_fields(const struct model_details *details);

int compile_model(const struct model *model, const struct settings *settings, struct compiled **out,
                  struct error *error)
{
    size_t count;
    const struct model_type *types = model_types(model, &count);
    struct compiled *compiled = calloc(1, sizeof *compiled);
    int result = compiled ? 0 : -ENOMEM;
    if (compiled && !(compiled->types = calloc(count + 1, sizeof *compiled->types)))
        result = -ENOMEM;
    if (!result)
        compiled->type_count = count;
    for (size_t i = 0; !result && i < count; i++) {
        compiled->types[i].packet = packet_type_find(types[i].protocol, types[i].opcode);
        compiled->types[i].part = run_part(settings, &types[i]);
        result = compile_type(model, &types[i], &compiled->types[i], error);
    }
    if (!result) {
        *out = compiled;
        return 0;
    }
    if (result == -ENOMEM)
        error_set(error, -EINVAL, "out of memory while making ready the model's packets");
    compile_free(compiled);
    return result;
}

static int compile_type(const struct model *model, const struct model_type *type,
                        struct compiled_type *compiled, struct error *error)
{
    bool played = compiled->part == RUN_OPERATION || compiled->part == RUN_STATE;
    if (!played || !compiled->packet->compile)
        return 0;
    size_t count = type->details_count ? type->details_count : 1;
    compiled->details = calloc(count, sizeof *compiled->details);
    if (!compiled->details)
        return -ENOMEM;
    int result = 0;
    for (size_t i = 0; !result && i < count; i++)
        result = compile_details(model, type, i, compiled, error);
    return result;
}

static int compile_details(const struct model *model, const struct model_type *type, size_t number,
                           struct compiled_type *compiled, struct error *error)
{
    static const struct model_details none = {0};
    const struct model_details *details = type->details_count ? &type->details[number] : &none;
    struct packet_field *fields = packet_fields(details);
    if (!fields)
        return -ENOMEM;
    struct error reason = {0};
    void *made = compiled->packet->compile(fields, details->field_count, &reason);
    free(fields);
    if (!made)
        return error_set(error, reason.code == -ENOMEM ? -ENOMEM : -EINVAL,
                         "%s: details %zu of %s:%s: %s", model_name(model), number + 1,
                         type->protocol, type->opcode, reason.text);
    if (compiled->packet->weigh && type->details_count)
        compiled->packet->weigh(made, details->count);
    compiled->details[compiled->details_count++] = made;
    return 0;
}

/* The model's fields in the protocols' words; the strings stay the model's. */
static struct packet_field *packet_fields(const struct model_details *details)
{
    struct packet_field *fields = calloc(details->field_count + 1, sizeof *fields);
    for (size_t i = 0; fields && i < details->field_count; i++)
        fields[i] = (struct packet_field){.key = details->fields[i].key,
                                          .count = details->fields[i].count,
                                          .values = details->fields[i].values};
    return fields;
}

void compile_free(struct compiled *compiled)
{
    for (size_t i = 0; compiled && i < compiled->type_count; i++) {
        struct compiled_type *type = &compiled->types[i];
        for (size_t d = 0; d < type->details_count; d++)
            if (type->packet->release)
                type->packet->release(type->details[d]);
        free(type->details);
    }
    if (compiled)
        free(compiled->types);
    free(compiled);
}

enum run_part run_part(const struct settings *settings, const struct model_type *type)
{
    const struct packet_type *packet = packet_type_find(type->protocol, type->opcode);
    if (packet && packet->kind == PACKET_SILENT)
        return RUN_SILENT;
    if (!settings_plays(settings, type->protocol, type->opcode))
        return RUN_LEFT_OUT;
    if (!packet || (packet->available && !packet->available(&settings->play)))
        return RUN_NO_PLAYER;
    return packet->kind == PACKET_STATE ? RUN_STATE : RUN_OPERATION;
}

bool run_is_operation(const struct model_type *type, void *context)
{
    return run_part(context, type) == RUN_OPERATION;
}
