/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML file as a tree, from the events of libyaml. */
#include "base/files/yaml_tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

struct yaml_tree {
    struct arena arena;
    const struct yaml_node *root;
};

/* The nodes of all open collections are on one stack; a frame says where a collection begins. */
struct frame {
    struct yaml_node *node;
    size_t first;
};

struct builder {
    const char *name, *text;
    size_t size;
    struct yaml_tree *tree;
    const struct yaml_node **stack;
    size_t depth;
    struct frame frames[YAML_TREE_NESTING_MAX];
    size_t frame_count;
    struct error *error;
};

static int yaml_no_memory(struct builder *builder);
static int run_parser(struct builder *builder, yaml_parser_t *parser);
static int parser_error(struct builder *builder, const yaml_parser_t *parser);
static struct text_place yaml_place_of(yaml_mark_t mark);
static int yaml_wrong(struct builder *builder, struct text_place place, const char *what);
static int add_event(struct builder *builder, const yaml_event_t *event);
static int add_scalar(struct builder *builder, const yaml_event_t *event);
static struct yaml_node *new_node(struct builder *builder, enum yaml_kind kind,
                                  const yaml_event_t *event);
static int yaml_push(struct builder *builder, const struct yaml_node *node);
static int open_collection(struct builder *builder, enum yaml_kind kind, const yaml_event_t *event);
static bool at_key(const struct builder *builder);
static int close_collection(struct builder *builder);
static int check_keys(struct builder *builder, const struct yaml_node *mapping);
static int yaml_compare_keys(const void *a, const void *b);
static int refuse_twice(struct builder *builder, const struct yaml_node *key);
static void overwrite_scalars(const struct yaml_node *node);

int yaml_tree_parse(const char *name, const char *text, size_t size, struct yaml_tree **out,
                    struct error *error)
{
    /* libyaml accepts no byte order mark when the encoding is set. */
    size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    struct builder builder = {
        .name = name, .text = text + mark, .size = size - mark, .error = error};
    yaml_parser_t parser;
    builder.tree = calloc(1, sizeof *builder.tree);
    if (!builder.tree || !yaml_parser_initialize(&parser)) {
        free(builder.tree);
        return yaml_no_memory(&builder);
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)builder.text, builder.size);
    int result = run_parser(&builder, &parser);
    yaml_parser_delete(&parser);
    if (result == 0)
        builder.tree->root = builder.stack[0];
    free(builder.stack);
    if (result < 0) {
        yaml_tree_free(builder.tree);
        return result;
    }
    *out = builder.tree;
    return 0;
}

static int yaml_no_memory(struct builder *builder)
{
    return error_set(builder->error, -ENOMEM, "%s: out of memory", builder->name);
}

static int run_parser(struct builder *builder, yaml_parser_t *parser)
{
    int result = 0;
    bool end = false;
    while (result == 0 && !end) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return parser_error(builder, parser);
        end = event.type == YAML_STREAM_END_EVENT;
        result = add_event(builder, &event);
        yaml_event_delete(&event);
    }
    if (result == 0 && builder->depth == 0)
        return yaml_wrong(builder, (struct text_place){1, 1}, "expected a document, found nothing");
    return result;
}

static int parser_error(struct builder *builder, const yaml_parser_t *parser)
{
    struct text_place place = yaml_place_of(parser->problem_mark);
    char what[256];
    if (parser->error == YAML_MEMORY_ERROR)
        return yaml_no_memory(builder);
    if (parser->error == YAML_READER_ERROR) {
        size_t offset = parser->problem_offset < builder->size ? parser->problem_offset : 0;
        snprintf(what, sizeof what, "expected UTF-8 text: %s", parser->problem);
        return yaml_wrong(builder, text_file_place(builder->text, offset), what);
    }
    snprintf(what, sizeof what, "expected YAML: %s%s%s", parser->problem,
             parser->context ? ", " : "", parser->context ? parser->context : "");
    return yaml_wrong(builder, place, what);
}

