/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/loadfile/loadfile.h"
#include "model/model_private.h"

static void model_free_recording(struct recording *recording);
static int model_compare_types(const void *a, const void *b, void *context);

void model_free(struct model *model)
{
    if (!model)
        return;
    model_free_recording(model->recording);
    script_free(model->script);
    arena_free(&model->arena);
    free(model);
}

static void model_free_recording(struct recording *recording)
{
    if (!recording)
        return;
    free(recording->packets);
    free(recording->clients);
    free(recording->by_size);
    free(recording);
}

const struct model_type *model_types(const struct model *model, size_t *count)
{
    *count = model->type_count;
    return model->types;
}

size_t model_find_type(const struct model *model, const char *protocol, const char *opcode)
{
    size_t low = 0, high = model->type_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct model_type *type = &model->types[model->types_by_name[middle]];
        int order = strcmp(protocol, type->protocol);
        if (order == 0)
            order = strcmp(opcode, type->opcode);
        if (order == 0)
            return model->types_by_name[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return SIZE_MAX;
}

const char *model_name(const struct model *model)
{
    return model->name;
}

const uint8_t *model_sha256(const struct model *model)
{
    return model->sha256;
}

struct model_figures model_figures(const struct model *model)
{
    return (struct model_figures){.packets = model->source.packets,
                                  .conversations = model->source.conversations,
                                  .seconds = model->source.seconds,
                                  .packet_rate = model->packet_rate,
                                  .types = model->type_count,
                                  .histories = model->history_count,
                                  .history_length = model->history_length};
}

bool model_is_samba_v2(const struct model *model)
{
    return model->samba_v2;
}

bool model_is_recording(const struct model *model)
{
    return model->recording != NULL;
}

const struct script *model_script(const struct model *model)
{
    return model->script;
}

double model_recording_seconds(const struct model *model, double replay_rate)
{
    /* One microsecond after the last packet, so that no rounding excludes it. */
    enum { MILLISECOND = 1000000, MARGIN = 1000 };
    if (!model->recording)
        return 0;
    double length = floor((double)model->recording->length / replay_rate) + MARGIN;
    return (floor(length / MILLISECOND) + 1) / 1000;
}

int model_index_types(struct model *model)
{
    uint32_t *numbers = arena_array(&model->arena, model->type_count, sizeof *numbers);
    if (!numbers)
        return -ENOMEM;
    for (uint32_t i = 0; i < model->type_count; i++)
        numbers[i] = i;
    qsort_r(numbers, model->type_count, sizeof *numbers, model_compare_types, model->types);
    model->types_by_name = numbers;
    return 0;
}

static int model_compare_types(const void *a, const void *b, void *context)
{
    const struct model_type *types = context;
    const struct model_type *left = &types[*(const uint32_t *)a];
    const struct model_type *right = &types[*(const uint32_t *)b];
    int order = strcmp(left->protocol, right->protocol);
    return order ? order : strcmp(left->opcode, right->opcode);
}
