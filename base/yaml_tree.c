/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML file as a tree, from the events of libyaml. */
#include "base/yaml_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

struct document {
    struct arena arena;
    const struct document_node *root;
};

/* The nodes of all open collections are on one stack; a frame says where a collection begins. */
struct frame {
    struct document_node *node;
    size_t first;
};

struct builder {
    const char *name, *text;
    size_t size;
    struct document *document;
    const struct document_node **stack;
    size_t depth;
    struct frame frames[DOCUMENT_NESTING_MAX];
    size_t frame_count;
    struct error *error;
};

static int document_read_all(int fd, const char *begin, size_t begun, size_t limit, char **text,
                             size_t *size);
static const char *not_text(const char *text, size_t size);
static struct document_place place_at(const char *text, size_t offset);
static int document_no_memory(struct builder *builder);
static int run_parser(struct builder *builder, yaml_parser_t *parser);
static int parser_error(struct builder *builder, const yaml_parser_t *parser);
static struct document_place document_place_of(yaml_mark_t mark);
static int document_wrong(struct builder *builder, struct document_place place, const char *what);
static int add_event(struct builder *builder, const yaml_event_t *event);
static int add_scalar(struct builder *builder, const yaml_event_t *event);
static struct document_node *new_node(struct builder *builder, enum document_kind kind,
                                      const yaml_event_t *event);
static int document_push(struct builder *builder, const struct document_node *node);
static int open_collection(struct builder *builder, enum document_kind kind,
                           const yaml_event_t *event);
static bool at_key(const struct builder *builder);
static int close_collection(struct builder *builder);
static int check_keys(struct builder *builder, const struct document_node *mapping);
static int document_compare_keys(const void *a, const void *b);
static int refuse_twice(struct builder *builder, const struct document_node *key);
static void overwrite(const struct document_node *node);

int document_read_file(const char *path, size_t limit, char **text, size_t *size,
                       struct error *error)
{
    int fd = document_open(path, error);
    if (fd < 0)
        return fd;
    int result = document_read_rest(fd, path, NULL, 0, limit, text, size, error);
    close(fd);
    return result;
}

int document_open(const char *path, struct error *error)
{
    const char *name = document_file_name(path);
    struct stat status;
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        int result = -errno;
        return error_set(error, result, "%s: %s", name, strerror(-result));
    }
    if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(fd);
        return error_set(error, -EINVAL, "%s: expected a file, found a directory", name);
    }
    return fd;
}

int document_read_rest(int fd, const char *path, const char *begin, size_t begun, size_t limit,
                       char **text, size_t *size, struct error *error)
{
    const char *name = document_file_name(path);
    int result = document_read_all(fd, begin, begun, limit, text, size);
    if (result == -EFBIG)
        error_set(error, -EINVAL, "%s:1:1: expected at most %zu MiB", name, limit >> 20);
    else if (result < 0)
        error_set(error, result, "%s: %s", name, strerror(-result));
    if (result < 0)
        return result;
    result = document_check_text(name, *text, *size, error);
    if (result < 0) {
        free(*text);
        *text = NULL;
    }
    return result;
}

/* begin[0..begun-1] is already read. */
static int document_read_all(int fd, const char *begin, size_t begun, size_t limit, char **text,
                             size_t *size)
{
    size_t room = begun + (64 << 10), used = begun;
    char *bytes = malloc(room + 1);
    if (bytes && begun > 0)
        memcpy(bytes, begin, begun);
    while (bytes) {
        ssize_t got = read(fd, bytes + used, room - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || used + (size_t)got > limit) {
            int result = got < 0 ? -errno : -EFBIG;
            free(bytes);
            return result;
        }
        used += (size_t)got;
        if (got == 0)
            break;
        if (used == room) {
            char *larger = realloc(bytes, 2 * room + 1);
            if (!larger)
                free(bytes);
            bytes = larger;
            room *= 2;
        }
    }
    if (!bytes)
        return -ENOMEM;
    bytes[used] = '\0';
    *text = bytes;
    *size = used;
    return 0;
}

int document_check_text(const char *name, const char *text, size_t size, struct error *error)
{
    const char *problem = not_text(text, size);
    if (problem) {
        return error_set(error, -EINVAL, "%s:1:1: %s", name, problem);
    }
    const char *nul = memchr(text, '\0', size);
    if (!nul)
        return 0;
    struct document_place place = place_at(text, (size_t)(nul - text));
    return error_set(error, -EINVAL, "%s:%u:%u: expected text, found a NUL byte", name, place.line,
                     place.column);
}