static struct text_place yaml_place_of(yaml_mark_t mark)
{
    return (struct text_place){(unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

static int yaml_wrong(struct builder *builder, struct text_place place, const char *what)
{
    return error_set(builder->error, -EINVAL, "%s:%u:%u: %s", builder->name, place.line,
                     place.column, what);
}

static int add_event(struct builder *builder, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return add_scalar(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(builder, YAML_TREE_SEQUENCE, event);
    case YAML_MAPPING_START_EVENT:
        return open_collection(builder, YAML_TREE_MAPPING, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_collection(builder);
    case YAML_ALIAS_EVENT:
        return yaml_wrong(builder, yaml_place_of(event->start_mark), "expected no aliases");
    case YAML_DOCUMENT_START_EVENT:
        if (builder->depth > 0)
            return yaml_wrong(builder, yaml_place_of(event->start_mark), "expected one document");
        return 0;
    default:
        return 0;
    }
}

static int add_scalar(struct builder *builder, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (event->data.scalar.anchor || event->data.scalar.tag)
        return yaml_wrong(builder, yaml_place_of(event->start_mark),
                          "expected no anchors and no tags");
    if (memchr(value, '\0', length))
        return yaml_wrong(builder, yaml_place_of(event->start_mark),
                          "expected text without NUL characters");
    struct yaml_node *node = new_node(builder, YAML_TREE_SCALAR, event);
    char *text = arena_string(&builder->tree->arena, value, length);
    if (!node || !text)
        return yaml_no_memory(builder);
    node->text = text;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return yaml_push(builder, node);
}

static struct yaml_node *new_node(struct builder *builder, enum yaml_kind kind,
                                  const yaml_event_t *event)
{
    struct yaml_node *node = arena_alloc(&builder->tree->arena, sizeof *node);
    if (!node)
        return NULL;
    node->kind = (uint8_t)kind;
    node->place = yaml_place_of(event->start_mark);
    node->text = "";
    return node;
}

static int yaml_push(struct builder *builder, const struct yaml_node *node)
{
    const struct yaml_node **grown =
        array_grow(builder->stack, builder->depth, sizeof(struct yaml_node *));
    if (!grown)
        return yaml_no_memory(builder);
    builder->stack = grown;
    builder->stack[builder->depth++] = node;
    return 0;
}

static int open_collection(struct builder *builder, enum yaml_kind kind, const yaml_event_t *event)
{
    bool mapping = kind == YAML_TREE_MAPPING;
    struct text_place place = yaml_place_of(event->start_mark);
    if (mapping ? event->data.mapping_start.anchor || event->data.mapping_start.tag
                : event->data.sequence_start.anchor || event->data.sequence_start.tag)
        return yaml_wrong(builder, place, "expected no anchors and no tags");
    if (at_key(builder))
        return yaml_wrong(builder, place, "expected a plain key");
    if (builder->frame_count == YAML_TREE_NESTING_MAX)
        return yaml_wrong(builder, place, "expected at most 64 levels of nesting");
    struct yaml_node *node = new_node(builder, kind, event);
    if (!node)
        return yaml_no_memory(builder);
    int result = yaml_push(builder, node);
    builder->frames[builder->frame_count++] = (struct frame){node, builder->depth};
    return result;
}

/* Whether the next node is a key of a mapping. */
static bool at_key(const struct builder *builder)
{
    if (builder->frame_count == 0)
        return false;
    const struct frame *frame = &builder->frames[builder->frame_count - 1];
    return frame->node->kind == YAML_TREE_MAPPING && (builder->depth - frame->first) % 2 == 0;
}

static int close_collection(struct builder *builder)
{
    struct frame frame = builder->frames[--builder->frame_count];
    size_t count = builder->depth - frame.first;
    const struct yaml_node **items = arena_array(&builder->tree->arena, count, sizeof *items);
    if (!items)
        return yaml_no_memory(builder);
    if (count > 0)
        memcpy(items, builder->stack + frame.first, count * sizeof *items);
    builder->depth = frame.first;
    frame.node->items = items;
    frame.node->count = (uint32_t)(frame.node->kind == YAML_TREE_MAPPING ? count / 2 : count);
    return frame.node->kind == YAML_TREE_MAPPING ? check_keys(builder, frame.node) : 0;
}

static int check_keys(struct builder *builder, const struct yaml_node *mapping)
{
    const struct yaml_node **keys = malloc((mapping->count + 1) * sizeof *keys);
    if (!keys)
        return yaml_no_memory(builder);
    for (size_t i = 0; i < mapping->count; i++)
        keys[i] = mapping->items[2 * i];
    qsort(keys, mapping->count, sizeof *keys, yaml_compare_keys);
    int result = 0;
    for (size_t i = 1; i < mapping->count && result == 0; i++)
        if (strcmp(keys[i - 1]->text, keys[i]->text) == 0)
            result = refuse_twice(builder, keys[i]);
    free(keys);
    return result;
}

static int yaml_compare_keys(const void *a, const void *b)
{
    const struct yaml_node *left = *(const struct yaml_node *const *)a;
    const struct yaml_node *right = *(const struct yaml_node *const *)b;
    int order = strcmp(left->text, right->text);
    if (order != 0)
        return order;
    if (left->place.line != right->place.line)
        return left->place.line < right->place.line ? -1 : 1;
    return left->place.column < right->place.column ? -1 : left->place.column > right->place.column;
}

static int refuse_twice(struct builder *builder, const struct yaml_node *key)
{
    char what[160], found[80];
    snprintf(what, sizeof what, "expected each key once, found %s again",
             yaml_node_describe(key, found, sizeof found));
    return yaml_wrong(builder, key->place, what);
}

void yaml_tree_free(struct yaml_tree *tree)
{
    if (!tree)
        return;
    arena_free(&tree->arena);
    free(tree);
}

void yaml_tree_free_secret(struct yaml_tree *tree)
{
    if (tree)
        overwrite_scalars(tree->root);
    yaml_tree_free(tree);
}

static void overwrite_scalars(const struct yaml_node *node)
{
    size_t items = node->kind == YAML_TREE_MAPPING ? 2 * node->count : node->count;
    if (node->kind == YAML_TREE_SCALAR)
        explicit_bzero((char *)(uintptr_t)node->text, strlen(node->text));
    else
        for (size_t i = 0; i < items; i++)
            overwrite_scalars(node->items[i]);
}

const struct yaml_node *yaml_tree_root(const struct yaml_tree *tree)
{
    return tree->root;
}

const struct yaml_node *yaml_node_get(const struct yaml_node *mapping, const char *key)
{
    for (size_t i = 0; mapping->kind == YAML_TREE_MAPPING && i < mapping->count; i++)
        if (strcmp(mapping->items[2 * i]->text, key) == 0)
            return mapping->items[2 * i + 1];
    return NULL;
}

const char *yaml_node_describe(const struct yaml_node *node, char *buffer, size_t size)
{
    if (node->kind == YAML_TREE_MAPPING)
        return node->count > 0 ? "a mapping" : "an empty mapping";
    if (node->kind == YAML_TREE_SEQUENCE)
        return node->count > 0 ? "a sequence" : "an empty sequence";
    if (node->text[0] == '\0' && !node->quoted)
        return "nothing";
    bool all = strlen(node->text) <= 40;
    snprintf(buffer, size, "'%.40s%s'", node->text, all ? "" : "...");
    return text_clean(buffer);
}

bool yaml_node_unsigned(const struct yaml_node *node, uint64_t *value)
{
    if (node->kind != YAML_TREE_SCALAR || node->quoted || node->text[0] == '\0')
        return false;
    uint64_t sum = 0;
    for (const char *c = node->text; *c; c++) {
        if (*c < '0' || *c > '9' || __builtin_mul_overflow(sum, 10u, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(*c - '0'), &sum))
            return false;
    }
    *value = sum;
    return true;
}

bool yaml_node_number(const struct yaml_node *node, double *value)
{
    if (node->kind != YAML_TREE_SCALAR || node->quoted || node->text[0] == '\0' ||
        strspn(node->text, "0123456789+-.eE") != strlen(node->text))
        return false;
    char *end;
    *value = strtod(node->text, &end);
    return *end == '\0' && isfinite(*value);
}

bool yaml_node_boolean(const struct yaml_node *node, bool *value)
{
    if (node->kind != YAML_TREE_SCALAR || node->quoted)
        return false;
    *value = strcmp(node->text, "true") == 0;
    return *value || strcmp(node->text, "false") == 0;
}
