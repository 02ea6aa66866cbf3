/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweep files. Keys are the long names of options. Further keys are the model, the DC, varied
 * values, and options of traffic-replay, which become arguments of its command line. The first
 * error ends the program.
 */
#include "replay/sweep/sweep_file.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files/yaml_tree.h"
#include "replay/sweep/sweep_options_private.h"

enum { ERROR_SIZE = OPTIONS_ERROR_SIZE };

struct reader {
    struct sweep_options *options;
    const char *name;
    char *folder; /* of the file; the path of the model is relative to it */
};

static enum step sweep_file_read_document(struct reader *reader, const char *text, size_t size);
static enum step sweep_file_expected(const struct reader *reader, const struct yaml_node *node,
                                     const char *key, const char *what);
static enum step sweep_file_refuse(const struct reader *reader, const struct yaml_node *node,
                                   const char *key, const char *what);
static enum step read_key(const struct reader *reader, const struct yaml_node *key,
                          const struct yaml_node *value);
static enum step read_argument(const struct reader *reader, const char *key,
                               const struct yaml_node *node);
static enum step read_replay_options(const struct reader *reader, const struct yaml_node *node);
static enum step sweep_file_add_option(const struct reader *reader, const struct yaml_node *node,
                                       const char *name, const char *value);
static enum step read_vary(const struct reader *reader, const struct yaml_node *node);
static enum step sweep_file_refuse_key(const struct reader *reader, const struct yaml_node *key);
static enum step read_row(const struct reader *reader, const struct options_row *row,
                          const struct yaml_node *value);
static char *join_values(const struct reader *reader, const struct yaml_node *node,
                         const char *key);

enum step sweep_file_read(struct sweep_options *options, const char *path)
{
    enum { LARGEST = 1 << 20 };
    struct error error;
    char *text = NULL, *copy;
    size_t size;
    if (text_file_read(path, LARGEST, &text, &size, &error) < 0)
        return sweep_options_refuse(options, "%s", error.text);
    struct reader reader = {.options = options, .name = text_file_name(path)};
    copy = strdup(path);
    reader.folder = copy ? strdup(strcmp(path, "-") == 0 ? "." : dirname(copy)) : NULL;
    enum step step = reader.folder ? sweep_file_read_document(&reader, text, size)
                                   : sweep_options_no_memory(options);
    free(reader.folder);
    free(copy);
    free(text);
    return step;
}

static enum step sweep_file_read_document(struct reader *reader, const char *text, size_t size)
{
    struct yaml_tree *document = NULL;
    struct error error = {0};
    enum step step = STEP_NEXT;
    if (yaml_tree_parse(reader->name, text, size, &document, &error) < 0)
        return sweep_options_refuse(reader->options, "%s", error.text);
    const struct yaml_node *root = yaml_tree_root(document);
    if (root->kind != YAML_TREE_MAPPING)
        step = sweep_file_expected(reader, root, "", "a mapping");
    for (size_t i = 0; step == STEP_NEXT && i < root->count; i++)
        step = read_key(reader, root->items[2 * i], root->items[2 * i + 1]);
    yaml_tree_free(document);
    return step;
}

static enum step sweep_file_expected(const struct reader *reader, const struct yaml_node *node,
                                     const char *key, const char *what)
{
    char found[80], text[ERROR_SIZE + sizeof found];
    snprintf(text, sizeof text, "expected %s, found %s", what,
             yaml_node_describe(node, found, sizeof found));
    return sweep_file_refuse(reader, node, key, text);
}

static enum step sweep_file_refuse(const struct reader *reader, const struct yaml_node *node,
                                   const char *key, const char *what)
{
    return sweep_options_refuse(reader->options, "%s:%u:%u: %s%s%s", reader->name, node->place.line,
                                node->place.column, key, *key ? ": " : "", what);
}

static enum step read_key(const struct reader *reader, const struct yaml_node *key,
                          const struct yaml_node *value)
{
    const struct options_row *row = options_find(&sweep_options_table, key->text);
    if (strcmp(key->text, "model") == 0 || strcmp(key->text, "dc") == 0)
        return read_argument(reader, key->text, value);
    if (strcmp(key->text, "options") == 0)
        return read_replay_options(reader, value);
    if (strcmp(key->text, "vary") == 0)
        return read_vary(reader, value);
    if (!row)
        return sweep_file_refuse_key(reader, key);
    return row->properties & OPTIONS_COMMAND_LINE
               ? sweep_file_refuse(reader, key, row->name, "allowed only on the command line")
               : read_row(reader, row, value);
}

/* Reads the model or the DC. */
static enum step read_argument(const struct reader *reader, const char *key,
                               const struct yaml_node *node)
{
    bool model = strcmp(key, "model") == 0;
    char *path = NULL;
    if (node->kind != YAML_TREE_SCALAR || !node->text[0])
        return sweep_file_expected(reader, node, key,
                                   model ? "a model file" : "a name or an address");
    bool relative = model && node->text[0] != '/' && strcmp(node->text, "-") != 0;
    if (asprintf(&path, "%s%s%s", relative ? reader->folder : "", relative ? "/" : "", node->text) <
        0)
        return sweep_options_no_memory(reader->options);
    const char *kept = sweep_options_keep(reader->options, path);
    free(path);
    if (!kept)
        return sweep_options_no_memory(reader->options);
    *(model ? &reader->options->sources->model : &reader->options->sources->dc) = kept;
    return STEP_NEXT;
}

