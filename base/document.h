/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML file in memory, every node with its place, so that whoever reads it can say
 * "file:line:column: expected ...". Strict: one document, UTF-8, no aliases, anchors or tags, no
 * key twice, nesting and size bounded. Model files and the settings file are read through it.
 */
#ifndef BASE_DOCUMENT_H
#define BASE_DOCUMENT_H

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
    bool quoted;      /* a scalar in quotes: a string whatever it looks like */
    const char *text; /* a scalar's, terminated, without NUL bytes inside */
    size_t count;     /* items of a sequence, pairs of a mapping */
    /* A sequence's items; a mapping's keys (scalars) and values in turn: items[2 * i] is a key. */
    const struct document_node *const *items;
};

struct document;

/*
 * Reads a whole file, "-" being standard input. *text is the caller's to free() and has a NUL after
 * its size bytes. Refuses what is no file, is empty, is larger than limit or holds NUL bytes, with
 * a line in error. A UTF-8 byte order mark is kept. 0 or a negative errno (-EINVAL: it is wrong).
 */
int document_read_file(const char *path, size_t limit, char **text, size_t *size,
                       struct error *error);

/* The two halves of it. Opens a file for reading: the descriptor, or a negative errno with a line
 * in error; then reads the rest of one of which `begun` bytes were read already. */
int document_open(const char *path, struct error *error);
int document_read_rest(int fd, const char *path, const char *begin, size_t begun, size_t limit,
                       char **text, size_t *size, struct error *error);

/* The same checks for text that is already in memory. */
int document_check_text(const char *name, const char *text, size_t size, struct error *error);

/* What messages call a path: itself, or "stdin" for "-". */
const char *document_file_name(const char *path);

/* Makes a document of text; name is what messages call the file. 0, -ENOMEM, or -EINVAL and a line
 * in error. text may go afterwards. */
int document_parse(const char *name, const char *text, size_t size, struct document **out,
                   struct error *error);
void document_free(struct document *document);
/* Overwrites all scalars first. */
void document_free_secret(struct document *document);

const struct document_node *document_root(const struct document *document);

/* The value of a mapping's key, or NULL. */
const struct document_node *document_get(const struct document_node *mapping, const char *key);

/* What a node is, for "found ...": "a mapping", "a sequence", or its text in quotes (shortened). */
const char *document_describe(const struct document_node *node, char *buffer, size_t size);

/* Scalars as values; false when they are not that. Quoted scalars are strings only. */
bool document_unsigned(const struct document_node *node, uint64_t *value);
bool document_number(const struct document_node *node, double *value); /* finite */
bool document_boolean(const struct document_node *node, bool *value);  /* true, false */

#endif
