/* SPDX-License-Identifier: Apache-2.0 */
/* A model in memory: loading by the file's content, and what others may ask of it. */
#include "model/model.h"

#include <errno.h>
#include <math.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "model/chain.h"
#include "model/load.h"
#include "model/model_builder.h"
#include "model/recording.h"
#include "model/recording_text.h"

/* Bytes that are there already, then what a descriptor gives; all of it hashed as it is read. */
struct input {
    const char *begin;
    size_t begun;
    int fd; /* negative: none */
    struct sha256_ctx sha256;
};

static int load_file(int fd, const char *path, struct model **out, struct error *error,
                     builder_warning *warning, void *context);
static ssize_t read_beginning(int fd, char *begin, size_t size);
static int load_recording(const char *name, struct input *input, struct model **out,
                          struct error *error, builder_warning *warning, void *context);
static ssize_t model_read_input(void *cookie, char *buffer, size_t size);
static int set_name(struct model *model, const char *file, struct error *error);
static int model_load_any(const char *name, const char *text, size_t size, struct model **out,
                          struct error *error, builder_warning *warning, void *context);
static bool looks_like_json(const char *text, size_t size);
static void set_sha256(struct model *model, const char *text, size_t size);
static int model_compare_types(const void *a, const void *b, void *context);

int model_load(const char *path, struct model **out, struct error *error,
               void (*warning)(void *context, const char *line), void *context)
{
    int fd = document_open(path, error);
    if (fd < 0)
        return fd;
    int result = load_file(fd, path, out, error, warning, context);
    close(fd);
    return result;
}

static int load_file(int fd, const char *path, struct model **out, struct error *error,
                     builder_warning *warning, void *context)
{
    const char *name = document_file_name(path);
    char begin[64], *text = NULL;
    size_t size = 0;
    ssize_t begun = read_beginning(fd, begin, sizeof begin);
    if (begun < 0) {
        error_set(error, (int)begun, "%s: %s", name, strerror((int)-begun));
        return (int)begun;
    }
    if (recording_text_is_line(begin)) {
        struct input input = {.begin = begin, .begun = (size_t)begun, .fd = fd};
        return load_recording(name, &input, out, error, warning, context);
    }
    int result =
        document_read_rest(fd, path, begin, (size_t)begun, MODEL_FILE_MAX, &text, &size, error);
    if (result < 0)
        return result;
    result = model_load_any(name, text, size, out, error, warning, context);
    free(text);
    return result;
}

/* As many bytes of a file as tell what it is; terminated. Their number or a negative errno. */
static ssize_t read_beginning(int fd, char *begin, size_t size)
{
    size_t used = 0;
    ssize_t got = 1;
    while (got > 0 && used + 1 < size) {
        got = read(fd, begin + used, size - 1 - used);
        if (got < 0 && errno != EINTR)
            return -errno;
        used += got > 0 ? (size_t)got : 0;
        got = got < 0 ? 1 : got;
    }
    begin[used] = '\0';
    return (ssize_t)used;
}

static int load_recording(const char *name, struct input *input, struct model **out,
                          struct error *error, builder_warning *warning, void *context)
{
    enum { BUFFER = 64 << 10 };
    struct model *model = calloc(1, sizeof *model);
    FILE *file = fopencookie(input, "r", (cookie_io_functions_t){.read = model_read_input});
    int result = model && file ? 0 : -ENOMEM;
    if (result < 0)
        error_set(error, -ENOMEM, "%s: out of memory", name);
    sha256_init(&input->sha256);
    if (file)
        setvbuf(file, NULL, _IOFBF, BUFFER);
    if (result == 0)
        result = set_name(model, name, error);
    if (result == 0)
        result = recording_load(model, file, name, error, warning, context);
    if (file)
        fclose(file);
    if (result < 0) {
        model_free(model);
        return result;
    }
    sha256_digest(&input->sha256, MODEL_SHA256_SIZE, model->sha256);
    *out = model;
    return 0;
}

