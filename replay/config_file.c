/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file: a YAML mapping of scalars or lists of scalars, as entries. */
#include "replay/config_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/files/user_path.h"
#include "base/files/yaml_tree.h"

struct reader {
    const char *path;
    struct config_file *file;
    struct error *error;
};

static int config_file_read_open(struct reader *reader, int fd);
static int config_file_read_text(struct reader *reader, const char *text, size_t size);
static bool is_blank(const char *text);
static int config_file_read_mapping(struct reader *reader, const struct yaml_node *mapping);
static int config_file_wrong(struct reader *reader, const struct yaml_node *node,
                             const char *expected);
static int config_file_read_value(struct reader *reader, const char *key,
                                  const struct yaml_node *value);
static int config_file_add_entry(struct reader *reader, const char *key,
                                 const struct yaml_node *value, bool in_list);
static int config_file_no_memory(struct reader *reader);

enum { CONFIG_FILE_MAX = 1 << 20 };

int config_file_read(const char *path, struct config_file *file, struct error *error)
{
    struct reader reader = {.path = path, .file = file, .error = error};
    *file = (struct config_file){0};
    int fd = text_file_open(path, error);
    if (fd == -ENOENT)
        return 0;
    if (fd < 0)
        return fd;
    int result = config_file_read_open(&reader, fd);
    close(fd);
    return result;
}

static int config_file_read_open(struct reader *reader, int fd)
{
    struct stat status;
    char *text = NULL;
    size_t size = 0;
    if (fstat(fd, &status) != 0)
        return error_set(reader->error, -errno, "%s: %s", reader->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(reader->error, -EINVAL, "%s: expected a regular file", reader->path);
    reader->file->world_readable = (status.st_mode & S_IROTH) != 0;
    if (status.st_size == 0)
        return 0;
    int result = text_file_read_rest(fd, reader->path, NULL, 0, CONFIG_FILE_MAX, &text, &size,
                                     reader->error);
    if (result < 0)
        return result;
    if (!is_blank(text))
        result = config_file_read_text(reader, text, size);
    explicit_bzero(text, size);
    free(text);
    return result;
}

/* Empty lines and comments only: a document without content, which the YAML reader refuses. */
static bool is_blank(const char *text)
{
    for (const char *line = text; *line;) {
        line += strspn(line, " \t\r\n");
        if (*line && *line != '#')
            return false;
        line += strcspn(line, "\n");
    }
    return true;
}

static int config_file_read_text(struct reader *reader, const char *text, size_t size)
{
    struct yaml_tree *document = NULL;
    int result = yaml_tree_parse(reader->path, text, size, &document, reader->error);
    if (result < 0)
        return result;
    result = config_file_read_mapping(reader, yaml_tree_root(document));
    yaml_tree_free_secret(document);
    return result;
}

static int config_file_read_mapping(struct reader *reader, const struct yaml_node *mapping)
{
    int result = 0;
    if (mapping->kind != YAML_TREE_MAPPING)
        return config_file_wrong(reader, mapping, "lines \"option: value\"");
    for (size_t i = 0; result == 0 && i < mapping->count; i++)
        result =
            config_file_read_value(reader, mapping->items[2 * i]->text, mapping->items[2 * i + 1]);
    return result;
}

/* Reports what was expected, but not the text that was found, which can be a secret. */
static int config_file_wrong(struct reader *reader, const struct yaml_node *node,
                             const char *expected)
{
    return error_set(reader->error, -EINVAL, "%s:%u:%u: expected %s", reader->path,
                     node->place.line, node->place.column, expected);
}

static int config_file_read_value(struct reader *reader, const char *key,
                                  const struct yaml_node *value)
{
    int result = 0;
    if (value->kind == YAML_TREE_SCALAR)
        return config_file_add_entry(reader, key, value, false);
    if (value->kind == YAML_TREE_MAPPING)
        return config_file_wrong(reader, value, "a value or a list of values");
    for (size_t i = 0; result == 0 && i < value->count; i++) {
        if (value->items[i]->kind != YAML_TREE_SCALAR)
            return config_file_wrong(reader, value->items[i], "a plain value in this list");
        result = config_file_add_entry(reader, key, value->items[i], true);
    }
    return result;
}

static int config_file_add_entry(struct reader *reader, const char *key,
                                 const struct yaml_node *value, bool in_list)
{
    struct config_file *file = reader->file;
    struct config_entry *grown = array_grow(file->entries, file->count, sizeof *file->entries);
    if (!grown)
        return config_file_no_memory(reader);
    file->entries = grown;
    struct config_entry entry = {.key = strdup(key),
                                 .value = strdup(value->text),
                                 .line = value->place.line,
                                 .column = value->place.column,
                                 .in_list = in_list};
    file->entries[file->count++] = entry;
    return entry.key && entry.value ? 0 : config_file_no_memory(reader);
}

static int config_file_no_memory(struct reader *reader)
{
    return error_set(reader->error, -ENOMEM, "%s: out of memory", reader->path);
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
    return user_path("XDG_CONFIG_HOME", ".config", "traffic-replay.yaml");
}
