/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML file as a tree. Each node has its place, for messages "file:line:column: expected ...".
 * The reader is strict: one document, UTF-8, no aliases, anchors or tags, no duplicate keys, and
 * limits for nesting and size.
 */
#ifndef BASE_YAML_TREE_H
#define BASE_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { DOCUMENT_NESTING_MAX = 64, DOCUMENT_FILE_MAX = 64 << 20 };

struct document_place {
    unsigned line, column; /* from 1 */
};

enum document_kind { DOCUMENT_SCALAR, DOCUMENT_SEQUENCE, DOCUMENT_MAPPING };

struct document_node {
    enum document_kind kind;
    struct document_place place;
    bool quoted;      /* a scalar in quotes is always a string */
    const char *text; /* of a scalar, terminated, without NUL bytes inside */
    size_t count;     /* items of a sequence, pairs of a mapping */
    /* The items of a sequence, or the keys (scalars) and values of a mapping: items[2 * i] is a
     * key. */
    const struct document_node *const *items;
};

struct document;

/*
 * Reads a whole file; "-" is standard input. The caller frees *text, which has a NUL after its size
 * bytes. A UTF-8 byte order mark is kept. Returns 0, or a negative errno with a line in error;
 * -EINVAL for directories, empty files, files larger than limit, and files with NUL bytes.
 */
int document_read_file(const char *path, size_t limit, char **text, size_t *size,
                       struct error *error);

/* The two halves of document_read_file(). Opens a file: a descriptor, or a negative errno with a
 * line in error. Then reads the rest of a file whose first `begun` bytes are in `begin`. */
int document_open(const char *path, struct error *error);
int document_read_rest(int fd, const char *path, const char *begin, size_t begun, size_t limit,
                       char **text, size_t *size, struct error *error);

/* The same checks for text in memory. */
int document_check_text(const char *name, const char *text, size_t size, struct error *error);

/* The name of a path in messages: the path, or "stdin" for "-". */
const char *document_file_name(const char *path);

/* Parses text, which is not used afterwards; name is the file in messages. 0, or -ENOMEM or -EINVAL
 * with a line in error. */
int document_parse(const char *name, const char *text, size_t size, struct document **out,
                   struct error *error);
void document_free(struct document *document);
/* Overwrites all scalars, then frees. */
void document_free_secret(struct document *document);

const struct document_node *document_root(const struct document *document);

/* The value of a mapping's key, or NULL. */
const struct document_node *document_get(const struct document_node *mapping, const char *key);

/* Describes a node after "found": "a mapping", "a sequence", or its text in quotes, shortened. */
const char *document_describe(const struct document_node *node, char *buffer, size_t size);

/* The value of a scalar. False: it has another type. A quoted scalar is always a string. */
bool document_unsigned(const struct document_node *node, uint64_t *value);
bool document_number(const struct document_node *node, double *value); /* finite */
bool document_boolean(const struct document_node *node, bool *value);  /* true, false */

#endif