static ssize_t model_read_input(void *cookie, char *buffer, size_t size)
{
    struct input *input = cookie;
    ssize_t got = (ssize_t)(size < input->begun ? size : input->begun);
    if (got > 0) {
        memcpy(buffer, input->begin, (size_t)got);
        input->begin += got;
        input->begun -= (size_t)got;
    } else if (input->fd >= 0) {
        do
            got = read(input->fd, buffer, size);
        while (got < 0 && errno == EINTR);
    }
    if (got > 0)
        sha256_update(&input->sha256, (size_t)got, (const uint8_t *)buffer);
    return got;
}

static int set_name(struct model *model, const char *file, struct error *error)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    model->name = arena_string(&model->arena, name, strlen(name));
    if (model->name)
        return 0;
    return error_set(error, -ENOMEM, "%s: out of memory", file);
}

/* text is terminated and was checked. */
static int model_load_any(const char *name, const char *text, size_t size, struct model **out,
                          struct error *error, builder_warning *warning, void *context)
{
    struct builder builder;
    bool yaml = !looks_like_json(text, size);
    int result = builder_init(&builder, name, error, warning, context);
    if (result == 0) {
        set_sha256(builder.model, text, size);
        result = set_name(builder.model, name, error);
    }
    if (result == 0 && !yaml)
        result = load_samba(&builder, text, size, &yaml);
    if (result == 0 && yaml)
        result = load_yaml(&builder, text, size);
    if (result == 0)
        result = builder_finish(&builder, out);
    builder_clear(&builder);
    return result;
}

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

static void set_sha256(struct model *model, const char *text, size_t size)
{
    struct sha256_ctx sha256;
    sha256_init(&sha256);
    sha256_update(&sha256, size, (const uint8_t *)text);
    sha256_digest(&sha256, MODEL_SHA256_SIZE, model->sha256);
}

int model_load_text(const char *name, const char *text, size_t size, struct model **out,
                    struct error *error, void (*warning)(void *context, const char *line),
                    void *context)
{
    int result = document_check_text(name, text, size, error);
    if (result < 0)
        return result;
    char *copy = malloc(size + 1);
    if (!copy) {
        return error_set(error, -ENOMEM, "%s: out of memory", name);
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (recording_text_is_line(copy)) {
        struct input input = {.begin = copy, .begun = size, .fd = -1};
        result = load_recording(name, &input, out, error, warning, context);
    } else {
        result = model_load_any(name, copy, size, out, error, warning, context);
    }
    free(copy);
    return result;
}

void model_free(struct model *model)
{
    if (!model)
        return;
    recording_free(model->recording);
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

bool model_is_recording(const struct model *model)
{
    return model->recording != NULL;
}

double model_recording_seconds(const struct model *model, double replay_rate)
{
    /* A microsecond more than the last packet's time, so that no rounding excludes it. */
    enum { MILLISECOND = 1000000, MARGIN = 1000 };
    if (!model->recording)
        return 0;
    double length = floor((double)model->recording->length / replay_rate) + MARGIN;
    return (floor(length / MILLISECOND) + 1) / 1000;
}

double model_packet_rate(const struct model *model)
{
    return model->packet_rate;
}

uint64_t model_dns_queries(const struct model *model)
{
    return model->dns_queries;
}

void model_sort_types(struct model *model)
{
    qsort_r(model->types_by_name, model->type_count, sizeof *model->types_by_name,
            model_compare_types, model->types);
}

static int model_compare_types(const void *a, const void *b, void *context)
{
    const struct model_type *types = context;
    const struct model_type *left = &types[*(const uint32_t *)a];
    const struct model_type *right = &types[*(const uint32_t *)b];
    int order = strcmp(left->protocol, right->protocol);
    return order ? order : strcmp(left->opcode, right->opcode);
}
