/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds runs that did not measure the same thing: another server, model, program, window, label or
 * option. The mean of such runs is a number that nobody measured, so each kind of difference is
 * reported.
 */
#ifndef SUMMARY_MIXED_H
#define SUMMARY_MIXED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "summary/reading.h"

enum { MIXED_NAME_SIZE = 160, MIXED_TEXT_SIZE = 512 };

/* One kind of difference. */
struct mixed_kind {
    char name[MIXED_NAME_SIZE];   /* "server", "label prefork", "option --only" */
    char label[MIXED_NAME_SIZE];  /* name of the label; "": the kind is no label */
    char values[MIXED_TEXT_SIZE]; /* "1, 4 and 2 more" */
    size_t cells;                 /* in which runs differ */
};

struct mixed_cell {
    double r, S;
};

struct mixed {
    size_t count;
    struct mixed_kind *kinds;
    size_t cell_count;
    struct mixed_cell *cells; /* cells whose runs differ, with duplicates */
};

/* Finds the differences between runs. Values that a file does not contain are not compared.
 * except: a label that may differ, or NULL. 0 or -ENOMEM. */
int mixed_find(struct mixed *mixed, const struct readings *readings, const char *except);
void mixed_clear(struct mixed *mixed);

/* Whether the runs of a cell differ. */
bool mixed_in_cell(const struct mixed *mixed, double r, double S);

/* The kinds as a JSON array of {"name", "values", "cells"}. NULL: out of memory. */
json_t *mixed_to_json(const struct mixed *mixed);

/* Writes "runs differ in server (dc1, dc2), also within 2 cells; ..." to out. */
void mixed_text(char *out, size_t size, const struct mixed_kind *kind);

#endif