/* Recognizes files that are neither YAML nor JSON. NULL, or what is wrong. */
static const char *not_text(const char *text, size_t size)
{
    static const unsigned char captures[][4] = {{0xd4, 0xc3, 0xb2, 0xa1},
                                                {0xa1, 0xb2, 0xc3, 0xd4},
                                                {0x4d, 0x3c, 0xb2, 0xa1},
                                                {0xa1, 0xb2, 0x3c, 0x4d},
                                                {0x0a, 0x0d, 0x0d, 0x0a}};
    for (size_t i = 0; size >= 4 && i < sizeof captures / sizeof captures[0]; i++)
        if (memcmp(text, captures[i], 4) == 0)
            return "expected text, found a packet capture (traffic-learn makes models of them)";
    if (size == 0)
        return "expected text, found an empty file";
    if (size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return "expected UTF-8, found UTF-16";
    return NULL;
}

/* The place of a byte. Columns count UTF-8 characters. */
static struct document_place place_at(const char *text, size_t offset)
{
    struct document_place place = {1, 1};
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n')
            place = (struct document_place){place.line + 1, 1};
        else
            place.column += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return place;
}

const char *document_file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "stdin" : path;
}

int document_parse(const char *name, const char *text, size_t size, struct document **out,
                   struct error *error)
{
    /* libyaml accepts no byte order mark when the encoding is set. */
    size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    struct builder builder = {
        .name = name, .text = text + mark, .size = size - mark, .error = error};
    yaml_parser_t parser;
    builder.document = calloc(1, sizeof *builder.document);
    if (!builder.document || !yaml_parser_initialize(&parser)) {
        free(builder.document);
        return document_no_memory(&builder);
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)builder.text, builder.size);
    int result = run_parser(&builder, &parser);
    yaml_parser_delete(&parser);
    if (result == 0)
        builder.document->root = builder.stack[0];
    free(builder.stack);
    if (result < 0) {
        document_free(builder.document);
        return result;
    }
    *out = builder.document;
    return 0;
}

static int document_no_memory(struct builder *builder)
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
        return document_wrong(builder, (struct document_place){1, 1},
                              "expected a document, found nothing");
    return result;
}

static int parser_error(struct builder *builder, const yaml_parser_t *parser)
{
    struct document_place place = document_place_of(parser->problem_mark);
    char what[256];
    if (parser->error == YAML_MEMORY_ERROR)
        return document_no_memory(builder);
    if (parser->error == YAML_READER_ERROR) {
        size_t offset = parser->problem_offset < builder->size ? parser->problem_offset : 0;
        snprintf(what, sizeof what, "expected UTF-8 text: %s", parser->problem);
        return document_wrong(builder, place_at(builder->text, offset), what);
    }
    snprintf(what, sizeof what, "expected YAML: %s%s%s", parser->problem,
             parser->context ? ", " : "", parser->context ? parser->context : "");
    return document_wrong(builder, place, what);
}

