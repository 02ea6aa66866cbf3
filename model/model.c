/* SPDX-License-Identifier: Apache-2.0 */
/* A model in memory: loading by the file's content, and what others may ask of it. */
#include "model/model.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <nettle/version.h>
#include <stdlib.h>
#include <string.h>

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

static void identify(struct model *model, const char *path, const char *text, size_t size)
{
    struct sha256_ctx sha256;
    const char *name = document_file_name(path);
    const char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    model->name = arena_string(&model->arena, name, strlen(name));
    sha256_init(&sha256);
    sha256_update(&sha256, size, (const uint8_t *)text);
    sha256_digest(&sha256, MODEL_SHA256_SIZE, model->sha256);
}

static int load_text(struct build *build, const char *text, size_t size)
{
    bool yaml = !looks_like_json(text, size);
    int result = yaml ? 0 : load_samba(build, text, size, &yaml);
    if (result == 0 && yaml)
        result = load_yaml(build, text, size);
    return result;
}

int model_load(const char *path, struct model **out, char *error, size_t error_size,
               void (*warning)(void *context, const char *line), void *context)
{
    struct build build = {0};
    char *text = NULL;
    size_t size = 0;
    int result = document_read_file(path, MODEL_FILE_MAX, &text, &size, error, error_size);
    if (result < 0)
        return result;
    result = build_begin(&build, document_file_name(path), error, error_size, warning, context);
    if (result < 0)
        goto cleanup;
    identify(build.model, path, text, size);
    result = build.model->name ? load_text(&build, text, size) : build_no_memory(&build);
    if (result == 0)
        result = build_finish(&build, out);
cleanup:
    build_end(&build);
    free(text);
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