/* Reads the mapping "options"; it has the form of traffic-replay's configuration file. */
static enum step read_replay_options(const struct reader *reader, const struct yaml_node *node)
{
    if (node->kind != YAML_TREE_MAPPING)
        return sweep_file_expected(reader, node, "options",
                                   "a mapping of traffic-replay's options");
    enum step step = STEP_NEXT;
    for (size_t i = 0; step == STEP_NEXT && i < node->count; i++) {
        const struct yaml_node *key = node->items[2 * i], *value = node->items[2 * i + 1];
        if (value->kind == YAML_TREE_MAPPING)
            return sweep_file_expected(reader, value, key->text, "a value or a list of values");
        if (value->kind == YAML_TREE_SCALAR)
            step = sweep_file_add_option(reader, value, key->text, value->text);
        for (size_t v = 0;
             step == STEP_NEXT && value->kind == YAML_TREE_SEQUENCE && v < value->count; v++)
            step = value->items[v]->kind == YAML_TREE_SCALAR
                       ? sweep_file_add_option(reader, value->items[v], key->text,
                                               value->items[v]->text)
                       : sweep_file_expected(reader, value->items[v], key->text, "a plain value");
    }
    return step;
}

static enum step sweep_file_add_option(const struct reader *reader, const struct yaml_node *node,
                                       const char *name, const char *value)
{
    struct arguments *arguments = &reader->options->sources->file_arguments;
    const char *error = settings_try(name, value);
    bool flag = settings_is_flag(name);
    bool secret =
        strcmp(name, "fixed-password") == 0 || (strcmp(name, "user") == 0 && strchr(value, '%'));
    if (error)
        return sweep_file_refuse(reader, node, name, error);
    if (secret)
        return sweep_file_refuse(reader, node, name, "passwords are not allowed in a sweep file");
    if (flag && (strcasecmp(value, "false") == 0 || strcasecmp(value, "no") == 0 ||
                 strcasecmp(value, "off") == 0))
        return STEP_NEXT;
    arguments_add(arguments, "--%s%s%s", name, flag ? "" : "=", flag ? "" : value);
    return arguments->failed ? sweep_options_no_memory(reader->options) : STEP_NEXT;
}

static enum step read_vary(const struct reader *reader, const struct yaml_node *node)
{
    if (node->kind != YAML_TREE_MAPPING || node->count == 0)
        return sweep_file_expected(reader, node, "vary", "a mapping of names to lists of values");
    reader->options->sources->vary_from_file = true;
    for (size_t i = 0; i < node->count; i++) {
        const struct yaml_node *key = node->items[2 * i], *value = node->items[2 * i + 1];
        const char *error;
        struct sweep_vary *vary =
            sweep_vary_new(reader->options->vary, &reader->options->vary_count, key->text, &error);
        if (!vary)
            return sweep_file_refuse(reader, key, "vary", error);
        if (value->kind != YAML_TREE_SEQUENCE || value->count == 0)
            return sweep_file_expected(reader, value, key->text, "a list of values");
        for (size_t v = 0; v < value->count; v++) {
            if (value->items[v]->kind != YAML_TREE_SCALAR)
                return sweep_file_expected(reader, value->items[v], key->text, "a plain value");
            if ((error = sweep_vary_add(vary, value->items[v]->text)))
                return sweep_file_refuse(reader, value->items[v], "vary", error);
        }
    }
    return STEP_NEXT;
}

static enum step sweep_file_refuse_key(const struct reader *reader, const struct yaml_node *key)
{
    char what[ERROR_SIZE] = "one of the keys model, dc, options";
    for (size_t i = 0; i < sweep_options_table.count; i++) {
        size_t used = strlen(what);
        if (!(sweep_options_table.rows[i].properties & OPTIONS_COMMAND_LINE))
            snprintf(what + used, sizeof what - used, ", %s", sweep_options_table.rows[i].name);
    }
    return sweep_file_expected(reader, key, "", what);
}

static enum step read_row(const struct reader *reader, const struct options_row *row,
                          const struct yaml_node *value)
{
    bool yes = false, list = row->properties & SWEEP_LIST;
    if (row->kind == OPTIONS_FLAG) {
        if (!yaml_node_boolean(value, &yes))
            return sweep_file_expected(reader, value, row->name, "true or false");
        *(bool *)((char *)reader->options + row->offset) = yes;
        return STEP_NEXT;
    }
    if (!list && value->kind != YAML_TREE_SCALAR)
        return sweep_file_expected(reader, value, row->name, "a value");
    char *text = join_values(reader, value, row->name);
    const char *error = text ? options_apply(row, reader->options, text) : NULL;
    if (!text)
        return STEP_DONE;
    return error ? sweep_file_refuse(reader, value, row->name, error) : STEP_NEXT;
}

/* A scalar, or the scalars of a sequence joined by commas; kept with the options. NULL after an
 * error, which is reported. */
static char *join_values(const struct reader *reader, const struct yaml_node *node, const char *key)
{
    char *text = NULL, *kept = NULL;
    size_t size = 0;
    if (node->kind == YAML_TREE_SCALAR)
        kept = sweep_options_keep(reader->options, node->text);
    else if (node->kind == YAML_TREE_MAPPING || node->count == 0)
        return sweep_file_expected(reader, node, key, "a value or a list of values"), NULL;
    FILE *stream = kept ? NULL : open_memstream(&text, &size);
    for (size_t i = 0; stream && i < node->count; i++) {
        if (node->items[i]->kind != YAML_TREE_SCALAR) {
            fclose(stream);
            free(text);
            return sweep_file_expected(reader, node->items[i], key, "a plain value"), NULL;
        }
        fprintf(stream, "%s%s", i ? "," : "", node->items[i]->text);
    }
    if (stream && fclose(stream) == 0)
        kept = sweep_options_keep(reader->options, text);
    free(text);
    if (!kept)
        sweep_options_no_memory(reader->options);
    return kept;
}
