/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the format of a model file by its first bytes and runs the loader. */
#include "model/model_load.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/text_file.h"
#include "base/text.h"
#include "model/load_private.h"
#include "model/loadfile/loadfile.h"
#include "model/model_private.h"
#include "model/recording_private.h"
#include "model/recording_text.h"

/* A stream of a recording: bytes that were read before, then those of a descriptor. All of them are
 * hashed. */
struct recording_stream {
    const char *begin;
    size_t begun;
    int fd; /* negative: none */
    struct sha256_ctx sha256;
};

static int load_file(int fd, const char *path, struct model **out, struct error *error,
                     model_warning *warning, void *context);
static bool is_loadfile(const char *begin, size_t size);
static int load_loadfile(const char *name, struct recording_stream *stream, struct model **out,
                         struct error *error);
static int fill_loadfile(struct model *model, const char *name, struct recording_stream *stream,
                         struct error *error);
static int name_script_types(struct model *model);
static int load_recording(const char *name, struct recording_stream *stream, struct model **out,
                          struct error *error, model_warning *warning, void *context);
static int fill_recording(struct model *model, const char *name, struct recording_stream *stream,
                          struct error *error, model_warning *warning, void *context);
static ssize_t read_stream(void *cookie, char *buffer, size_t size);
static int set_name(struct model *model, const char *file);
static int load_chain(const char *name, const char *text, size_t size, struct model **out,
                      struct error *error, model_warning *warning, void *context);
static int load_text(struct builder *builder, const char *text, size_t size);
static bool looks_like_json(const char *text, size_t size);
static void set_sha256(struct model *model, const char *text, size_t size);

int model_load(const char *path, struct model **out, struct error *error, model_warning *warning,
               void *context)
{
    int fd = text_file_open(path, error);
    if (fd < 0)
        return fd;
    int result = load_file(fd, path, out, error, warning, context);
    close(fd);
    return result;
}

static int load_file(int fd, const char *path, struct model **out, struct error *error,
                     model_warning *warning, void *context)
{
    const char *name = text_file_name(path);
    char begin[4096], *text = NULL;
    size_t size = 0;
    ssize_t begun = text_file_read_start(fd, begin, sizeof begin - 1);
    if (begun < 0)
        return error_set(error, (int)begun, "%s: %s", name, strerror((int)-begun));
    begin[begun] = '\0';
    if (is_loadfile(begin, (size_t)begun)) {
        struct recording_stream stream = {.begin = begin, .begun = (size_t)begun, .fd = fd};
        return load_loadfile(name, &stream, out, error);
    }
    if (recording_text_is_line(begin + text_mark_length(begin))) {
        struct recording_stream stream = {.begin = begin, .begun = (size_t)begun, .fd = fd};
        return load_recording(name, &stream, out, error, warning, context);
    }
    int result =
        text_file_read_rest(fd, path, begin, (size_t)begun, MODEL_FILE_MAX, &text, &size, error);
    if (result < 0)
        return result;
    result = load_chain(name, text, size, out, error, warning, context);
    free(text);
    return result;
}

static bool is_loadfile(const char *begin, size_t size)
{
    return loadfile_is_gzip(begin, size) || loadfile_begins(begin);
}

static int load_loadfile(const char *name, struct recording_stream *stream, struct model **out,
                         struct error *error)
{
    struct model *model = calloc(1, sizeof *model);
    if (!model)
        return error_no_memory(error);
    int result = fill_loadfile(model, name, stream, error);
    if (result < 0)
        model_free(model);
    else
        *out = model;
    return result;
}

static int fill_loadfile(struct model *model, const char *name, struct recording_stream *stream,
                         struct error *error)
{
    bool gzip = loadfile_is_gzip(stream->begin, stream->begun);
    FILE *file = fopencookie(stream, "r", (cookie_io_functions_t){.read = read_stream});
    if (!file)
        return error_no_memory(error);
    sha256_init(&stream->sha256);
    int result = set_name(model, name);
    if (result == 0)
        result = loadfile_load(file, gzip, name, &model->script, error);
    else
        error_no_memory(error);
    if (result == 0 && name_script_types(model) < 0)
        result = error_no_memory(error);
    fclose(file);
    sha256_digest(&stream->sha256, MODEL_SHA256_SIZE, model->sha256);
    return result;
}

