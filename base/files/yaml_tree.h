/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML file as a tree. Each node has its place, for messages "file:line:column: expected ...".
 * The reader is strict: one document, UTF-8, no aliases, anchors or tags, no duplicate keys, and
 * limits for nesting and size.
 */
#ifndef BASE_FILES_YAML_TREE_H
#define BASE_FILES_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/files/text_file.h"

enum { YAML_TREE_NESTING_MAX = 64 };

enum yaml_kind { YAML_TREE_SCALAR, YAML_TREE_SEQUENCE, YAML_TREE_MAPPING };

/* Small, as a file of some megabytes has millions of nodes. */
struct yaml_node {
    const char *text; /* of a scalar, terminated, without NUL bytes inside */
    /* The items of a sequence, or the keys (scalars) and values of a mapping: items[2 * i] is a
     * key. */
    const struct yaml_node *const *items;
    uint32_t count; /* items of a sequence, pairs of a mapping */
    struct text_place place;
    uint8_t kind; /* enum yaml_kind */
    bool quoted;  /* a scalar in quotes is always a string */
};

struct yaml_tree;

/* Parses text, which is not used afterwards; name is the file in messages. 0, or -ENOMEM or -EINVAL
 * with a line in error. */
int yaml_tree_parse(const char *name, const char *text, size_t size, struct yaml_tree **out,
                    struct error *error);
void yaml_tree_free(struct yaml_tree *tree);
/* Overwrites all scalars, then frees. */
void yaml_tree_free_secret(struct yaml_tree *tree);

/* The topmost node. It lives as long as the tree. */
const struct yaml_node *yaml_tree_root(const struct yaml_tree *tree);

/* The value of a mapping's key, or NULL. */
const struct yaml_node *yaml_node_get(const struct yaml_node *mapping, const char *key);

/* Describes a node after "found": "a mapping", "a sequence", or its text in quotes, shortened. */
const char *yaml_node_describe(const struct yaml_node *node, char *buffer, size_t size);

/* The value of a scalar. False: it has another type. A quoted scalar is always a string. */
bool yaml_node_unsigned(const struct yaml_node *node, uint64_t *value);
bool yaml_node_number(const struct yaml_node *node, double *value); /* finite */
bool yaml_node_boolean(const struct yaml_node *node, bool *value);  /* true, false */

#endif