static struct document_place document_place_of(yaml_mark_t mark)
{
    return (struct document_place){(unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

static int document_wrong(struct builder *builder, struct document_place place, const char *what)
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
        return open_collection(builder, DOCUMENT_SEQUENCE, event);
    case YAML_MAPPING_START_EVENT:
        return open_collection(builder, DOCUMENT_MAPPING, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_collection(builder);
    case YAML_ALIAS_EVENT:
        return document_wrong(builder, document_place_of(event->start_mark), "expected no aliases");
    case YAML_DOCUMENT_START_EVENT:
        if (builder->depth > 0)
            return document_wrong(builder, document_place_of(event->start_mark),
                                  "expected one document");
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
        return document_wrong(builder, document_place_of(event->start_mark),
                              "expected no anchors and no tags");
    if (memchr(value, '\0', length))
        return document_wrong(builder, document_place_of(event->start_mark),
                              "expected text without NUL characters");
    struct document_node *node = new_node(builder, DOCUMENT_SCALAR, event);
    char *text = arena_string(&builder->document->arena, value, length);
    if (!node || !text)
        return document_no_memory(builder);
    node->text = text;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return document_push(builder, node);
}

static struct document_node *new_node(struct builder *builder, enum document_kind kind,
                                      const yaml_event_t *event)
{
    struct document_node *node = arena_alloc(&builder->document->arena, sizeof *node);
    if (!node)
        return NULL;
    node->kind = kind;
    node->place = document_place_of(event->start_mark);
    node->text = "";
    return node;
}

static int document_push(struct builder *builder, const struct document_node *node)
{
    const struct document_node **grown =
        array_grow(builder->stack, builder->depth, sizeof(struct document_node *));
    if (!grown)
        return document_no_memory(builder);
    builder->stack = grown;
    builder->stack[builder->depth++] = node;
    return 0;
}

static int open_collection(struct builder *builder, enum document_kind kind,
                           const yaml_event_t *event)
{
    bool mapping = kind == DOCUMENT_MAPPING;
    struct document_place place = document_place_of(event->start_mark);
    if (mapping ? event->data.mapping_start.anchor || event->data.mapping_start.tag
                : event->data.sequence_start.anchor || event->data.sequence_start.tag)
        return document_wrong(builder, place, "expected no anchors and no tags");
    if (at_key(builder))
        return document_wrong(builder, place, "expected a plain key");
    if (builder->frame_count == DOCUMENT_NESTING_MAX)
        return document_wrong(builder, place, "expected at most 64 levels of nesting");
    struct document_node *node = new_node(builder, kind, event);
    if (!node)
        return document_no_memory(builder);
    int result = document_push(builder, node);
    builder->frames[builder->frame_count++] = (struct frame){node, builder->depth};
    return result;
}

/* Whether the next node is a key of a mapping. */
static bool at_key(const struct builder *builder)
{
    if (builder->frame_count == 0)
        return false;
    const struct frame *frame = &builder->frames[builder->frame_count - 1];
    return frame->node->kind == DOCUMENT_MAPPING && (builder->depth - frame->first) % 2 == 0;
}

static int close_collection(struct builder *builder)
{
    struct frame frame = builder->frames[--builder->frame_count];
    size_t count = builder->depth - frame.first;
    const struct document_node **items =
        arena_array(&builder->document->arena, count, sizeof *items);
    if (!items)
        return document_no_memory(builder);
    if (count > 0)
        memcpy(items, builder->stack + frame.first, count * sizeof *items);
    builder->depth = frame.first;
    frame.node->items = items;
    frame.node->count = frame.node->kind == DOCUMENT_MAPPING ? count / 2 : count;
    return frame.node->kind == DOCUMENT_MAPPING ? check_keys(builder, frame.node) : 0;
}

static int check_keys(struct builder *builder, const struct document_node *mapping)
{
    const struct document_node **keys = malloc((mapping->count + 1) * sizeof *keys);
    if (!keys)
        return document_no_memory(builder);
    for (size_t i = 0; i < mapping->count; i++)
        keys[i] = mapping->items[2 * i];
    qsort(keys, mapping->count, sizeof *keys, document_compare_keys);
    int result = 0;
    for (size_t i = 1; i < mapping->count && result == 0; i++)
        if (strcmp(keys[i - 1]->text, keys[i]->text) == 0)
            result = refuse_twice(builder, keys[i]);
    free(keys);
    return result;
}

static int document_compare_keys(const void *a, const void *b)
{
    const struct document_node *left = *(const struct document_node *const *)a;
    const struct document_node *right = *(const struct document_node *const *)b;
    int order = strcmp(left->text, right->text);
    if (order != 0)
        return order;
    if (left->place.line != right->place.line)
        return left->place.line < right->place.line ? -1 : 1;
    return left->place.column < right->place.column ? -1 : left->place.column > right->place.column;
}

static int refuse_twice(struct builder *builder, const struct document_node *key)
{
    char what[160], found[80];
    snprintf(what, sizeof what, "expected each key once, found %s again",
             document_describe(key, found, sizeof found));
    return document_wrong(builder, key->place, what);
}

void document_free(struct document *document)
{
    if (!document)
        return;
    arena_free(&document->arena);
    free(document);
}

void document_free_secret(struct document *document)
{
    if (document)
        overwrite(document->root);
    document_free(document);
}

static void overwrite(const struct document_node *node)
{
    size_t items = node->kind == DOCUMENT_MAPPING ? 2 * node->count : node->count;
    if (node->kind == DOCUMENT_SCALAR)
        explicit_bzero((char *)(uintptr_t)node->text, strlen(node->text));
    else
        for (size_t i = 0; i < items; i++)
            overwrite(node->items[i]);
}

const struct document_node *document_root(const struct document *document)
{
    return document->root;
}

const struct document_node *document_get(const struct document_node *mapping, const char *key)
{
    for (size_t i = 0; mapping->kind == DOCUMENT_MAPPING && i < mapping->count; i++)
        if (strcmp(mapping->items[2 * i]->text, key) == 0)
            return mapping->items[2 * i + 1];
    return NULL;
}

const char *document_describe(const struct document_node *node, char *buffer, size_t size)
{
    if (node->kind == DOCUMENT_MAPPING)
        return node->count > 0 ? "a mapping" : "an empty mapping";
    if (node->kind == DOCUMENT_SEQUENCE)
        return node->count > 0 ? "a sequence" : "an empty sequence";
    if (node->text[0] == '\0' && !node->quoted)
        return "nothing";
    bool all = strlen(node->text) <= 40;
    snprintf(buffer, size, "'%.40s%s'", node->text, all ? "" : "...");
    return text_clean(buffer);
}

bool document_unsigned(const struct document_node *node, uint64_t *value)
{
    if (node->kind != DOCUMENT_SCALAR || node->quoted || node->text[0] == '\0')
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

bool document_number(const struct document_node *node, double *value)
{
    if (node->kind != DOCUMENT_SCALAR || node->quoted || node->text[0] == '\0' ||
        strspn(node->text, "0123456789+-.eE") != strlen(node->text))
        return false;
    char *end;
    *value = strtod(node->text, &end);
    return *end == '\0' && isfinite(*value);
}

bool document_boolean(const struct document_node *node, bool *value)
{
    if (node->kind != DOCUMENT_SCALAR || node->quoted)
        return false;
    *value = strcmp(node->text, "true") == 0;
    return *value || strcmp(node->text, "false") == 0;
}