/* One type for each operation that occurs. 0 or -ENOMEM. */
static int name_script_types(struct model *model)
{
    model->types = arena_array(&model->arena, SCRIPT_PACKETS, sizeof *model->types);
    if (!model->types)
        return -ENOMEM;
    for (int op = 0; op < SCRIPT_PACKETS; op++) {
        double count = model->script->operations[op];
        if (!(count > 0))
            continue;
        model->script_types[op] = model->type_count;
        model->types[model->type_count++] =
            (struct model_type){.protocol = "nbench",
                                .opcode = script_words[op],
                                .row = packet_row_find("nbench", script_words[op]),
                                .count = count < 1e18 ? (uint64_t)count : (uint64_t)1e18};
    }
    model->source = (struct model_source){.packets = -1, .seconds = -1, .conversations = -1};
    return model_index_types(model);
}

static int load_recording(const char *name, struct recording_stream *stream, struct model **out,
                          struct error *error, model_warning *warning, void *context)
{
    struct model *model = calloc(1, sizeof *model);
    if (!model)
        return error_no_memory(error);
    int result = fill_recording(model, name, stream, error, warning, context);
    if (result < 0)
        model_free(model);
    else
        *out = model;
    return result;
}

static int fill_recording(struct model *model, const char *name, struct recording_stream *stream,
                          struct error *error, model_warning *warning, void *context)
{
    enum { BUFFER_SIZE = 64 << 10 };
    FILE *file = fopencookie(stream, "r", (cookie_io_functions_t){.read = read_stream});
    if (!file)
        return error_no_memory(error);
    setvbuf(file, NULL, _IOFBF, BUFFER_SIZE);
    sha256_init(&stream->sha256);
    int result = set_name(model, name);
    if (result == 0)
        result = recording_load(model, file, name, error, warning, context);
    else
        error_no_memory(error);
    fclose(file);
    sha256_digest(&stream->sha256, MODEL_SHA256_SIZE, model->sha256);
    return result;
}

static ssize_t read_stream(void *cookie, char *buffer, size_t size)
{
    struct recording_stream *stream = cookie;
    ssize_t got = (ssize_t)(size < stream->begun ? size : stream->begun);
    if (got > 0) {
        memcpy(buffer, stream->begin, (size_t)got);
        stream->begin += got;
        stream->begun -= (size_t)got;
    } else if (stream->fd >= 0) {
        do
            got = read(stream->fd, buffer, size);
        while (got < 0 && errno == EINTR);
    }
    if (got > 0)
        sha256_update(&stream->sha256, (size_t)got, (const uint8_t *)buffer);
    return got;
}

static int set_name(struct model *model, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    model->name = arena_string(&model->arena, name, strlen(name));
    return model->name ? 0 : -ENOMEM;
}

/* Loads a model with a chain. text was checked by text_file_check() and is terminated. */
static int load_chain(const char *name, const char *text, size_t size, struct model **out,
                      struct error *error, model_warning *warning, void *context)
{
    struct builder *builder = builder_new(name, error, warning, context);
    if (!builder)
        return error_no_memory(error);
    set_sha256(builder->model, text, size);
    int result = set_name(builder->model, name);
    if (result < 0)
        error_no_memory(error);
    if (result == 0)
        result = load_text(builder, text, size);
    if (result == 0)
        result = builder_finish(builder, out);
    builder_free(builder);
    return result;
}

static int load_text(struct builder *builder, const char *text, size_t size)
{
    bool yaml = !looks_like_json(text, size);
    int result = yaml ? 0 : load_samba(builder, text, size, &yaml);
    return result == 0 && yaml ? load_yaml(builder, text, size) : result;
}

/* JSON begins with a brace and a quoted key, or nothing. `{version: 3` is YAML. */
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
                    struct error *error, model_warning *warning, void *context)
{
    int result = text_file_check(name, text, size, error);
    if (result < 0)
        return result;
    char *copy = malloc(size + 1);
    if (!copy)
        return error_no_memory(error);
    memcpy(copy, text, size);
    copy[size] = '\0';
    struct recording_stream loadfile = {.begin = copy, .begun = size, .fd = -1};
    if (loadfile_begins(copy)) {
        result = load_loadfile(name, &loadfile, out, error);
    } else if (recording_text_is_line(copy + text_mark_length(copy))) {
        struct recording_stream stream = {.begin = copy, .begun = size, .fd = -1};
        result = load_recording(name, &stream, out, error, warning, context);
    } else {
        result = load_chain(name, copy, size, out, error, warning, context);
    }
    free(copy);
    return result;
}
