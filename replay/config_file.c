/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file, event by event through libyaml: one mapping of scalars or lists. */
#include "replay/config_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "base/error.h"

struct reader {
    const char *path;
    yaml_parser_t parser;
    struct config_file *file;
    char *key;
    struct error *error;
};

static int config_file_read_document(struct reader *reader);
static int next(struct reader *reader, yaml_event_t *event);
static int config_file_wrong(struct reader *reader, yaml_mark_t mark, const char *what);
static int config_file_read_mapping(struct reader *reader);
static int read_pair(struct reader *reader, bool *done);
static bool seen_before(const struct reader *reader);
static int config_file_read_value(struct reader *reader);
static int config_file_add_entry(struct reader *reader, const yaml_event_t *event, bool in_list);
static int read_list(struct reader *reader);

enum { CONFIG_FILE_MAX = 1 << 20 };

int config_file_read(const char *path, struct config_file *file, struct error *error)
{
    *file = (struct config_file){0};
    FILE *input = fopen(path, "re");
    if (!input && errno == ENOENT)
        return 0;
    struct stat status = {0};
    int result = 0;
    if (!input || fstat(fileno(input), &status) != 0)
        result = -errno;
    else if (S_ISDIR(status.st_mode))
        result = -EISDIR;
    else if (!S_ISREG(status.st_mode))
        result = -EINVAL;
    else if (status.st_size > CONFIG_FILE_MAX)
        result = -EFBIG;
    if (result) {
        error_set(error, result, "%s: cannot read it: %s", path, strerror(-result));
        goto cleanup;
    }
    file->world_readable = (status.st_mode & S_IROTH) != 0;
    struct reader reader = {.path = path, .file = file, .error = error};
    if (!yaml_parser_initialize(&reader.parser)) {
        result = -ENOMEM;
        goto cleanup;
    }
    yaml_parser_set_input_file(&reader.parser, input);
    result = config_file_read_document(&reader);
    yaml_parser_delete(&reader.parser);
    if (result == -ENOMEM)
        error_set(error, -ENOMEM, "%s: out of memory", path);
cleanup:
    if (input)
        fclose(input);
    return result;
}

/* Stream and document starts, the mapping, document and stream ends. An empty file is fine. */
static int config_file_read_document(struct reader *reader)
{
    for (;;) {
        yaml_event_t event;
        int error = next(reader, &event);
        if (error)
            return error;
        yaml_event_type_t type = event.type;
        yaml_mark_t mark = event.start_mark;
        yaml_event_delete(&event);
        if (type == YAML_MAPPING_START_EVENT)
            error = config_file_read_mapping(reader);
        else if (type == YAML_STREAM_END_EVENT)
            return 0;
        else if (type == YAML_SCALAR_EVENT || type == YAML_SEQUENCE_START_EVENT ||
                 type == YAML_ALIAS_EVENT)
            error = config_file_wrong(reader, mark, "expected \"option: value\" lines");
        if (error)
            return error;
    }
}

/* The next event; the caller deletes it. */
static int next(struct reader *reader, yaml_event_t *event)
{
    if (yaml_parser_parse(&reader->parser, event))
        return 0;
    if (reader->parser.error == YAML_MEMORY_ERROR)
        return -ENOMEM;
    return config_file_wrong(reader, reader->parser.problem_mark,
                             reader->parser.problem ? reader->parser.problem : "this is not YAML");
}

static int config_file_wrong(struct reader *reader, yaml_mark_t mark, const char *what)
{
    return error_set(reader->error, -EINVAL, "%s:%zu:%zu: %s", reader->path, mark.line + 1,
                     mark.column + 1, what);
}

static int config_file_read_mapping(struct reader *reader)
{
    bool done = false;
    int error = 0;
    while (!done && !error)
        error = read_pair(reader, &done);
    return error;
}

/* One "key: value". *done at the mapping's end. */
static int read_pair(struct reader *reader, bool *done)
{
    yaml_event_t event;
    int error = next(reader, &event);
    if (error)
        return error;
    *done = event.type == YAML_MAPPING_END_EVENT;
    if (*done)
        goto cleanup;
    if (event.type != YAML_SCALAR_EVENT) {
        error = config_file_wrong(reader, event.start_mark, "expected the long name of an option");
        goto cleanup;
    }
    reader->key = strdup((const char *)event.data.scalar.value);
    if (!reader->key)
        error = -ENOMEM;
    else if (seen_before(reader))
        error = config_file_wrong(reader, event.start_mark, "this option is already set above");
    else
        error = config_file_read_value(reader);
    free(reader->key);
    reader->key = NULL;
cleanup:
    yaml_event_delete(&event);
    return error;
}

static bool seen_before(const struct reader *reader)
{
    for (size_t i = 0; i < reader->file->count; i++)
        if (strcmp(reader->file->entries[i].key, reader->key) == 0)
            return true;
    return false;
}

static int config_file_read_value(struct reader *reader)
{
    yaml_event_t event;
    int error = next(reader, &event);
    if (error)
        return error;
    if (event.type == YAML_SCALAR_EVENT)
        error = config_file_add_entry(reader, &event, false);
    else if (event.type == YAML_SEQUENCE_START_EVENT)
        error = read_list(reader);
    else
        error = config_file_wrong(reader, event.start_mark, "expected a value or a list of values");
    yaml_event_delete(&event);
    return error;
}

static int config_file_add_entry(struct reader *reader, const yaml_event_t *event, bool in_list)
{
    struct config_file *file = reader->file;
    const char *text = (const char *)event->data.scalar.value;
    if (strlen(text) != event->data.scalar.length)
        return config_file_wrong(reader, event->start_mark,
                                 "a value holds a NUL character; remove it");
    struct config_entry *grown =
        reallocarray(file->entries, file->count + 1, sizeof *file->entries);
    if (!grown)
        return -ENOMEM;
    file->entries = grown;
    struct config_entry entry = {.key = strdup(reader->key),
                                 .value = strdup(text),
                                 .line = event->start_mark.line + 1,
                                 .column = event->start_mark.column + 1,
                                 .in_list = in_list};
    file->entries[file->count++] = entry;
    return entry.key && entry.value ? 0 : -ENOMEM;
}

/* The scalars of a list, up to its end. */
static int read_list(struct reader *reader)
{
    for (;;) {
        yaml_event_t event;
        int error = next(reader, &event);
        if (error)
            return error;
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        if (!end && event.type != YAML_SCALAR_EVENT)
            error =
                config_file_wrong(reader, event.start_mark, "expected a plain value in this list");
        else if (!end)
            error = config_file_add_entry(reader, &event, true);
        yaml_event_delete(&event);
        if (end || error)
            return error;
    }
}

void config_file_clear(struct config_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        struct config_entry *entry = &file->entries[i];
        if (entry->value)
            explicit_bzero(entry->value, strlen(entry->value));
        free(entry->value);
        free(entry->key);
    }
    free(file->entries);
    *file = (struct config_file){0};
}

char *config_file_path(void)
{
    /* XDG Base Directory Specification: a relative path is to be ignored. */
    const char *base = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;
    int size = -1;
    if (base && base[0] == '/')
        size = asprintf(&path, "%s/traffic-replay.yaml", base);
    else if (home && home[0] == '/')
        size = asprintf(&path, "%s/.config/traffic-replay.yaml", home);
    return size < 0 ? NULL : path;
}
