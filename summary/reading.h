/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings: one run each, as read from a result file of any form, reduced to what grids show.
 * A list of them is collected from files and folders, runs that two files tell of counted once.
 */
#ifndef SUMMARY_READING_H
#define SUMMARY_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "summary/result/histogram.h"

enum metric {
    METRIC_OK,
    METRIC_FAILED,
    METRIC_NOMINAL,
    METRIC_PLANNED,
    METRIC_MEAN,
    METRIC_P50,
    METRIC_P95,
    METRIC_P99,
    METRIC_SUCCESS_RATE,
    METRICS
};

/* How a metric is called on the command line, what it is measured in, how it is printed. */
struct metric_form {
    const char *name;
    const char *unit;
    int decimals;
};
extern const struct metric_form metric_forms[METRICS];
/* METRICS when there is none of this name. */
enum metric metric_find(const char *name);

enum reading_form {
    READING_JSON,
    READING_TEXT,  /* our report */
    READING_PYTHON /* the established Python tool's report */
};

struct reading_label {
    char *name, *value;
};

struct reading {
    char *path;
    enum reading_form form;
    bool interrupted;
    double r, S;
    /* NaN: the file does not hold it. Times are response times in seconds, but of READING_PYTHON:
     * its mean is of service times. */
    double metrics[METRICS];
    size_t label_count;
    struct reading_label *labels;
    /* What tells one run from another; all 0 for READING_PYTHON, whose files do not tell. */
    uint64_t seed, ok, failed, planned;
    int64_t instance;
    double start;
    dev_t device;
    ino_t inode;
    /* Of READING_JSON, to put together what several processes made of one run. */
    double window; /* seconds */
    struct histogram response;
    double server_cpu; /* seconds that the server's processes used; NaN: not sampled */
    char model[65], *dc;
    struct reading *more; /* further processes of this run; this one has their sums */
};

struct readings {
    struct reading *items;
    size_t count;
    size_t refused;  /* files that were damaged, foreign or without a cell */
    size_t repeated; /* files left out by readings_finish() ... */
    size_t twins;    /* ... and of them the texts that stand beside a JSON of the same name */
    size_t joined;   /* files that readings_finish() made part of another process's run */
    /* Told for each file that was refused, in one line. May be NULL. */
    void (*warning)(void *context, const char *line);
    void *context;
    size_t room; /* private */
};

/* Reads path, a file or a folder with all its regular files and sub-folders (names that begin with
 * a dot are passed over). Returns 0 (what cannot be read is told and counted as refused), or
 * -ENOMEM. */
int readings_add(struct readings *readings, const char *path);
/*
 * Leaves out all but one reading of each run (JSON before text), and joins what several processes
 * made of one run: JSON results of the same model, server, r and labels, of different instances,
 * whose windows overlap. Their counts, rates and histograms are added, and their S. Sorts by path.
 * 0 or -ENOMEM.
 */
int readings_finish(struct readings *readings);
void readings_clear(struct readings *readings);

/* r and S from a base name like dc1_r4_S5.txt or dc1_r0.5_S3.7_2.json; false: it does not tell. */
bool reading_cell_of_name(const char *path, double *r, double *S);

void reading_clear(struct reading *reading);
/* The value of a label, or NULL. */
const char *reading_label(const struct reading *reading, const char *name);

/* Reads one file's bytes into *reading, which comes zeroed (path is the caller's; cleared by the
 * caller, even after a failure). 0, -ENOMEM, or -EINVAL with a line
 * in error. */
int reading_parse(struct reading *reading, const char *bytes, size_t length, const char *path,
                  struct error *error);

#endif
