/* SPDX-License-Identifier: Apache-2.0 */
/* A model in memory: loading by the file's content, and what others may ask of it. */
#include "model/model.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "model/build.h"
#include "model/chain.h"
#include "model/load.h"

/* JSON begins with a brace and a quoted key (or nothing); `{version: 3` is YAML. */
static bool looks_like_json(const char *text, size_t size)
{
    static const char blanks[] = " \t\r\n";
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    text += strspn(text, blanks);
    if (*text == '[')
        return true;
    if (*text != '{')
        return false;
    text += 1 + strspn(text + 1, blanks);
    return *text == '"' || *text == '}' || *text == '\0';
}

static int identify(struct build *build, const char *text, size_t size)
{
    struct model *model = build->model;
    struct sha256_ctx sha256;
    const char *slash = strrchr(build->file, '/');
    const char *name = slash ? slash + 1 : build->file;
    model->name = arena_string(&model->arena, name, strlen(name));
    sha256_init(&sha256);
    sha256_update(&sha256, size, (const uint8_t *)text);
    sha256_digest(&sha256, MODEL_SHA256_SIZE, model->sha256);
    return model->name ? 0 : build_no_memory(build);
}

/* text is terminated and was checked. */
static int load(const char *name, const char *text, size_t size, struct model **out, char *error,
                size_t error_size, build_warning *warning, void *context)
{
    struct build build;
    bool yaml = !looks_like_json(text, size);
    int result = build_begin(&build, name, error, error_size, warning, context);
    if (result == 0)
        result = identify(&build, text, size);
    if (result == 0 && !yaml)
        result = load_samba(&build, text, size, &yaml);
    if (result == 0 && yaml)
        result = load_yaml(&build, text, size);
    if (result == 0)
        result = build_finish(&build, out);
    build_end(&build);
    return result;
}

int model_load(const char *path, struct model **out, char *error, size_t error_size,
               void (*warning)(void *context, const char *line), void *context)
{
    char *text = NULL;
    size_t size = 0;
    int result = document_read_file(path, MODEL_FILE_MAX, &text, &size, error, error_size);
    if (result < 0)
        return result;
    result = load(document_file_name(path), text, size, out, error, error_size, warning, context);
    free(text);
    return result;
}

int model_load_text(const char *name, const char *text, size_t size, struct model **out,
                    char *error, size_t error_size,
                    void (*warning)(void *context, const char *line), void *context)
{
    int result = document_check_text(name, text, size, error, error_size);
    if (result < 0)
        return result;
    char *copy = malloc(size + 1);
    if (!copy) {
        snprintf(error, error_size, "%s: out of memory", name);
        return -ENOMEM;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    result = load(name, copy, size, out, error, error_size, warning, context);
    free(copy);
    return result;
}

void model_free(struct model *model)
{
    if (!model)
        return;
    /* The arena frees what the model is made of, the model itself apart. */
    arena_free(&model->arena);
    free(model);
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

bool model_is_samba_v2(const struct model *model)
{
    return model->samba_v2;
}

double model_packet_rate(const struct model *model)
{
    return model->packet_rate;
}

uint64_t model_dns_queries(const struct model *model)
{
    return model->dns_queries;
}
